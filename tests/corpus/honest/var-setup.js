var setup = async () => {
  const mode = WEBGL;
  const cnv = createCanvas(600, 600, mode);
  console.log(cnv.width);
  await null;
  brush.noStroke();
  brush.fill("#aa4433", 200);
  brush.circle(0, 0, 140);
  noLoop();
};
