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

function draw() {
  translate(-width / 2, -height / 2);
  background('#f7f1e6');
  randomSeed(51);
  brush.noStroke();
  brush.fillBleed(0.3);
  brush.fillTexture(0.45, 0.3);
  for (let k = 0; k < 5; k++) {
    const t = k * 72 - 90, at = (r, a) => [310 + r * cos(t + a), 300 + r * sin(t + a)];
    wash('#f4a880', 225, [at(60, -6), at(160, -40), at(236, -24), at(220, -3)], 0.1);
    wash('#ea8f72', 225, [at(64, 6), at(160, 36), at(230, 24), at(226, 2)], 0.1);
    if (k % 2) wash('#c46a5a', 150, [at(60, 0), at(120, 12), at(100, -14)], 0.1);
  }
  brush.fill('#8a3540', 200);
  brush.circle(310, 300, 40, 0.8);
  brush.fill('#d8a34a', 220);
  for (let k = 0; k < 6; k++) brush.circle(330 + k * 14, 286 - k * 6, 8, 0.5);
  wash('#8a9f70', 160, [[120, 520], [230, 470], [300, 520], [200, 560]], 0.2);
}
