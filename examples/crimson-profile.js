// A crimson hibiscus seen from the side: the petals stream back like cloth, the column flies ahead.
// Two reds only. The warm one is laid first; the cold one goes in where the petals fold under.
async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

// A closed shape through a list of points.
function wash(colour, opacity, points, curve = 0.5) {
  brush.fill(colour, opacity);
  brush.beginShape(curve);
  for (const [x, y] of points) brush.vertex(x, y);
  brush.endShape(true);
}

function ribbon(colour, opacity, a, b, c, w0, w1) {
  const left = [], right = [];
  for (let i = 0; i <= 7; i++) {
    const t = i / 7, u = 1 - t;
    const x = u * u * a[0] + 2 * u * t * b[0] + t * t * c[0];
    const y = u * u * a[1] + 2 * u * t * b[1] + t * t * c[1];
    const turn = atan2(u * (b[1] - a[1]) + t * (c[1] - b[1]), u * (b[0] - a[0]) + t * (c[0] - b[0]));
    const w = lerp(w0, w1, t);
    left.push([x - w * sin(turn), y + w * cos(turn)]);
    right.unshift([x + w * sin(turn), y - w * cos(turn)]);
  }
  wash(colour, opacity, left.concat(right), 0);
}

function draw() {
  translate(-300, -300);
  background('#f8f5ee');
  randomSeed(5);
  brush.noStroke();

  // Stem and leaf, cool and quiet.
  brush.fillBleed(0.1);
  brush.fillTexture(0.5, 0.5);
  ribbon('#5c7d4f', 220, [232, 408], [196, 480], [214, 604], 6, 7);
  wash('#8aa76a', 190, [[206, 520], [150, 470], [92, 462], [40, 492], [72, 536], [130, 556], [180, 546]]);
  wash('#2f6150', 170, [[206, 522], [150, 512], [96, 512], [42, 494], [74, 538], [132, 557], [182, 546]]);
  wash('#9fb676', 180, [[214, 560], [262, 512], [322, 500], [372, 520], [330, 558], [272, 578]]);

  // Back petals.
  brush.fillBleed(0.24);
  brush.fillTexture(0.45, 0.55);
  wash('#ef6d5a', 190, [[250, 372], [180, 300], [116, 236], [92, 170], [126, 120], [176, 128], [206, 96], [250, 130], [268, 220], [278, 320]]);
  wash('#e2483f', 190, [[256, 366], [244, 268], [238, 176], [262, 96], [312, 62], [352, 86], [394, 78], [404, 138], [376, 210], [324, 300]]);
  wash('#f0836b', 170, [[252, 380], [170, 370], [104, 346], [58, 296], [70, 262], [60, 222], [110, 232], [176, 290]]);
  // Where they pass under one another.
  brush.fillTexture(0.6, 0.25);
  wash('#9c1330', 165, [[256, 372], [236, 310], [214, 250], [186, 196], [214, 178], [236, 140], [256, 196], [262, 290]]);
  wash('#b51f3c', 140, [[254, 380], [196, 362], [132, 344], [92, 316], [116, 296], [178, 312], [232, 346]]);
  // Front petals, turned towards us.
  brush.fillBleed(0.2);
  brush.fillTexture(0.4, 0.6);
  wash('#d92f3a', 215, [[252, 374], [300, 300], [356, 236], [424, 214], [452, 238], [496, 246], [478, 296], [492, 330], [430, 362], [344, 388]]);
  wash('#e4524a', 200, [[250, 384], [300, 372], [372, 386], [424, 420], [420, 452], [440, 478], [386, 484], [350, 500], [296, 468], [262, 424]]);
  brush.fillTexture(0.55, 0.2);
  wash('#8f0f2c', 180, [[254, 376], [310, 330], [376, 296], [440, 290], [400, 330], [330, 366]]);
  wash('#a3162f', 170, [[254, 386], [310, 394], [366, 424], [388, 458], [334, 440], [282, 416]]);

  // Veins, dragged out with the tip of the brush.
  brush.fillBleed(0.05);
  brush.fillTexture(0.3, 0.4);
  for (const [m, e] of [[[330, 300], [432, 252]], [[340, 330], [452, 322]], [[320, 396], [390, 450]], [[262, 230], [296, 122]], [[290, 220], [352, 130]], [[196, 260], [134, 172]], [[180, 320], [96, 266]]])
    ribbon('#b5203f', 95, [256, 372], m, e, 2.2, 0.8);

  // Calyx: five narrow green tongues clasp the tube.
  brush.fillBleed(0.12);
  brush.fillTexture(0.5, 0.5);
  wash('#7f9a58', 230, [[226, 424], [206, 386], [204, 350], [232, 372], [250, 344], [262, 376], [292, 366], [278, 400], [250, 428]], 0.2);
  wash('#3d6446', 190, [[228, 424], [220, 392], [238, 384], [262, 392], [276, 396], [250, 428]], 0.3);

  // The column.
  brush.fillBleed(0.05);
  brush.fillTexture(0.25, 0.7);
  ribbon('#f2a08c', 255, [300, 340], [440, 250], [548, 176], 7, 5);
  ribbon('#c52a3f', 220, [300, 345], [440, 256], [549, 180], 3, 2);
  for (let k = 0; k < 20; k++) {
    const t = 0.5 + k * 0.024, side = k % 2 ? 1 : -1, off = random(12, 24);
    const x = lerp(300, 548, t) + side * off * 0.55, y = lerp(340, 176, t) + side * off;
    wash(random(['#f3b93a', '#e8951f', '#f8d66a']), 255, [0, 60, 120, 180, 240, 300].map((a) => [x + 5.5 * cos(a), y + 4.5 * sin(a)]), 0);
  }
  for (let k = 0; k < 5; k++) {
    const a = k * 32 - 100, x = 550 + 25 * cos(a), y = 174 + 25 * sin(a);
    ribbon('#a3162f', 230, [548, 176], [549 + 12 * cos(a), 174 + 12 * sin(a)], [x, y], 1.6, 1.2);
    wash('#8f0f2c', 250, [0, 60, 120, 180, 240, 300].map((d) => [x + 6 * cos(d), y + 6 * sin(d)]), 0);
  }
}
