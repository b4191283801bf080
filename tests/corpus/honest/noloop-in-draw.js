'use strict';
let frame = 0;
async function setup() {
  createCanvas(windowWidth > 0 ? 600 : 500, 600, WEBGL);
}
function draw() {
  translate(-width / 2, -height / 2);
  brush.noStroke();
  brush.fill('#557744', 190);
  brush.circle(300, 300, 150);
  if (++frame >= 1) noLoop();
}
