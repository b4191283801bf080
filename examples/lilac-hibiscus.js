// A lilac hibiscus, cut off by the paper's edge on two sides, wet in wet.
// The petals are several loose puddles each, in two violets and a rose that run into one another;
// nothing is outlined, the form comes from where the puddles overlap.
async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

// A puddle about a point: stretched, turned, and wobbling.
function puddle(x, y, rx, ry, turn, wobble) {
  brush.beginShape(0.6);
  for (let a = 0; a < 360; a += 24) {
    const r = 1 + wobble * (noise(x + cos(a), y + sin(a)) - 0.5) * 2;
    const u = rx * r * cos(a), v = ry * r * sin(a);
    brush.vertex(x + u * cos(turn) - v * sin(turn), y + u * sin(turn) + v * cos(turn));
  }
  brush.endShape(true);
}

// A hair-thin wedge from the heart outwards.
function thread(x0, y0, x1, y1, w) {
  const a = atan2(y1 - y0, x1 - x0);
  brush.beginShape(0);
  brush.vertex(x0 - w * sin(a), y0 + w * cos(a));
  brush.vertex(lerp(x0, x1, 0.5) - w * sin(a), lerp(y0, y1, 0.5) + w * cos(a) + 3);
  brush.vertex(x1, y1);
  brush.vertex(lerp(x0, x1, 0.5) + w * sin(a), lerp(y0, y1, 0.5) - w * cos(a) + 3);
  brush.vertex(x0 + w * sin(a), y0 - w * cos(a));
  brush.endShape(true);
}

function draw() {
  translate(-300, -300);
  background('#faf7f3');
  randomSeed(3);
  noiseSeed(12);
  brush.noStroke();
  const hx = 360, hy = 268;

  // Grey-green leaves behind, mostly water: each a half in light and a half in shade.
  for (const [x, y, turn, len] of [[256, 380, 132, 190], [316, 440, 96, 150], [200, 330, 176, 130]]) {
    brush.fillBleed(0.2);
    brush.fillTexture(0.6, 0.3);
    for (const [colour, side] of [['#9fb48c', 0.24], ['#5f8a7d', -0.2]]) {
      brush.fill(colour, 170);
      brush.beginShape(0.4);
      for (let i = 0; i <= 6; i++) {
        const u = (len * i) / 6, v = len * side * sin(i * 30);
        brush.vertex(x + u * cos(turn) - v * sin(turn), y + u * sin(turn) + v * cos(turn));
      }
      brush.vertex(x + 0.5 * len * cos(turn + 4), y + 0.5 * len * sin(turn + 4));
      brush.endShape(true);
    }
  }

  brush.fillBleed(0.32);
  brush.fillTexture(0.4, 0.4);
  for (const turn of [150, 224, 296, 8, 80]) {
    const at = (r, side) => [hx + r * cos(turn + side), hy + r * sin(turn + side)];
    brush.fill('#c3a6dc', 190);
    puddle(...at(142, 0), 104, 88, turn, 0.35);
    brush.fill('#a487cf', 160);
    puddle(...at(150, 16), 84, 46, turn + 12, 0.4);
    brush.fill('#dd9fc4', 150);
    puddle(...at(104, -14), 84, 44, turn - 8, 0.3);
    brush.fill('#8a62b8', 140);
    puddle(...at(72, 6), 64, 26, turn, 0.3);
  }

  // Threads of a darker violet, then the wine-dark heart.
  brush.fillBleed(0.05);
  brush.fillTexture(0.3, 0.2);
  brush.fill('#8257a6', 110);
  for (const turn of [150, 224, 296, 8, 80])
    for (const side of [-16, 0, 15]) thread(hx, hy, hx + random(130, 180) * cos(turn + side), hy + random(130, 180) * sin(turn + side), 3);
  brush.fillBleed(0.4);
  brush.fillTexture(0.3, 0.1);
  for (const turn of [150, 224, 296, 8, 80]) {
    brush.fill('#7a1f63', 200);
    puddle(hx + 34 * cos(turn), hy + 34 * sin(turn), 44, 19, turn, 0.3);
  }
  brush.fill('#4d0f3f', 220);
  puddle(hx, hy, 26, 22, 0, 0.3);

  // Column and pollen, the only warm notes.
  brush.fillBleed(0.05);
  brush.fillTexture(0.25, 0.6);
  brush.fill('#f7e3c4', 255);
  brush.beginShape(0);
  for (const [x, y] of [[hx + 2, hy - 6], [316, 302], [268, 342], [232, 388], [242, 396], [282, 352], [328, 312], [hx + 8, hy + 6]]) brush.vertex(x, y);
  brush.endShape(true);
  for (let k = 0; k < 18; k++) {
    const t = 0.35 + k * 0.035, side = k % 2 ? 1 : -1;
    brush.fill(random(['#f2c14a', '#eaa93a', '#f8da86']), 255);
    const x = lerp(hx, 238, t) + side * random(9, 18), y = lerp(hy, 392, t) + side * random(7, 15) + 10 * sin(t * 180);
    brush.beginShape(0);
    for (let a = 0; a < 360; a += 60) brush.vertex(x + 5.5 * cos(a), y + 5 * sin(a));
    brush.endShape(true);
  }
}
