// The rasteriser behind p5.brush's fill masks, compiled to WebAssembly with SIMD; mask.js is its 2D context.
//
// p5.brush draws each filled shape as some ninety layers of very low alpha on a 2D canvas, of which only the alpha ever
// counts. The published paintings had those layers drawn by Skia's GPU path on SwiftShader, and this is what that does
// (measured: fills layer after layer to the last bit; strokes but for a sample here and there around sharp corners):
// - corners are rounded to 1/16 px;
// - a pixel has four samples, each a byte of its own, inside where the path winds around it (the non-zero rule);
// - a layer's alpha is laid over each covered sample, rounding to nearest; small fills go by their pixels' coverage;
// - what is read is the mean of the four.
// Chromium's own CPU raster rounds down and loses a third of the pigment, its half-float raster stays a shade too pale.
//
// Everything lies in linear memory, in blocks that `take` hands out zeroed and never takes back: the document goes first.

const MITER_LIMIT: f32 = 10; // the 2D canvas's default, which p5.brush leaves alone
const LANES: i32 = 16; // samples a step of the sweep; rows are padded to it
const SAMPLES: i32 = 4; // in a pixel, a quarter of it apart in height: sample rows are numbered from the top of the plane
const UNIT: f32 = 16; // of a pixel: what corners are rounded to
const FAR: f32 = 100000; // px: beyond it a corner stays there, or integers would overflow
const NEAREST: f32 = 12582912; // 1.5 × 2²³: added to |x| < 2²², it leaves the nearest integer in the low bits
const ONE: f64 = 4194304; // 2²²: the unit of a layer's share of a sample
const ATLAS: f32 = 128; // px: √ of the largest area of a fill's bounds that goes through Skia's atlas
const SHIFT: i64 = 24; // binary places of a crossing, in 1/16 px

let free: usize = __heap_base;

// The changes of the winding number: at each sample, by how much it differs from its left neighbour's, as an i8. All zero
// between paths. (It takes 256 turns around one sample to be mistaken for none.)
let turns: usize = 0;
let held: i32 = 0; // how many there are
let stride: i32 = 0; // how many in a sample row
let width: i32 = 0;
let height: i32 = 0;

// The path in device pixels: x and y of each corner in turn, as f32.
let path: usize = 0;
let capacity: i32 = 0;

// What the present path may have touched, in pixels.
let left: f32 = 0;
let right: f32 = 0;
let top: f32 = 0;
let bottom: f32 = 0;

/** Bytes of zeroed memory, at a multiple of 16. Traps when there is no more. */
export function take(bytes: usize): usize {
  const at = (free + 15) & ~15;
  free = at + bytes;
  const missing = <i32>((free + 0xffff) >>> 16) - memory.size();
  if (missing > 0 && memory.grow(missing) < 0) unreachable();
  return at;
}

// @ts-ignore: a decorator of this compiler
@inline
function padded(wide: i32): i32 {
  return (wide + LANES - 1) & ~(LANES - 1);
}

/** A plane of that size, in pixels. Before its samples lie the first pixel row that is not empty and the one after. */
export function plane(wide: i32, high: i32): usize {
  return take(<usize>(padded(wide) * high * SAMPLES + LANES)) + LANES;
}

/** Empty a plane. */
export function wipe(plane: usize, wide: i32): void {
  const first = load<i32>(plane - 8);
  const after = load<i32>(plane - 4);
  const row = padded(wide) * SAMPLES;
  if (after > first) memory.fill(plane + first * row, 0, (after - first) * row);
  store<i64>(plane - 8, 0);
}

/** Where a path of so many corners may lie; what was written before stays. */
export function room(corners: i32): usize {
  if (corners > capacity) {
    const more = take(<usize>corners << 3);
    memory.copy(more, path, <usize>capacity << 3);
    path = more;
    capacity = corners;
  }
  return path;
}

/** Begin a path on a plane of that size. */
export function begin(wide: i32, high: i32): void {
  if (wide !== width || high !== height) {
    width = wide;
    height = high;
    stride = padded(wide) + LANES; // what lies right of the plane turns one sample beyond it
    const needed = stride * high * SAMPLES;
    if (needed > held) turns = take((held = needed));
  }
  left = top = f32.MAX_VALUE;
  right = bottom = -f32.MAX_VALUE;
}

