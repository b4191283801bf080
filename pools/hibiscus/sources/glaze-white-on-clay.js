async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function fan(hex, opacity, len, wid, ruffle, phase) {
  brush.fill(hex, opacity);
  brush.beginShape(0.4);
  for (let i = 0; i < 28; i++) {
    const t = (i / 28) * 360, along = 0.5 - 0.5 * cos(t);
    const wave = 1 + ruffle * along * along * (sin(6 * t + phase) + 0.7 * sin(10 * t - 2 * phase));
    brush.vertex(len * along * wave, wid * sin(t) * pow(along, 0.6) * wave);
  }
  brush.endShape(true);
}

function ribbon(hex, opacity, [ax, ay], [bx, by], [cx, cy], w0, w1) {
  const left = [], right = [];
  for (let i = 0; i <= 6; i++) {
    const t = i / 6, u = 1 - t;
    const x = u * u * ax + 2 * u * t * bx + t * t * cx, y = u * u * ay + 2 * u * t * by + t * t * cy;
    const a = atan2(u * (by - ay) + t * (cy - by), u * (bx - ax) + t * (cx - bx)), w = lerp(w0, w1, t);
    left.push([x - w * sin(a), y + w * cos(a)]);
    right.unshift([x + w * sin(a), y - w * cos(a)]);
  }
  brush.fill(hex, opacity);
  brush.beginShape(0);
  for (const [x, y] of left.concat(right)) brush.vertex(x, y);
  brush.endShape(true);
}

function speck(hex, x, y, r) {
  brush.fill(hex, 255);
  brush.beginShape(0);
  for (let a = 0; a < 360; a += 52) brush.vertex(x + r * cos(a), y + r * sin(a));
  brush.endShape(true);
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
  background('#d9b99b');
  randomSeed(9);
  brush.noStroke();
  brush.fillBleed(0.12);
  brush.fillTexture(0.4, 0.4);
  leaf(350, 400, 48, 180, 60, '#7c8f5c', '#45624a');
  leaf(216, 410, 128, 160, 52, '#8c9a64', '#4f6a4c');
  translate(296, 276);
  for (const [i, a] of [108, 182, 36, -106, -36].entries()) {
    push();
    rotate(a);
    brush.fillBleed(0.1);
    brush.fillTexture(0.3, 0.6);
    fan('#fff9ee', 255, 212, 122, 0.06, i * 64);
    fan('#ffffff', 255, 180, 96, 0.07, i * 64 + 30);
    fan('#e9c9c4', 150, 120, 46, 0.08, i * 44);
    fan('#c22546', 220, 84, 34, 0.1, i * 80);
    brush.fillBleed(0.05);
    for (const k of [-1, 0, 1]) ribbon('#cbb6a6', 140, [70, k * 14], [120, k * 32], [176, k * 54], 2, 0.8);
    pop();
  }
  brush.fillBleed(0.05);
  ribbon('#ffe9b8', 255, [0, 0], [40, -40], [112, -50], 8, 6);
  for (let k = 0; k < 18; k++) speck(random(['#ffd66b', '#f2a531']), 40 + k * 4.2, -26 - k * 1.4 + (k % 2 ? 1 : -1) * random(10, 18), 4.8);
  for (let k = 0; k < 5; k++) speck('#a3122f', 126 + 14 * cos(k * 44 - 100), -54 + 14 * sin(k * 44 - 100), 5.5);
}
