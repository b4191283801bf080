function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  brush.circle.call(brush, 0, 0, 140);
  brush.circle.apply(null, [30, 30, 60]);
  const dab = brush.circle.bind(brush, -40, -40);
  dab(80);
}
