function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop(); // in a reply this would stand between ``` and ```
  const fence = "```js";
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  brush.circle(0, 0, 140);
  for (let i = 0; i < 3; i++) {
    brush.circle(i * 40, 0, 60);
  }
}
