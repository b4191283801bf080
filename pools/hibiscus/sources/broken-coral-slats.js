async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function wash(hex, opacity, points, curve = 0.4) {
  brush.fill(hex, opacity);
  brush.beginShape(curve);
  for (const [x, y] of points) brush.vertex(x, y);
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
  background('#faf6ee');
  randomSeed(7);
  brush.noStroke();
  brush.fillBleed(0.07);
  brush.fillTexture(0.45, 0.6);
  const hx = 296, hy = 288;
  const at = (r, a) => [hx + r * cos(a), hy + r * sin(a)];
  for (const t of [-90, -18, 54, 126, 198]) {
    for (let k = -3; k <= 3; k++) {
      const a = t + k * 9.4, far = 216 - k * k * 7 + random(-12, 12), near = 62 + abs(k) * 6 + random(-6, 6);
      wash(random(['#f58f74', '#f4a582', '#ee6f63', '#f7b79c']), 215, [at(near, a - 2.4), at((near + far) / 2, a - 4.1), at(far - 10, a - 3.9), at(far, a), at(far - 12, a + 3.9), at((near + far) / 2, a + 4.1), at(near, a + 2.4)], 0.2);
    }
    for (const k of [-1, 0, 1]) wash('#a8173a', 220, [at(14, t + k * 16), at(40, t + k * 14 - 5), at(66 - abs(k) * 12, t + k * 13), at(40, t + k * 14 + 6)], 0.3);
  }
  wash('#6f9460', 215, [at(226, 86), at(270, 74), at(330, 74), at(290, 84)], 0.3);
  wash('#4d7a58', 215, [at(232, 92), at(276, 98), at(326, 94), at(286, 88)], 0.3);
  for (let k = 0; k < 12; k++) speck(random(['#f3b231', '#e8871f']), hx + 10 + k * 6 + (k % 2 ? 8 : -8), hy - 12 - k * 6 + (k % 2 ? 8 : -8), 5.4);
}
