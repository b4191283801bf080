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

function draw() {
  translate(-width / 2, -height / 2);
  background('#f8f6f0');
  randomSeed(15);
  noiseSeed(4);
  brush.noStroke();
  brush.fillBleed(0.18);
  brush.fillTexture(0.35, 0.6);
  const petals = [-90, -18, 54, 126, 198];
  for (const t of petals)
    for (let r = 64; r < 214; r += 32)
      for (let s = -1; s <= 1; s++) {
        if (r < 90 && s !== 0) continue;
        const a = t + s * (9 + 8 * sin(r * 0.7)) + random(-3, 3), w = 10 + 9 * sin(((r - 40) / 190) * 180);
        puddle(r < 100 ? random(['#c81e5a', '#de3f74']) : random(['#f58bb0', '#f2a3bd', '#ea6d9b', '#f8c0c8']), 215, 300 + r * cos(a), 296 + r * sin(a), w * 1.3, w, a, 0.3);
      }
  for (const t of petals) puddle('#7d0f3f', 230, 300 + 30 * cos(t), 296 + 30 * sin(t), 18, 9, t, 0.3);
  for (const [x, y, t] of [[120, 470, -30], [156, 498, 10], [90, 506, 40], [474, 480, 30], [510, 452, -20], [504, 506, 10], [540, 490, 60]]) puddle(random(['#7fa06a', '#5d8a66', '#9db87a']), 210, x, y, 26, 12, t, 0.3);
  brush.fillBleed(0.1);
  for (let k = 0; k < 8; k++) puddle('#f3b634', 255, 318 + k * 11, 288 - k * 9 + (k % 2 ? 10 : -10), 7, 6, 0, 0.2);
}
