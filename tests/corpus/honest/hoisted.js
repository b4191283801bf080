function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  shape();
  function shape() {
    rect = 90;
    var rect;
    brush.circle(0, 0, rect + size());
    function size() {
      return 40;
    }
  }
}
