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
  translate(-300, -300);
  background('#f4f1e8');
  noiseSeed(21);
  brush.noStroke();
  brush.fillBleed(0.42);
  brush.fillTexture(0.45, 0.15);
  for (const [x, y, t] of [[200, 240, 200], [300, 180, -60], [420, 450, 60], [460, 400, 10]]) puddle('#8d8fa0', 170, x, y, 78, 28, t, 0.4);
  brush.fillBleed(0.3);
  puddle('#4a4d60', 220, 216, 190, 60, 50, 40, 0.2);
  puddle('#3e4155', 220, 280, 254, 74, 54, 46, 0.25);
  puddle('#4a4d60', 215, 346, 330, 66, 38, 50, 0.3);
  puddle('#5c5f73', 210, 392, 396, 48, 22, 54, 0.3);
  brush.fillBleed(0.5);
  puddle('#d99a36', 210, 250, 222, 44, 22, 40, 0.4);
  puddle('#e0a94a', 200, 336, 312, 36, 16, 50, 0.4);
  brush.fillBleed(0.1);
  puddle('#e8c268', 250, 190, 196, 7, 6, 0, 0.1);
  puddle('#e8c268', 250, 226, 158, 7, 6, 0, 0.1);
}
