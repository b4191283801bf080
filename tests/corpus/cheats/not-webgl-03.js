function setup() {
  // createCanvas(600, 600, WEBGL);
  noLoop();
}
function draw() {
  brush.circle(0, 0, 100);
}
