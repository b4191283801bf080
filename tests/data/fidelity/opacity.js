// One petal at opacities from 20 to 255, apart and overlapping.
async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}
function draw() {
  translate(-width / 2, -height / 2);
  background("#fdfaf2");
  brush.noStroke();
  brush.fillBleed(0.25);
  brush.fillTexture(0.4, 0.4);
  const opacities = [20, 45, 70, 100, 130, 160, 190, 215, 235, 255];
  for (let i = 0; i < opacities.length; i++) {
    const x = 80 + (i % 5) * 110, y = 170 + floor(i / 5) * 230;
    brush.fill(["#c2447c", "#3f7d8c", "#d88a24"][i % 3], opacities[i]);
    brush.beginShape(0.5);
    for (let k = 0; k < 9; k++) brush.vertex(x + 72 * cos(k * 40) * (k % 2 ? 0.85 : 1), y + 105 * sin(k * 40));
    brush.endShape(CLOSE);
  }
}
