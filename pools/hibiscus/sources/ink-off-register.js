async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function sweep(hex, opacity, [ax, ay], [bx, by], [cx, cy], w) {
  const left = [], right = [];
  for (let i = 0; i <= 8; i++) {
    const t = i / 8, u = 1 - t;
    const x = u * u * ax + 2 * u * t * bx + t * t * cx, y = u * u * ay + 2 * u * t * by + t * t * cy;
    const a = atan2(u * (by - ay) + t * (cy - by), u * (bx - ax) + t * (cx - bx)), h = 0.8 + w * pow(sin(t * 180), 0.8);
    left.push([x - h * sin(a), y + h * cos(a)]);
    right.unshift([x + h * sin(a), y - h * cos(a)]);
  }
  brush.fill(hex, opacity);
  brush.beginShape(0);
  for (const [x, y] of left.concat(right)) brush.vertex(x, y);
  brush.endShape(true);
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

function speck(hex, x, y, r) {
  brush.fill(hex, 255);
  brush.beginShape(0);
  for (let a = 0; a < 360; a += 52) brush.vertex(x + r * cos(a), y + r * sin(a));
  brush.endShape(true);
}

function draw() {
  translate(-width / 2, -height / 2);
  background('#fcf8f0');
  randomSeed(22);
  brush.noStroke();
  const turns = [-88, -18, 52, 126, 200];
  brush.fillBleed(0.34);
  brush.fillTexture(0.45, 0.15);
  push();
  translate(322, 306);
  for (const t of turns) {
    push();
    rotate(t + 7);
    fan('#fac19a', 190, 190, 104, 0.08, t);
    fan('#f4937a', 150, 120, 60, 0.08, t + 40);
    pop();
  }
  pop();
  brush.fill('#bcd0b0', 170);
  brush.beginShape(0.5);
  for (const [x, y] of [[92, 440], [170, 430], [250, 470], [210, 530], [120, 520]]) brush.vertex(x, y);
  brush.endShape(true);
  brush.fillBleed(0.06);
  brush.fillTexture(0.4, 0.3);
  const hx = 300, hy = 286;
  for (const t of turns) {
    const p = (r, s) => [hx + r * cos(t + s), hy + r * sin(t + s)];
    sweep('#a8323f', 215, p(26, -18), p(150, -52), p(200, -20), 3.4);
    sweep('#a8323f', 210, p(202, -20), p(204, -8), p(214, 0), 2.6);
    sweep('#a8323f', 210, p(214, 0), p(204, 12), p(194, 24), 2.6);
    sweep('#a8323f', 200, p(192, 24), p(140, 44), p(30, 20), 3);
    sweep('#c75a56', 160, p(40, 0), p(90, 5), p(150, 2), 2);
  }
  brush.fillBleed(0.3);
  for (const t of turns) sweep('#8f1230', 215, [hx, hy], [hx + 30 * cos(t), hy + 30 * sin(t)], [hx + 62 * cos(t + 6), hy + 62 * sin(t + 6)], 9);
  brush.fillBleed(0.05);
  sweep('#7d1230', 225, [hx, hy], [340, 240], [410, 232], 4);
  for (let k = 0; k < 12; k++) speck(random(['#e9a02a', '#f5c04a']), 336 + k * 6.4, 246 - k * 1.4 + (k % 2 ? 13 : -13), 4.8);
  for (let k = 0; k < 5; k++) speck('#7d1230', 424 + 12 * cos(k * 40 - 80), 230 + 12 * sin(k * 40 - 80), 4.6);
  sweep('#55774f', 220, [282, 430], [270, 500], [300, 596], 4);
  for (const [e, m] of [[[96, 446], [180, 396]], [[96, 448], [190, 520]]]) sweep('#55774f', 210, [276, 512], m, e, 3);
}
