function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  for (let point = 0; point < 3; point++) brush.circle(point * 20, 0, 90);
  try {
    throw { text: 60 };
  } catch ({ text }) {
    brush.circle(0, 60, text);
  }
}