// @ts-ignore: a decorator of this compiler
@inline
function lesser(a: f32, b: f32): f32 {
  return f32x4.extract_lane(f32x4.pmin(f32x4.splat(a), f32x4.splat(b)), 0);
}

// @ts-ignore: a decorator of this compiler
@inline
function greater(a: f32, b: f32): f32 {
  return f32x4.extract_lane(f32x4.pmax(f32x4.splat(a), f32x4.splat(b)), 0);
}

// @ts-ignore: a decorator of this compiler
@inline
function units(x: f32): i32 {
  return reinterpret<i32>(greater(lesser(x, FAR), -FAR) * UNIT + NEAREST) - 0x4b400000;
}

// One edge, between corners in 1/16 px: each sample row that it crosses turns by one where it does.
function edge(ax: i32, ay: i32, bx: i32, by: i32): void {
  const down = by > ay;
  const x = down ? ax : bx;
  const y = down ? ay : by;
  const dx = down ? bx - ax : ax - bx;
  const dy = down ? by - ay : ay - by;
  // Sample rows lie at 2, 6, 10, … 1/16 px: those from the upper end on, up to but without the lower.
  let row = max((y + 1) >> 2, 0);
  const after = min((y + dy + 1) >> 2, height * SAMPLES);
  if (row >= after) return;
  const turn: i32 = down ? 1 : -1;
  const slope = <i64>floor((<f64>dx * <f64>(1 << SHIFT)) / <f64>dy); // down: a sample on an edge is right of it
  let crossing = (<i64>x << SHIFT) + <i64>(4 * row + 2 - y) * slope;
  const step = 4 * slope;
  let line = turns + row * stride;
  do {
    // From the top, the four sample rows of a pixel lie 6, 14, 2 and 10 sixteenths from its left. The first sample that
    // is not left of the crossing is the first inside.
    const offset: i64 = (0xa2e6 >> ((row & 3) << 2)) & 15;
    const cell = <i32>((crossing + (((16 - offset) << SHIFT) - 1)) >> (SHIFT + 4));
    const at = line + max(min(cell, width), 0);
    store<i8>(at, load<i8>(at) + turn);
    crossing += step;
    line += stride;
  } while (++row < after);
}

// What a path reaches: a point, and so far around it.
// @ts-ignore: a decorator of this compiler
@inline
function reach(x: f32, y: f32): void {
  left = lesser(left, x);
  right = greater(right, x);
  top = lesser(top, y);
  bottom = greater(bottom, y);
}

/** The edges of the filled subpath of corners `from` (inclusive) to `to` (exclusive). */
export function fill(from: i32, to: i32): void {
  if (to - from < 3) return;
  const end = path + (<usize>to << 3);
  let x = units(load<f32>(end - 8));
  let y = units(load<f32>(end - 4));
  for (let at = path + (<usize>from << 3); at < end; at += 8) {
    const cornerX = load<f32>(at);
    const cornerY = load<f32>(at + 4);
    reach(cornerX, cornerY);
    const nextX = units(cornerX);
    const nextY = units(cornerY);
    edge(x, y, nextX, nextY);
    x = nextX;
    y = nextY;
  }
}

/** The edges of a filled ellipse: the circle of `corners` points at `ring`, f32 x and y in turn, under a transform. */
export function ellipse(ring: usize, corners: i32, a: f32, b: f32, c: f32, d: f32, e: f32, f: f32): void {
  const end = ring + (<usize>corners << 3);
  let x = 0;
  let y = 0;
  for (let at = ring; at <= end; at += 8) {
    const from = at === end ? ring : at;
    const u = load<f32>(from);
    const v = load<f32>(from + 4);
    const cornerX = a * u + c * v + e;
    const cornerY = b * u + d * v + f;
    reach(cornerX, cornerY);
    const nextX = units(cornerX);
    const nextY = units(cornerY);
    if (at > ring) edge(x, y, nextX, nextY);
    x = nextX;
    y = nextY;
  }
}

