async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-300, -300);
  background('#faf8f4');
  brush.noStroke();
  brush.fillBleed(0.1);
  brush.fillTexture(0.5, 0.3);
  for (let k = 0; k < 5; k++) {
    const a = k * 72;
    brush.fill('#b7a0d8', 185);
    brush.beginShape(0.5);
    brush.vertex(300, 300);
    brush.vertex(300 + 190 * cos(a - 32), 300 + 190 * sin(a - 32));
    brush.vertex(300 + 240 * cos(a), 300 + 240 * sin(a));
    brush.vertex(300 + 190 * cos(a + 32), 300 + 190 * sin(a + 32));
    brush.endShape(true);
  }
  brush.fill('#8a6ab0', 190);
  brush.circle(300, 300, 40, 0.2);
  brush.fill('#e0c060', 200);
  brush.circle(300, 300, 14, 0.2);
}
