// Poor, but honest: five stamped circles, so pale that the paper wins.
function setup() {
  createCanvas(600, 600, WEBGL);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  background("#fffdf8");
  brush.noStroke();
  brush.fillBleed(0.1);
  brush.fill("#ec9c88", 130);
  for (let a = 0; a < 360; a += 72) brush.circle(95 * cos(a), 95 * sin(a), 70);
  brush.fill("#c8503c", 150);
  brush.circle(0, 0, 26);
}