// The two sides of a stroke as they grow, in the pen's space, and the map from there to device pixels.
let skewed = false;
let ma: f32 = 1;
let mb: f32 = 0;
let mc: f32 = 0;
let md: f32 = 1;
let started = false;
let firstLeftX: i32 = 0;
let firstLeftY: i32 = 0;
let lastLeftX: i32 = 0;
let lastLeftY: i32 = 0;
let firstRightX: i32 = 0;
let firstRightY: i32 = 0;
let lastRightX: i32 = 0;
let lastRightY: i32 = 0;
let sharpest: f32 = 1; // the least cos² of half a mitred turn: 1 / √ of it is how far its tip reaches

// @ts-ignore: a decorator of this compiler
@inline
function unitsX(x: f32, y: f32): i32 {
  return units(skewed ? ma * x + mc * y : x);
}

// @ts-ignore: a decorator of this compiler
@inline
function unitsY(x: f32, y: f32): i32 {
  return units(skewed ? mb * x + md * y : y);
}

function beginSides(leftX: f32, leftY: f32, rightX: f32, rightY: f32): void {
  started = true;
  firstLeftX = lastLeftX = unitsX(leftX, leftY);
  firstLeftY = lastLeftY = unitsY(leftX, leftY);
  firstRightX = lastRightX = unitsX(rightX, rightY);
  firstRightY = lastRightY = unitsY(rightX, rightY);
}

// The left side runs along with the path, the right side against it: together they wind the same way all around.
function toLeft(x: f32, y: f32): void {
  const nextX = unitsX(x, y);
  const nextY = unitsY(x, y);
  edge(lastLeftX, lastLeftY, nextX, nextY);
  lastLeftX = nextX;
  lastLeftY = nextY;
}

function toRight(x: f32, y: f32): void {
  const nextX = unitsX(x, y);
  const nextY = unitsY(x, y);
  edge(nextX, nextY, lastRightX, lastRightY);
  lastRightX = nextX;
  lastRightY = nextY;
}

// Where one straight piece, of unit normal (ux, uy), meets the next, of (vx, vy). On the outside of a turn the two
// offset lines meet in the miter's tip; on the inside the outline goes by way of the corner itself, so that every piece
// winds the same way.
function join(x: f32, y: f32, ux: f32, uy: f32, vx: f32, vy: f32, half: f32): void {
  const cross = ux * vy - uy * vx;
  const cosine: f32 = 0.5 * (1 + ux * vx + uy * vy); // cos² of half the turn
  const mitred = cosine * (MITER_LIMIT * MITER_LIMIT) > 1;
  const scale = mitred ? half / (2 * cosine) : 0;
  if (mitred) sharpest = lesser(sharpest, cosine);
  const tipX = (ux + vx) * scale;
  const tipY = (uy + vy) * scale;
  const straight = abs(cross) < 1e-6;
  if (!started) {
    // the first corner of a closed path: only where the sides begin
    const tipLeft = mitred && (straight || cross < 0);
    const tipRight = mitred && (straight || cross > 0);
    beginSides(
      tipLeft ? x + tipX : x + vx * half, tipLeft ? y + tipY : y + vy * half,
      tipRight ? x - tipX : x - vx * half, tipRight ? y - tipY : y - vy * half,
    );
    return;
  }
  if (straight || cross < 0) {
    if (mitred) toLeft(x + tipX, y + tipY);
    else {
      toLeft(x + ux * half, y + uy * half);
      toLeft(x + vx * half, y + vy * half);
    }
  } else {
    toLeft(x + ux * half, y + uy * half);
    toLeft(x, y);
    toLeft(x + vx * half, y + vy * half);
  }
  if (straight || cross > 0) {
    if (mitred) toRight(x - tipX, y - tipY);
    else {
      toRight(x - ux * half, y - uy * half);
      toRight(x - vx * half, y - vy * half);
    }
  } else {
    toRight(x - ux * half, y - uy * half);
    toRight(x, y);
    toRight(x - vx * half, y - vy * half);
  }
}

