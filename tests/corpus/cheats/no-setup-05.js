// function setup() {
const help = "function setup() {}";
function draw() {
  createCanvas(600, 600, WEBGL);
  brush.circle(0, 0, 100);
}
