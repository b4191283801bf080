function setup() {
  createCanvas(600, 600);
  brush.circle(300, 300, 100);
}
