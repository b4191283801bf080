function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  const painter = ((size) => ({ dab: (x, y) => brush.circle(x, y, size), size }))(100);
  painter.dab(0, 0);
  painter?.dab?.(40, 40);
  const grow = painter.size ?? 50;
  brush.circle(-60, 0, grow);
}
