// The trusted half of the page. Evaluated first of all in every new document, before p5, p5.brush and the sketch; the
// value of this expression is a handle that only the debugger holds: nothing here is reachable from any global.
// Everything used after the sketch has begun to run is taken from the page now, so that whatever a sketch overrides
// changes nothing. `masks` is what mask.js made, or null for the browser's own raster; `blend` is the value of blend.js;
// `shut` is false only in the test that shows what the network cut keeps away.
(function (masks, blend, shut) {
  "use strict";

  const { apply, construct, ownKeys, getOwnPropertyDescriptor: descriptorOf } = Reflect;
  const define = Object.defineProperty;
  const getPrototypeOf = Object.getPrototypeOf;
  const { imul, max, min } = Math;
  const later = setTimeout.bind(window);
  const bare = (members) => Object.assign(Object.create(null), members);
  // Never `owner.key`: reading a prototype's member that way has V8 keep the prototype in its fast form, and every one of
  // the hundreds of definitions below would then copy the whole of it (40 ms of a page's preparation instead of 2).
  const native = (owner, key) => descriptorOf(owner, key).value;
  const replace = (owner, key, value) => define(owner, key, { ...descriptorOf(owner, key), value });

  // ---- What ran -----------------------------------------------------------------------------------------------------
  // `depth` > 0 while a library works: what it calls then is its own business. `sketching` > 0 while code of the sketch
  // runs synchronously, so that p5's own work between frames is not taken for the sketch's.

  const slots = Object.create(null);
  let depth = 0;
  let sketching = 0;

  function slot(name) {
    return (slots[name] ??= { n: 0 });
  }

  // A function handed to a library is the sketch's again while the library calls it back.
  function outward(callback) {
    return function (...args) {
      const held = depth;
      depth = 0;
      sketching++;
      try {
        return new.target ? construct(callback, args, new.target) : apply(callback, this, args);
      } finally {
        sketching--;
        depth = held;
      }
    };
  }

  // A library function, counted on every call (`always`) or only when no library function is running already.
  function inward(name, original, always) {
    const seen = slot(name);
    return function (...args) {
      if (always || depth === 0) {
        seen.n++;
        for (let i = 0; i < args.length; i++) if (typeof args[i] === "function") args[i] = outward(args[i]);
      }
      depth++;
      try {
        return apply(original, this, args);
      } finally {
        depth--;
      }
    };
  }

  // A library function that p5 itself calls.
  function quiet(original) {
    return function (...args) {
      depth++;
      try {
        return apply(original, this, args);
      } finally {
        depth--;
      }
    };
  }

  function countedClass(name, original) {
    const seen = slot(name);
    return new Proxy(original, {
      construct(target, args, newTarget) {
        if (depth === 0) seen.n++;
        depth++;
        try {
          return construct(target, args, newTarget);
        } finally {
          depth--;
        }
      },
      set() {
        return true;
      },
      defineProperty() {
        return true;
      },
    });
  }

  // A function of the page that only counts when the sketch itself calls it; p5 calls the original.
  function watch(owner, key, name, only) {
    const property = descriptorOf(owner, key);
    if (!property || typeof property.value !== "function") return;
    const original = property.value;
    const seen = slot(name);
    const counting = function (...args) {
      if (depth === 0 && (!only || sketching > 0)) seen.n++;
      return new.target ? construct(original, args, new.target) : apply(original, this, args);
    };
    // A library may hang its own method on one object (p5.brush does, on its GL context). A sketch that writes here
    // wants to stand between the libraries and the canvas: counted, and in vain.
    const overridden = slot("page.override");
    define(owner, key, {
      configurable: false,
      enumerable: property.enumerable,
      get: () => counting,
      set(value) {
        if (depth === 0) overridden.n++;
        else define(this, key, { value, configurable: true, enumerable: true, writable: true });
      },
    });
  }

  // A property of the page that only counts when the sketch itself reads or sets it.
  function watchAccess(owner, key, name) {
    const property = descriptorOf(owner, key);
    const seen = slot(name);
    const count = () => depth === 0 && sketching > 0 && seen.n++;
    define(owner, key, {
      configurable: property.configurable,
      enumerable: property.enumerable,
      get: property.get && function () {
        count();
        return apply(property.get, this, []);
      },
      set: property.set && function (value) {
        count();
        apply(property.set, this, [value]);
      },
    });
  }

  // What a sketch has no use for does not exist any more: a call counts, and throws.
  function forbid(owner, key, name = `page.${key}`) {
    if (!shut || !owner || !(key in owner)) return;
    const seen = slot(name);
    const refuse = function () {
      seen.n++;
      throw new TypeError(`${key} is not available to a sketch`);
    };
    define(owner, key, { configurable: true, enumerable: false, get: () => refuse, set() {} });
  }

  function forbidAccess(owner, key, name = `page.${key}`, answer = () => undefined) {
    if (!shut || !owner || !(key in owner)) return;
    const seen = slot(name);
    define(owner, key, {
      configurable: true,
      enumerable: false,
      get() {
        if (depth === 0) seen.n++;
        return answer();
      },
      set() {
        seen.n++;
      },
    });
  }

  // ---- Determinism --------------------------------------------------------------------------------------------------
  // Mulberry32. The seed moves the start of its one sequence; p5, p5.brush and the sketch draw from it, nobody else.

  function mulberry(start) {
    let state = start | 0;
    return function () {
      state = (state + 0x6d2b79f5) | 0;
      let t = imul(state ^ (state >>> 15), 1 | state);
      t = (t + imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  let random = mulberry(0x9e3779b9);
  let noise = mulberry(1);
  Math.random = function () {
    return random();
  };

  // A clock that moves only when it is read (1/16 ms) and when a frame passes (1/60 s): equal code sees equal times.
  const EPOCH = 1767225600000; // 2026-01-01T00:00:00Z
  let clock = 0;
  const tick = () => (clock += 0.0625);
  const NativeDate = Date;
  define(NativeDate, "now", { value: () => EPOCH + Math.floor(tick()), writable: true, configurable: true });
  const FrozenDate = new Proxy(NativeDate, {
    construct: (target, args, newTarget) =>
      construct(target, args.length === 0 ? [EPOCH + (tick() | 0)] : args, newTarget),
    apply: (target) => `${construct(target, [EPOCH + (tick() | 0)])}`,
  });
  define(NativeDate.prototype, "constructor", { value: FrozenDate });
  define(window, "Date", { value: FrozenDate, writable: true, configurable: true });
  define(Performance.prototype, "now", { value: tick, writable: true, configurable: true });
  define(Performance.prototype, "timeOrigin", { get: () => EPOCH, configurable: true });
  // How full the heap is says who painted in this process before.
  define(Performance.prototype, "memory", { value: undefined });
  define(console, "memory", { value: undefined });
  for (const key of ["mark", "measure", "getEntries", "getEntriesByName", "getEntriesByType"])
    define(Performance.prototype, key, { value: () => [], configurable: true });
  define(Event.prototype, "timeStamp", { get: tick, configurable: true });
  define(Crypto.prototype, "getRandomValues", {
    value(array) {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let i = 0; i < bytes.length; i++) bytes[i] = noise() * 256;
      return array;
    },
  });
  define(Crypto.prototype, "randomUUID", {
    value() {
      let text = "";
      for (let i = 0; i < 32; i++) text += ((noise() * 16) | 0).toString(16) + ([7, 11, 15, 19].includes(i) ? "-" : "");
      return text;
    },
  });

  // Frames come from here: no throttling, no wall clock, and none after the painting is done.
  let frameRequests = [];
  let frameId = 0;
  define(window, "requestAnimationFrame", {
    value(callback) {
      frameRequests.push([++frameId, callback]);
      if (frameRequests.length === 1) later(runFrame, 0);
      return frameId;
    },
  });
  define(window, "cancelAnimationFrame", {
    value(id) {
      frameRequests = frameRequests.filter((request) => request[0] !== id);
    },
  });
  function runFrame() {
    if (ended) return;
    const due = frameRequests;
    frameRequests = [];
    clock += 1000 / 60;
    for (let i = 0; i < due.length; i++) due[i][1](clock);
  }

  // ---- The fill masks -----------------------------------------------------------------------------------------------
  // A 2D context that a library asks of an OffscreenCanvas is one of p5.brush's masks (mask.js), unless the browser's own
  // raster was asked for: in half floats, since its bytes round the low alphas of each layer down.

  const canvasContext = native(HTMLCanvasElement.prototype, "getContext");
  const offscreenContext = native(OffscreenCanvas.prototype, "getContext");
  replace(OffscreenCanvas.prototype, "getContext", function (type, settings) {
    if (type !== "2d" || depth === 0) return apply(offscreenContext, this, [type, settings]);
    if (masks) return masks.contextOf(this);
    return apply(offscreenContext, this, [type, { colorType: "float16", willReadFrequently: true }]);
  });

  // p5.brush lays masks on the canvas as whole rectangles, which have no edges to smooth; p5 would have it keep four
  // samples a pixel for the shapes that a sketch may not draw, at a quarter of the GL's work and of a painting's time.
  replace(HTMLCanvasElement.prototype, "getContext", function (type, settings) {
    return apply(canvasContext, this, [type, depth > 0 ? { ...settings, antialias: false } : settings]);
  });

  // p5.brush uploads a mask's dirty rectangle, and then blends all of it, although its 38-band shader leaves a pixel
  // without any mask as it is: half the rectangle around a typical shape, and three quarters of what the GL does. On an
  // opaque canvas those pixels need not be visited, so the blend goes by bands of rows, each as wide as its mask.
  const GL = WebGL2RenderingContext.prototype;
  const [shaderSource, texSubImage2D, scissor, clear, clearColor, getParameter] = [
    "shaderSource", "texSubImage2D", "scissor", "clear", "clearColor", "getParameter",
  ].map((key) => native(GL, key));
  replace(GL, "shaderSource", function (shader, source) {
    return apply(shaderSource, this, [shader, typeof source === "string" ? blend(source) : source]);
  });
  let blending = null; // the mask that was uploaded, until it is blended
  let box = null; // the scissor box that was set since
  let clearing = 0; // the alpha that `clear` clears to
  let opaque = false;
  replace(GL, "texSubImage2D", function (...args) {
    const image = args[6];
    const upload = masks && args.length === 7 && image && typeof image === "object" ? masks.uploadOf(image) : undefined;
    if (upload) {
      const { width, height } = image;
      args = [args[0], args[1], args[2], args[3], width, height, args[4], args[5], upload.pixels];
      blending = { spans: upload.spans, band: upload.band, width, height };
      box = null;
    }
    return apply(texSubImage2D, this, args);
  });
  replace(GL, "scissor", function (...args) {
    if (blending) box = args;
    return apply(scissor, this, args);
  });
  replace(GL, "clearColor", function (...args) {
    clearing = args[3];
    return apply(clearColor, this, args);
  });
  const toCanvas = (gl) => apply(getParameter, gl, [0x8ca6]) === null; // DRAW_FRAMEBUFFER_BINDING
  replace(GL, "clear", function (...args) {
    if (args[0] & 0x4000 && toCanvas(this)) opaque = clearing === 1; // COLOR_BUFFER_BIT
    return apply(clear, this, args);
  });
  for (const key of ["drawArrays", "drawElements"]) {
    const draw = native(GL, key);
    replace(GL, key, function (...args) {
      const mask = blending;
      blending = null;
      if (!mask || !box || !opaque || box[2] !== mask.width || box[3] !== mask.height || !toCanvas(this))
        return apply(draw, this, args);
      const { spans, band, height } = mask;
      for (let i = 0, row = 0; row < height; i += 2, row += band) {
        if (spans[i] === spans[i + 1]) continue;
        const rows = min(band, height - row);
        // the canvas's rows count from below
        apply(scissor, this, [box[0] + spans[i], box[1] + height - row - rows, spans[i + 1] - spans[i], rows]);
        apply(draw, this, args);
      }
      return apply(scissor, this, box);
    });
  }

  // ---- What is shut -------------------------------------------------------------------------------------------------

  const documentOpen = native(Document.prototype, "open");
  const documentWrite = native(Document.prototype, "write");
  const documentClose = native(Document.prototype, "close");
  const toDataURL = native(HTMLCanvasElement.prototype, "toDataURL");
  const widthOf = descriptorOf(HTMLCanvasElement.prototype, "width").get;
  const heightOf = descriptorOf(HTMLCanvasElement.prototype, "height").get;
  const isContextLost = native(WebGL2RenderingContext.prototype, "isContextLost");
  const listen = native(EventTarget.prototype, "addEventListener");
  const silence = native(Event.prototype, "stopImmediatePropagation");

  for (const key of [
    "fetch", "XMLHttpRequest", "WebSocket", "WebSocketStream", "EventSource", "WebTransport", "RTCPeerConnection",
    "webkitRTCPeerConnection", "RTCDataChannel", "Worker", "SharedWorker", "BroadcastChannel", "Notification",
    "importScripts", "open", "alert", "confirm", "prompt", "print", "close", "stop", "showOpenFilePicker",
    "showSaveFilePicker", "showDirectoryPicker", "queryLocalFonts", "getScreenDetails", "fetchLater", "Audio",
    "FontFace", "PaymentRequest", "eval",
  ])
    forbid(window, key);
  // p5 tries both at its start, and V8 parses all of p5 anew to word the error when nothing is there to call: 17 ms each.
  for (const key of ["localStorage", "sessionStorage"])
    forbidAccess(window, key, `page.${key}`, () => {
      throw new TypeError(`${key} is not available to a sketch`);
    });
  for (const key of [
    "indexedDB", "caches", "cookieStore", "sharedStorage", "speechSynthesis",
    "external", "launchQueue", "documentPictureInPicture", "trustedTypes",
  ])
    forbidAccess(window, key);
  for (const key of ["sendBeacon", "share", "registerProtocolHandler", "getUserMedia", "webkitGetUserMedia", "vibrate"])
    forbid(Navigator.prototype, key);
  for (const key of [
    "serviceWorker", "clipboard", "mediaDevices", "geolocation", "credentials", "storage", "locks", "usb", "serial",
    "hid", "bluetooth", "gpu", "wakeLock", "permissions", "presentation", "xr", "storageBuckets",
  ])
    forbidAccess(Navigator.prototype, key);
  for (const key of ["write", "writeln", "open", "close", "execCommand"]) forbid(Document.prototype, key, "page.document");
  forbidAccess(Document.prototype, "cookie");
  for (const sample of [function () {}, async function () {}, function* () {}, async function* () {}]) {
    const prototype = getPrototypeOf(sample);
    const seen = slot("page.Function");
    const refuse = new Proxy(prototype.constructor, {
      construct() {
        seen.n++;
        throw new TypeError("Function is not available to a sketch");
      },
      apply() {
        seen.n++;
        throw new TypeError("Function is not available to a sketch");
      },
    });
    define(prototype, "constructor", { value: refuse });
    if (prototype === Function.prototype) define(window, "Function", { value: refuse });
  }
  for (const key of ["setTimeout", "setInterval"]) {
    const original = window[key];
    const seen = slot("page.eval");
    define(window, key, {
      value(callback, ...rest) {
        if (typeof callback !== "function") {
          seen.n++;
          return 0;
        }
        return original(outward(callback), ...rest);
      },
    });
  }

  watch(Document.prototype, "createElement", "page.createElement", true);
  watch(Document.prototype, "createElementNS", "page.createElement", true);
  watch(Document.prototype, "importNode", "page.createElement", true);
  watch(Node.prototype, "cloneNode", "page.createElement", true);
  for (const key of [
    "querySelector", "querySelectorAll", "getElementById", "getElementsByTagName", "getElementsByTagNameNS",
    "getElementsByClassName", "getElementsByName", "elementFromPoint", "adoptNode", "createRange", "evaluate",
    "createTreeWalker", "createNodeIterator",
  ])
    watch(Document.prototype, key, "page.document", true);
  for (const key of ["insertAdjacentHTML", "insertAdjacentElement", "setHTMLUnsafe", "setHTML", "attachShadow"])
    watch(Element.prototype, key, "page.document", true);
  for (const key of ["innerHTML", "outerHTML"]) watchAccess(Element.prototype, key, "page.document");
  watchAccess(Node.prototype, "ownerDocument", "page.document");
  // `window.document` itself cannot be redefined, but whatever is done with it goes through one of these.
  for (const key of ownKeys(Document.prototype)) {
    const property = descriptorOf(Document.prototype, key);
    if (property.get && property.configurable && key !== "cookie") watchAccess(Document.prototype, key, "page.document");
  }
  watch(HTMLCanvasElement.prototype, "getContext", "page.getContext", true);
  watch(OffscreenCanvas.prototype, "getContext", "page.getContext", true);
  for (const owner of [HTMLCanvasElement.prototype, OffscreenCanvas.prototype])
    for (const key of [
      "toDataURL", "toBlob", "convertToBlob", "transferToImageBitmap", "transferControlToOffscreen", "captureStream",
    ])
      watch(owner, key, `page.${key}`);
  for (const [constructor, name] of [
    [CanvasRenderingContext2D, "page.canvas2d"],
    [OffscreenCanvasRenderingContext2D, "page.canvas2d"],
    [WebGL2RenderingContext, "page.webgl"],
    [WebGLRenderingContext, "page.webgl"],
  ])
    for (const key of ownKeys(constructor.prototype)) if (key !== "constructor") watch(constructor.prototype, key, name, true);
  for (const key of ["Image", "OffscreenCanvas", "ImageData", "Path2D", "DOMParser", "MutationObserver", "VideoFrame"]) {
    const original = window[key];
    if (original) define(window, key, { value: countedClass(`page.${key}`, original) });
  }
  watch(window, "createImageBitmap", "page.createImageBitmap");

  // ---- The libraries ------------------------------------------------------------------------------------------------

  let main = null; // p5's global instance
  let canvas = null; // the canvas that p5 itself made last
  let started = false;
  let setupBegun = false;
  let threw = false;
  let frames = 0;
  let ended = ""; // why no more frames are drawn
  let finished = ""; // the same, when the page has also said what was thrown
  let firstFrame = "";
  let stops = true; // whether the source mentions noLoop at all
  const FRAMES = 60; // how long a sketch that mentions it may go on before it counts as never stopping

  // p5 itself calls these between frames; the sketch's own calls go through the globals.
  const internal = new Set(["createCanvas", "push", "pop", "resetMatrix", "remove"]);

  function finish(why) {
    if (ended) return;
    ended = why;
    later(() => later(() => (finished = why), 0), 0); // timers that are due and rejections go first
  }

  // The sketch's setup and draw: its code runs at depth 0, and a failure ends the painting with what there is.
  function entry(original, whenThrown, isSetup) {
    const run = outward(original);
    return function (...args) {
      if (isSetup) setupBegun = true;
      let result;
      try {
        result = apply(run, this, args);
      } catch (error) {
        failed(whenThrown);
        throw error;
      }
      if (result && typeof result === "object" && typeof result.then === "function") {
        sketching++; // p5 waits for it: until it settles, whatever runs between two awaits is the sketch's
        return (async () => {
          try {
            return await result;
          } catch (error) {
            failed(whenThrown);
            throw error;
          } finally {
            sketching--;
          }
        })();
      }
      return result;
    };
  }

  function failed(why) {
    threw = true;
    finish(why);
  }

  function tapPrototype(prototype, prefix) {
    const names = ownKeys(prototype);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (typeof name !== "string" || name === "constructor" || name[0] === "_") continue;
      const property = descriptorOf(prototype, name);
      if (typeof property.value !== "function" || /^class\b/.test(property.value)) continue;
      if (name === "redraw") continue; // asynchronous: its depth would outlive it
      const wrapped = inward(`${prefix}.${name}`, property.value, false);
      const plain = internal.has(name);
      const original = property.value;
      define(prototype, name, {
        ...property,
        value: plain
          ? function (...args) {
              depth++;
              try {
                if (name === "createCanvas") modest(args[0], args[1], this);
                return apply(original, this, args);
              } finally {
                depth--;
                if (name === "createCanvas" && (!main || this === main)) canvas = this.canvas;
              }
            }
          : wrapped,
      });
    }
  }

  function tapGlobals(instance, prototype) {
    const names = ownKeys(prototype);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (typeof name !== "string" || name === "constructor" || name[0] === "_") continue;
      const property = descriptorOf(window, name);
      if (!property || !property.configurable) continue;
      const seen = slot(`p5.${name}`);
      const own = descriptorOf(prototype, name);
      if (typeof own.value === "function" && typeof property.value === "function") {
        const bound = property.value;
        if (name === "resetMatrix") continue; // p5 itself calls this one through the window, once a frame
        const counted = inward(`p5.${name}`, bound, true);
        define(window, name, {
          configurable: true,
          enumerable: true,
          value: name === "createCanvas" ? (...args) => guarded(apply(counted, undefined, args)) : counted,
        });
      } else if (property.get && (name === "pixels" || name === "drawingContext")) {
        define(window, name, {
          configurable: true,
          enumerable: true,
          get() {
            seen.n++;
            return property.get();
          },
        });
      }
    }
  }

  // What createCanvas returns: p5's renderer, whose every use by the sketch is seen.
  function guarded(renderer) {
    if (!renderer || typeof renderer !== "object") return renderer;
    return new Proxy(renderer, {
      get(target, key) {
        if (typeof key === "string" && key in target && key !== "then") slot(`canvas.${key}`).n++;
        const value = apply(Reflect.get, undefined, [target, key]);
        return typeof value === "function" ? (...args) => apply(value, target, args) : value;
      },
      set(target, key) {
        slot("canvas.set").n++;
        return true;
      },
    });
  }

  function tapP5() {
    const P5 = window.p5;
    tapPrototype(P5.prototype, "p5");
    const hooks = P5.lifecycleHooks;
    for (const phase of ["presetup", "postsetup", "predraw", "postdraw"])
      for (let i = 0; i < hooks[phase].length; i++) hooks[phase][i] = quiet(hooks[phase][i]);
    const own = {
      presetup() {
        started = true;
        if (this !== P5.instance) return;
        main = this;
        tapGlobals(this, P5.prototype);
        if (typeof window.setup === "function") window.setup = entry(window.setup, "setup threw", true);
      },
      postsetup() {
        if (this !== main) return;
        setupBegun = true;
        if (typeof window.draw === "function") window.draw = entry(window.draw, "draw threw");
        else finish("painted in setup");
      },
      postdraw() {
        if (this !== main) return;
        frames++;
        if (!main._loop) finish("looping stopped");
        else if (!stops) finish("first frame");
        else if (frames === 1) firstFrame = picture();
        else if (frames >= FRAMES) finish("never stopped");
      },
    };
    P5.registerAddon(function (P5, prototype, lifecycles) {
      for (const phase of ["presetup", "postsetup", "postdraw"])
        lifecycles[phase] = function () {
          apply(own[phase], this, []);
        };
    });
    const instances = slot("p5.p5");
    const reached = slot("p5.instance");
    window.p5 = new Proxy(P5, {
      construct(target, args, newTarget) {
        instances.n++;
        return construct(target, args, newTarget);
      },
      get(target, key) {
        // Neither library reads these through the window once the sketch runs, so it is the sketch at any depth, the
        // valueOf of an argument included.
        if (key === "instance" || key === "prototype") reached.n++;
        return target[key];
      },
    });
  }

  // Where the brush's shapes lie on the canvas, and what they were filled with: advice for whoever wrote the sketch,
  // no evidence. Read from arguments that are plain numbers and strings, with the matrix that p5.brush itself reads.
  const marks = [];
  const MOST_MARKS = 2000;
  let corners = [];
  let filling = [null, null];

  function mark(what, points, radius) {
    const matrix = main?._renderer?.uModelMatrix?.mat4;
    if (marks.length >= MOST_MARKS || !matrix || !canvas || points.length === 0) return;
    const [a, b, , , c, d] = matrix;
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < points.length; i++) {
      const [x, y] = points[i];
      const across = a * x + c * y + matrix[12] + main.width / 2;
      const down = b * x + d * y + matrix[13] + main.height / 2;
      box[0] = min(box[0], across - radius);
      box[1] = min(box[1], down - radius);
      box[2] = max(box[2], across + radius);
      box[3] = max(box[3], down + radius);
    }
    if (isFinite(box[0] + box[1] + box[2] + box[3])) marks[marks.length] = [what, ...box, ...filling];
  }

  function note(name, args) {
    const [x, y, r] = args;
    const placed = typeof x === "number" && typeof y === "number";
    if (name === "beginShape") corners = [];
    else if (name === "vertex" && placed) corners[corners.length] = [x, y];
    else if (name === "endShape") mark("shape", corners, 0);
    else if (name === "circle" && placed && typeof r === "number") mark("circle", [[x, y]], r);
    else if (name === "noFill") filling = [null, null];
    else if (name === "fill") {
      const plain = args.every((one) => typeof one === "number" || typeof one === "string");
      const colour = args.length < 3 ? x : `rgb(${x},${y},${r})`;
      filling = plain ? [`${colour}`, +(args.length < 4 ? y : args[3]) || 150] : [null, null]; // 150: p5.brush's own
    }
  }

  function noting(name, tapped) {
    return function (...args) {
      try {
        note(name, args);
      } catch {
        // a sketch that replaced what this uses goes without the advice
      }
      return apply(tapped, this, args);
    };
  }

  function tapBrush() {
    const library = window.brush;
    const names = ownKeys(library);
    const tapped = {};
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      const original = library[name];
      const isClass = typeof original === "function" && /^class\b/.test(Function.prototype.toString.call(original));
      tapped[name] = isClass ? countedClass(`brush.${name}`, original) : inward(`brush.${name}`, original, true);
    }
    for (const name of ["beginShape", "vertex", "endShape", "circle", "fill", "noFill"])
      tapped[name] = noting(name, tapped[name]);
    define(window, "brush", { configurable: true, writable: true, value: tapped });
  }

  // ---- The picture --------------------------------------------------------------------------------------------------

  const MOST = 4096 * 4096; // pixels; beyond it is a bomb, not a painting

  function modest(width, height, instance) {
    const density = instance._renderer ? instance._renderer._pixelDensity : 1;
    if (width * height * density * density > MOST) throw new RangeError(`a canvas of ${width}×${height} is too large`);
  }

  function picture() {
    if (!canvas) return "";
    const width = apply(widthOf, canvas, []);
    const height = apply(heightOf, canvas, []);
    if (!(width > 0 && height > 0)) return "";
    if (width * height > MOST) return `too large: ${width}×${height} pixels`;
    const gl = apply(canvasContext, canvas, ["webgl2"]);
    if (gl && apply(isContextLost, gl, [])) return "context lost";
    // The cheapest way out: 24 ms of processor time in all; raw pixels take 80 ms to send and 13 to encode.
    return apply(toDataURL, canvas, ["image/png"]);
  }

  const leaving = ["beforeunload", "pagehide", "unload", "visibilitychange"];

  // As the `var`s of a script at the top level: a sketch that declares such a name of its own is refused.
  function declare(values) {
    for (const key of ownKeys(values))
      define(window, key, { value: values[key], configurable: false, enumerable: true, writable: true });
  }

  return bare({
    // A blank document that is left open: p5 waits for its end.
    open(html) {
      apply(documentOpen, document, []);
      apply(documentWrite, document, [html]);
      const blocked = slot("page.blocked"); // whatever the document's security policy had to stop
      apply(listen, document, ["securitypolicyviolation", () => blocked.n++, true]);
      // No last words: the document goes when the painting is done, and the next one must not wait for it.
      for (const name of leaving) apply(listen, window, [name, (event) => apply(silence, event, []), true]);
      declare(this.p5());
      // What outlives a document: it is emptied, or the page is given up.
      window.name = "";
      return history.length === 1;
    },
    // p5.brush draws from the seeded chance as it loads.
    begin(seed, mentionsNoLoop) {
      random = mulberry((0x9e3779b9 + seed) | 0);
      noise = mulberry(seed | 0);
      clock = 0;
      stops = mentionsNoLoop;
      declare(apply(this.brush, window, []));
      tapBrush();
      tapP5();
      for (const name in slots) slots[name].n = 0;
      sketching = 1;
    },
    close() {
      sketching = 0;
      apply(listen, window, ["load", () => later(() => later(() => later(() => {
        if (!main) finish(started ? "instance mode" : "not started");
        else if (!setupBegun) finish("setup never began"); // p5 itself failed on the way there
      }, 0), 0), 0)]);
      apply(documentClose, document, []);
    },
    // Null until it is done.
    outcome() {
      if (!finished) return null;
      const held = finished === "never stopped" ? firstFrame : picture();
      const calls = Object.create(null);
      for (const name in slots) if (slots[name].n > 0) calls[name] = slots[name].n;
      return bare({ picture: held, threw, calls, marks, refused: masks ? masks.refused() : "" });
    },
  });
})
