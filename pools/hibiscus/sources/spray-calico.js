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

function leaf(x, y, turn, len, wid, light, dark) {
  push();
  translate(x, y);
  rotate(turn);
  for (const [hex, opacity, lower] of [[light, 200, -1], [dark, 185, 0]]) {
    brush.fill(hex, opacity);
    brush.beginShape(0.3);
    for (let i = 0; i <= 9; i++) brush.vertex((len * i) / 9, wid * sin(i * 20) * (1 - i * 0.045) + (i % 2) * 3);
    for (let i = 8; i > 0; i--) brush.vertex((len * i) / 9, lower * wid * sin(i * 20) * 0.8 + 2 * sin(i * 40));
    brush.endShape(true);
  }
  pop();
}

function draw() {
  translate(-width / 2, -height / 2);
  background('#f6f3ea');
  randomSeed(2);
  brush.noStroke();
  const spots = [[96, 96], [300, 70], [500, 120], [190, 246], [410, 268], [80, 396], [300, 430], [520, 420], [190, 548], [420, 560]];
  brush.fillBleed(0.14);
  brush.fillTexture(0.5, 0.5);
  for (const [x, y] of [[200, 140], [400, 150], [90, 240], [300, 180], [530, 240], [180, 380], [410, 400], [80, 520], [300, 560], [540, 540]]) leaf(x, y, random(360), 64, 22, '#9fb574', '#568058');
  spots.forEach(([x, y], i) => blossom(x, y, 58, i * 40, [['#f4a58c', '#e2614f', '#7d1433'], ['#f6c677', '#ee8f45', '#8f1f33'], ['#eeb2c6', '#d85e8f', '#6d1144']][i % 3], i * 70));
}
