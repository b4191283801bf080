async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

// A spine bends from head to tail; the body is as wide as the profile says at every step.
function spine(ax, ay, bx, by, cx, cy) {
  return (t) => {
    const u = 1 - t;
    return [u * u * ax + 2 * u * t * bx + t * t * cx, u * u * ay + 2 * u * t * by + t * t * cy, atan2(u * (by - ay) + t * (cy - by), u * (bx - ax) + t * (cx - bx))];
  };
}

function body(hex, opacity, s, w, from = 0, to = 1, left = 1, right = 1) {
  const one = [], two = [];
  for (let i = 0; i <= 12; i++) {
    const t = lerp(from, to, i / 12), [x, y, a] = s(t), h = w * pow(sin(min(t * 1.5 + 0.06, 1) * 90), 0.7) * (1 - 0.9 * pow(t, 1.6)) + 1.5;
    one.push([x - h * left * sin(a), y + h * left * cos(a)]);
    two.unshift([x + h * right * sin(a), y - h * right * cos(a)]);
  }
  brush.fill(hex, opacity);
  brush.beginShape(0.2);
  for (const [x, y] of one.concat(two)) brush.vertex(x, y);
  brush.endShape(true);
}

function fin(hex, opacity, x, y, turn, len, wid) {
  brush.fill(hex, opacity);
  brush.beginShape(0.5);
  for (const [u, v] of [[0, -0.1], [0.5, -0.6], [0.95, -0.7], [1, -0.2], [0.86, 0.1], [0.92, 0.5], [0.45, 0.5], [0, 0.1]])
    brush.vertex(x + len * u * cos(turn) - wid * v * sin(turn), y + len * u * sin(turn) + wid * v * cos(turn));
  brush.endShape(true);
}

function speck(hex, x, y, r) {
  brush.fill(hex, 255);
  brush.beginShape(0);
  for (let a = 0; a < 360; a += 52) brush.vertex(x + r * cos(a), y + r * sin(a));
  brush.endShape(true);
}

function draw() {
  translate(-300, -300);
  background('#f3f4ee');
  brush.noStroke();
  const s = spine(440, 200, 250, 180, 150, 420);
  brush.fillBleed(0.2);
  brush.fillTexture(0.45, 0.6);
  for (const [t, d, l] of [[0.28, 70, 120], [0.28, -70, 110], [0.6, 40, 60], [0.6, -40, 60], [0.96, 20, 130], [0.96, -24, 120]]) {
    const [x, y, a] = s(t);
    fin('#f5cf6a', 175, x, y, a + d, l, l * 0.5);
  }
  brush.fillBleed(0.1);
  body('#f6c646', 240, s, 56);
  brush.fillTexture(0.4, 0.5);
  body('#e89a2b', 205, s, 54, 0.06, 0.95, 1, -0.2);
  body('#c9702a', 180, s, 20, 0.2, 0.9, 0.5, 0.5);
  brush.fillBleed(0.05);
  for (let k = 0; k < 9; k++) {
    const [x, y, a] = s(0.24 + k * 0.06), h = 26 - k * 2;
    speck('#b5601f', x - h * sin(a), y + h * cos(a), 4.4);
    speck('#f9e3a0', x + h * sin(a), y - h * cos(a), 4.4);
  }
  speck('#2d2a33', 424, 224, 6);
  speck('#2d2a33', 420, 170, 6);
}
