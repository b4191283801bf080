function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  const a = new Array(5).fill(0).map((_, i) => i).filter((i) => i % 2).concat([4]);
  const d = a.copyWithin(0, 1).find((x) => x > 0);
  a.splice(0, 1);
  a.forEach((i) => brush.circle(i * 20, d, 80));
}
