function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  noLoop();
  brush.scaleBrushes(3);
  brush.noStroke();
  brush.fill("#e8825a", 200);
  brush.circle(0, 0, 120);
  const layer = createGraphics(200, 200);
  layer.ellipse(100, 100, 150);
  image(layer, 0, 0);
}
