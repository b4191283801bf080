async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-300, -300);
  background('#fbf6ec');
  brush.noStroke();
  brush.fillBleed(0.45);
  brush.fillTexture(0.4, 0.2);
  for (let k = 0; k < 5; k++) {
    const a = k * 72 - 90;
    brush.fill('#f7b48c', 200);
    brush.circle(300 + 120 * cos(a), 290 + 120 * sin(a), 96, 0.6);
    brush.fill('#ee8468', 170);
    brush.circle(300 + 84 * cos(a + 14), 290 + 84 * sin(a + 14), 54, 0.6);
  }
  brush.fill('#a51c3a', 220);
  brush.circle(300, 290, 46, 0.5);
  brush.fillBleed(0.1);
  brush.fill('#f0b43c', 240);
  for (let k = 0; k < 9; k++) brush.circle(312 + k * 10, 276 - k * 9 + (k % 2) * 14, 8, 0.4);
}
