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
  background('#f6f5f0');
  brush.noStroke();
  const fish = (s, w, base, one, two, side) => {
    brush.fillBleed(0.18);
    brush.fillTexture(0.5, 0.6);
    const a = s(0.3), b = s(0.97);
    fin(base, 160, a[0], a[1], a[2] + 65, w * 2, w);
    fin(base, 160, a[0], a[1], a[2] - 65, w * 2, w);
    fin(one, 170, b[0], b[1], b[2] + 22, w * 2.1, w * 0.8);
    fin(one, 150, b[0], b[1], b[2] - 26, w * 1.9, w * 0.7);
    brush.fillBleed(0.1);
    brush.fillTexture(0.35, 0.6);
    body(base, 235, s, w);
    body(one, 225, s, w * 0.95, 0.12, 0.42, 1, 0.3 + side);
    body(one, 220, s, w * 0.95, 0.6, 0.84, 0.4, 1);
    body(two, 225, s, w * 0.9, 0, 0.1, 0.9, 0.5);
    body(two, 215, s, w * 0.9, 0.44, 0.58, 0.2, 1);
  };
  fish(spine(170, 410, 60, 160, 310, 110), 56, '#ecc9b4', '#e7602f', '#34343f', 0.3);
  fish(spine(430, 190, 550, 440, 290, 490), 58, '#efcdbb', '#d8402c', '#2c2f3c', 0);
}
