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

function draw() {
  translate(-width / 2, -height / 2);
  background('#f9f5ea');
  randomSeed(23);
  brush.noStroke();
  const trumpet = (x, y, s, turn, a, b, c) => {
    push();
    translate(x, y);
    rotate(turn);
    scale(s);
    brush.fillBleed(0.2);
    brush.fillTexture(0.4, 0.55);
    wash(a, 205, [[0, 0], [-40, -90], [-120, -150], [-110, -206], [-50, -214], [-10, -150]]);
    wash(a, 205, [[0, 0], [40, -90], [126, -140], [120, -200], [60, -216], [12, -150]]);
    wash(b, 200, [[0, 4], [-34, -80], [-46, -170], [-4, -232], [44, -176], [30, -80]]);
    wash(b, 170, [[0, 0], [-70, -70], [-166, -96], [-176, -60], [-120, -26], [-50, -10]]);
    wash(b, 170, [[0, 0], [70, -66], [160, -84], [174, -48], [116, -20], [50, -8]]);
    brush.fillTexture(0.5, 0.2);
    wash(c, 170, [[0, 0], [-22, -70], [-16, -130], [4, -80], [18, -124], [20, -66]]);
    brush.fillBleed(0.12);
    wash('#7f9d55', 230, [[-24, -34], [-12, -20], [0, -44], [12, -20], [26, -34], [18, 20], [-16, 20]], 0.2);
    brush.fillBleed(0.05);
    ribbon('#f9d9b8', 255, [2, -60], [10, -220], [34, -300], 6, 5);
    for (let k = 0; k < 12; k++) speck(random(['#f3b231', '#e8921f']), 12 + k * 1.6 + (k % 2 ? 13 : -13), -226 - k * 5.4, 5);
    pop();
  };
  brush.fillBleed(0.1);
  brush.fillTexture(0.5, 0.5);
  ribbon('#5f7f4e', 220, [214, 330], [230, 470], [300, 604], 5, 7);
  ribbon('#5f7f4e', 220, [430, 420], [380, 500], [306, 604], 5, 7);
  wash('#8fae68', 200, [[250, 500], [190, 470], [110, 480], [60, 530], [120, 560], [200, 546]]);
  wash('#4f7f55', 180, [[250, 502], [180, 508], [62, 532], [122, 562], [202, 548]]);
  wash('#a3b86e', 200, [[390, 500], [450, 490], [540, 520], [570, 560], [480, 570], [420, 540]]);
  trumpet(212, 320, 1, -18, '#f8a27e', '#ee6f58', '#b3243f');
  trumpet(434, 412, 0.78, 26, '#f9bb84', '#f28a56', '#b3243f');
}
