async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-300, -300);
  background('#f9f5ed');
  brush.noStroke();
  brush.fillBleed(0.22);
  brush.fillTexture(0.4, 0.55);
  for (const [x, y, s, a, b] of [[210, 220, 1, '#f7a58c', '#c8344a'], [410, 410, 0.8, '#f9c27e', '#d2503a']]) {
    for (let k = 0; k < 10; k++) {
      const l = s * (k < 5 ? 160 : 84), w = l * 0.34, t = k * 72 - 70, p = (u, v) => brush.vertex(x + u * cos(t) - v * sin(t), y + u * sin(t) + v * cos(t));
      brush.fill(k < 5 ? a : b, 210);
      brush.beginShape(0.5);
      p(0, 0); p(l * 0.5, -w); p(l * 0.9, -w * 1.1); p(l, 0); p(l * 0.92, w); p(l * 0.5, w);
      brush.endShape(true);
    }
    brush.fill('#f6c544', 250);
    for (let k = 0; k < 6; k++) brush.circle(x + s * (10 + k * 9), y - s * (8 + k * 10), 8, 0.4);
  }
}