// A half circle about a path's end, from its left side by way of what lies ahead to its right one; (ux, uy) is the unit
// normal to the left of the way out.
function cap(x: f32, y: f32, ux: f32, uy: f32, half: f32): void {
  const steps = <i32>(<f32>3 * sqrt<f32>(half)) + 5;
  let fromX = unitsX(x + ux * half, y + uy * half);
  let fromY = unitsY(x + ux * half, y + uy * half);
  for (let i = 1; i <= steps; i++) {
    const angle = (Math.PI * <f64>i) / <f64>steps;
    const c = <f32>Math.cos(angle) * half;
    const s = <f32>Math.sin(angle) * half;
    const toX = unitsX(x + ux * c + uy * s, y + uy * c - ux * s);
    const toY = unitsY(x + ux * c + uy * s, y + uy * c - ux * s);
    edge(fromX, fromY, toX, toY);
    fromX = toX;
    fromY = toY;
  }
}

/**
 * The edges of a stroked subpath, `half` its width to each side.
 *
 * The corners are in the pen's space, in which the pen is round; with `skew` (a, b, c, d) takes them to device pixels.
 * `ends` is how an open subpath ends: 0 butt, 1 round, 2 square.
 */
export function stroke(
  from: i32, to: i32, half: f32, closed: bool, ends: i32, skew: bool, a: f32, b: f32, c: f32, d: f32,
): void {
  if (to - from < 2) return;
  skewed = skew;
  ma = a;
  mb = b;
  mc = c;
  md = d;
  const start = path + (<usize>from << 3);
  const end = path + (<usize>to << 3);
  started = false;
  sharpest = 0.5; // a square end reaches √2 half widths
  let ux: f32 = 0;
  let uy: f32 = 0;
  let x = load<f32>(start);
  let y = load<f32>(start + 4);
  if (closed) {
    // the unit normal of the last piece that has a length: the first corner joins on to it
    let at = end - 8;
    for (; at > start; at -= 8) {
      const dx = x - load<f32>(at);
      const dy = y - load<f32>(at + 4);
      const l = sqrt<f32>(dx * dx + dy * dy);
      if (l > 0) {
        ux = -dy / l;
        uy = dx / l;
        break;
      }
    }
    if (at === start) return;
  }
  const lastUx = ux;
  const lastUy = uy;
  let firstUx: f32 = 0;
  let firstUy: f32 = 0;
  const firstX = x;
  const firstY = y;
  for (let at = start; at < end; at += 8) {
    const next = at + 8 < end ? at + 8 : start;
    if (next === start && !closed) break;
    const nextX = load<f32>(next);
    const nextY = load<f32>(next + 4);
    if (skewed) reach(ma * nextX + mc * nextY, mb * nextX + md * nextY);
    else reach(nextX, nextY);
    const dx = nextX - x;
    const dy = nextY - y;
    const l = sqrt<f32>(dx * dx + dy * dy);
    if (l === 0) continue;
    const vx = -dy / l;
    const vy = dx / l;
    if (!started) {
      firstUx = vx;
      firstUy = vy;
    }
    if (started || closed) join(x, y, ux, uy, vx, vy, half);
    else {
      const backX = ends === 2 ? -vy * half : 0; // a square end begins half a width before the path
      const backY = ends === 2 ? vx * half : 0;
      beginSides(
        x + vx * half + backX, y + vy * half + backY,
        x - vx * half + backX, y - vy * half + backY,
      );
    }
    ux = vx;
    uy = vy;
    x = nextX;
    y = nextY;
  }
  if (!started) return;
  if (closed) {
    join(firstX, firstY, lastUx, lastUy, firstUx, firstUy, half);
    edge(lastLeftX, lastLeftY, firstLeftX, firstLeftY);
    edge(firstRightX, firstRightY, lastRightX, lastRightY);
  } else {
    if (skewed) reach(ma * firstX + mc * firstY, mb * firstX + md * firstY);
    else reach(firstX, firstY);
    const onX = ends === 2 ? uy * half : 0;
    const onY = ends === 2 ? -ux * half : 0;
    toLeft(x + ux * half + onX, y + uy * half + onY);
    toRight(x - ux * half + onX, y - uy * half + onY);
    if (ends === 1) {
      cap(x, y, ux, uy, half);
      cap(firstX, firstY, -firstUx, -firstUy, half);
    } else {
      edge(lastLeftX, lastLeftY, lastRightX, lastRightY);
      edge(firstRightX, firstRightY, firstLeftX, firstLeftY);
    }
  }
  const far = (half * (skewed ? sqrt<f32>(ma * ma + mb * mb + mc * mc + md * md) : 1)) / sqrt<f32>(sharpest);
  reach(left - far, top - far);
  reach(right + far, bottom + far);
}

