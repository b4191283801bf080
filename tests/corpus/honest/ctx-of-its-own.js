function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  const ctx = { x: 0, y: 0, pixels: [120], set: (k, v) => (ctx[k] = v), get: (k) => ctx[k] };
  ctx.set("x", 20);
  brush.circle(ctx.get("x"), ctx.y, ctx.pixels[0]);
}
