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

function speck(hex, x, y, r) {
  brush.fill(hex, 255);
  brush.beginShape(0);
  for (let a = 0; a < 360; a += 52) brush.vertex(x + r * cos(a), y + r * sin(a));
  brush.endShape(true);
}

function draw() {
  translate(-width / 2, -height / 2);
  background('#fbf7f0');
  randomSeed(33);
  brush.noStroke();
  const hx = 310, hy = 268;
  const at = (r, a) => [hx + r * cos(a), hy + r * sin(a)];
  brush.fillBleed(0.12);
  brush.fillTexture(0.4, 0.6);
  for (const [t, s] of [[-98, 1], [-24, 1.04], [46, 0.94], [118, 1], [190, 1.02]]) {
    const cells = [[-31, -17], [-15, -5], [-3, 8], [10, 20], [22, 32]];
    cells.forEach(([a, b], i) => {
      const far = s * [170, 206, 216, 204, 172][i], near = 44;
      wash(['#f0706a', '#e5474f', '#d92c42', '#e85a58', '#f58b7c'][i], 220, [at(near + 8, t + a + 4), at(far * 0.55, t + a), at(far * 0.92, t + a + 1), at(far + random(-6, 10), t + (a + b) / 2), at(far * 0.92, t + b - 1), at(far * 0.55, t + b), at(near + 8, t + b - 4)], 0.3);
    });
    brush.fillBleed(0.25);
    wash('#860c30', 220, [at(10, t), at(46, t - 20), at(92, t - 4), at(84, t + 6), at(46, t + 20)], 0.5);
    brush.fillBleed(0.12);
  }
  wash('#7c9c5e', 210, [[300, 486], [350, 452], [430, 458], [486, 500], [420, 520], [350, 512]]);
  wash('#5a8058', 210, [[292, 480], [318, 520], [324, 604], [312, 604], [304, 530]], 0.2);
  brush.fillBleed(0.05);
  wash('#f7c9a8', 255, [[hx, hy - 6], [250, 222], [190, 204], [186, 214], [246, 238], [hx, hy + 8]], 0);
  for (let k = 0; k < 14; k++) speck(random(['#f3b231', '#f8d060']), 262 - k * 4.8, 232 - k * 2.1 + (k % 2 ? 14 : -13), 5.2);
  for (let k = 0; k < 5; k++) speck('#860c30', 176 + 14 * cos(k * 44 + 110), 204 + 14 * sin(k * 44 + 110), 5.4);
}
