function setup() {
  createCanvas(600, 600, WEBGL);
  triangle(1);
}
function triangle(size) {
  brush.fill("#aa2211", 200);
  brush.circle(0, 0, size * 100);
}
