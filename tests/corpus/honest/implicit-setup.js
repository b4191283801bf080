setup = function () {
  createCanvas(600, 600, 'webgl');
  brush.noStroke();
  brush.fill('#aa4433', 200);
  brush.circle(0, 0, 140);
  noLoop();
};
