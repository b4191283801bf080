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
  background('#efece2');
  noiseSeed(5);
  brush.noStroke();
  brush.fillBleed(0.45);
  brush.fillTexture(0.6, 0.2);
  puddle('#7f9a8c', 180, 300, 300, 210, 150, 20, 0.4);
  puddle('#a87f5c', 190, 250, 280, 90, 50, 20, 0.4);
  puddle('#c07a4c', 180, 330, 310, 80, 46, 20, 0.4);
  puddle('#8f6a52', 170, 410, 340, 60, 26, 20, 0.4);
  puddle('#a87f5c', 150, 270, 350, 60, 20, 90, 0.4);
  brush.fill('#3a3a3a', 230);
  brush.circle(190, 260, 9, 0.3);
}
