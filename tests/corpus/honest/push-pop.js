function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  push();
  translate(0, -40);
  rotate(30);
  scale(1.1);
  shearX(5);
  brush.circle(0, 0, 120);
  pop();
  rotateZ(10);
  brush.circle(0, 0, 50);
}
