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
  translate(-width / 2, -height / 2);
  background('#f8f5ef');
  brush.noStroke();
  brush.fillBleed(0.15);
  brush.fillTexture(0.7, 0.2);
  for (let k = 0; k < 5; k++) {
    const t = k * 70 - 60;
    sweep('#e9a7b6', 150, [150, 170], [150 + 70 * cos(t - 30), 170 + 70 * sin(t - 30)], [150 + 120 * cos(t), 170 + 120 * sin(t)], 22);
    sweep('#d87f98', 120, [150, 170], [150 + 50 * cos(t + 20), 170 + 50 * sin(t + 20)], [150 + 90 * cos(t), 170 + 90 * sin(t)], 8);
  }
  sweep('#9bb08c', 160, [160, 260], [200, 420], [300, 580], 6);
  sweep('#9bb08c', 150, [214, 440], [280, 420], [350, 470], 16);
  brush.fill('#b95a74', 180);
  brush.circle(150, 170, 16, 0.3);
  sweep('#d8b45a', 200, [150, 170], [200, 150], [240, 110], 3);
  sweep('#d98aa0', 170, [320, 300], [340, 270], [344, 230], 14);
  sweep('#9bb08c', 150, [222, 452], [290, 390], [322, 300], 3);
}
