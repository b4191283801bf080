// Texture and border from 0 to 1, with and without the scattered layers.
async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}
function draw() {
  translate(-width / 2, -height / 2);
  background("#fbf8f0");
  brush.noStroke();
  brush.fillBleed(0.2);
  for (let i = 0; i < 12; i++) {
    const x = 90 + (i % 4) * 140, y = 110 + floor(i / 4) * 190;
    brush.fillTexture([0, 0.25, 0.6, 1][i % 4], [0, 0.5, 1][floor(i / 4)], i % 5 !== 4);
    brush.fill(["#2f6f73", "#c0703a", "#7a3b4f"][i % 3], 140 + 30 * (i % 3));
    brush.beginShape(0.5);
    for (let k = 0; k < 8; k++) brush.vertex(x + 62 * cos(k * 45) * (k % 2 ? 0.8 : 1), y + 74 * sin(k * 45));
    brush.endShape(CLOSE);
  }
}
