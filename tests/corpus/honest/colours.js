function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  colorMode(HSB, 360, 100, 100, 1);
  const c = color(18, 60, 90);
  c.setAlpha(0.8);
  const d = lerpColor(c, color("#aa3322"), 0.4);
  brush.fill(d, 200);
  brush.circle(0, 0, 140);
  brush.fill(color(hue(d), saturation(c), brightness(c)), 190);
  brush.circle(60, 60, 80);
}
