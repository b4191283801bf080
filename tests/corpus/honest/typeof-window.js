function setup() {
  createCanvas(600, 600, WEBGL);
  background(250, 246, 238);
  angleMode(DEGREES);
  brush.scaleBrushes(3);
  brush.noStroke();
  noLoop();
  brush.fill("#e8825a", 200);
  brush.fillBleed(0.2);
  const server = typeof document === "undefined" || typeof fetch !== "function";
  const inside = typeof window !== "undefined" && window.innerWidth > 0;
  brush.circle(server ? 10 : 0, 0, inside ? 140 : 120);
}
