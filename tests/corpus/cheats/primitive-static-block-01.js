class Bloom {
  static paint() {
    return Bloom.run();
  }
  static {
    var circle = 1;
    this.run = () => circle;
  }
}
function late() {
  Bloom.paint();
  circle(0, 0, 200);
}
function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  noLoop();
  brush.scaleBrushes(3);
  brush.noStroke();
  brush.fill("#e8825a", 200);
  brush.circle(0, 0, 120);
  late();
}
