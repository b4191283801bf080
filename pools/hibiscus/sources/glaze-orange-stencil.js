async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-width / 2, -height / 2);
  background('#f6f2e8');
  brush.noStroke();
  brush.fillBleed(0.06);
  brush.fillTexture(0.3, 0.9);
  for (let i = 0; i < 5; i++) {
    push();
    translate(300, 300);
    rotate(i * 72 - 90);
    for (const [hex, s] of [['#f6b26b', 1], ['#f08a3c', 0.75], ['#d95f2b', 0.5]]) {
      brush.fill(hex, 200);
      brush.beginShape(0.2);
      for (const [x, y] of [[0, 0], [110, 70], [210, 50], [220, 0], [210, -50], [110, -70]]) brush.vertex(x * s, y * s);
      brush.endShape(true);
    }
    pop();
  }
  brush.fill('#8a1c2c', 230);
  brush.circle(300, 300, 36);
  brush.fill('#f2c94c', 240);
  for (let k = 0; k < 8; k++) brush.circle(300 + 22 * cos(k * 45), 300 + 22 * sin(k * 45), 6);
}