// Four samples under a layer, each v × keep + gain in 2⁻²².
// @ts-ignore: a decorator of this compiler
@inline
function quarter(samples: v128, keep: v128, gain: v128): v128 {
  return i32x4.shr_u(i32x4.add(i32x4.mul(samples, keep), gain), 22);
}

// Sixteen samples under a layer that is not the same for all of them.
// @ts-ignore: a decorator of this compiler
@inline
function shared(
  samples: v128, k0: v128, k1: v128, k2: v128, k3: v128, g0: v128, g1: v128, g2: v128, g3: v128,
): v128 {
  const low = i16x8.extend_low_i8x16_u(samples);
  const high = i16x8.extend_high_i8x16_u(samples);
  return i8x16.narrow_i16x8_u(
    i16x8.narrow_i32x4_s(
      quarter(i32x4.extend_low_i16x8_u(low), k0, g0), quarter(i32x4.extend_high_i16x8_u(low), k1, g1),
    ),
    i16x8.narrow_i32x4_s(
      quarter(i32x4.extend_low_i16x8_u(high), k2, g2), quarter(i32x4.extend_high_i16x8_u(high), k3, g3),
    ),
  );
}

// @ts-ignore: a decorator of this compiler
@inline
function laid(samples: v128, keep: v128, gain: v128): v128 {
  return shared(samples, keep, keep, keep, keep, gain, gain, gain, gain);
}

// Running sums of sixteen turns.
// @ts-ignore: a decorator of this compiler
@inline
function summed(turned: v128): v128 {
  const zero = i8x16.splat(0);
  let sums = i8x16.add(
    turned, i8x16.shuffle(zero, turned, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30),
  );
  sums = i8x16.add(sums, i8x16.shuffle(zero, sums, 0, 1, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29));
  sums = i8x16.add(sums, i8x16.shuffle(zero, sums, 0, 1, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27));
  return i8x16.add(sums, i8x16.shuffle(zero, sums, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23));
}

// How sixteen samples wind, from their turns and the winding left of them (`winding`, which this moves on).
let winding: i8 = 0;

// @ts-ignore: a decorator of this compiler
@inline
function windings(at: usize): v128 {
  const turned = v128.load(at);
  if (!v128.any_true(turned)) return i8x16.splat(winding);
  v128.store(at, i8x16.splat(0));
  const sums = i8x16.add(summed(turned), i8x16.splat(winding));
  winding = i8x16.extract_lane_s(sums, 15);
  return sums;
}

/**
 * One layer of what was drawn since `begin` onto `plane`, `alpha` (0 to 1) over it, or out of it.
 *
 * A fill whose bounds are of at most 128² px goes the way of Skia's atlas: each pixel's share of samples inside, in 8
 * bits, weakens the layer, which then falls on all four samples alike.
 */
export function lay(plane: usize, alpha: f64, out: bool, filled: bool): void {
  if (left > right) return;
  const from = <i32>lesser(greater(left - 1, 0), <f32>width) & ~(LANES - 1); // one for the rounding of corners
  const to = min(<i32>lesser(greater(right + 2, 0), <f32>width) + 1, stride);
  const first = <i32>lesser(greater(top - 1, 0), <f32>height);
  const after = <i32>lesser(greater(bottom + 2, 0), <f32>height);
  if (first >= after) return;
  if (load<i32>(plane - 4) === 0 || first < load<i32>(plane - 8)) store<i32>(plane - 8, first);
  if (after > load<i32>(plane - 4)) store<i32>(plane - 4, after);
  const bounds = (ceil(right) - floor(left)) * (ceil(bottom) - floor(top));
  if (filled && bounds <= ATLAS * ATLAS) layShares(plane, alpha, out, from, to, first, after);
  else laySamples(plane, alpha, out, from, to, first, after);
}

