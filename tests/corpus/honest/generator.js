function* ring(n) {
  for (let i = 0; i < n; i++) yield [cos((i * 360) / n) * 90, sin((i * 360) / n) * 90];
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
  for (const [x, y] of ring(5)) brush.circle(x, y, 90);
}
