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

function draw() {
  translate(-width / 2, -height / 2);
  background('#f9f5ee');
  randomSeed(30);
  brush.noStroke();
  translate(300, 300);
  brush.fillBleed(0.08);
  brush.fillTexture(0.5, 0.6);
  for (let i = 0; i < 9; i++) {
    push();
    rotate(i * 40 + 10);
    translate(120, 0);
    fan(i % 2 ? '#5f8a5a' : '#8aa866', 200, 140 + 20 * (i % 3), 44, 0.04, i * 90);
    pop();
  }
  for (let i = 0; i < 5; i++) {
    push();
    rotate(i * 72 - 90);
    brush.fillTexture(0.3, 0.8);
    fan('#ef6a5e', 225, 186, 104, 0.07, i * 60);
    fan('#dc3a45', 205, 150, 82, 0.08, i * 60 + 25);
    fan('#b3142f', 190, 100, 50, 0.1, i * 60 + 50);
    fan('#5f0a24', 225, 54, 22, 0.1, i * 60);
    brush.fillBleed(0.05);
    for (const k of [-1, 0, 1]) ribbon('#a3122f', 120, [60, k * 12], [100, k * 30], [146, k * 48], 2, 0.8);
    brush.fillBleed(0.08);
    pop();
  }
  brush.fillBleed(0.05);
  ribbon('#f3a08c', 255, [0, 0], [10, -50], [60, -104], 8, 6);
  for (let k = 0; k < 16; k++) speck(random(['#ffd34f', '#f5a623']), 14 + k * 2.8 + (k % 2 ? 1 : -1) * random(9, 16), -40 - k * 4, 5);
  for (let k = 0; k < 5; k++) speck('#7d0d28', 66 + 14 * cos(k * 44 - 130), -116 + 14 * sin(k * 44 - 130), 5.5);
}
