function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  const medieval = { eval: 1, text: "red", image: 2, fetch: 3 };
  const r = 100 + medieval.eval * medieval.image + medieval.fetch;
  brush.circle(0, 0, r);
}
