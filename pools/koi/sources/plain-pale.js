async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-300, -300);
  background('#f8f7f2');
  brush.noStroke();
  brush.fillBleed(0.15);
  brush.fillTexture(0.6, 0.3);
  brush.fill('#f0c8b8', 180);
  brush.beginShape(0.5);
  for (const [x, y] of [[150, 300], [240, 240], [380, 270], [470, 300], [380, 330], [240, 360]]) brush.vertex(x, y);
  brush.endShape(true);
  brush.beginShape(0);
  for (const [x, y] of [[460, 300], [540, 240], [520, 300], [540, 360]]) brush.vertex(x, y);
  brush.endShape(true);
  brush.fill('#e08a70', 170);
  brush.circle(270, 300, 40, 0.3);
  brush.circle(370, 300, 24, 0.3);
  brush.fill('#444444', 220);
  brush.circle(186, 290, 8);
}
