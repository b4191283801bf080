async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-width / 2, -height / 2);
  background('#f3f3f1');
  randomSeed(40);
  brush.noStroke();
  brush.fillBleed(0.03);
  brush.fillTexture(0.5, 0.7);
  for (let k = 0; k < 5; k++)
    for (let j = 0; j < 5; j++) {
      const a = k * 72 + j * 11 - 112, r = random(120, 220);
      brush.fill(random(['#8fa3d8', '#b39ad6', '#7d8cc4', '#c7bfe2']), 200);
      brush.beginShape(0);
      brush.vertex(300 + 60 * cos(a), 300 + 60 * sin(a));
      brush.vertex(300 + r * cos(a - 5), 300 + r * sin(a - 5));
      brush.vertex(300 + (r + 20) * cos(a + 3), 300 + (r + 20) * sin(a + 3));
      brush.endShape(true);
    }
  brush.fill('#5b2a6e', 220);
  for (let k = 0; k < 5; k++) {
    brush.beginShape(0);
    brush.vertex(300, 300);
    brush.vertex(300 + 54 * cos(k * 72 - 96), 300 + 54 * sin(k * 72 - 96));
    brush.vertex(300 + 54 * cos(k * 72 - 76), 300 + 54 * sin(k * 72 - 76));
    brush.endShape(true);
  }
  brush.fill('#e0b54a', 240);
  for (let k = 0; k < 6; k++) brush.circle(312 + k * 12, 290 - k * 10, 6);
}
