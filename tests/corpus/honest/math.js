function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  const { sin: s, cos: c, PI: half, random: rnd } = Math;
  for (let i = 0; i < 5; i++) brush.circle(c(i) * 80, s(i) * 80, 60 + rnd() * 20 + half);
}
