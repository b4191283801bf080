async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function draw() {
  translate(-300, -300);
  background('#fdf9ee');
  brush.noStroke();
  brush.fillBleed(0.3);
  brush.fillTexture(0.35, 0.5);
  const disc = (hex, n, r, s, off) => {
    for (let k = 0; k < n; k++) {
      const a = (k * 360) / n + off;
      brush.fill(hex, 200);
      brush.circle(300 + r * cos(a), 300 + r * sin(a), s, 0.7);
    }
  };
  disc('#8fb070', 3, 190, 60, 30);
  disc('#fbd45c', 7, 120, 80, 0);
  disc('#f9a940', 6, 70, 54, 25);
  disc('#b3243f', 5, 26, 26, 10);
  disc('#fff0b0', 6, 16, 9, 0);
}
