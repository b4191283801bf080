async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function fan(hex, opacity, len, wid, ruffle, phase) {
  brush.fill(hex, opacity);
  brush.beginShape(0.4);
  for (let i = 0; i < 28; i++) {
    const t = (i / 28) * 360, along = 0.5 - 0.5 * cos(t);
    const wave = 1 + ruffle * along * along * (sin(6 * t + phase) + 0.7 * sin(10 * t - 2 * phase));
    brush.vertex(len * along * wave, wid * sin(t) * pow(along, 0.6) * wave);
  }
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
  background('#fff6e2');
  randomSeed(18);
  brush.noStroke();
  translate(150, 440);
  for (const [i, t] of [-178, 84, -104, 12, -46].entries()) {
    push();
    rotate(t);
    brush.fillBleed(0.2);
    brush.fillTexture(0.35, 0.5);
    fan('#ffcf4a', 255, 480, 250, 0.05, i * 60);
    fan('#fba23a', 225, 380, 180, 0.06, i * 60 + 20);
    fan('#f2703a', 200, 260, 116, 0.07, i * 60 + 40);
    brush.fillBleed(0.3);
    fan('#c21f3f', 225, 170, 66, 0.1, i * 60);
    fan('#7a0c33', 230, 100, 38, 0.1, i * 40);
    brush.fillBleed(0.05);
    for (const k of [-1.5, -0.5, 0.5, 1.5]) ribbon('#d9562b', 130, [120, k * 20], [210, k * 52], [330, k * 84], 3.4, 1);
    pop();
  }
  brush.fillBleed(0.06);
  brush.fillTexture(0.2, 0.6);
  ribbon('#ffe3bd', 255, [0, 0], [130, -70], [290, -250], 15, 11);
  ribbon('#d2354b', 210, [0, 9], [134, -58], [290, -240], 6, 4);
  for (let k = 0; k < 20; k++) {
    const t = 0.4 + k * 0.029, x = 260 * t * (1 - t) + 290 * t * t, y = -140 * t * (1 - t) - 250 * t * t, s = k % 2 ? 1 : -1, o = random(18, 34);
    speck(random(['#fff0a0', '#ffc531', '#f08c1f']), x + s * o * 0.7, y + s * o * 0.6, 9);
  }
  for (let k = 0; k < 5; k++) speck('#a80f3c', 306 + 26 * cos(k * 36 - 120), -266 + 26 * sin(k * 36 - 120), 10);
}
