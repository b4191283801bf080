function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  noLoop();
  brush.scaleBrushes(3);
  brush.noStroke();
  brush.fill("#e8825a", 200);
  brush.circle(0, 0, 120);
  Object.values(createCanvas(600, 600, WEBGL))[0];
  brush.circle(0, 0, 90);
}
