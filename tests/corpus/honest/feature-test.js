function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  if (typeof brush.fillBleed === "function") brush.fillBleed(0.2);
  if (brush) brush.circle(0, 0, 140);
}
