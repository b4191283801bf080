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
  background('#f9f6ec');
  randomSeed(28);
  brush.noStroke();
  brush.fillBleed(0.1);
  brush.fillTexture(0.5, 0.5);
  ribbon('#6f8a54', 220, [300, -10], [250, 200], [330, 420], 5, 3);
  ribbon('#6f8a54', 215, [284, 110], [200, 130], [164, 196], 4, 2);
  leaf(290, 40, 20, 150, 46, '#a3b86e', '#5d8a5a');
  leaf(282, 90, 160, 140, 44, '#8fae68', '#3f7353');
  leaf(274, 210, 30, 130, 40, '#b0be78', '#6f9458');
  leaf(284, 270, 150, 110, 34, '#8fae68', '#467a56');
  blossom(160, 214, 104, 20, ['#fbbf7e', '#f2874f', '#a3203a'], 50);
  blossom(392, 290, 92, -30, ['#f9d27e', '#f2a04a', '#a3203a'], 140);
  blossom(322, 464, 122, 5, ['#f7a98a', '#e8654f', '#8a1434'], 60);
}
