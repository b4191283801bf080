{
  function setup() {
    createCanvas(600, 600, WEBGL);
    brush.noStroke();
    brush.fill('#557744', 190);
    brush.circle(0, 0, 150);
    noLoop();
  }
}
