// A harbour before sunrise: four bands of wet colour, three sails, and the water that repeats them.
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

// A ridge of hills from left to right whose foot dissolves in mist.
function ridge(colour, opacity, top, rough, foot, seed) {
  const points = [];
  for (let x = 30; x <= 570; x += 45) points.push([x, top - rough * noise(seed, x * 0.008) - 8 * sin(x * 1.7 + seed * 90)]);
  for (let x = 570; x >= 30; x -= 90) points.push([x, foot + 6 * sin(x + seed)]);
  wash(colour, opacity, points);
}

function boat(x, y, s, sail, hull) {
  brush.fillBleed(0.12);
  brush.fillTexture(0.35, 0.6);
  wash(sail, 225, [[x - 2 * s, y - 10 * s], [x + 3 * s, y - 62 * s], [x + 8 * s, y - 96 * s], [x + 26 * s, y - 52 * s], [x + 36 * s, y - 12 * s]], 0.2);
  wash(sail, 190, [[x - 7 * s, y - 12 * s], [x - 2 * s, y - 78 * s], [x - 16 * s, y - 44 * s], [x - 28 * s, y - 14 * s]], 0.2);
  wash(hull, 240, [[x - 36 * s, y - 7 * s], [x + 44 * s, y - 8 * s], [x + 32 * s, y + 8 * s], [x - 24 * s, y + 9 * s]], 0.2);
  // The reflection: the same colours, broken into strokes and paler the deeper they lie.
  brush.fillBleed(0.2);
  for (let k = 0; k < 4; k++) {
    const w = s * (34 - k * 6), yy = y + s * (20 + k * 17);
    wash(k ? sail : hull, 190 - k * 30, [[x - w, yy], [x - w * 0.2, yy - 4 * s], [x + w, yy], [x + w * 0.3, yy + 5 * s]], 0.5);
  }
}

function draw() {
  translate(-300, -300);
  background('#f9f3ea');
  noiseSeed(7);
  brush.noStroke();

  // Sky: rose over straw, bleeding into one another.
  brush.fillBleed(0.35);
  brush.fillTexture(0.45, 0.05);
  wash('#f3c9a2', 150, [[40, 250], [90, 150], [260, 130], [430, 160], [560, 140], [566, 250], [420, 292], [180, 290]]);
  wash('#dd9d9c', 130, [[50, 170], [110, 74], [300, 52], [480, 66], [560, 130], [470, 178], [300, 160], [150, 190]]);
  wash('#8fa6c4', 120, [[60, 96], [150, 40], [330, 34], [520, 48], [540, 84], [380, 96], [200, 100]]);

  // The sun, left as a warm hole and then touched with orange.
  brush.fillBleed(0.08);
  brush.fillTexture(0.2, 0.5);
  brush.fill('#f0874f', 235);
  brush.circle(404, 214, 25, 0.2);

  // Hills, the far ones colder.
  brush.fillBleed(0.2);
  brush.fillTexture(0.5, 0.35);
  ridge('#a3b0cc', 190, 272, 44, 312, 1);
  ridge('#6f86ac', 200, 300, 40, 322, 2.4);
  brush.fillBleed(0.14);
  wash('#3f5577', 220, [[30, 326], [70, 300], [120, 290], [168, 304], [214, 312], [262, 326], [150, 334]]);

  // Water.
  brush.fillBleed(0.3);
  brush.fillTexture(0.6, 0.25);
  wash('#9fbac8', 150, [[30, 342], [300, 334], [572, 342], [566, 430], [420, 470], [240, 446], [60, 470]]);
  wash('#5f8aa3', 140, [[40, 440], [220, 420], [420, 446], [560, 430], [552, 520], [360, 552], [160, 540], [60, 506]]);
  brush.fillBleed(0.15);
  for (let k = 0; k < 5; k++) wash('#f0965f', 190 - k * 22, [[404 - 30 + k * 5, 352 + k * 19], [404, 347 + k * 19], [436 - k * 5, 353 + k * 19], [406, 358 + k * 19]], 0.5);

  boat(206, 398, 1.25, '#d9694d', '#3a3f5c');
  boat(480, 376, 0.7, '#eadcc4', '#46506e');
  boat(330, 356, 0.45, '#c9564a', '#3c4a68');

  // Quay stones in the near corner, to walk into the picture.
  brush.fillTexture(0.6, 0.4);
  wash('#4d4a5e', 215, [[24, 566], [60, 528], [130, 520], [190, 544], [236, 572], [120, 584]]);
}
