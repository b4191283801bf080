function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  const leaf = (size = 100, { text = 20, rect: [a = 5] = [] } = {}) => brush.circle(0, 0, size + text + a);
  leaf();
}
