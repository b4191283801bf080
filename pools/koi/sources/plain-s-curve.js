async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-300, -300);
  background('#f7f5ee');
  brush.noStroke();
  brush.fillBleed(0.18);
  brush.fillTexture(0.4, 0.55);
  const mid = (x) => 300 + 50 * sin(x * 0.7 + 20);
  const part = (hex, a, b, w) => {
    brush.fill(hex, 220);
    brush.beginShape(0.3);
    for (let x = a; x <= b; x += 20) brush.vertex(x, mid(x) - w * sin(x * 0.42 - 18));
    for (let x = b; x >= a; x -= 20) brush.vertex(x, mid(x) + w * sin(x * 0.42 - 18));
    brush.endShape(true);
  };
  part('#f0bca4', 440, 540, -70);
  part('#f0bca4', 210, 270, 110);
  part('#f0c9b6', 80, 460, 66);
  part('#e2482f', 120, 200, 60);
  part('#e8663a', 280, 380, 56);
  brush.fill('#2c2a33', 250);
  brush.circle(112, mid(112) - 18, 10);
}
