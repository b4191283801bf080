function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  const c = "#e8825a,#aa3322".split(",").map((s) => s.trim().toLowerCase());
  if (/^#[0-9a-f]{6}$/.test(c[1])) brush.fill(c[1].replace("aa", "bb"), 200);
  brush.circle(0, 0, 140);
  console.log(c.join("").big);
}
