async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function blossom(x, y, s, turn, hues, lean) {
  push();
  translate(x, y);
  rotate(turn);
  brush.fillBleed(0.2);
  brush.fillTexture(0.35, 0.55);
  for (let k = 0; k < 5; k++) {
    push();
    rotate(k * 72 + random(-7, 7));
    for (const [hex, l, w, op] of [[hues[0], 1, 0.56, 215], [hues[1], 0.66, 0.3, 180]]) {
      brush.fill(hex, op);
      brush.beginShape(0.4);
      for (let i = 0; i < 14; i++) {
        const t = (i / 14) * 360, u = 0.5 - 0.5 * cos(t), r = 1 + 0.07 * u * sin(4 * t + k * 50);
        brush.vertex(s * l * u * r, s * w * sin(t) * pow(u, 0.6) * r);
      }
      brush.endShape(true);
    }
    pop();
  }
  brush.fillBleed(0.3);
  brush.fill(hues[2], 225);
  brush.circle(0, 0, s * 0.2, 0.4);
  brush.fillBleed(0.05);
  for (let k = 0; k < 6; k++) {
    brush.fill('#f2b233', 255);
    const r = s * (0.2 + k * 0.09);
    brush.beginShape(0);
    for (let a = 0; a < 360; a += 60) brush.vertex(r * cos(lean) + (k % 2 ? 4 : -4) + 4.4 * cos(a), r * sin(lean) + (k % 2 ? -4 : 4) + 4.4 * sin(a));
    brush.endShape(true);
  }
  pop();
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
  background('#faf7f1');
  randomSeed(16);
  brush.noStroke();
  brush.fillBleed(0.1);
  brush.fillTexture(0.5, 0.5);
  ribbon('#7b6a4e', 215, [60, 600], [220, 400], [560, 60], 7, 3);
  ribbon('#7b6a4e', 210, [190, 452], [160, 330], [190, 220], 4, 2);
  ribbon('#7b6a4e', 210, [330, 306], [430, 330], [470, 400], 4, 2);
  for (const [x, y, t, l] of [[120, 530, 20, 100], [210, 440, 190, 90], [270, 370, 60, 96], [400, 230, 210, 84], [470, 150, 30, 90], [180, 300, 150, 76], [420, 336, 110, 80]]) leaf(x, y, t, l, l * 0.32, '#98b06c', '#527f58');
  const hues = ['#f7a8b8', '#e4668c', '#8f1440'];
  blossom(196, 196, 76, 10, hues, -40);
  blossom(478, 424, 82, 40, hues, 30);
  blossom(330, 300, 96, -20, ['#f9b9b4', '#ee7a86', '#981540'], -70);
  blossom(520, 112, 62, 60, hues, 100);
  brush.fillBleed(0.15);
  ribbon('#7b9a58', 215, [240, 398], [280, 420], [300, 466], 3, 2);
  ribbon('#7b9a58', 215, [142, 506], [110, 480], [100, 440], 3, 2);
  brush.fillBleed(0.2);
  for (const [x, y, t] of [[302, 464, 66], [98, 442, -106]]) {
    push();
    translate(x, y);
    rotate(t);
    for (const [hex, l, w] of [['#e4668c', 56, 14], ['#7b9a58', 24, 13]]) {
      brush.fill(hex, 225);
      brush.beginShape(0.4);
      for (const [u, v] of [[0, 0], [0.3, 1], [0.7, 0.8], [1, 0], [0.7, -0.7], [0.3, -1]]) brush.vertex(l * u, w * v);
      brush.endShape(true);
    }
    pop();
  }
}
