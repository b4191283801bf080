const flower = (b, r) => {
  b.circle(0, 0, r);
  b.circle(r / 2, 0, r / 2);
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
  flower(brush, 120);
}
