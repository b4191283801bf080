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

function draw() {
  translate(-300, -300);
  background('#f6f3ea');
  brush.noStroke();
  brush.fillBleed(0.1);
  brush.fillTexture(0.8, 0.2);
  sweep('#5a5d68', 180, [420, 120], [340, 140], [300, 220], 14);
  sweep('#5a5d68', 160, [300, 216], [280, 250], [300, 280], 6);
  sweep('#5a5d68', 160, [300, 216], [260, 230], [240, 260], 6);
  sweep('#8a8d98', 150, [380, 140], [400, 180], [430, 190], 6);
  sweep('#8a8d98', 140, [360, 140], [330, 110], [330, 80], 6);
  for (let k = 0; k < 4; k++) sweep('#b9c2c6', 150, [140 + k * 30, 400 + k * 34], [220 + k * 30, 390 + k * 34], [300 + k * 30, 402 + k * 34], 3);
}
