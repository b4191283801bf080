async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-300, -300);
  background('#fbf8f2');
  brush.noStroke();
  brush.fillTexture(0.5, 0.6);
  for (let k = 0; k < 5; k++) {
    push();
    translate(300, 290);
    rotate(k * 72 - 90);
    brush.fillBleed(0.25);
    for (const [hex, w, l] of [['#b9bcd6', 110, 215], ['#e6d3d6', 60, 180], ['#c81e46', 26, 104]]) {
      brush.fill(hex, 190);
      brush.beginShape(0.5);
      for (let t = 0; t < 360; t += 24) brush.vertex(l * (0.5 - 0.5 * cos(t)) * (1 + 0.05 * sin(5 * t)), w * sin(t) * (0.6 - 0.4 * cos(t)));
      brush.endShape(true);
    }
    pop();
  }
  brush.fillBleed(0.1);
  brush.fill('#eeb02f', 255);
  for (let k = 0; k < 11; k++) brush.circle(292 - k * 9, 282 - k * 6 + (k % 2) * 16, 8, 0.4);
}
