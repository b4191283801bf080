function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  randomSeed(3);
  noiseSeed(4);
  noiseDetail(3, 0.4);
  const v = createVector(3, 4).mult(10);
  const u = p5.Vector.random2D().setMag(20);
  const q = p5.Vector.add(v, u).rotate(30);
  const r = map(noise(1, 2), 0, 1, 90, 110) + constrain(dist(0, 0, q.x, q.y), 0, 30) + lerp(0, 10, 0.5) + random([10, 20]) + randomGaussian(0, 1);
  brush.circle(0, 0, round(r) + floor(mag(3, 4)) + sq(2) + norm(5, 0, 10));
}
