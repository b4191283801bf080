async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function sweep(hex, opacity, [ax, ay], [bx, by], [cx, cy], w) {
  const left = [], right = [];
  for (let i = 0; i <= 8; i++) {
    const t = i / 8, u = 1 - t;
    const x = u * u * ax + 2 * u * t * bx + t * t * cx, y = u * u * ay + 2 * u * t * by + t * t * cy;
    const a = atan2(u * (by - ay) + t * (cy - by), u * (bx - ax) + t * (cx - bx)), h = 0.8 + w * pow(sin(t * 180), 0.8);
    left.push([x - h * sin(a), y + h * cos(a)]);
    right.unshift([x + h * sin(a), y - h * cos(a)]);
  }
  brush.fill(hex, opacity);
  brush.beginShape(0);
  for (const [x, y] of left.concat(right)) brush.vertex(x, y);
  brush.endShape(true);
}

function draw() {
  translate(-300, -300);
  background('#f8f5ec');
  brush.noStroke();
  brush.fillBleed(0.14);
  brush.fillTexture(0.55, 0.35);
  const fish = (x, y, turn, s, hex, fin) => {
    push();
    translate(x, y);
    rotate(turn);
    sweep(hex, 220, [-100 * s, 0], [-10 * s, -26 * s], [92 * s, 6 * s], 24 * s);
    sweep(fin, 190, [88 * s, 4 * s], [130 * s, -16 * s], [160 * s, -40 * s], 10 * s);
    sweep(fin, 190, [88 * s, 6 * s], [126 * s, 16 * s], [150 * s, 44 * s], 10 * s);
    sweep(fin, 180, [-40 * s, 16 * s], [-30 * s, 50 * s], [10 * s, 70 * s], 9 * s);
    sweep(fin, 180, [-40 * s, -22 * s], [-20 * s, -60 * s], [20 * s, -70 * s], 9 * s);
    pop();
  };
  fish(200, 170, 30, 1.1, '#e2552f', '#f0a07c');
  fish(400, 300, -12, 1.25, '#343846', '#7d8291');
  fish(220, 440, 64, 0.95, '#e8963a', '#f3c587');
  brush.fillBleed(0.3);
  for (const [x, y] of [[470, 130], [110, 330], [470, 500]]) sweep('#a9bfc2', 150, [x - 50, y], [x, y - 14], [x + 50, y], 4);
}
