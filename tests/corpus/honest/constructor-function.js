function Leaf(size, text) {
  this.size = size;
  this.text = text;
  this.image = function () {
    return this.text + this.size;
  };
}
Leaf.prototype.draw = function () {
  brush.circle(0, 0, this.size);
  return this.image();
};
function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  const leaf = new Leaf(120, "green");
  leaf.draw();
}
