async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-300, -300);
  background('#f8f4ec');
  brush.noStroke();
  brush.fillBleed(0.2);
  brush.fillTexture(0.45, 0.6);
  for (let k = 0; k < 5; k++)
    for (const [hex, s] of [['#ee6a5c', 1], ['#d22c40', 0.72], ['#7a0d2c', 0.36]]) {
      push();
      translate(300, 300);
      rotate(k * 72 - 20);
      brush.fill(hex, 215);
      brush.beginShape(0.6);
      for (const [x, y] of [[0, 0], [90, -70], [190, -80], [226, -10], [180, 50], [80, 30]]) brush.vertex(x * s, y * s);
      brush.endShape(true);
      pop();
    }
  brush.fill('#f6c644', 250);
  for (let k = 0; k < 12; k++) brush.circle(300 + 6 * k * cos(k * 9 - 60), 300 + 7 * k * sin(k * 9 - 60), 8, 0.3);
}
