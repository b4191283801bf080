function setup() {
  createCanvas(600, 600, WEBGL);
  brush.circle(0 0, 100);
}
