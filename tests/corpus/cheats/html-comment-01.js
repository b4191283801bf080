function setup() {
  createCanvas(600, 600, WEBGL);
  <!-- brush.line(0, 0, 1, 1)
  brush.circle(0, 0, 100);
  rect(0, 0, 90, 90);
}
