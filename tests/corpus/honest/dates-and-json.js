function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  const t = new Date(0).getFullYear();
  const spec = JSON.parse('{"text": 90, "rect": [1, 2]}');
  brush.circle(0, 0, spec.text + (t % 50));
  const copy = structuredClone(spec);
  console.log(copy.rect, Object.keys(spec), Object.entries(copy));
}
