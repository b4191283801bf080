async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function puddle(hex, opacity, x, y, rx, ry, turn, wobble) {
  brush.fill(hex, opacity);
  brush.beginShape(0.6);
  for (let a = 0; a < 360; a += 24) {
    const r = 1 + wobble * 2 * (noise(x + cos(a), y + sin(a)) - 0.5);
    const u = rx * r * cos(a), v = ry * r * sin(a);
    brush.vertex(x + u * cos(turn) - v * sin(turn), y + u * sin(turn) + v * cos(turn));
  }
  brush.endShape(true);
}

function draw() {
  translate(-300, -300);
  background('#f7f6f2');
  noiseSeed(12);
  brush.noStroke();
  brush.fillBleed(0.4);
  brush.fillTexture(0.4, 0.1);
  puddle('#a8cdd2', 140, 230, 210, 190, 110, -20, 0.4);
  puddle('#8fbcc8', 140, 400, 420, 180, 100, -24, 0.4);
  const fish = (x, y, turn, n, hues) => {
    for (let k = 0; k < n; k++) {
      const r = k * 37, a = turn + k * 9, px = x + r * cos(a), py = y + r * sin(a);
      brush.fillBleed(0.28);
      puddle(hues[0], 230, px, py, 48 - k * 5, 38 - k * 7, a, 0.25);
      if (k % 2 === 0) puddle(hues[1], 200, px + 6, py, 26 - k * 3, 20 - k * 3, a, 0.4);
      if (k === 1) for (const d of [70, -70]) puddle(hues[0], 150, px + 48 * cos(a + d), py + 48 * sin(a + d), 40, 15, a + d, 0.3);
      if (k === n - 1) for (const d of [24, -28]) puddle(hues[0], 170, px + 52 * cos(a + d), py + 52 * sin(a + d), 50, 14, a + d, 0.4);
    }
  };
  fish(330, 130, 140, 5, ['#f39a5c', '#c8402c']);
  fish(300, 470, -36, 5, ['#f6c98a', '#e4642f']);
}
