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
  background('#f7f1e8');
  randomSeed(77);
  noiseSeed(8);
  brush.noStroke();
  brush.fillTexture(0.3, 0.3);
  for (let pass = 0; pass < 3; pass++) {
    brush.fillBleed(0.45 - pass * 0.1);
    for (let k = 0; k < 5; k++) {
      const t = k * 72 - 70 + pass * 18, r = 130 - pass * 24;
      puddle(['#f2a07c', '#cf6a55', '#8a5a5e'][pass], 210, 300 + r * cos(t), 300 + r * sin(t), 130 - pass * 26, 110 - pass * 30, t, 0.5);
    }
  }
  puddle('#6b8a5a', 200, 130, 500, 110, 50, -20, 0.4);
  puddle('#6b8a5a', 200, 480, 510, 100, 46, 25, 0.4);
  puddle('#5a2030', 230, 300, 300, 50, 44, 0, 0.4);
  brush.fillBleed(0.1);
  brush.fill('#d8a83a', 250);
  for (let k = 0; k < 8; k++) brush.circle(312 + k * 12, 296 + k * 5 + (k % 2) * 12, 9, 0.4);
}
