// Shapes over every edge and corner, and some that lie wholly outside.
async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}
function draw() {
  translate(-width / 2, -height / 2);
  background("#f7f3ea");
  brush.noStroke();
  brush.fillBleed(0.3);
  brush.fillTexture(0.5, 0.4);
  const spots = [
    [0, 0, 170], [300, -20, 130], [600, 10, 150], [620, 300, 140], [590, 610, 190], [300, 630, 150], [-10, 590, 150],
    [-40, 300, 160], [-400, 300, 80], [300, 1500, 90], [655, -60, 40],
  ];
  for (let i = 0; i < spots.length; i++) {
    const [x, y, r] = spots[i];
    brush.fill(["#c05a3e", "#4d7c8a", "#93a04b"][i % 3], 130 + 20 * (i % 5));
    if (i % 4 === 1) brush.circle(x, y, r, 0.3);
    else {
      brush.beginShape(0.4);
      for (let k = 0; k < 7; k++) brush.vertex(x + r * cos((k * 360) / 7) * (k % 2 ? 0.8 : 1.1), y + r * sin((k * 360) / 7));
      brush.endShape(CLOSE);
    }
  }
}
