const setup = () => {
  createCanvas(600, 600, WEBGL);
  brush.fill("#aa3322", 200);
  brush.circle(0, 0, 100);
};
