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
  translate(-300, -300);
  background('#f6f4ea');
  brush.noStroke();
  brush.fillBleed(0.2);
  brush.fillTexture(0.5, 0.3);
  for (const [x, y, r, hex] of [[440, 160, 74, '#7fa07a'], [516, 260, 48, '#94b083'], [110, 480, 62, '#6d947a']]) {
    brush.fill(hex, 205);
    brush.beginShape(0.4);
    for (let a = 24; a < 340; a += 26) brush.vertex(x + r * cos(a - 60), y + r * 0.8 * sin(a - 60));
    brush.vertex(x, y);
    brush.endShape(true);
  }
  brush.fillBleed(0.12);
  sweep('#e9b7a0', 225, [140, 210], [260, 240], [400, 430], 40);
  sweep('#d9402f', 220, [156, 208], [210, 216], [266, 268], 26);
  sweep('#d9402f', 210, [296, 292], [330, 320], [368, 372], 17);
  sweep('#e9b7a0', 190, [392, 420], [430, 480], [420, 550], 16);
  sweep('#e9b7a0', 190, [396, 420], [450, 440], [510, 430], 14);
  sweep('#efcbb8', 190, [240, 280], [200, 320], [196, 370], 13);
  sweep('#efcbb8', 190, [276, 236], [330, 220], [372, 190], 13);
  brush.fillBleed(0.05);
  speck('#2d2a33', 158, 226, 5);
  speck('#2d2a33', 170, 192, 5);
  sweep('#d9402f', 220, [516, 254], [520, 226], [508, 202], 9);
  sweep('#e77f78', 210, [516, 254], [540, 230], [544, 208], 9);
  sweep('#e77f78', 210, [514, 256], [492, 236], [482, 214], 9);
}
