function setup() {
  createCanvas(600, 600, WEBGL);
  noLoop();
  if (width < 0) brush.circle(0, 0, 100);
}
