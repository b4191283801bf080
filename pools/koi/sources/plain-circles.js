async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-300, -300);
  background('#f6f4ec');
  brush.noStroke();
  brush.fillBleed(0.25);
  brush.fillTexture(0.4, 0.5);
  for (let k = 0; k < 7; k++) {
    brush.fill(k % 2 ? '#f0905a' : '#f6d3bd', 220);
    brush.circle(180 + k * 42, 240 + 60 * sin(k * 40), 62 - k * 7, 0.4);
  }
  brush.fill('#f3b08a', 180);
  for (const [x, y, r] of [[250, 190, 34], [240, 360, 34], [470, 196, 36], [478, 246, 36]]) brush.circle(x, y, r, 0.8);
  brush.fill('#2c2a33', 240);
  brush.circle(140, 226, 10);
  brush.circle(150, 268, 10);
}
