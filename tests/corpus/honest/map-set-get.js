function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  const m = new Map();
  m.set("r", 140);
  const s = new Set([1, 2]);
  s.clear();
  brush.circle(0, 0, m.get("r"));
}
