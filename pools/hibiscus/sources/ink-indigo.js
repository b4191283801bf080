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
  background('#f5f2ea');
  brush.noStroke();
  const hx = 262, hy = 250;
  brush.fillBleed(0.3);
  brush.fillTexture(0.6, 0.1);
  for (const t of [-100, -28, 44, 116, 188]) {
    const p = (r, s) => [hx + r * cos(t + s), hy + r * sin(t + s)];
    sweep('#aab4c8', 170, p(60, 20), p(150, 34), p(196, 4), 34);
  }
  brush.fillBleed(0.07);
  brush.fillTexture(0.5, 0.3);
  for (const t of [-100, -28, 44, 116, 188]) {
    const p = (r, s) => [hx + r * cos(t + s), hy + r * sin(t + s)];
    sweep('#2f3a5c', 215, p(30, -14), p(150, -46), p(204, -14), 6);
    sweep('#2f3a5c', 205, p(200, -12), p(226, 8), p(190, 26), 5);
    sweep('#46527a', 190, p(186, 26), p(120, 38), p(40, 16), 4);
  }
  sweep('#2a3350', 225, [284, 380], [330, 470], [318, 596], 6);
  sweep('#36456b', 210, [322, 486], [400, 430], [494, 470], 22);
  sweep('#36456b', 200, [326, 540], [250, 500], [176, 540], 15);
  brush.fillBleed(0.3);
  for (const t of [-100, -28, 44, 116, 188]) sweep('#b3142f', 220, [hx + 4 * cos(t), hy + 4 * sin(t)], [hx + 40 * cos(t + 6), hy + 40 * sin(t + 6)], [hx + 82 * cos(t), hy + 82 * sin(t)], 11);
  brush.fillBleed(0.05);
  sweep('#8f0f2c', 235, [hx, hy], [306, 196], [388, 176], 5);
  for (let k = 0; k < 10; k++) speck('#e0a52a', 316 + k * 7, 200 - k * 3 + (k % 2 ? 12 : -12), 4.6);
}
