async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-300, -300);
  background('#faf6f0');
  brush.noStroke();
  brush.fillBleed(0.2);
  brush.fillTexture(0.5, 0.4);
  for (let k = 0; k < 5; k++) {
    brush.fill('#ee92aa', 205);
    brush.circle(300 + 120 * cos(k * 72), 290 + 120 * sin(k * 72), 112);
  }
  brush.fill('#c03a60', 210);
  brush.circle(300, 290, 50);
  brush.fill('#e8c050', 230);
  brush.circle(320, 270, 16);
  brush.fill('#7a9a60', 200);
  brush.circle(300, 560, 30);
}
