async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-300, -300);
  background('#f5efe4');
  brush.noStroke();
  brush.fillBleed(0.12);
  brush.fillTexture(0.3, 0.8);
  for (let k = 0; k < 5; k++) {
    push();
    translate(300, 300);
    rotate(k * 72);
    for (const [hex, s] of [['#ee9060', 1], ['#d0603f', 0.6]]) {
      brush.fill(hex, 230);
      brush.beginShape(0.2);
      for (const [x, y] of [[-30, 0], [-110, -170], [-70, -250], [70, -250], [110, -170], [30, 0]]) brush.vertex(x * s, y * s);
      brush.endShape(true);
    }
    pop();
  }
  brush.fill('#6f2a30', 230);
  brush.circle(300, 300, 54);
  brush.fill('#e0b040', 240);
  for (let k = 0; k < 6; k++) brush.circle(300 + 30 * cos(k * 60), 300 + 30 * sin(k * 60), 12);
}
