new p5((p) => {
  p.setup = () => {
    p.createCanvas(600, 600, p.WEBGL);
    p.circle(0, 0, 200);
  };
});
