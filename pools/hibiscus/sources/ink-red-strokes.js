async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function sweep(hex, opacity, [ax, ay], [bx, by], [cx, cy], w) {
  const left = [], right = [];
  for (let i = 0; i <= 8; i++) {
    const t = i / 8, u = 1 - t;
    const x = u * u * ax + 2 * u * t * bx + t * t * cx, y = u * u * ay + 2 * u * t * by + t * t * cy;
    const a = atan2(u * (by - ay) + t * (cy - by), u * (bx - ax) + t * (cx - bx)), h = 0.8 + w * pow(sin(t * 180), 0.8);
    left.push([x - h * sin(a), y + h * cos(a)]);
    right.unshift([x + h * sin(a), y - h * cos(a)]);
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
  background('#f8f4ea');
  randomSeed(5);
  brush.noStroke();
  brush.fillBleed(0.12);
  brush.fillTexture(0.6, 0.3);
  const hx = 340, hy = 240;
  for (const t of [-112, -40, 30, 100, 172]) {
    const p = (r, s) => [hx + r * cos(t + s), hy + r * sin(t + s)];
    sweep('#d7263d', 215, p(6, -8), p(120, -44), p(182, -12), 16);
    sweep('#e5544f', 200, p(8, 10), p(120, 42), p(176, 10), 20);
    sweep('#b3142f', 190, p(24, 0), p(90, 6), p(140, 2), 7);
    sweep('#6f0a26', 220, p(0, 0), p(36, 6), p(76, 0), 9);
  }
  brush.fillBleed(0.06);
  sweep('#4b5f45', 225, [322, 330], [300, 440], [214, 584], 7);
  sweep('#5e7a50', 210, [296, 430], [220, 400], [136, 440], 17);
  sweep('#5e7a50', 200, [264, 510], [330, 470], [398, 506], 15);
  sweep('#3a1420', 230, [hx, hy], [398, 214], [470, 124], 4);
  for (let k = 0; k < 9; k++) speck('#d99a1f', 410 + k * 7, 196 - k * 9 + (k % 2 ? 12 : -10), 4.6);
  for (let k = 0; k < 4; k++) speck('#3a1420', 474 + 12 * cos(k * 50 - 120), 114 + 12 * sin(k * 50 - 120), 4.6);
}
