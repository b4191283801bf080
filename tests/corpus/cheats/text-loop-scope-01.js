function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  noLoop();
  brush.scaleBrushes(3);
  brush.noStroke();
  brush.fill("#e8825a", 200);
  brush.circle(0, 0, 120);
  for (let text = 0; text < 2; text++) translate(text, 0);
  text("peach", 0, 0);
}
