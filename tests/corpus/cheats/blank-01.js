function setup() {
  createCanvas(600, 600, WEBGL);
  background(255);
  brush.noStroke();
  brush.fill("#ffffff", 200);
  brush.circle(0, 0, 100);
  noLoop();
}
