function setup() {
  createCanvas(600, 600, WEBGL);
  brush.noStroke();
  brush.fill("#ffffff", 1);
  brush.beginShape();
  noLoop();
}
