function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  const seed = 0x9e37_79b9n % 100n;
  brush.circle(0, 0, 100 + Number(seed) / 10);
  const s = Symbol("text");
  const o = { [s]: 1, ["k" + 1]: 2 };
  console.log(o.k1);
}
