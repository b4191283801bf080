// Circles of radius 4 to 130, exact and irregular, side by side and overlapping.
async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}
function draw() {
  translate(-width / 2, -height / 2);
  background("#f8f5ee");
  brush.noStroke();
  brush.fillBleed(0.18);
  brush.fillTexture(0.55, 0.45);
  const dots = [
    [190, 200, 130, 0], [330, 250, 100, 0.4], [440, 140, 70, 0], [130, 420, 60, 0.8], [250, 450, 45, 0.2],
    [350, 430, 40, 1], [440, 400, 32, 0], [510, 300, 24, 0.5], [520, 480, 16, 0], [470, 540, 9, 0.3], [400, 550, 4, 0],
  ];
  for (let i = 0; i < dots.length; i++) {
    const [x, y, radius, irregular] = dots[i];
    brush.fill(["#d9773f", "#4a7fa5", "#8f9b3a", "#a34a6b"][i % 4], 100 + (i % 4) * 50);
    brush.circle(x, y, radius, irregular);
  }
}
