function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  const petals = [0, 72, 144].map((a) => ({ a, draw() { brush.circle(cos(a) * 90, sin(a) * 90, 100); } }));
  petals.forEach((p) => p.draw());
}
