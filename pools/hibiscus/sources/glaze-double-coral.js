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
  background('#faf5ec');
  randomSeed(6);
  brush.noStroke();
  brush.fillBleed(0.1);
  brush.fillTexture(0.5, 0.5);
  leaf(410, 190, -38, 160, 52, '#93ad6a', '#4b7a58');
  leaf(200, 420, 140, 170, 56, '#84a563', '#3c6c52');
  leaf(170, 330, 170, 130, 40, '#a6b872', '#6b8d54');
  translate(306, 300);
  const rings = [
    [7, 206, 84, '#f9b79b', '#f0866e', 0],
    [6, 150, 64, '#f3957c', '#e2604f', 24],
    [5, 96, 44, '#ea6f5c', '#c93844', 50],
  ];
  for (const [n, len, wid, light, dark, off] of rings)
    for (let i = 0; i < n; i++) {
      push();
      rotate((i * 360) / n + off + random(-8, 8));
      brush.fillBleed(0.1);
      brush.fillTexture(0.35, 0.75);
      const l = len * random(0.9, 1.06);
      fan(light, 205, l, wid, 0.08, i * 67);
      fan(dark, 150, l * 0.66, wid * 0.55, 0.08, i * 67 + 30);
      pop();
    }
  brush.fillBleed(0.2);
  for (let i = 0; i < 5; i++) {
    push();
    rotate(i * 72 + 10);
    fan('#8c1734', 200, 48, 18, 0.1, i * 40);
    pop();
  }
  brush.fillBleed(0.05);
  for (let k = 0; k < 13; k++) speck(random(['#f7cf5e', '#f0a830']), random(-22, 22), random(-22, 22), random(4, 6));
}
