const palette = ["#f6c7a8", "#e8825a", "#c9502f", "coral", "rgb(200, 90, 60)"];
function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  for (const [i, tone] of palette.entries()) {
    brush.fill(tone, 160 + i * 10);
    brush.circle(i * 25, -i * 25, 90);
  }
  brush.fill(palette[palette.length - 1], 220);
  brush.circle(0, 0, random(40, 60));
  brush.fill(random(palette), 180);
}