function laySamples(plane: usize, alpha: f64, out: bool, from: i32, to: i32, first: i32, after: i32): void {
  const across = padded(width);
  const keep = i32x4.splat(<i32>nearest((1 - alpha) * ONE));
  const gain = i32x4.splat(<i32>nearest(((out ? 0 : 255 * alpha) + 0.5) * ONE));
  const zero = i8x16.splat(0);
  for (let row = first * SAMPLES; row < after * SAMPLES; row++) {
    const line = turns + row * stride;
    const samples = plane + row * across;
    winding = 0;
    for (let x = from; x < to; x += LANES) {
      const turned = v128.load(line + x);
      if (winding === 0 && x + 3 * LANES < to) {
        // most of a stroke's bounds is empty: four steps at once
        const more = v128.or(v128.load(line + x, 16), v128.or(v128.load(line + x, 32), v128.load(line + x, 48)));
        if (!v128.any_true(v128.or(turned, more))) {
          x += 3 * LANES;
          continue;
        }
      }
      if (v128.any_true(turned)) {
        const inside = windings(line + x);
        if (x < across) {
          const before = v128.load(samples + x);
          v128.store(samples + x, v128.bitselect(before, laid(before, keep, gain), i8x16.eq(inside, zero)));
        }
      } else if (winding !== 0 && x < across) {
        v128.store(samples + x, laid(v128.load(samples + x), keep, gain));
      }
    }
  }
}

function layShares(plane: usize, alpha: f64, out: bool, from: i32, to: i32, first: i32, after: i32): void {
  const across = padded(width);
  const zero = i8x16.splat(0);
  // alpha × share/255, with the share first: then no place of it is lost
  const scaled = i32x4.splat(<i32>nearest(((alpha * 256) / 255) * ONE));
  const whole = i32x4.splat(<i32>ONE);
  const half = i32x4.splat(<i32>(ONE / 2));
  const least = i32x4.splat(out ? 0 : -1);
  for (let row = first; row < after; row++) {
    const line = turns + row * SAMPLES * stride;
    const samples = plane + row * SAMPLES * across;
    let w0: i8 = 0;
    let w1: i8 = 0;
    let w2: i8 = 0;
    let w3: i8 = 0;
    for (let x = from; x < to; x += LANES) {
      winding = w0;
      const n0 = i8x16.eq(windings(line + x), zero);
      w0 = winding;
      winding = w1;
      const n1 = i8x16.eq(windings(line + stride + x), zero);
      w1 = winding;
      winding = w2;
      const n2 = i8x16.eq(windings(line + 2 * stride + x), zero);
      w2 = winding;
      winding = w3;
      const n3 = i8x16.eq(windings(line + 3 * stride + x), zero);
      w3 = winding;
      if (x >= across) continue;
      // 4 less one for each sample outside; then 0, 64, 128, 191 or 255
      const count = i8x16.add(i8x16.add(i8x16.splat(4), i8x16.add(n0, n1)), i8x16.add(n2, n3));
      if (!v128.any_true(count)) continue;
      const at = samples + x;
      const before0 = v128.load(at);
      const before1 = v128.load(at + across);
      const before2 = v128.load(at + 2 * across);
      const before3 = v128.load(at + 3 * across);
      // a third of what erases falls where nothing is
      if (out && !v128.any_true(v128.or(v128.or(before0, before1), v128.or(before2, before3)))) continue;
      const shares = i8x16.add(i8x16.shl(count, 6), i8x16.gt_s(count, i8x16.splat(2)));
      const low = i16x8.extend_low_i8x16_u(shares);
      const high = i16x8.extend_high_i8x16_u(shares);
      const a0 = i32x4.shr_u(i32x4.mul(i32x4.extend_low_i16x8_u(low), scaled), 8);
      const a1 = i32x4.shr_u(i32x4.mul(i32x4.extend_high_i16x8_u(low), scaled), 8);
      const a2 = i32x4.shr_u(i32x4.mul(i32x4.extend_low_i16x8_u(high), scaled), 8);
      const a3 = i32x4.shr_u(i32x4.mul(i32x4.extend_high_i16x8_u(high), scaled), 8);
      const g0 = i32x4.add(half, v128.and(least, i32x4.sub(i32x4.shl(a0, 8), a0)));
      const g1 = i32x4.add(half, v128.and(least, i32x4.sub(i32x4.shl(a1, 8), a1)));
      const g2 = i32x4.add(half, v128.and(least, i32x4.sub(i32x4.shl(a2, 8), a2)));
      const g3 = i32x4.add(half, v128.and(least, i32x4.sub(i32x4.shl(a3, 8), a3)));
      const k0 = i32x4.sub(whole, a0);
      const k1 = i32x4.sub(whole, a1);
      const k2 = i32x4.sub(whole, a2);
      const k3 = i32x4.sub(whole, a3);
      v128.store(at, shared(before0, k0, k1, k2, k3, g0, g1, g2, g3));
      v128.store(at + across, shared(before1, k0, k1, k2, k3, g0, g1, g2, g3));
      v128.store(at + 2 * across, shared(before2, k0, k1, k2, k3, g0, g1, g2, g3));
      v128.store(at + 3 * across, shared(before3, k0, k1, k2, k3, g0, g1, g2, g3));
    }
  }
}

