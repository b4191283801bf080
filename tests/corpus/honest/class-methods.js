class Petal {
  #size;
  static count = 0;
  static { Petal.count = 5; }
  constructor(size) {
    this.#size = size;
    this.text_ = "petal";
  }
  image() {
    brush.circle(0, 0, this.#size * 2);
    return this;
  }
  text() {
    return this.text_;
  }
  get rect() {
    return this.constructor.name;
  }
  set rect(v) {}
  line() {}
}
function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  new Petal(70).image().text();
}
