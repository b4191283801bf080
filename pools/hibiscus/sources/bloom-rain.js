async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function puddle(hex, opacity, x, y, rx, ry, turn, wobble) {
  brush.fill(hex, opacity);
  brush.beginShape(0.6);
  for (let a = 0; a < 360; a += 24) {
    const r = 1 + wobble * 2 * (noise(x + cos(a), y + sin(a)) - 0.5);
    const u = rx * r * cos(a), v = ry * r * sin(a);
    brush.vertex(x + u * cos(turn) - v * sin(turn), y + u * sin(turn) + v * cos(turn));
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

function draw() {
  translate(-width / 2, -height / 2);
  background('#f9f6f2');
  randomSeed(8);
  noiseSeed(2);
  brush.noStroke();
  const hx = 290, hy = 214, turns = [-96, -24, 46, 118, 192];
  brush.fillBleed(0.34);
  brush.fillTexture(0.4, 0.3);
  for (const t of turns) {
    puddle('#f2a9c0', 200, hx + 118 * cos(t), hy + 112 * sin(t), 98, 82, t, 0.4);
    puddle('#e77aa0', 170, hx + 108 * cos(t + 15), hy + 104 * sin(t + 15), 78, 38, t + 10, 0.4);
    puddle('#f6c3a5', 150, hx + 130 * cos(t - 20), hy + 120 * sin(t - 20), 56, 34, t - 20, 0.4);
  }
  brush.fillBleed(0.45);
  brush.fillTexture(0.5, 0.1);
  for (const [x, y, l, w] of [[214, 320, 150, 12], [262, 360, 210, 9], [330, 350, 180, 14], [392, 300, 120, 8], [296, 330, 130, 10]])
    ribbon('#e993ae', 150, [x, y], [x + random(-8, 8), y + l * 0.5], [x + random(-6, 6), y + l], w, 2);
  ribbon('#9fb08a', 150, [300, 330], [304, 450], [286, 590], 7, 4);
  brush.fillBleed(0.4);
  brush.fillTexture(0.2, 0.1);
  for (const t of turns) puddle('#b3173f', 200, hx + 38 * cos(t), hy + 36 * sin(t), 42, 17, t, 0.3);
  puddle('#6b0d2e', 220, hx, hy, 22, 20, 0, 0.3);
  brush.fillBleed(0.05);
  brush.fillTexture(0.2, 0.6);
  ribbon('#fbe1cf', 255, [hx, hy], [226, 196], [186, 120], 7, 5);
  for (let k = 0; k < 14; k++) speck(random(['#f3b231', '#f7cf5e']), 244 - k * 4.4 + (k % 2 ? 12 : -10), 192 - k * 5.4 + random(-5, 5), 5);
  for (let k = 0; k < 5; k++) speck('#c2254a', 184 + 15 * cos(k * 40 - 170), 110 + 14 * sin(k * 40 - 170), 5.5);
}
