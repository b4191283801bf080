// Translated, rotated, scaled, stretched, sheared-by-nesting and mirrored shapes, each under push and pop.
async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}
function leaf(hex, opacity) {
  brush.fill(hex, opacity);
  brush.beginShape(0.5);
  for (let k = 0; k < 10; k++) brush.vertex(85 * cos(k * 36), 42 * sin(k * 36) * (k % 2 ? 0.8 : 1));
  brush.endShape(CLOSE);
}
function draw() {
  background("#faf5e9");
  brush.noStroke();
  brush.fillBleed(0.2);
  brush.fillTexture(0.4, 0.5);
  const moves = [
    () => rotate(35),
    () => scale(1.6),
    () => scale(0.35),
    () => scale(1.5, 0.5),
    () => { rotate(50); scale(0.5, 1.9); },
    () => { scale(1.4, 0.6); rotate(45); },
    () => scale(-1, 1.3),
    () => { rotate(200); translate(20, 10); scale(1.1, -0.9); },
    () => { scale(2.4); scale(0.5); rotate(-70); },
  ];
  for (let i = 0; i < moves.length; i++) {
    push();
    translate(-190 + (i % 3) * 190, -190 + floor(i / 3) * 190);
    moves[i]();
    leaf(["#4f7f5a", "#bb5b4a", "#3f6c9b", "#c59a3a"][i % 4], 150 + 20 * (i % 4));
    if (i % 3 === 2) brush.circle(60, 40, 22, 0.2);
    pop();
  }
}
