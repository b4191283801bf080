function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  const o = { text: "a", ellipse: 40, document: 1, location: { x: 10, y: 20 }, eval: (x) => x, rect() { return 60; } };
  brush.circle(o.location.x, o.location.y, o.ellipse + o.rect() + o.eval(10) + o.document);
}