/**
 * The RGBA bytes (red 255 where there is any alpha) of a part of a plane, to `to`; and for each band of `band` rows, to
 * `spans`, the first column with any alpha and the one after the last, as two i32 (equal when there is none).
 */
export function copy(
  plane: usize, wide: i32, x: i32, y: i32, across: i32, down: i32, to: usize, band: i32, spans: usize,
): void {
  const line = padded(wide);
  let at = to;
  for (let row = 0; row < down; row += band) {
    let first = across;
    let after = 0;
    const rows = min(band, down - row);
    for (let r = 0; r < rows; r++) {
      const samples = plane + (y + row + r) * SAMPLES * line + x;
      let column = 0;
      for (; column + 4 <= across; column += 4) {
        const one = samples + column;
        const s0 = load<u32>(one);
        const s1 = load<u32>(one + line);
        const s2 = load<u32>(one + 2 * line);
        const s3 = load<u32>(one + 3 * line);
        let pixels = i32x4.splat(0);
        if (s0 | s1 | s2 | s3) {
          const sums = i16x8.add(
            i16x8.add(i16x8.extend_low_i8x16_u(i32x4.splat(s0)), i16x8.extend_low_i8x16_u(i32x4.splat(s1))),
            i16x8.add(i16x8.extend_low_i8x16_u(i32x4.splat(s2)), i16x8.extend_low_i8x16_u(i32x4.splat(s3))),
          );
          const alphas = i32x4.extend_low_i16x8_u(i16x8.shr_u(i16x8.add(sums, i16x8.splat(2)), 2));
          pixels = v128.or(i32x4.shl(alphas, 24), v128.and(i32x4.ne(alphas, i32x4.splat(0)), i32x4.splat(255)));
          if (v128.any_true(pixels)) {
            if (column < first) first = column;
            if (column + 4 > after) after = column + 4;
          }
        }
        v128.store(at, pixels);
        at += 16;
      }
      for (; column < across; column++) {
        const one = samples + column;
        const sum = <u32>load<u8>(one) + load<u8>(one + line) + load<u8>(one + 2 * line) + load<u8>(one + 3 * line);
        const alpha = (sum + 2) >> 2;
        if (alpha) {
          if (column < first) first = column;
          if (column + 1 > after) after = column + 1;
        }
        store<u32>(at, alpha ? (alpha << 24) | 255 : 0);
        at += 4;
      }
    }
    store<i32>(spans, min(first, after));
    store<i32>(spans + 4, after);
    spans += 8;
  }
}
