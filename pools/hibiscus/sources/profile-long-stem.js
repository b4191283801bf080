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

function leaf(x, y, turn, len, wid, light, dark) {
  push();
  translate(x, y);
  rotate(turn);
  for (const [hex, opacity, lower] of [[light, 200, -1], [dark, 185, 0]]) {
    brush.fill(hex, opacity);
    brush.beginShape(0.3);
    for (let i = 0; i <= 9; i++) brush.vertex((len * i) / 9, wid * sin(i * 20) * (1 - i * 0.045) + (i % 2) * 3);
    for (let i = 8; i > 0; i--) brush.vertex((len * i) / 9, lower * wid * sin(i * 20) * 0.8 + 2 * sin(i * 40));
    brush.endShape(true);
  }
  pop();
}

function draw() {
  translate(-width / 2, -height / 2);
  background('#fbf8f2');
  randomSeed(19);
  brush.noStroke();
  brush.fillBleed(0.1);
  brush.fillTexture(0.5, 0.5);
  ribbon('#66854f', 225, [356, 246], [420, 420], [330, 604], 5, 8);
  ribbon('#66854f', 215, [392, 400], [460, 360], [482, 296], 4, 3);
  leaf(380, 440, 168, 170, 52, '#9bb36c', '#557f55');
  leaf(372, 500, 18, 150, 46, '#86a862', '#3f7150');
  brush.fillBleed(0.22);
  brush.fillTexture(0.4, 0.55);
  wash('#f8cdd2', 210, [[350, 236], [290, 150], [282, 70], [330, 40], [380, 64], [392, 130], [372, 210]]);
  wash('#f5b3bf', 205, [[346, 238], [250, 190], [176, 110], [186, 70], [226, 62], [290, 104], [344, 190]]);
  wash('#f2a0b0', 205, [[346, 244], [240, 236], [130, 214], [96, 176], [120, 140], [190, 146], [290, 196]]);
  wash('#f7c3c6', 205, [[346, 250], [260, 286], [160, 310], [116, 286], [122, 246], [210, 226], [310, 232]]);
  wash('#f4adb8', 200, [[360, 240], [404, 170], [446, 120], [480, 140], [474, 190], [420, 230]]);
  brush.fillTexture(0.5, 0.2);
  wash('#cf3d6a', 170, [[346, 240], [270, 214], [200, 180], [250, 180], [310, 206]]);
  wash('#cf3d6a', 160, [[348, 236], [306, 160], [300, 110], [330, 150], [356, 210]]);
  wash('#c22f5c', 160, [[346, 246], [270, 260], [200, 276], [240, 248], [310, 238]]);
  brush.fillBleed(0.12);
  wash('#86a45f', 230, [[344, 218], [372, 210], [386, 240], [376, 276], [350, 280], [334, 252]]);
  wash('#4d7850', 190, [[372, 214], [386, 240], [376, 276], [356, 280], [366, 246]]);
  wash('#e2668c', 225, [[478, 300], [462, 262], [474, 216], [494, 196], [506, 240], [496, 286]]);
  wash('#86a45f', 230, [[480, 306], [464, 278], [476, 262], [488, 276], [500, 264], [498, 296]]);
  brush.fillBleed(0.05);
  ribbon('#f9dcc0', 255, [326, 236], [210, 220], [70, 250], 6, 5);
  for (let k = 0; k < 16; k++) speck(random(['#f3b231', '#e8921f', '#f8d060']), 196 - k * 7, 228 + k * 1.1 + (k % 2 ? 14 : -13) + random(-3, 3), 5);
  for (let k = 0; k < 5; k++) speck('#b3183a', 56 + 14 * cos(k * 44 + 90), 254 + 14 * sin(k * 44 + 90), 5.4);
}
