// Washes from half the canvas to twice its width (beyond that p5.brush paints nothing), one over another.
async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}
function draw() {
  translate(-width / 2, -height / 2);
  background("#f6f2e8");
  brush.noStroke();
  brush.fillBleed(0.15);
  brush.fillTexture(0.5, 0.3);
  const wash = (hex, opacity, cx, cy, w, h, n) => {
    brush.fill(hex, opacity);
    brush.beginShape(0.4);
    for (let k = 0; k < n; k++) brush.vertex(cx + w * cos((k * 360) / n + 11), cy + h * sin((k * 360) / n + 11));
    brush.endShape(CLOSE);
  };
  wash("#9db8d9", 120, 300, 60, 610, 190, 18);
  wash("#e0b15e", 150, 330, 560, 620, 150, 9);
  wash("#7d9a62", 200, 180, 380, 190, 130, 7);
  brush.fill("#b4553f", 180);
  brush.circle(430, 330, 120, 0.4);
}
