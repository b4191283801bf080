function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  function line(a, b) {
    return a + b;
  }
  const triangle = (n) => n * 10;
  brush.circle(0, 0, line(triangle(6), 80));
}
