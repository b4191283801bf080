function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  brush.beginShape(0.4);
  for (let a = 0; a < 360; a += 20) brush.vertex(cos(a) * 130, sin(a) * (110 + 15 * sin(3 * a)));
  brush.endShape(true);
}
