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
  background('#faf7f0');
  randomSeed(12);
  brush.noStroke();
  brush.fillBleed(0.1);
  brush.fillTexture(0.55, 0.4);
  sweep('#5d7a52', 225, [420, 190], [360, 380], [392, 600], 6);
  sweep('#7f9a62', 210, [384, 420], [300, 400], [226, 452], 20);
  sweep('#56764f', 200, [382, 424], [310, 424], [228, 454], 8);
  sweep('#7f9a62', 205, [380, 500], [450, 470], [522, 520], 18);
  sweep('#5d7a52', 215, [378, 360], [440, 330], [470, 286], 4);
  brush.fillBleed(0.2);
  sweep('#dd5c86', 220, [468, 288], [496, 250], [500, 206], 17);
  sweep('#7f9a62', 220, [466, 292], [476, 268], [484, 246], 10);
  brush.fillBleed(0.24);
  brush.fillTexture(0.4, 0.4);
  const hx = 402, hy = 180;
  for (const [t, l, w] of [[-148, 190, 40], [-100, 150, 38], [-196, 170, 36], [-52, 126, 32], [120, 110, 30]]) {
    sweep('#f29ab4', 210, [hx, hy], [hx + l * 0.6 * cos(t - 12), hy + l * 0.6 * sin(t - 12)], [hx + l * cos(t), hy + l * sin(t)], w);
    sweep('#db4f7c', 170, [hx, hy], [hx + l * 0.4 * cos(t + 14), hy + l * 0.4 * sin(t + 14)], [hx + l * 0.8 * cos(t + 6), hy + l * 0.8 * sin(t + 6)], w * 0.36);
  }
  sweep('#8f1338', 225, [hx + 8, hy + 4], [hx - 20, hy], [hx - 54, hy - 20], 12);
  brush.fillBleed(0.05);
  sweep('#f3c9a6', 255, [hx - 20, hy - 4], [300, 170], [216, 226], 6);
  for (let k = 0; k < 11; k++) speck(random(['#f0b02f', '#e58a1f']), 300 - k * 7.4, 182 + k * 3.6 + (k % 2 ? 13 : -11), 4.8);
}
