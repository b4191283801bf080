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
  background('#f7f4ee');
  randomSeed(44);
  brush.noStroke();
  brush.fillBleed(0.1);
  brush.fillTexture(0.5, 0.5);
  ribbon('#5d7a50', 225, [210, 604], [240, 420], [296, 330], 8, 5);
  ribbon('#5d7a50', 215, [232, 470], [330, 440], [420, 470], 4, 3);
  leaf(226, 500, 200, 150, 50, '#8aa768', '#3f6f52');
  leaf(250, 420, 130, 110, 38, '#9fb574', '#557f58');
  leaf(330, 448, 60, 120, 40, '#8aa768', '#4a7655');
  brush.fillBleed(0.18);
  brush.fillTexture(0.4, 0.55);
  wash('#f08a78', 205, [[296, 326], [254, 250], [250, 160], [290, 110], [330, 150], [340, 240]]);
  wash('#e2564f', 210, [[300, 330], [292, 240], [330, 150], [390, 96], [420, 130], [404, 210], [350, 296]]);
  wash('#d5333f', 215, [[302, 332], [336, 250], [410, 196], [472, 190], [474, 232], [420, 290], [350, 328]]);
  wash('#a3122f', 180, [[302, 330], [320, 250], [374, 166], [384, 200], [350, 270]]);
  wash('#a3122f', 160, [[304, 332], [360, 278], [440, 232], [420, 268], [356, 316]]);
  brush.fillBleed(0.12);
  wash('#7f9d55', 230, [[276, 352], [262, 310], [280, 280], [296, 308], [318, 282], [330, 312], [352, 316], [326, 352]], 0.2);
  brush.fillBleed(0.18);
  wash('#d5333f', 220, [[418, 474], [430, 520], [456, 552], [476, 530], [470, 486], [446, 466]]);
  wash('#7f9d55', 230, [[410, 476], [420, 506], [438, 494], [452, 512], [458, 484], [440, 460]], 0.2);
  brush.fillBleed(0.05);
  ribbon('#f7cdb4', 255, [340, 262], [420, 150], [516, 96], 6, 5);
  for (let k = 0; k < 13; k++) speck(random(['#f3b231', '#f8d060']), 424 + k * 6.6, 144 - k * 3.3 + (k % 2 ? 14 : -13), 5);
  for (let k = 0; k < 5; k++) speck('#860c30', 528 + 14 * cos(k * 44 - 110), 92 + 14 * sin(k * 44 - 110), 5.4);
}
