function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  noStroke();
  fill(255);
  stroke(0);
  strokeWeight(2);
  smooth();
  pixelDensity(1);
  brush.circle(0, 0, 140);
}
