function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  noLoop();
  brush.scaleBrushes(3);
  brush.noStroke();
  brush.fill("#e8825a", 200);
  brush.circle(0, 0, 120);
  const o = {
    me() {
      return this;
    },
  };
  const { me } = o;
  me().rect(0, 0, 99, 99);
}
