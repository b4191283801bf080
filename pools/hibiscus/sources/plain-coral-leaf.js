async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-300, -300);
  background('#fbf7ef');
  brush.noStroke();
  const lens = (hex, x, y, t, l, w) => {
    brush.fill(hex, 210);
    brush.beginShape(0.5);
    for (const [u, v] of [[0, 0], [0.35, -0.7], [0.75, -1], [1, -0.3], [0.94, 0.1], [1, 0.5], [0.7, 1], [0.3, 0.6]])
      brush.vertex(x + l * u * cos(t) - w * v * sin(t), y + l * u * sin(t) + w * v * cos(t));
    brush.endShape(true);
  };
  brush.fillBleed(0.18);
  brush.fillTexture(0.45, 0.55);
  lens('#6f9a62', 300, 380, 70, 190, 30);
  lens('#8fb070', 300, 380, 130, 170, 34);
  for (let k = 0; k < 5; k++) {
    lens('#f8a284', 300, 260, k * 72 - 54, 200, 76);
    lens('#e5604f', 300, 260, k * 72 - 48, 130, 40);
    lens('#8c1434', 300, 260, k * 72 - 54, 60, 18);
  }
  brush.fill('#f5bf3f', 255);
  for (let k = 0; k < 9; k++) brush.circle(300 - k * 9, 250 - k * 7 + (k % 2) * 14, 8, 0.4);
}
