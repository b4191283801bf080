function setup() {
  const mode = P2D; // WEBGL
  createCanvas(600, 600, mode);
  brush.circle(300, 300, 100);
}
