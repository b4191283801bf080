function setup() {
  createCanvas(600, 600, WEBGL);
}
function draw() {
  background(255);
  brush.noStroke();
  brush.fill('#557744', 190);
  brush.circle(0, 0, 150 + frameCount);
}
