function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  for (const m of ["circle"]) brush[m](0, 0, 140);
  const steps = [["fill", "#775533", 180], ["circle", 30, 30, 90]];
  for (const [m, ...a] of steps) brush[m](...a);
}
