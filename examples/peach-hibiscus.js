// A peach hibiscus, wide open, with a bud and two leaves on the same stem.
// Every petal is painted wet: a pale wash out to the ruffled edge, a warmer glaze that stops
// short of it, a shadow where its neighbour lies over it, and a few veins running to the eye.
const HEART = { x: 292, y: 246 };
const PETALS = [
  { turn: 118, len: 212, wid: 124 },
  { turn: 190, len: 216, wid: 122 },
  { turn: 46, len: 204, wid: 116 },
  { turn: -98, len: 216, wid: 126 },
  { turn: -24, len: 222, wid: 118 },
];

async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

// A fan: a narrow claw at the origin, a wavy crown at the far end of the x axis.
function fan(len, wid, ruffle, phase) {
  brush.beginShape(0.4);
  for (let i = 0; i < 28; i++) {
    const t = (i / 28) * 360;
    const along = 0.5 - 0.5 * cos(t);
    const wave = 1 + ruffle * along * along * (sin(6 * t + phase) + 0.7 * sin(10 * t - 2 * phase));
    brush.vertex(len * along * wave, wid * sin(t) * pow(along, 0.6) * wave);
  }
  brush.endShape(true);
}

// A line with a body: it bends through (mx, my) and tapers from w0 to w1.
function ribbon(x0, y0, mx, my, x1, y1, w0, w1) {
  const left = [], right = [];
  for (let i = 0; i <= 6; i++) {
    const t = i / 6, u = 1 - t;
    const x = u * u * x0 + 2 * u * t * mx + t * t * x1;
    const y = u * u * y0 + 2 * u * t * my + t * t * y1;
    const a = atan2(u * (my - y0) + t * (y1 - my), u * (mx - x0) + t * (x1 - mx));
    const w = lerp(w0, w1, t);
    left.push([x - w * sin(a), y + w * cos(a)]);
    right.unshift([x + w * sin(a), y - w * cos(a)]);
  }
  brush.beginShape(0);
  for (const [x, y] of left.concat(right)) brush.vertex(x, y);
  brush.endShape(true);
}

// p5.brush turns a circle this small into a diamond, so pollen is a shape of seven corners.
function speck(x, y, r) {
  brush.beginShape(0);
  for (let i = 0; i < 7; i++) brush.vertex(x + r * cos(i * 51.4), y + r * sin(i * 51.4) * 0.88);
  brush.endShape(true);
}

// Two glazes of green, the second on the shaded half only; the rib is the edge between them.
function leaf(x, y, turn, len, wid, light, dark) {
  push();
  translate(x, y);
  rotate(turn);
  brush.fillBleed(0.14);
  brush.fillTexture(0.5, 0.5);
  for (const [colour, opacity, lower] of [[light, 200, -1], [dark, 190, 0]]) {
    brush.fill(colour, opacity);
    brush.beginShape(0.3);
    for (let i = 0; i <= 9; i++) brush.vertex((len * i) / 9, wid * sin(i * 20) * (1 - i * 0.045) + (i % 2) * 3);
    for (let i = 8; i > 0; i--) brush.vertex((len * i) / 9, lower * wid * sin(i * 20) * 0.8 + 2 * sin(i * 40));
    brush.endShape(true);
  }
  pop();
}

function draw() {
  translate(-300, -300);
  background('#fbf6ec');
  randomSeed(11);
  brush.noStroke();

  // Stem, bud and leaves first, so that the flower lies over them.
  brush.fillBleed(0.08);
  brush.fillTexture(0.4, 0.6);
  brush.fill('#6f8f4e', 220);
  ribbon(302, 396, 304, 490, 352, 604, 4, 8);
  ribbon(322, 520, 240, 520, 178, 486, 5, 3);
  leaf(328, 512, -14, 200, 62, '#8fae62', '#3f7350');
  leaf(318, 540, 160, 128, 40, '#a3b76a', '#5b8452');
  brush.fillBleed(0.16);
  push();
  translate(186, 492);
  rotate(-142);
  brush.fill('#ef8f6e', 220);
  fan(112, 26, 0.04, 30);
  brush.fill('#c8374b', 190);
  fan(96, 13, 0.06, 80);
  brush.fill('#7f9d55', 230);
  fan(54, 27, 0.14, 10);
  pop();

  translate(HEART.x, HEART.y);
  PETALS.forEach((p, i) => {
    push();
    rotate(p.turn);
    brush.fillBleed(0.22);
    brush.fillTexture(0.42, 0.6);
    brush.fill('#f9b68b', 215);
    fan(p.len, p.wid, 0.05, i * 83);
    brush.fill('#f08a66', 175);
    fan(p.len * 0.8, p.wid * 0.84, 0.07, i * 51 + 20);
    brush.fillTexture(0.6, 0.2);
    brush.fill('#dd5550', 150);
    brush.beginShape(0.5);
    brush.vertex(0, 0);
    brush.vertex(p.len * 0.4, p.wid * 0.1);
    brush.vertex(p.len * 0.82, p.wid * 0.36);
    brush.vertex(p.len * 0.66, p.wid * 0.68);
    brush.vertex(p.len * 0.32, p.wid * 0.42);
    brush.endShape(true);
    brush.fillBleed(0.05);
    brush.fill('#d4554f', 120);
    for (let k = -2; k <= 2; k++) {
      const r = p.len * random(0.6, 0.78), a = k * 12 + random(-4, 4);
      ribbon(34, k * 5, r * 0.5, r * 0.66 * sin(a), r * cos(a), r * sin(a), 2.4, 0.8);
    }
    pop();
  });

  // The eye: one flame for each petal, dropped in while everything is still damp.
  brush.fillBleed(0.28);
  brush.fillTexture(0.35, 0.3);
  PETALS.forEach((p, i) => {
    push();
    rotate(p.turn);
    brush.fill('#b81f3c', 205);
    fan(p.len * 0.43, p.wid * 0.36, 0.12, i * 40);
    brush.fill('#74102c', 220);
    fan(p.len * 0.25, p.wid * 0.2, 0.1, i * 70);
    pop();
  });

  // The column leans towards us; pollen stands off it, and five stigmas end it.
  brush.fillBleed(0.05);
  brush.fillTexture(0.25, 0.7);
  brush.fill('#f8cdb2', 255);
  ribbon(-6, 2, 74, 15, 142, -62, 8, 6);
  brush.fill('#cf3a4a', 225);
  ribbon(-4, 7, 76, 23, 143, -58, 3.5, 2);
  for (let k = 0; k < 22; k++) {
    const t = 0.4 + k * 0.026, side = k % 2 ? 1 : -1, off = random(11, 22);
    const x = 2 * t * (1 - t) * 74 + t * t * 142, y = 2 * t * (1 - t) * 16 - t * t * 62;
    brush.fill(random(['#eda01f', '#e2801a', '#f6c445']), 255);
    speck(x + side * off * 0.5 + random(-3, 3), y + side * off, random(4.2, 6.2));
  }
  brush.fill('#b3183a', 250);
  for (let k = 0; k < 5; k++) {
    const a = k * 34 - 118, x = 144 + 24 * cos(a), y = -66 + 24 * sin(a);
    ribbon(143, -62, 144 + 12 * cos(a), -66 + 12 * sin(a), x, y, 1.6, 1.2);
    speck(x, y, 6);
  }
}
