function setup() {
  createCanvas(600, 600, WEBGL);
  background(250);
  brush.noStroke();
  brush.fill("#aa2211", 200);
  brush.circle(9000, 9000, 100);
  noLoop();
}
