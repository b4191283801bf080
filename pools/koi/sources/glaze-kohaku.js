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
  background('#f7f4ec');
  brush.noStroke();
  const s = spine(200, 150, 420, 260, 300, 480);
  brush.fillBleed(0.16);
  brush.fillTexture(0.5, 0.6);
  fin('#f2c9b4', 180, ...s(0.3).slice(0, 2), 150, 120, 60);
  fin('#f2c9b4', 180, ...s(0.3).slice(0, 2), -40, 110, 56);
  fin('#f4d6c4', 170, ...s(0.62).slice(0, 2), 175, 66, 34);
  fin('#f4d6c4', 170, ...s(0.62).slice(0, 2), 20, 60, 32);
  fin('#f0b9a2', 190, ...s(0.97).slice(0, 2), 100, 116, 44);
  fin('#f0b9a2', 180, ...s(0.97).slice(0, 2), 148, 108, 40);
  brush.fillBleed(0.1);
  body('#efc8b4', 240, s, 66);
  brush.fillTexture(0.35, 0.6);
  body('#e5482f', 225, s, 60, 0.02, 0.2, 0.8, 0.9);
  body('#ea5a34', 225, s, 64, 0.32, 0.56, 1, 0.5);
  body('#e5482f', 220, s, 62, 0.68, 0.88, 0.7, 1);
  brush.fillBleed(0.05);
  speck('#2d2a33', 218, 184, 6);
  speck('#2d2a33', 246, 150, 6);
}
