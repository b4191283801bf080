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
  background('#f7f3e8');
  brush.noStroke();
  brush.fillBleed(0.12);
  brush.fillTexture(0.6, 0.3);
  sweep('#3a3d4a', 215, [180, 150], [390, 150], [400, 390], 34);
  sweep('#e2552f', 215, [204, 166], [360, 176], [388, 330], 15);
  sweep('#3a3d4a', 205, [396, 380], [400, 450], [330, 520], 15);
  sweep('#3a3d4a', 200, [400, 380], [440, 440], [470, 510], 14);
  sweep('#6d7180', 190, [270, 180], [240, 240], [176, 266], 13);
  sweep('#6d7180', 190, [300, 150], [350, 90], [420, 84], 13);
  sweep('#6d7180', 180, [390, 300], [350, 330], [312, 344], 8);
  brush.fillBleed(0.06);
  sweep('#3a3d4a', 210, [184, 148], [160, 140], [140, 150], 2);
  sweep('#3a3d4a', 210, [182, 156], [162, 164], [150, 180], 2);
  for (const [y, l] of [[500, 90], [536, 140], [566, 80]]) sweep('#8fa3ad', 170, [200 - l, y], [200, y - 16], [200 + l, y], 3.4);
  speck('#e9e3d2', 204, 146, 4.6);
}
