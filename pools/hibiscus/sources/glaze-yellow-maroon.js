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
  background('#fbf8ef');
  randomSeed(14);
  brush.noStroke();
  brush.fillBleed(0.1);
  brush.fillTexture(0.45, 0.6);
  leaf(180, 210, 205, 150, 54, '#8fae5f', '#3c7150');
  leaf(390, 420, 52, 170, 58, '#9bb565', '#4a7d50');
  leaf(240, 430, 112, 150, 48, '#7fa45e', '#356a52');
  translate(300, 290);
  for (const [i, a] of [128, 200, 56, -88, -16].entries()) {
    push();
    rotate(a);
    brush.fillBleed(0.09);
    brush.fillTexture(0.35, 0.8);
    fan('#fde07a', 220, 214, 128, 0.05, i * 70);
    fan('#fbc84a', 190, 184, 108, 0.06, i * 70 + 15);
    fan('#f6a93a', 170, 140, 78, 0.07, i * 70 + 40);
    fan('#c73a34', 190, 92, 44, 0.1, i * 70 + 80);
    fan('#6d1230', 220, 56, 24, 0.1, i * 50);
    brush.fillBleed(0.05);
    for (const k of [-1.4, -0.5, 0.5, 1.4]) ribbon('#e08a2e', 110, [50, k * 8], [110, k * 30], [168, k * 52], 1.8, 0.8);
    pop();
  }
  brush.fillBleed(0.05);
  brush.fillTexture(0.2, 0.7);
  ribbon('#f8d9a0', 255, [0, 0], [-50, -60], [-122, -92], 8, 6);
  ribbon('#b3273f', 210, [0, 4], [-48, -54], [-122, -88], 3, 2);
  for (let k = 0; k < 20; k++) {
    const t = 0.35 + k * 0.032, s = k % 2 ? 1 : -1, o = random(11, 20);
    speck(random(['#fff1a8', '#f3b231', '#e58a1f']), -100 * t * (1 - t) - 122 * t * t + s * o * 0.5, -120 * t * (1 - t) - 92 * t * t - s * o, 4.6);
  }
  for (let k = 0; k < 5; k++) speck('#8f1230', -138 + 15 * cos(k * 44 + 130), -98 + 15 * sin(k * 44 + 130), 5.5);
}
