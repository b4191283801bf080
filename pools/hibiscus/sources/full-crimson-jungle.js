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

function wash(hex, opacity, points, curve = 0.4) {
  brush.fill(hex, opacity);
  brush.beginShape(curve);
  for (const [x, y] of points) brush.vertex(x, y);
  brush.endShape(true);
}

function draw() {
  translate(-width / 2, -height / 2);
  background('#f3efe2');
  randomSeed(3);
  brush.noStroke();
  brush.fillBleed(0.15);
  brush.fillTexture(0.25, 0.4);
  wash('#2f6b55', 230, [[-30, -30], [210, -30], [190, 90], [120, 170], [-30, 200]]);
  wash('#4d7f4a', 230, [[400, -30], [630, -30], [630, 220], [500, 190], [420, 90]]);
  wash('#24584e', 230, [[-30, 380], [110, 400], [180, 500], [190, 630], [-30, 630]]);
  wash('#3f7a52', 230, [[420, 500], [500, 420], [630, 380], [630, 630], [400, 630]]);
  wash('#6f9a52', 210, [[-30, 190], [70, 230], [60, 340], [-30, 390]]);
  wash('#5c8f58', 210, [[210, 540], [300, 510], [400, 560], [390, 630], [200, 630]]);
  brush.fillTexture(0.4, 0.5);
  push();
  translate(300, 296);
  for (const [i, t] of [118, 190, 46, -98, -26].entries()) {
    push();
    rotate(t);
    brush.fillBleed(0.14);
    fan('#e8404a', 255, 280, 160, 0.06, i * 80);
    fan('#d41f3a', 230, 250, 140, 0.07, i * 80 + 20);
    fan('#a80f30', 200, 170, 88, 0.08, i * 80 + 50);
    fan('#5a0822', 220, 90, 34, 0.1, i * 60);
    brush.fillBleed(0.05);
    for (const k of [-1, 0, 1]) ribbon('#86092a', 130, [80, k * 18], [140, k * 44], [214, k * 78], 3, 1);
    pop();
  }
  brush.fillBleed(0.05);
  brush.fillTexture(0.2, 0.6);
  ribbon('#ffc9a0', 255, [0, 0], [60, 30], [150, 120], 10, 8);
  ribbon('#c2253f', 200, [0, 6], [56, 38], [146, 126], 4, 3);
  for (let k = 0; k < 18; k++) speck(random(['#ffd24a', '#ffe78a', '#f5a020']), 56 + k * 5 + (k % 2 ? 13 : -13), 34 + k * 4.6 - (k % 2 ? 12 : -12), 6.5);
  for (let k = 0; k < 5; k++) speck('#ffb3a0', 160 + 18 * cos(k * 42 - 40), 132 + 18 * sin(k * 42 - 40), 7);
  pop();
}
