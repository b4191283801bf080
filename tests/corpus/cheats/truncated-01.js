function setup() {
  createCanvas(600, 600, WEBGL);
  noLoop();
}
function draw() {
  brush.fill("#aa2211", 200);
  brush.circle(0, 0, 1