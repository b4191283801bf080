// Shapes of 2 to 14 px on paper and over a wash that gives the picture its coverage.
async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}
function draw() {
  translate(-width / 2, -height / 2);
  background("#faf6ec");
  brush.noStroke();
  brush.fillBleed(0.2);
  brush.fillTexture(0.4, 0.4);
  brush.fill("#8fb4c9", 170);
  brush.beginShape(0.3);
  for (const [x, y] of [[60, 380], [300, 340], [540, 390], [560, 530], [320, 560], [50, 520]]) brush.vertex(x, y);
  brush.endShape(CLOSE);
  for (let i = 0; i < 24; i++) {
    const x = 60 + (i % 6) * 96, y = 80 + floor(i / 6) * 120, r = 1 + (i % 7);
    brush.fill(["#a83232", "#3c6e3f", "#2f3d7a", "#c98a1b"][i % 4], 90 + (i % 5) * 40);
    if (i % 3 === 0) brush.circle(x, y, r, 0.3);
    else {
      brush.beginShape(i % 2 ? 0.5 : 0);
      for (let k = 0; k < 3 + (i % 4); k++) {
        const a = (k * 360) / (3 + (i % 4)) + i * 17;
        brush.vertex(x + 2 * r * cos(a), y + r * sin(a));
      }
      brush.endShape(CLOSE);
    }
  }
}
