window.setup = () => {
  createCanvas(600, 600, WEBGL);
  noLoop();
};
globalThis.draw = function () {
  brush.noStroke();
  brush.fill("#aa4433", 200);
  brush.circle(0, 0, 140);
};
