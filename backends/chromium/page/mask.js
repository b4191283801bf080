// What stands in for the 2D context of p5.brush's fill masks: paths go into the memory of mask.ts (WebAssembly), which
// rasterises them. It serves the calls that p5.brush 2.2.2 makes of that context, with the arguments that it makes them
// with; any other is refused, by name, and whoever paints then paints again with the browser's own raster.
// Value of this expression: a function from the WebAssembly file in base64 to the masks of one page.
(function (file) {
  "use strict";

  const { abs, ceil, cos, floor, max, min, round, sqrt, PI } = Math;
  const BAND = 16; // rows that one span of a mask's extent stands for
  const ENDS = { butt: 0, round: 1, square: 2 };
  const RED = "rgb(255 0 0 / "; // the one colour that masks are drawn in; only its alpha counts

  const module = new WebAssembly.Module(Uint8Array.from(atob(file), (letter) => letter.charCodeAt(0)));
  const raster = new WebAssembly.Instance(module).exports;

  // The path in device pixels, x and y in turn: corners as they come, where each subpath begins, whether it was closed.
  // Nothing is made anew for a path: erasing draws some 37,000 circles a flower.
  let corners = 0;
  let subpaths = 0;
  const starts = [];
  const closed = [];
  let drawing = false; // whether a subpath is open to more corners
  let circle = null; // the ring of the one circle that a path may be instead, and the transform that takes it there
  const place = new Float64Array(6);
  let capacity = 0;
  let path = new Float32Array(0);

  // Memory that grows leaves every view of it empty.
  function view() {
    if (path.length || !capacity) return;
    const at = raster.room(capacity);
    path = new Float32Array(raster.memory.buffer, at, 2 * capacity);
  }

  function grow() {
    capacity = max(4096, 2 * capacity);
    path = new Float32Array(0);
    view();
  }

  // The last mask that was copied out, for the upload that follows.
  let staging = 0;
  let staged = 0;

  // Corners of the unit circle as Skia's GPU path has them: a quarter is a conic, cut into 1, 2, 4 … at equal steps of its
  // parameter, so many that the outline keeps within 0.16 px of the circle (found by fitting 17 radii from 1 to 45 px).
  const rings = [];
  function ring(radius) {
    let k = 0;
    while (k < 8 && radius > (rings[k] ??= made(4 << k)).most) k++;
    return rings[k] ?? (rings[k] = made(4 << k));
  }

  function made(n) {
    const at = raster.take(8 * n);
    const points = new Float32Array(raster.memory.buffer, at, 2 * n);
    for (let i = 0; i < n; i++) {
      const t = ((4 * i) / n) % 1;
      const middle = sqrt(2) * t * (1 - t);
      const over = (1 - t) * (1 - t) + middle + t * t;
      let x = ((1 - t) * (1 - t) + middle) / over;
      let y = (middle + t * t) / over;
      for (let quarter = 0; quarter < floor((4 * i) / n); quarter++) [x, y] = [-y, x];
      points.set([x, y], 2 * i);
    }
    view();
    return { at, n, most: 0.16 / (1 - cos(PI / n)) };
  }

  let refused = "";
  function refuse(what) {
    refused = refused || what;
    throw new Error(`the masks' rasteriser does not know ${what}`);
  }

  // The alpha of a colour, `before` where it is no colour: then nothing changes. Blink keeps a percentage as it is, and
  // rounds a number to 8 bits, as it always did.
  function alphaOf(colour, before) {
    if (typeof colour !== "string" || !colour.startsWith(RED)) refuse(`the colour ${colour}`);
    const value = parseFloat(colour.slice(RED.length, -1));
    if (value !== value) return before;
    if (colour.at(-2) === "%") return max(0, min(1, value / 100));
    return round(255 * max(0, min(1, value))) / 255;
  }

  class MaskContext {
    constructor(canvas) {
      this.canvas = canvas;
      this.imageSmoothingEnabled = true; // nothing is ever drawn at another size
      this._width = canvas.width;
      this._height = canvas.height;
      this._plane = 0;
      this._upload = null;
      this._stack = [];
      this._state = {
        a: 1, b: 0, c: 0, d: 1, e: 0, f: 0, fill: 1, stroke: 1, lineWidth: 1, cap: "butt", out: false,
      };
    }

    _ready() {
      if (!this._plane) this._plane = raster.plane(this._width, this._height);
      raster.begin(this._width, this._height);
      view();
    }

    save() {
      this._stack.push({ ...this._state });
    }
    restore() {
      if (this._stack.length) this._state = this._stack.pop();
    }
    setTransform(a, b, c, d, e, f) {
      if (arguments.length !== 6) refuse("setTransform of a matrix");
      Object.assign(this._state, { a, b, c, d, e, f });
    }
    getTransform() {
      const { a, b, c, d, e, f } = this._state;
      return { a, b, c, d, e, f };
    }
    set fillStyle(colour) {
      this._state.fill = alphaOf(colour, this._state.fill);
    }
    set strokeStyle(colour) {
      this._state.stroke = alphaOf(colour, this._state.stroke);
    }
    get lineWidth() {
      return this._state.lineWidth;
    }
    set lineWidth(value) {
      if (value > 0 && value < Infinity) this._state.lineWidth = value; // as a canvas does: others are ignored
    }
    get lineCap() {
      return this._state.cap;
    }
    set lineCap(value) {
      if (value in ENDS) this._state.cap = value;
    }
    get globalCompositeOperation() {
      return this._state.out ? "destination-out" : "source-over";
    }
    set globalCompositeOperation(value) {
      if (value !== "source-over" && value !== "destination-out") refuse(`the operation ${value}`);
      this._state.out = value === "destination-out";
    }

    clearRect(x, y, width, height) {
      if (x !== 0 || y !== 0 || width !== this._width || height !== this._height) refuse("clearRect of a part");
      if (this._plane) raster.wipe(this._plane, this._width);
    }
    beginPath() {
      corners = 0;
      subpaths = 0;
      circle = null;
      drawing = false;
    }
    moveTo(x, y) {
      if (!(x - x === 0 && y - y === 0)) return; // as a canvas does: neither NaN nor infinite
      starts[subpaths] = corners;
      closed[subpaths++] = false;
      drawing = true;
      this.lineTo(x, y);
    }
    lineTo(x, y) {
      if (!(x - x === 0 && y - y === 0)) return;
      if (!drawing) return this._resume(x, y);
      if (corners === capacity) grow();
      const state = this._state;
      path[2 * corners] = state.a * x + state.c * y + state.e;
      path[2 * corners++ + 1] = state.b * x + state.d * y + state.f;
    }
    // The first line of a path begins it.
    _resume(x, y) {
      if (subpaths || circle) refuse("a line after closePath");
      this.moveTo(x, y);
    }
    closePath() {
      if (!drawing) return;
      closed[subpaths - 1] = true;
      drawing = false;
    }
    arc(x, y, radius, from, to) {
      if (from !== 0 || to !== 2 * PI || arguments.length !== 5) refuse("an arc that is no circle");
      if (!(x - x === 0 && y - y === 0 && radius - radius === 0)) return;
      if (radius < 0) refuse("a negative radius");
      if (circle || corners > 1) refuse("a circle in a path of more");
      const { a, b, c, d, e, f } = this._state;
      circle = ring(radius * sqrt(max(a * a + b * b, c * c + d * d)));
      place[0] = radius * a;
      place[1] = radius * b;
      place[2] = radius * c;
      place[3] = radius * d;
      place[4] = a * x + c * y + e;
      place[5] = b * x + d * y + f;
      drawing = false; // p5.brush moves to each circle's start; that subpath of one corner draws nothing
    }

    fill() {
      if (arguments.length) refuse("fill with a rule or a path");
      if (!this._state.fill) return;
      this._ready();
      if (circle) raster.ellipse(circle.at, circle.n, place[0], place[1], place[2], place[3], place[4], place[5]);
      else for (let s = 0; s < subpaths; s++) raster.fill(starts[s], s + 1 < subpaths ? starts[s + 1] : corners);
      raster.lay(this._plane, this._state.fill, this._state.out, true);
    }

    stroke() {
      if (arguments.length) refuse("stroke with a path");
      if (circle) refuse("the stroke of a circle");
      const { a, b, c, d, lineWidth, stroke, cap, out } = this._state;
      const area = a * d - b * c;
      if (area === 0 || !stroke) return;
      this._ready();
      // A pen that a transform squeezes is no longer round: then the outline is found where it is, and transformed.
      const u = a * a + b * b;
      const v = c * c + d * d;
      const skewed = abs(u - v) > 1e-9 * (u + v) || abs(a * c + b * d) > 1e-9 * (u + v);
      const half = 0.5 * lineWidth * (skewed ? 1 : sqrt(abs(area)));
      const map = (a, b, c, d) => {
        for (let i = 0; i < 2 * corners; i += 2) {
          const x = path[i];
          path[i] = a * x + c * path[i + 1];
          path[i + 1] = b * x + d * path[i + 1];
        }
      };
      if (skewed) map(d / area, -b / area, -c / area, a / area);
      for (let s = 0; s < subpaths; s++)
        raster.stroke(starts[s], s + 1 < subpaths ? starts[s + 1] : corners, half, closed[s], ENDS[cap], skewed, a, b, c, d);
      if (skewed) map(a, b, c, d);
      raster.lay(this._plane, stroke, out, false);
    }

    // The only image ever drawn is another mask's part, at its own size, on a canvas that it covers.
    drawImage(source, x, y, width, height, toX, toY, toWidth, toHeight) {
      const from = get(source);
      const plain = toX === 0 && toY === 0 && toWidth === width && toHeight === height;
      if (!from || !plain || width !== this._width || height !== this._height) refuse("drawImage but of a mask");
      from._ready();
      const bytes = 4 * width * height;
      const bands = ceil(height / BAND);
      if (bytes + 8 * bands > staged) staging = raster.take((staged = bytes + 8 * bands));
      view();
      raster.copy(from._plane, from._width, x, y, width, height, staging, BAND, staging + bytes);
      this._upload = {
        pixels: new Uint8Array(raster.memory.buffer, staging, bytes),
        spans: new Int32Array(raster.memory.buffer, staging + bytes, 2 * bands),
        band: BAND,
      };
    }
  }

  for (const name of Reflect.ownKeys(OffscreenCanvasRenderingContext2D.prototype))
    if (typeof name === "string" && !(name in MaskContext.prototype) && !["canvas", "imageSmoothingEnabled"].includes(name))
      Object.defineProperty(MaskContext.prototype, name, { get: () => refuse(name), set: () => refuse(name) });

  const contexts = new WeakMap();
  const get = contexts.get.bind(contexts);
  const set = contexts.set.bind(contexts);

  return {
    // The stand-in of a canvas's 2D context.
    contextOf(canvas) {
      let context = get(canvas);
      if (!context) set(canvas, (context = new MaskContext(canvas)));
      return context;
    },
    // What was last drawn to a canvas, until the next drawImage: RGBA bytes; and for each `band` of its rows the first
    // column with any alpha and the one after the last.
    uploadOf: (canvas) => get(canvas)?._upload,
    // The first thing asked of a mask that is not served; empty when there was none.
    refused: () => refused,
  };
})
