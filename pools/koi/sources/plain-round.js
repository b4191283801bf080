async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-300, -300);
  background('#f4f1e6');
  brush.noStroke();
  brush.fillBleed(0.2);
  brush.fillTexture(0.5, 0.4);
  const lens = (hex, x, y, t, l, w) => {
    brush.fill(hex, 215);
    brush.beginShape(0.5);
    for (let a = 0; a < 360; a += 30) brush.vertex(x + l * cos(a) * cos(t) - w * sin(a) * sin(t), y + l * cos(a) * sin(t) + w * sin(a) * cos(t));
    brush.endShape(true);
  };
  for (const [k, x, y] of [[0, 210, 260], [1, 390, 340]]) {
    const t = 120 + k * 180;
    lens('#f6d28a', x + 60 * cos(t + 70), y + 60 * sin(t + 70), t + 50, 56, 20);
    lens('#f6d28a', x + 60 * cos(t - 70), y + 60 * sin(t - 70), t - 50, 56, 20);
    lens('#f0b65a', x + 150 * cos(t), y + 150 * sin(t), t + 20, 60, 20);
    lens(k ? '#f2a03c' : '#f6c24a', x, y, t, 118, 46);
    lens(k ? '#c8502c' : '#e2702f', x - 30 * cos(t), y - 30 * sin(t), t, 60, 24);
  }
}
