// Self-crossing outlines: stars, eights, a path walked twice, a spiral, a bow tie, a line without area.
async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}
function draw() {
  translate(-width / 2, -height / 2);
  background("#fbf6ea");
  brush.noStroke();
  brush.fillBleed(0.15);
  brush.fillTexture(0.4, 0.5);
  const shape = (hex, opacity, curvature, n, at) => {
    brush.fill(hex, opacity);
    brush.beginShape(curvature);
    for (let k = 0; k < n; k++) brush.vertex(...at(k));
    brush.endShape(CLOSE);
  };
  shape("#b8432f", 190, 0, 5, (k) => [150 + 120 * cos(k * 144 - 90), 150 + 120 * sin(k * 144 - 90)]);
  shape("#33658a", 170, 0.5, 16, (k) => [430 + (k < 8 ? 120 : 75) * sin(k * 22.5), 150 + (k < 8 ? 85 : 60) * sin(k * 45)]);
  shape("#5f8f4e", 160, 0.3, 16, (k) => [140 + 85 * cos(k * 45), 420 + 100 * sin(k * 45)]);
  shape("#c9952b", 200, 0.4, 24, (k) => [330 + (20 + 4 * k) * cos(k * 40), 400 + (20 + 4 * k) * sin(k * 40)]);
  shape("#7b4b94", 220, 0, 4, (k) => [[440, 430], [575, 560], [570, 500], [445, 575]][k]);
  shape("#444444", 255, 0, 4, (k) => [[40, 570], [160, 572], [280, 570], [160, 571]][k]);
}
