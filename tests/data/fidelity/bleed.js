// Bleed from 0 to 1, outwards, inwards and with a wash direction.
async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}
function draw() {
  translate(-width / 2, -height / 2);
  background("#f9f4ea");
  brush.noStroke();
  brush.fillTexture(0.3, 0.5);
  const bleeds = [0, 0.04, 0.1, 0.3, 0.6, 1];
  for (let i = 0; i < 12; i++) {
    const x = 90 + (i % 4) * 140, y = 110 + floor(i / 4) * 190;
    brush.fillBleed(bleeds[i % 6], i % 5 === 3 ? "in" : "out", i > 8 ? 60 : null);
    brush.fill(["#54708f", "#b5543c", "#6f8a3d", "#8a5a94"][i % 4], 170);
    brush.beginShape(i % 2 ? 0.4 : 0);
    for (let k = 0; k < 6; k++) brush.vertex(x + 58 * cos(k * 60 + i * 9), y + 72 * sin(k * 60 + i * 9));
    brush.endShape(CLOSE);
  }
}
