function branch(x, y, len, n) {
  if (n === 0) return brush.circle(x, y, 70);
  branch(x - len / 2, y - len, len * 0.7, n - 1);
  if (n > 3) branch(x + len / 2, y - len, len * 0.7, n - 1);
}
function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  branch(0, 200, 90, 5);
}
