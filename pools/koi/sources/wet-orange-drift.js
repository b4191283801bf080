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
  background('#f8f6f0');
  noiseSeed(3);
  brush.noStroke();
  brush.fillBleed(0.4);
  brush.fillTexture(0.4, 0.2);
  puddle('#f7b98e', 160, 250, 330, 88, 34, 150, 0.4);
  puddle('#f7b98e', 160, 400, 180, 80, 30, -70, 0.4);
  puddle('#f5a57a', 160, 160, 470, 92, 30, 120, 0.5);
  puddle('#f5a57a', 150, 120, 420, 84, 26, 170, 0.5);
  brush.fillBleed(0.28);
  puddle('#f2884c', 215, 400, 220, 66, 50, -40, 0.2);
  puddle('#ef7440', 205, 330, 276, 78, 52, -44, 0.25);
  puddle('#f08a50', 200, 256, 350, 68, 36, -50, 0.3);
  puddle('#ef7440', 190, 204, 414, 54, 20, -52, 0.3);
  brush.fillBleed(0.45);
  puddle('#c73a2a', 180, 372, 236, 40, 24, -40, 0.4);
  puddle('#c73a2a', 170, 276, 318, 38, 20, -50, 0.4);
  brush.fillBleed(0.1);
  puddle('#2d2a33', 240, 430, 218, 7, 6, 0, 0.1);
  puddle('#2d2a33', 240, 398, 180, 7, 6, 0, 0.1);
}
