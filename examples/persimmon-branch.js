// A persimmon branch in November: one dry stroke of brown across the sheet, four fruits, three last leaves.
// The branch is painted in short, broken pieces, and most of the paper is left alone.
async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function wash(colour, opacity, points, curve = 0.4) {
  brush.fill(colour, opacity);
  brush.beginShape(curve);
  for (const [x, y] of points) brush.vertex(x, y);
  brush.endShape(true);
}

// A twig through points, thick to thin, with knots where it changes its mind.
function twig(points, w0, w1) {
  const left = [], right = [];
  points.forEach(([x, y], i) => {
    const [px, py] = points[max(i - 1, 0)], [nx, ny] = points[min(i + 1, points.length - 1)];
    const a = atan2(ny - py, nx - px), w = lerp(w0, w1, i / (points.length - 1)) * random(0.75, 1.3);
    left.push([x - w * sin(a), y + w * cos(a)]);
    right.unshift([x + w * sin(a), y - w * cos(a)]);
  });
  wash(random(['#54423a', '#63503f', '#4a3d3c']), 225, left.concat(right), 0.2);
}

function persimmon(x, y, s, turn) {
  push();
  translate(x, y);
  rotate(turn);
  // A squat body: light first, then the two cheeks, a gleam left between them.
  brush.fillBleed(0.18);
  brush.fillTexture(0.4, 0.6);
  const body = [];
  for (let a = 0; a < 360; a += 24) body.push([s * cos(a) * (1 + 0.05 * cos(a * 4)), s * 0.84 * sin(a)]);
  wash('#f7a04b', 230, body);
  brush.fillBleed(0.28);
  brush.fillTexture(0.5, 0.1);
  wash('#e5622c', 210, [[s * 0.2, -s * 0.6], [s * 0.75, -s * 0.45], [s * 0.92, s * 0.08], [s * 0.66, s * 0.58], [s * 0.1, s * 0.78], [s * 0.42, s * 0.2]]);
  wash('#ee7a35', 150, [[-s * 0.94, -s * 0.1], [-s * 0.6, -s * 0.5], [-s * 0.46, s * 0.1], [-s * 0.1, s * 0.76], [-s * 0.66, s * 0.6]]);
  // The calyx: four grey-green flaps.
  brush.fillBleed(0.12);
  brush.fillTexture(0.5, 0.5);
  for (const a of [-150, -105, -70, -28])
    wash('#7b8a57', 230, [[0, -s * 0.66], [s * 0.34 * cos(a - 26), -s * 0.66 + s * 0.26 * sin(a - 26)], [s * 0.66 * cos(a), -s * 0.62 + s * 0.34 * sin(a) + s * 0.1], [s * 0.34 * cos(a + 26), -s * 0.62 + s * 0.26 * sin(a + 26)]]);
  pop();
}

function leaf(x, y, turn, len, a, b) {
  push();
  translate(x, y);
  rotate(turn);
  brush.fillBleed(0.22);
  brush.fillTexture(0.6, 0.4);
  wash(a, 200, [[0, 0], [len * 0.25, -len * 0.2], [len * 0.6, -len * 0.24], [len, 0], [len * 0.7, len * 0.2], [len * 0.3, len * 0.18]]);
  wash(b, 180, [[0, 0], [len * 0.4, 2], [len, 0], [len * 0.7, len * 0.2], [len * 0.3, len * 0.18]]);
  pop();
}

function draw() {
  translate(-300, -258);
  background('#f6f1e7');
  randomSeed(21);
  brush.noStroke();

  // A stain of cold air behind the fruit.
  brush.fillBleed(0.4);
  brush.fillTexture(0.7, 0);
  wash('#b9c8cf', 110, [[300, 130], [430, 120], [540, 220], [520, 360], [400, 420], [270, 370], [230, 240]], 0.6);

  leaf(356, 196, 28, 130, '#d9a24a', '#b4573a');
  leaf(196, 150, -118, 96, '#c3a95a', '#8f6b3a');
  leaf(508, 300, 62, 112, '#c9603f', '#8a3a3c');

  brush.fillBleed(0.1);
  brush.fillTexture(0.6, 0.5);
  twig([[-8, 60], [60, 92], [120, 112], [176, 138]], 12, 9);
  twig([[184, 142], [236, 156], [292, 168], [340, 188]], 9, 7);
  twig([[348, 190], [400, 214], [452, 250], [500, 292]], 6, 4);
  twig([[500, 294], [530, 336], [546, 384]], 4, 2);
  twig([[232, 158], [250, 210], [254, 258]], 4, 3);
  twig([[404, 218], [412, 262], [408, 300]], 4, 3);
  twig([[120, 112], [122, 160], [112, 196]], 4, 3);
  twig([[300, 166], [340, 128], [392, 106], [424, 72]], 4, 2);

  persimmon(256, 318, 66, -4);
  persimmon(404, 366, 72, 5);
  persimmon(110, 240, 50, 8);
  persimmon(544, 426, 46, -6);
}
