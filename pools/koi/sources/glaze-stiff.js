async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-300, -300);
  background('#f5f3ec');
  brush.noStroke();
  brush.fillBleed(0.08);
  brush.fillTexture(0.3, 0.8);
  const poly = (hex, op, pts) => {
    brush.fill(hex, op);
    brush.beginShape(0.2);
    for (const [x, y] of pts) brush.vertex(x, y);
    brush.endShape(true);
  };
  poly('#f0cdb8', 210, [[300, 120], [350, 180], [356, 280], [320, 420], [300, 460], [280, 420], [244, 280], [250, 180]]);
  poly('#e0643f', 210, [[260, 180], [340, 180], [340, 240], [260, 240]]);
  poly('#e0643f', 210, [[262, 300], [338, 300], [324, 370], [276, 370]]);
  poly('#eab79c', 190, [[300, 450], [360, 530], [300, 510], [240, 530]]);
  poly('#eab79c', 180, [[350, 230], [430, 280], [352, 270]]);
  poly('#eab79c', 180, [[250, 230], [170, 280], [248, 270]]);
  brush.fill('#333333', 240);
  brush.circle(276, 160, 7);
  brush.circle(324, 160, 7);
}
