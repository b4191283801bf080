async function setup() {
  createCanvas(600, 600, WEBGL);
  brush.scaleBrushes(3);
  angleMode(DEGREES);
  noLoop();
}

function wash(hex, opacity, points, curve = 0.4) {
  brush.fill(hex, opacity);
  brush.beginShape(curve);
  for (const [x, y] of points) brush.vertex(x, y);
  brush.endShape(true);
}

function draw() {
  translate(-width / 2, -height / 2);
  background('#f8f6ee');
  brush.noStroke();
  brush.fillBleed(0.12);
  brush.fillTexture(0.4, 0.5);
  wash('#6f8a52', 220, [[294, 330], [306, 330], [308, 600], [292, 600]], 0);
  wash('#f4d35e', 210, [[300, 340], [160, 120], [240, 90], [300, 130]], 0.2);
  wash('#f4d35e', 210, [[300, 340], [440, 120], [360, 90], [300, 130]], 0.2);
  wash('#eeb84a', 200, [[300, 340], [250, 110], [300, 80], [350, 110]], 0.2);
  wash('#d9853a', 180, [[300, 340], [280, 220], [300, 180], [320, 220]], 0.2);
  wash('#7d9a58', 220, [[270, 350], [280, 300], [320, 300], [330, 350]], 0.2);
  wash('#8aa868', 200, [[306, 480], [380, 430], [460, 440], [390, 490]], 0.4);
  wash('#8aa868', 200, [[294, 520], [220, 470], [140, 480], [210, 530]], 0.4);
  brush.fill('#c98a2a', 240);
  for (let k = 0; k < 5; k++) brush.circle(300, 110 - k * 14, 8);
}
