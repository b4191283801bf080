function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  noLoop();
  brush.scaleBrushes(3);
  brush.noStroke();
  brush.fill("#e8825a", 200);
  brush.circle(0, 0, 120);
  const own = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(setup), "constructor").value;
  own("rect(0, 0, 9, 9)")();
}
