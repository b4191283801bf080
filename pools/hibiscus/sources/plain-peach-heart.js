async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-300, -300);
  background('#fbf6ec');
  brush.noStroke();
  brush.fillBleed(0.25);
  brush.fillTexture(0.4, 0.5);
  for (const [hex, r] of [['#f9b68b', 210], ['#ef8465', 150], ['#a31a38', 74]])
    for (let k = 0; k < 5; k++) {
      const p = (d, s) => brush.vertex(300 + d * cos(k * 72 - 90 + s), 295 + d * sin(k * 72 - 90 + s));
      brush.fill(hex, 205);
      brush.beginShape(0.5);
      p(6, 0); p(r * 0.6, -34); p(r * 0.95, -24); p(r, -6); p(r * 0.93, 6); p(r, 20); p(r * 0.6, 36);
      brush.endShape(true);
    }
  brush.fill('#f2b233', 250);
  for (let k = 0; k < 10; k++) brush.circle(310 + k * 9, 285 - k * 8 + (k % 2) * 14, 8, 0.4);
}
