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
  background('#ece6dc');
  noiseSeed(3);
  brush.noStroke();
  brush.fillBleed(0.25);
  brush.fillTexture(0.25, 0.4);
  for (let i = 0; i < 4; i++) puddle(['#5f6b4a', '#6b5a4f'][i % 2], 220, 60 + (i % 2) * 480, 60 + floor(i / 2) * 480, 130, 100, i * 45, 0.4);
  for (let k = 0; k < 5; k++) {
    const t = k * 72 - 90;
    puddle('#a886b0', 240, 300 + 130 * cos(t), 300 + 130 * sin(t), 130, 84, t, 0.3);
    puddle('#8a6a58', 180, 300 + 120 * cos(t + 20), 300 + 120 * sin(t + 20), 90, 44, t, 0.4);
    puddle('#6f4a86', 200, 300 + 80 * cos(t), 300 + 80 * sin(t), 80, 36, t, 0.4);
  }
  puddle('#3d2440', 235, 300, 300, 50, 44, 0, 0.3);
  brush.fill('#c9a63e', 250);
  for (let k = 0; k < 7; k++) brush.circle(314 + k * 11, 290 - k * 12, 10, 0.4);
}
