// Three pears on a cloth, morning light from the left.
// Each fruit is one generous yellow wash; green and rust are touched in before it would have dried.
async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

// A pear's outline round its own centre: a wide belly below, a neck above. `s` is the belly's radius.
function pear(s, squeeze, lean) {
  brush.beginShape(0.5);
  for (let i = 0; i < 18; i++) {
    const a = i * 20, up = max(0, -sin(a));
    const r = s * (1 + 0.62 * pow(up, 2.2));
    brush.vertex(r * cos(a) * squeeze * (1 - 0.42 * pow(up, 0.7)) + lean * pow(up, 2), r * sin(a) * 0.98);
  }
  brush.endShape(true);
}

// A belly of shade or light: a crescent that hugs one side of the fruit.
function crescent(s, from, to, thick) {
  brush.beginShape(0.5);
  for (let i = 0; i <= 8; i++) brush.vertex(s * cos(lerp(from, to, i / 8)), s * sin(lerp(from, to, i / 8)));
  for (let i = 7; i > 0; i--) {
    const a = lerp(from, to, i / 8), r = s * (1 - thick * sin((i / 8) * 180));
    brush.vertex(r * cos(a), r * sin(a));
  }
  brush.endShape(true);
}

function fruit(x, y, s, turn, lean, colours) {
  push();
  translate(x, y);
  rotate(turn);
  brush.fillBleed(0.16);
  brush.fillTexture(0.4, 0.55);
  brush.fill(colours[0], 225);
  pear(s, 1, lean);
  brush.fillBleed(0.3);
  brush.fillTexture(0.55, 0.1);
  brush.fill(colours[1], 215);
  crescent(s * 0.97, -60, 130, 0.75);
  brush.fill(colours[2], 120);
  crescent(s * 0.96, 70, 235, 0.8);
  brush.fillBleed(0.12);
  brush.fill('#6b4a2b', 235);
  brush.beginShape(0.3);
  for (const [px, py] of [[lean - 4, -s * 1.54], [lean + 2, -s * 1.72], [lean + 11, -s * 1.92], [lean + 18, -s * 1.9], [lean + 9, -s * 1.7], [lean + 5, -s * 1.53]]) brush.vertex(px, py);
  brush.endShape(true);
  pop();
}

function draw() {
  translate(-300, -300);
  background('#f7f2e8');
  brush.noStroke();

  // The wall, a breath of blue that stops well before the edges, and the cloth below it.
  brush.fillBleed(0.3);
  brush.fillTexture(0.7, 0.2);
  brush.fill('#a9c2cc', 120);
  brush.beginShape(0.4);
  for (const [x, y] of [[60, 330], [40, 170], [120, 76], [280, 96], [430, 52], [560, 140], [566, 330], [440, 392], [200, 384]]) brush.vertex(x, y);
  brush.endShape(true);
  brush.fill('#d7c3a8', 150);
  brush.beginShape(0.4);
  for (const [x, y] of [[34, 452], [200, 408], [400, 404], [570, 430], [560, 520], [380, 556], [160, 548]]) brush.vertex(x, y);
  brush.endShape(true);

  // Shadows fall to the right; they are violet because the fruit is yellow.
  brush.fillBleed(0.2);
  brush.fillTexture(0.45, 0.2);
  for (const [x, y, w, h] of [[224, 468, 76, 15], [368, 488, 76, 14], [498, 516, 62, 11]]) {
    brush.fill('#6f6592', 190);
    brush.beginShape(0.6);
    for (let a = 0; a < 360; a += 40) brush.vertex(x + w * cos(a), y + h * sin(a) - 0.12 * w * cos(a));
    brush.endShape(true);
  }

  fruit(140, 388, 84, -6, -6, ['#f0cf57', '#a39a38', '#e08a3c']);
  fruit(300, 400, 92, 8, 12, ['#e9c64a', '#7f9440', '#d8703a']);
  // The third has fallen over in front.
  fruit(500, 466, 56, -66, 4, ['#f3d86b', '#c08f36', '#c9503a']);

  // One leaf still on its stalk.
  brush.fillBleed(0.14);
  brush.fillTexture(0.5, 0.5);
  brush.fill('#6f9157', 215);
  brush.beginShape(0.4);
  for (const [x, y] of [[340, 226], [368, 194], [412, 180], [452, 192], [424, 224], [382, 238]]) brush.vertex(x, y);
  brush.endShape(true);
  brush.fill('#3d6a4c', 190);
  brush.beginShape(0.4);
  for (const [x, y] of [[340, 226], [390, 210], [450, 193], [424, 226], [382, 240]]) brush.vertex(x, y);
  brush.endShape(true);
}
