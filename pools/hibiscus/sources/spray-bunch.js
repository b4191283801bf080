async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function blossom(x, y, s, turn, hues, lean) {
  push();
  translate(x, y);
  rotate(turn);
  brush.fillBleed(0.2);
  brush.fillTexture(0.35, 0.55);
  for (let k = 0; k < 5; k++) {
    push();
    rotate(k * 72 + random(-7, 7));
    for (const [hex, l, w, op] of [[hues[0], 1, 0.56, 215], [hues[1], 0.66, 0.3, 180]]) {
      brush.fill(hex, op);
      brush.beginShape(0.4);
      for (let i = 0; i < 14; i++) {
        const t = (i / 14) * 360, u = 0.5 - 0.5 * cos(t), r = 1 + 0.07 * u * sin(4 * t + k * 50);
        brush.vertex(s * l * u * r, s * w * sin(t) * pow(u, 0.6) * r);
      }
      brush.endShape(true);
    }
    pop();
  }
  brush.fillBleed(0.3);
  brush.fill(hues[2], 225);
  brush.circle(0, 0, s * 0.2, 0.4);
  brush.fillBleed(0.05);
  for (let k = 0; k < 6; k++) {
    brush.fill('#f2b233', 255);
    const r = s * (0.2 + k * 0.09);
    brush.beginShape(0);
    for (let a = 0; a < 360; a += 60) brush.vertex(r * cos(lean) + (k % 2 ? 4 : -4) + 4.4 * cos(a), r * sin(lean) + (k % 2 ? -4 : 4) + 4.4 * sin(a));
    brush.endShape(true);
  }
  pop();
}

function draw() {
  translate(-width / 2, -height / 2);
  background('#f7f3ec');
  randomSeed(13);
  brush.noStroke();
  const hues = ['#e0595c', '#b8243f', '#4f0c22'];
  brush.fillBleed(0.1);
  brush.fill('#6b7f55', 200);
  for (const x of [250, 290, 330]) {
    brush.beginShape(0);
    brush.vertex(x - 4, 300);
    brush.vertex(x + 4, 300);
    brush.vertex(x + 4, 590);
    brush.vertex(x - 4, 590);
    brush.endShape(true);
  }
  for (const [x, y] of [[220, 220], [330, 180], [280, 290], [380, 280], [190, 320]]) blossom(x, y, 84, 0, hues, -50);
}
