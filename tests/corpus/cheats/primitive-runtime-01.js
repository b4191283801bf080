function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  noLoop();
  brush.scaleBrushes(3);
  brush.noStroke();
  brush.fill("#e8825a", 200);
  brush.circle(0, 0, 120);
  const keys = Reflect.ownKeys;
  let found = keys(Object.getPrototypeOf({}));
  const f = (o) => o["e" + "llipse"];
  (function () {
    f(this)(0, 0, found.length, 200);
  }).call();
}
