function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  const note = "text(1) eval('x') document.body fetch() drawingContext";
  const tpl = `ellipse(${note.length}) import('x')`;
  console.log(note, tpl);
  brush.circle(0, 0, 140);
}
