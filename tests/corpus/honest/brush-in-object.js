function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  const kit = { brush, size: 120 };
  kit.brush.circle(0, 0, kit.size);
  const { brush: mine } = kit;
  mine.circle(20, 20, 50);
}
