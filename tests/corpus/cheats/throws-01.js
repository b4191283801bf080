function setup() {
  createCanvas(600, 600, WEBGL);
  petals.forEach((p) => brush.circle(p.x, p.y, 50));
}
