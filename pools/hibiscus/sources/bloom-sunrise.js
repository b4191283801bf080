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

function speck(hex, x, y, r) {
  brush.fill(hex, 255);
  brush.beginShape(0);
  for (let a = 0; a < 360; a += 52) brush.vertex(x + r * cos(a), y + r * sin(a));
  brush.endShape(true);
}

function draw() {
  translate(-width / 2, -height / 2);
  background('#fdf8ee');
  randomSeed(4);
  noiseSeed(9);
  brush.noStroke();
  const hx = 318, hy = 270, turns = [-80, -8, 62, 136, 208];
  brush.fillTexture(0.5, 0.2);
  brush.fillBleed(0.4);
  puddle('#a9b98a', 150, 150, 470, 96, 38, -28, 0.4);
  puddle('#86a58c', 140, 230, 520, 84, 28, 10, 0.4);
  brush.fillTexture(0.35, 0.35);
  for (const t of turns) {
    const at = (r, s) => [hx + r * cos(t + s), hy + r * sin(t + s)];
    puddle('#fbd65f', 210, ...at(140, 0), 106, 92, t, 0.35);
    puddle('#f9b04e', 180, ...at(150, 18), 80, 50, t + 14, 0.4);
    puddle('#f58a5a', 160, ...at(96, -12), 78, 36, t - 6, 0.3);
  }
  brush.fillBleed(0.5);
  brush.fillTexture(0.25, 0);
  for (const t of turns) puddle('#c9283f', 190, hx + 46 * cos(t), hy + 46 * sin(t), 52, 20, t, 0.3);
  puddle('#7c1330', 210, hx, hy, 28, 24, 0, 0.3);
  brush.fillBleed(0.05);
  brush.fillTexture(0.2, 0.6);
  brush.fill('#fff0d0', 255);
  brush.beginShape(0);
  for (const [x, y] of [[hx - 4, hy - 6], [380, 232], [446, 210], [450, 220], [386, 246], [hx + 4, hy + 8]]) brush.vertex(x, y);
  brush.endShape(true);
  for (let k = 0; k < 16; k++) speck(random(['#f6a821', '#e8751f', '#ffd766']), 370 + k * 5 + random(-3, 3), 236 - k * 1.7 + (k % 2 ? 1 : -1) * random(9, 17), 5);
  for (let k = 0; k < 5; k++) speck('#b3183a', 462 + 13 * cos(k * 45 - 90), 208 + 13 * sin(k * 45 - 90), 5);
}
