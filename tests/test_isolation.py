"""Sketches share a process, one after the other, and nothing else: what one leaves behind, the next does not find."""

from contextlib import suppress
from itertools import zip_longest
from pathlib import Path

import psutil
import pytest

from paintcli.backends.chromium import ChromiumRenderer, probe_gl
from paintcli.backends.chromium import renderer as module
from paintcli.painting import Painting

pytestmark = pytest.mark.browser
SKETCHES = Path(__file__).parent / "data" / "sketches"
DOT = """
function setup() { createCanvas(300, 300, WEBGL); if (window.act) act(); noLoop(); }
function draw() { background(250); brush.noStroke(); brush.fill("#c33", 200); brush.circle(0, 0, 100); }
"""

# Looks wherever something could have been left, waits for whom still might write, and paints what it found.
WITNESS = """
const found = [];
const look = (name, read) => {
  let value;
  try { value = read(); } catch (error) { value = error.name; }
  found.push(`${name}: ${typeof value === "object" ? JSON.stringify(value) : String(value)}`);
};
async function setup() {
  createCanvas(300, 300, WEBGL);
  const frame = createElement("iframe").elt;
  const channel = new frame.contentWindow.BroadcastChannel("leak");
  channel.onmessage = () => (window.leak = "heard");
  const timer = setTimeout(() => 0);
  if (window.act) act();
  const graphics = Array.from({ length: 4 }, () => createGraphics(10, 10, WEBGL));
  await new Promise((done) => setTimeout(done, 60));
  look("leak", () => window.leak);
  look("inherited", () => [{}.leak, [].leak, (() => 0).leak, "".leak, p5.leak, brush.leak]);
  look("globals", () => Object.getOwnPropertyNames(window).sort().filter((key) => key !== "act").length);
  look("symbols", () => Object.getOwnPropertySymbols(window).length);
  look("name", () => window.name);
  look("history", () => [history.length, history.state, history.scrollRestoration]);
  look("navigation", () => [navigation.entries().length, navigation.canGoBack, navigation.currentEntry?.getState()]);
  look("place", () => [location.href, document.referrer, document.baseURI, origin]);
  look("frames", () => [frames.length, opener, parent === window]);
  look("document", () => [document.title, document.documentElement.outerHTML, document.adoptedStyleSheets.length]);
  look("elements", () => customElements.get("x-leak"));
  look("cookie", () => document.cookie);
  look("storage", () => frame.contentWindow.localStorage.length);
  look("selection", () => [getSelection().type, document.activeElement?.tagName]);
  look("window", () => [innerWidth, innerHeight, outerWidth, outerHeight, screenX, screenY, scrollX, scrollY]);
  look("view", () => [devicePixelRatio, visualViewport.scale, document.hasFocus(), document.visibilityState]);
  look("activation", () => [navigator.userActivation.hasBeenActive, document.fullscreenElement]);
  look("memory", () => [performance.memory, console.memory]);
  look("regexp", () => [RegExp.$1, RegExp.lastMatch]);
  look("errors", () => [Error.stackTraceLimit, Error.prepareStackTrace]);
  look("clock", () => [performance.now(), Date.now(), timer]);
  look("chance", () => [Math.random(), random(), crypto.randomUUID()]);
  look("fonts", () => document.fonts.size);
  look("graphics", () => graphics.map((one) => one.drawingContext.isContextLost()));
  look("format", () => [Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.language, (1.5).toLocaleString()]);
  found.forEach((text) => console.error(text));
  let hash = 7;
  for (const letter of found.join()) hash = (hash * 31 + letter.charCodeAt(0)) % 16777213;
  background(hash >> 16, (hash >> 8) & 255, hash & 255);
  brush.noStroke();
  brush.fill("#c33", 200);
  brush.circle(0, 0, 100);
}
"""

