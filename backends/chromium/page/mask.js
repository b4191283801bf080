// The canvas behind p5.brush's fill masks. p5.brush draws each filled shape as some ninety layers of very low alpha on a
// 2D canvas, of which only the alpha ever counts, so one plane of bytes and two operations are all it takes:
// accumulate the signed area of a path's edges, then lay alpha × coverage over (or take it out of) the plane, rounding to
// nearest once a layer. That is what a GPU does with an 8-bit target, and what the published paintings were made with;
// Chromium's own CPU raster rounds down and loses a third of the pigment, its half-float raster stays a shade too pale.
// Value of this expression: a function from an OffscreenCanvas to an object that stands in for its 2D context.
(function () {
  "use strict";

  const { abs, ceil, floor, hypot, max, min, sqrt, cos, sin, PI } = Math;
  const MITER_LIMIT = 10; // the 2D canvas's default, never changed by p5.brush

  // Coverage accumulators, shared by all masks of the page; always all zero between two paths.
  let area = new Float32Array(0);
  let stride = 0;
  let rows = 0;

  // The path in device pixels: corner after corner, and where each subpath begins.
  let xs = new Float64Array(4096);
  let ys = new Float64Array(4096);
  let corners = 0;
  let starts = [];
  let closed = [];

  // What a path touched: its rows, and in each the first and last cell.
  const FAR = 1 << 30;
  let lefts = new Int32Array(0);
  let rights = new Int32Array(0);
  let top = 0;
  let bottom = 0;

  const after = new Uint8Array(256);

  function reach(width, height) {
    if (stride !== width + 4 || rows < height) {
      stride = width + 4;
      rows = height;
      area = new Float32Array(stride * (height + 1));
      lefts = new Int32Array(height + 1).fill(FAR);
      rights = new Int32Array(height + 1);
    }
  }

  // One edge into the accumulators: each cell gets the change of winding × area that a sweep from the left sees there.
  function edge(x0, y0, x1, y1, width, height) {
    if (y0 === y1) return;
    let sign = 1;
    if (y0 > y1) {
      sign = -1;
      let t = x0;
      x0 = x1;
      x1 = t;
      t = y0;
      y0 = y1;
      y1 = t;
    }
    if (y1 <= 0 || y0 >= height) return;
    const slope = (x1 - x0) / (y1 - y0);
    let x = x0;
    if (y0 < 0) {
      x -= y0 * slope;
      y0 = 0;
    }
    if (y1 > height) y1 = height;
    const first = y0 | 0;
    const last = ceil(y1);
    if (first < top) top = first;
    if (last > bottom) bottom = last;
    for (let y = first; y < last; y++) {
      const from = y > y0 ? y : y0;
      const to = y + 1 < y1 ? y + 1 : y1;
      const dy = to - from;
      const next = x + slope * dy;
      let a = x;
      let b = next;
      if (a > b) {
        a = next;
        b = x;
      }
      x = next;
      const d = dy * sign;
      const row = y * stride;
      if (b <= 0) {
        lefts[y] = 0;
        if (rights[y] < 1) rights[y] = 1;
        area[row] += d;
        continue;
      }
      if (a >= width) continue;
      if (a < 0) a = 0;
      if (b > width) b = width;
      const i = a | 0;
      const j = ceil(b);
      if (i < lefts[y]) lefts[y] = i;
      if (j > rights[y]) rights[y] = j;
      if (j <= i + 1) {
        const mid = 0.5 * (a + b) - i;
        area[row + i] += d * (1 - mid);
        area[row + i + 1] += d * mid;
      } else {
        const s = 1 / (b - a);
        const head = 1 - (a - i);
        const tail = b - j + 1;
        const a0 = 0.5 * s * head * head;
        const am = 0.5 * s * tail * tail;
        area[row + i] += d * a0;
        if (j === i + 2) area[row + i + 1] += d * (1 - a0 - am);
        else {
          const a1 = s * (1.5 - (a - i));
          area[row + i + 1] += d * (a1 - a0);
          for (let k = i + 2; k < j - 1; k++) area[row + k] += d * s;
          area[row + j - 1] += d * (1 - (a1 + (j - i - 3) * s) - am);
        }
        area[row + j] += d * am;
      }
    }
  }

  function begin(height) {
    top = height;
    bottom = 0;
  }

  // Sweep what was touched: winding beyond ±1 counts once (the non-zero rule), then one layer onto the plane. Rows are
  // mostly long runs of "outside" and "full coverage", in which the accumulators are zero: those go by in tight loops.
  function lay(plane, width, alpha, out) {
    // The layer's effect at full coverage on each of the 256 possible values, worked out once.
    for (let v = 0; v < 256; v++) after[v] = out ? v * (1 - alpha) + 0.5 : 255 * alpha + v * (1 - alpha) + 0.5;
    for (let y = top; y < bottom; y++) {
      if (lefts[y] === FAR) continue;
      const row = y * stride;
      const shift = y * width - row;
      const end = row + min(width, rights[y] + 1);
      let i = row + lefts[y];
      lefts[y] = FAR;
      rights[y] = 0;
      let winding = 0;
      while (i < end) {
        const change = area[i];
        if (change !== 0) {
          winding += change;
          area[i] = 0;
        }
        const cover = winding < 0 ? -winding : winding;
        if (cover < 0.0005) {
          i++;
          while (i < end && area[i] === 0) i++;
        } else if (cover > 0.9995) {
          do {
            plane[i + shift] = after[plane[i + shift]];
            i++;
          } while (i < end && area[i] === 0);
        } else {
          const s = alpha * cover;
          const under = plane[i + shift];
          plane[i + shift] = out ? under * (1 - s) + 0.5 : 255 * s + under * (1 - s) + 0.5;
          i++;
        }
      }
      area[i] = 0;
      area[i + 1] = 0;
    }
  }

  // The outline of a stroked, closed subpath, one side at a time. On the outside of a turn the two offset lines meet in
  // the miter's tip; on the inside the outline goes by way of the corner itself, so that every piece winds the same way.
  const px = new Float64Array(3);
  function side(from, to, half, width, height) {
    const n = to - from;
    let first = true;
    let firstX = 0;
    let firstY = 0;
    let lastX = 0;
    let lastY = 0;
    let ux = 0;
    let uy = 0;
    // unit normal of the last segment that has a length
    let k = n - 1;
    for (; k >= 0; k--) {
      const a = from + k;
      const b = from + ((k + 1) % n);
      const dx = xs[b] - xs[a];
      const dy = ys[b] - ys[a];
      const l = sqrt(dx * dx + dy * dy);
      if (l > 1e-9) {
        ux = -dy / l;
        uy = dx / l;
        break;
      }
    }
    if (k < 0) return;
    for (let i = 0; i < n; i++) {
      const a = from + i;
      const b = i + 1 < n ? a + 1 : from;
      const x = xs[a];
      const y = ys[a];
      const dx = xs[b] - x;
      const dy = ys[b] - y;
      const l = sqrt(dx * dx + dy * dy);
      if (l <= 1e-9) continue;
      const vx = -dy / l;
      const vy = dx / l;
      const cross = ux * vy - uy * vx;
      const dot = ux * vx + uy * vy;
      const put = (qx, qy) => {
        if (first) {
          first = false;
          firstX = qx;
          firstY = qy;
        } else if (half > 0) edge(lastX, lastY, qx, qy, width, height);
        else edge(qx, qy, lastX, lastY, width, height);
        lastX = qx;
        lastY = qy;
      };
      const outside = cross * half < 0;
      const c2 = 0.5 * (1 + dot); // cos² of half the turn
      if (outside || abs(cross) < 1e-6) {
        if (c2 * MITER_LIMIT * MITER_LIMIT > 1) {
          const scale = half / (2 * c2);
          put(x + (ux + vx) * scale, y + (uy + vy) * scale);
        } else {
          put(x + ux * half, y + uy * half);
          put(x + vx * half, y + vy * half);
        }
      } else {
        put(x + ux * half, y + uy * half);
        put(x, y);
        put(x + vx * half, y + vy * half);
      }
      ux = vx;
      uy = vy;
    }
    if (first) return;
    if (half > 0) edge(lastX, lastY, firstX, firstY, width, height);
    else edge(firstX, firstY, lastX, lastY, width, height);
  }

  function alphaOf(colour) {
    const slash = colour.lastIndexOf("/");
    if (slash < 0) return 1;
    const text = colour.slice(slash + 1, -1);
    const value = parseFloat(text);
    return max(0, min(1, text.includes("%") ? value / 100 : value));
  }

  const contexts = new WeakMap();
  const get = contexts.get.bind(contexts);
  const set = contexts.set.bind(contexts);

  class MaskContext {
    constructor(canvas) {
      this.canvas = canvas;
      this.imageSmoothingEnabled = false;
      this.lineCap = "butt"; // p5.brush's paths are closed: no caps are ever drawn
      this._width = canvas.width;
      this._height = canvas.height;
      this._plane = null;
      this.pixels = null;
      this._state = {
        a: 1, b: 0, c: 0, d: 1, e: 0, f: 0, fill: 1, stroke: 1, lineWidth: 1, operation: "source-over",
      };
      this._stack = [];
    }

    get plane() {
      return (this._plane ??= new Uint8Array(this._width * this._height));
    }

    save() {
      this._stack.push({ ...this._state });
    }
    restore() {
      if (this._stack.length) this._state = this._stack.pop();
    }
    setTransform(a, b, c, d, e, f) {
      const state = this._state;
      state.a = a;
      state.b = b;
      state.c = c;
      state.d = d;
      state.e = e;
      state.f = f;
    }
    getTransform() {
      const { a, b, c, d, e, f } = this._state;
      return { a, b, c, d, e, f };
    }
    set fillStyle(colour) {
      this._state.fill = alphaOf(colour);
    }
    set strokeStyle(colour) {
      this._state.stroke = alphaOf(colour);
    }
    get lineWidth() {
      return this._state.lineWidth;
    }
    set lineWidth(value) {
      if (value > 0 && value < Infinity) this._state.lineWidth = value; // as a canvas does: others are ignored
    }
    get globalCompositeOperation() {
      return this._state.operation;
    }
    set globalCompositeOperation(value) {
      this._state.operation = value;
    }

    clearRect() {
      if (this._plane) this._plane.fill(0);
    }
    beginPath() {
      corners = 0;
      starts = [];
      closed = [];
    }
    moveTo(x, y) {
      starts.push(corners);
      closed.push(false);
      this.lineTo(x, y);
    }
    lineTo(x, y) {
      if (corners === xs.length) {
        const moreX = new Float64Array(2 * corners);
        const moreY = new Float64Array(2 * corners);
        moreX.set(xs);
        moreY.set(ys);
        xs = moreX;
        ys = moreY;
      }
      const state = this._state;
      xs[corners] = state.a * x + state.c * y + state.e;
      ys[corners++] = state.b * x + state.d * y + state.f;
    }
    closePath() {
      closed[closed.length - 1] = true;
    }
    arc(x, y, radius) {
      const n = max(12, ceil(radius * 0.9)); // full circles only; the sagitta stays below 1/16 px at these radii
      for (let i = 1; i < n; i++) this.lineTo(x + radius * cos((i / n) * 2 * PI), y + radius * sin((i / n) * 2 * PI));
    }

    fill() {
      const width = this._width;
      const height = this._height;
      reach(width, height);
      begin(height);
      for (let s = 0; s < starts.length; s++) {
        const from = starts[s];
        const to = s + 1 < starts.length ? starts[s + 1] : corners;
        for (let i = from + 1; i < to; i++) edge(xs[i - 1], ys[i - 1], xs[i], ys[i], width, height);
        if (to - from > 2) edge(xs[to - 1], ys[to - 1], xs[from], ys[from], width, height);
      }
      lay(this.plane, width, this._state.fill, this._state.operation === "destination-out");
    }

    stroke() {
      const width = this._width;
      const height = this._height;
      const { a, b, c, d, lineWidth, stroke, operation } = this._state;
      const half = 0.5 * lineWidth * sqrt(abs(a * d - b * c));
      if (!(half > 0) || stroke === 0) return;
      reach(width, height);
      begin(height);
      for (let s = 0; s < starts.length; s++) {
        const from = starts[s];
        const to = s + 1 < starts.length ? starts[s + 1] : corners;
        if (to - from < 2) continue;
        side(from, to, half, width, height);
        side(from, to, -half, width, height);
      }
      lay(this.plane, width, stroke, operation === "destination-out");
    }

    // The only image ever drawn is another mask, at its own size.
    drawImage(source, sx, sy, sw, sh) {
      const from = get(source);
      const plane = from.plane;
      const pixels = new Uint8Array(sw * sh * 4);
      for (let y = 0, at = 0; y < sh; y++) {
        let i = (y + sy) * from._width + sx;
        for (let x = 0; x < sw; x++, at += 4) {
          const alpha = plane[i++];
          if (alpha) {
            pixels[at] = 255;
            pixels[at + 3] = alpha;
          }
        }
      }
      this.pixels = pixels;
    }
  }

  return {
    // The stand-in of a canvas's 2D context.
    contextOf(canvas) {
      let context = get(canvas);
      if (!context) set(canvas, (context = new MaskContext(canvas)));
      return context;
    },
    // The RGBA bytes of a canvas that a mask was drawn to, or undefined.
    pixelsOf: (canvas) => get(canvas)?.pixels,
  };
})()
