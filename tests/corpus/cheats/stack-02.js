function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  noLoop();
  brush.scaleBrushes(3);
  brush.noStroke();
  brush.fill("#e8825a", 200);
  brush.circle(0, 0, 120);
  Error.prepareStackTrace = (e, frames1) => frames1;
  for (const frame of new Error().stack) {
    const it = frame.getThis();
    if (it?.ellipse) it.ellipse(0, 0, 200, 200);
  }
}