# What a sketch may leave; each shows in its own page, or else the witness would be blind to it.
LEFT = {
    "globals": "window.leak = 1; var leak2 = 2; globalThis[Symbol.for('leak')] = 3;",
    "prototypes": (
        "for (const one of [Object.prototype, Array.prototype, Function.prototype, String.prototype])"
        " Object.defineProperty(one, 'leak', { value: 1 });"
    ),
    "libraries": "p5.leak = 1; brush.leak = 1; try { p5.prototype.leak = 1; } catch (e) {}",
    "name": "window.name = 'leak';",
    "history": "history.pushState({ leak: 1 }, ''); history.scrollRestoration = 'manual';",
    "state": "history.replaceState({ leak: 1 }, '');",
    "hash": "location.hash = 'leak';",
    "navigation": "navigation.updateCurrentEntry({ state: 'leak' });",
    "title": "document.title = 'leak';",
    "regular expression": "function act() { setTimeout(() => /(leak)/.exec('leak'), 30); }",
    "random": "Math.random(); crypto.getRandomValues(new Uint8Array(5));",
    "clock": "for (let i = 0; i < 9; i++) performance.now();",
    "timers": "setInterval(() => { window.leak = 1; window.name = 'leak'; }, 1);",
    "promises": "(async () => { for (;;) { await new Promise((r) => setTimeout(r)); window.leak = 1; } })();",
    "frame": "function act() { createElement('iframe').elt.contentWindow.setInterval(() => { window.leak = 1; }, 1); }",
    "channel": (
        "function act() { const w = createElement('iframe').elt.contentWindow;"
        " const c = new w.BroadcastChannel('leak'); w.setInterval(() => c.postMessage(1), 1); }"
    ),
    "elements": "function act() { createDiv('leak'); customElements.define('x-leak', class extends HTMLElement {}); }",
    "errors": "Error.stackTraceLimit = 3; Error.prepareStackTrace = () => 'leak';",
    "selection": "function act() { createInput('leak').elt.focus(); }",
}
# What comes only later, or is more than a page may have once the next sketch has its own: never seen in its own page.
LATER = {
    "graphics": "function act() { for (let i = 0; i < 9; i++) createGraphics(10, 10, WEBGL); }",
    "last words": (
        "for (const name of ['pagehide', 'unload', 'beforeunload', 'visibilitychange', 'freeze'])"
        " for (const one of [window, document]) one.addEventListener(name, () => { window.name = 'leak'; }, true);"
        "window.onpagehide = window.onunload = window.onbeforeunload = () => { history.pushState({ leak: 1 }, ''); };"
    ),
    "endless last words": "window.onpagehide = () => { while (true) {} }; addEventListener('unload', onpagehide);",
    "a question": "window.onbeforeunload = (event) => { event.preventDefault(); return 'stay'; };",
    "finalizers": (
        "const registry = new FinalizationRegistry(() => { window.leak = 1; });"
        "for (let i = 0; i < 1000; i++) registry.register({}, i);"
    ),
    "memory": "window.heap = Array.from({ length: 40 }, () => new Float64Array(1e5).fill(1));",
}


def seen(painting: Painting) -> tuple[bytes, tuple[str, ...]]:
    assert painting.fault is None and painting.png is not None, painting
    return painting.png, painting.js_errors


def pages(renderer: ChromiumRenderer) -> set[int]:
    """Process ids of the open pages."""
    return {page.pid for page in renderer._studio._browser._pages.values()}


@pytest.fixture(scope="module")
def cold() -> tuple[bytes, tuple[str, ...]]:
    with ChromiumRenderer(workers=1) as renderer:
        return seen(renderer.render_sync(WITNESS))


@pytest.fixture(scope="module")
def renderer():
    with ChromiumRenderer(workers=1) as made:
        yield made


@pytest.mark.skipif(not probe_gl().repeatable, reason="equal bytes are promised on llvmpipe only")
@pytest.mark.parametrize("names", list(zip_longest(*[iter([*LEFT, *LATER])] * 2, fillvalue="name")), ids="+".join)
def test_nothing_is_left_for_the_next_sketch(renderer, cold, names):
    """One painter's two pages are left in that state; what the witness then paints is what it paints in a cold one."""
    for name in names:
        seen(renderer.render_sync((LEFT | LATER)[name] + DOT))
    for _ in names:
        assert seen(renderer.render_sync(WITNESS)) == cold


@pytest.mark.parametrize("name", LEFT)
def test_the_witness_sees_what_is_left_in_its_own_page(renderer, cold, name):
    assert seen(renderer.render_sync(LEFT[name] + WITNESS)) != cold


@pytest.mark.skipif(not probe_gl().repeatable, reason="equal bytes are promised on llvmpipe only")
def test_every_painting_of_a_warm_page_is_the_same():
    """Five paintings in each of two processes, the first of them cold."""
    with ChromiumRenderer(workers=1) as renderer:
        paintings = {seen(renderer.render_sync(DOT)) for _ in range(10)}
        assert len(paintings) == 1 and len(pages(renderer)) == 2


@pytest.mark.slow
@pytest.mark.skipif(not probe_gl().repeatable, reason="equal bytes are promised on llvmpipe only")
def test_the_first_and_the_hundredth_painting_of_a_page_are_the_same():
    source = (SKETCHES / "low.js").read_text()
    with ChromiumRenderer(workers=1) as renderer:
        assert len({seen(renderer.render_sync(source, 7)) for _ in range(2 * module.PAINTINGS + 10)}) == 1


def test_a_page_that_only_painted_goes_on_and_any_other_is_closed(renderer):
    for _ in range(2):
        seen(renderer.render_sync(DOT))
    before = pages(renderer)
    seen(renderer.render_sync(DOT))
    assert pages(renderer) == before
    seen(renderer.render_sync("new Image();" + DOT))
    assert len(pages(renderer) & before) == 1


def test_a_page_retires(monkeypatch):
    monkeypatch.setattr(module, "PAINTINGS", 2)
    with ChromiumRenderer(workers=1) as renderer:
        used = set()
        for _ in range(8):
            seen(renderer.render_sync(DOT))
            used |= pages(renderer)
        assert len(used) >= 4
        gone = used - pages(renderer)
        assert gone
        for pid in gone:
            with suppress(psutil.NoSuchProcess):
                psutil.Process(pid).wait(240)
