// A flower at pixel density 2: a canvas of 1200 by 1200 pixels, transforms and circles included.
async function setup() {
  createCanvas(600, 600, WEBGL);
  pixelDensity(2);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}
function draw() {
  translate(-width / 2, -height / 2);
  background("#fbf7ee");
  brush.noStroke();
  brush.fillBleed(0.25);
  brush.fillTexture(0.4, 0.4);
  for (let i = 0; i < 5; i++) {
    push();
    translate(300, 250);
    rotate(i * 72 - 90);
    brush.fill(["#e79a7d", "#e58a86", "#d9654f"][i % 3], 170);
    brush.beginShape(0.5);
    for (let k = 0; k < 10; k++) brush.vertex(95 + 95 * cos(k * 36), 55 * sin(k * 36) * (k % 2 ? 0.85 : 1));
    brush.endShape(CLOSE);
    pop();
  }
  brush.fill("#7d2335", 220);
  brush.circle(300, 250, 26, 0.3);
  brush.fill("#6d8f57", 180);
  brush.beginShape(0.3);
  for (const [x, y] of [[296, 380], [312, 380], [322, 580], [304, 580]]) brush.vertex(x, y);
  brush.endShape(CLOSE);
}
