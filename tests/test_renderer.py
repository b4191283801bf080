"""The local renderer: the published look, equal bytes for equal seeds, what counts as done, what is counted."""

import asyncio
import hashlib
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
import pytest
from PIL import Image

from paintcli.backends.chromium import ChromiumRenderer, find_chromium, find_libraries, probe_gl
from paintcli.backends.protocols import Renderer
from paintcli.errors import PaintError, UsageError
from paintcli.painting import Painting, coverage_of

pytestmark = pytest.mark.browser
SKETCHES = Path(__file__).parent / "data" / "sketches"

SETUP = "function setup() {\n  createCanvas(600, 600, WEBGL);\n  noLoop();\n}\n"
DOT = 'brush.noStroke(); brush.fill("#c33", 200); brush.circle(0, 0, 200);'


def drawing(body: str, setup: str = SETUP) -> str:
    return f"{setup}function draw() {{\n  background(250);\n  {body}\n}}\n"


def sha(painting: Painting) -> str:
    return hashlib.sha256(painting.png).hexdigest()


def psnr(first: np.ndarray, second: np.ndarray) -> float:
    return float(10 * np.log10(255**2 / ((first.astype(float) - second) ** 2).mean()))


@pytest.fixture(scope="module")
def renderer():
    with ChromiumRenderer(workers=2, deadline=30) as made:
        yield made


# -- the look ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["flower", "low", "many"])
def test_it_looks_like_the_published_configuration(renderer, name):
    """Against the GPU raster's own pixels, seed 0: PSNR >= 42 dB over all pixels, coverage within 3 %."""
    painting = renderer.render_sync((SKETCHES / f"{name}.js").read_text())
    with Image.open(SKETCHES / f"{name}.gpu-raster.png") as picture:
        published = np.asarray(picture.convert("RGB"))
    assert coverage_of(published) >= 0.1
    assert psnr(painting.rgb, published) >= 42
    assert painting.coverage == pytest.approx(coverage_of(published), rel=0.03)
    assert painting.finished and painting.fault is None and painting.js_errors == ()


def test_the_renderer_says_what_it_is(renderer):
    assert isinstance(renderer, Renderer)
    painting = renderer.render_sync(drawing(DOT), seed=3)
    assert painting.seed == 3 and painting.seconds > 0
    assert (painting.width, painting.height) == (600, 600)
    assert set(painting.versions) == {"chromium", "p5", "p5.brush", "gl", "raster"}
    assert painting.versions["gl"] == probe_gl().name
    assert painting.versions["gl"] in painting.renderer and painting.versions["raster"] in painting.renderer


# -- equal bytes -------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not probe_gl().repeatable, reason="equal bytes are promised on llvmpipe only")
@pytest.mark.parametrize(
    "browsers",
    [((1, 1), (4, 4), (2, 2)), pytest.param(((1, 3), (2, 6), (4, 8), (1, 3)), marks=pytest.mark.slow)],
    ids=lambda browsers: f"{sum(renders for _, renders in browsers)} paintings",
)
def test_one_seed_one_picture_across_restarts_and_worker_counts(browsers):
    """`browsers`: (workers, paintings) of each."""
    source = (SKETCHES / "low.js").read_text()
    hashes = []
    for workers, renders in browsers:
        with ChromiumRenderer(workers) as renderer, ThreadPoolExecutor(renders) as pool:
            hashes += [sha(p) for p in pool.map(lambda _: renderer.render_sync(source, 7), range(renders))]
    assert len(hashes) >= 7 and len(set(hashes)) == 1


def test_other_seeds_are_other_pictures(renderer):
    source = (SKETCHES / "low.js").read_text()
    assert len({sha(renderer.render_sync(source, seed)) for seed in (0, 1, 2, 123456789)}) == 4


def test_time_and_secrets_are_as_repeatable_as_chance(renderer):
    source = drawing(
        "const bytes = crypto.getRandomValues(new Uint8Array(2));"
        "background(Date.now() % 200, bytes[0], bytes[1]); brush.noStroke();"
        "brush.fill(color(performance.now() % 255, millis() % 255, new Date().getSeconds()), 255);"
        "brush.circle(0, 0, 100 + random(50) + parseInt(crypto.randomUUID().slice(0, 2), 16) / 10);"
    )
    first, second = (renderer.render_sync(source, 5) for _ in range(2))
    assert first.coverage > 0.01 and sha(first) == sha(second)


# -- what counts as done -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        drawing(DOT),
        drawing(DOT).replace("\n", "\r\n"),
        drawing(DOT, SETUP.replace("noLoop();", "")),
        drawing(DOT + " noLoop();", SETUP.replace("noLoop();", "")),
        SETUP.replace("noLoop();", "background(250); " + DOT),
        SETUP.replace("function", "async function").replace(
            "noLoop();", "background(250); await new Promise((done) => setTimeout(done, 50)); " + DOT
        ),
        drawing(DOT) + "const text = 3, ellipse = 4; class box {}",
        drawing("const triangle = () => 0; triangle(); " + DOT),
        drawing("leaf();") + "function leaf() { " + DOT + " }",
        "p5.disableFriendlyErrors = true;\n" + drawing(DOT),
        drawing(DOT) + "// the end, without a newline; </script>",
    ],
)
def test_an_honest_sketch_is_painted(renderer, source):
    painting = renderer.render_sync(source)
    assert painting.fault is None and painting.finished and painting.js_errors == ()
    assert painting.coverage == pytest.approx(0.125, abs=0.03)
    assert not [name for name in painting.calls if name.startswith(("page.", "canvas."))]


def test_a_sketch_that_never_stops_is_its_first_frame(renderer):
    moving = drawing("brush.noStroke(); brush.fill('#c33', 200); brush.circle(-400 + 200 * frameCount, 0, 80);", SETUP)
    endless = renderer.render_sync(moving.replace("noLoop();", ""))
    once = renderer.render_sync(moving)
    mentioned = renderer.render_sync(moving.replace("noLoop();", "if (width < 0) noLoop();"))
    assert sha(endless) == sha(once) == sha(mentioned)


def test_a_sketch_that_stops_itself_later_is_its_last_frame(renderer):
    source = (
        "function setup() { createCanvas(600, 600, WEBGL); background(250); }\n"
        "function draw() { brush.noStroke(); brush.fill('#c33', 200); brush.circle(-300 + 100 * frameCount, 0, 40);\n"
        "  if (frameCount === 5) noLoop(); }"
    )
    painting = renderer.render_sync(source)
    assert painting.calls["brush.circle"] == 5 and painting.finished


def test_what_was_painted_before_an_error_is_the_painting(renderer):
    painting = renderer.render_sync(drawing(DOT + "\n  undefinedThing();"))
    assert painting.coverage > 0.1 and not painting.finished and painting.fault is None
    assert painting.js_errors == ("ReferenceError: undefinedThing is not defined (line 8)",)


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("function setup() {\n  createCanvas(600, 600, WEBGL)\n  nonsense here\n}", "SyntaxError"),
        ("let x = 1;", None),
        ("function triangle() {}\n" + drawing(DOT), "Cannot redefine property: triangle"),
        (drawing(DOT, "function setup() { createCanvas(30000, 30000, WEBGL); }"), None),
    ],
)
def test_a_sketch_that_cannot_paint_says_why(renderer, source, word):
    painting = renderer.render_sync(source)
    assert painting.coverage < 0.005
    assert painting.png is not None or painting.fault == "render_failed"
    assert word is None or any(word in error for error in painting.js_errors)


def test_rejections_and_console_errors_are_kept_and_do_not_stop_the_painting(renderer):
    painting = renderer.render_sync(
        "Promise.reject(new Error('first'));\nconsole.error('second', 2);\n"
        + drawing(DOT)
        + "setTimeout(() => { third(); });"
    )
    assert painting.coverage > 0.1 and painting.finished
    assert {"Error: first (line 1)", "console.error: second 2 (line 2)"} <= set(painting.js_errors)


# -- what really ran ---------------------------------------------------------------------------------------------------


def test_honest_calls_are_counted_once_each(renderer):
    calls = renderer.render_sync((SKETCHES / "flower.js").read_text()).calls
    assert {name: n for name, n in calls.items() if name.startswith("brush.")} == {
        "brush.beginShape": 13, "brush.circle": 1, "brush.endShape": 13, "brush.fill": 14, "brush.fillBleed": 1,
        "brush.fillTexture": 1, "brush.noStroke": 1, "brush.scaleBrushes": 1, "brush.vertex": 182,
    }  # fmt: skip
    assert {name for name in calls if not name.startswith("brush.")} == {
        "p5.background", "p5.cos", "p5.createCanvas", "p5.noLoop", "p5.pixelDensity", "p5.sin",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("ellipse(0, 0, 300);", "p5.ellipse"),
        ('window["ell" + "ipse"](0, 0, 300);', "p5.ellipse"),
        ("const draw2 = ellipse; draw2(0, 0, 300);", "p5.ellipse"),
        ("p5.prototype.ellipse.call(p5.instance, 0, 0, 300);", "p5.ellipse"),
        ("p5.instance.box(100);", "p5.box"),
        ("Reflect.get(p5, 'instance').sphere(100);", "p5.sphere"),
        ("brush.addField('f', (field) => { ellipse(0, 0, 300); return field; }); brush.field('f');", "p5.ellipse"),
        ("beginShape(); vertex(0, 0); vertex(99, 0); vertex(0, 99); endShape();", "p5.vertex"),
        ("image(createGraphics(10, 10), 0, 0);", "p5.createGraphics"),
        ("loadPixels(); updatePixels();", "p5.updatePixels"),
        ("pixels;", "p5.pixels"),
        ("drawingContext.clear(16384);", "p5.drawingContext"),
        ("filter(BLUR, 4);", "p5.filter"),
        ("createDiv('x');", "p5.createDiv"),
        ("loadJSON('x.json').catch(() => 0);", "p5.loadJSON"),
        ("document.querySelector('canvas').getContext('webgl2');", "page.getContext"),
        ("document.querySelector('canvas').toDataURL();", "page.toDataURL"),
        ("document.body.appendChild(document.createElement('canvas'));", "page.createElement"),
        ("new OffscreenCanvas(9, 9);", "page.OffscreenCanvas"),
        ("new Image();", "page.Image"),
        ("try { fetch('/x'); } catch (e) {}", "page.fetch"),
        ("try { new WebSocket('ws://x'); } catch (e) {}", "page.WebSocket"),
        ("try { eval('1'); } catch (e) {}", "page.eval"),
        ("try { setTimeout('ellipse(0, 0, 9)'); } catch (e) {}", "page.eval"),
        ("try { (() => {}).constructor('1')(); } catch (e) {}", "page.Function"),
        ("try { alert(1); } catch (e) {}", "page.alert"),
        ("localStorage;", "page.localStorage"),
        ("new p5((p) => { p.setup = () => {}; });", "p5.p5"),
    ],
)
def test_what_ran_is_seen_however_it_was_called(renderer, body, name):
    calls = renderer.render_sync(drawing(body + DOT)).calls
    assert calls.get(name, 0) > 0, calls


def test_the_canvas_object_is_watched(renderer):
    source = "function setup() { const c = createCanvas(600, 600, WEBGL); c.GL.clear(16384); noLoop(); }"
    assert renderer.render_sync(source).calls["canvas.GL"] == 1


@pytest.mark.parametrize(
    "attack",
    [
        "HTMLCanvasElement.prototype.toDataURL = () => 'data:image/png;base64,AAAA';",
        "Object.defineProperty(HTMLCanvasElement.prototype, 'width', { get: () => 1 });",
        "CanvasRenderingContext2D.prototype.fill = () => {}; WebGL2RenderingContext.prototype.drawArrays = () => {};",
        "OffscreenCanvas.prototype.getContext = () => null;",
        "window.setTimeout = window.requestAnimationFrame = window.queueMicrotask = null;",
        "JSON.stringify = () => 'x'; JSON.parse = () => ({}); Array.prototype.toJSON = () => 'x';",
        "Reflect.apply = Reflect.construct = WeakMap.prototype.get = null;",
        "window.brush = { ...brush, counted: 0 };",
        "const real = p5; window.p5 = class {}; brush.count = {};",
        "for (const name of ['fill', 'circle']) Object.defineProperty(Object.prototype, name + 'd', { get: () => 1 });",
    ],
)
def test_what_a_sketch_overrides_changes_neither_picture_nor_counts(renderer, attack):
    honest = renderer.render_sync(drawing(DOT))
    attacked = renderer.render_sync(attack + "\n" + drawing(DOT))
    assert attacked.png is not None and sha(attacked) == sha(honest)
    for name in ("brush.circle", "brush.fill", "brush.noStroke", "p5.background", "p5.createCanvas"):
        assert attacked.calls[name] == honest.calls[name]


@pytest.mark.parametrize(
    "attack",
    [
        "Reflect.ownKeys = null;",
        "Object.prototype.finished = 'x';",
        "Function.prototype.call = Function.prototype.bind = null;",
        "Array.prototype[0] = 5; Promise = null;",
    ],
)
def test_a_sketch_that_breaks_p5_itself_paints_nothing(renderer, attack):
    painting = renderer.render_sync(attack + "\n" + drawing(DOT))
    assert painting.coverage < 0.005 and painting.js_errors


# -- from anywhere -----------------------------------------------------------------------------------------------------


def test_from_an_event_loop_and_from_threads_at_once(renderer):
    async def several():
        return await asyncio.gather(*[renderer.render(drawing(DOT), seed) for seed in range(3)])

    with ThreadPoolExecutor(4) as pool:
        threads = [pool.submit(renderer.render_sync, drawing(DOT), seed) for seed in range(3)]
        first, second = asyncio.run(several()), asyncio.run(several())
        third = [future.result() for future in threads]
    for paintings in zip(first, second, third, strict=True):
        assert len({sha(p) for p in paintings}) == 1


def test_closing_leaves_nothing_behind():
    threads = threading.active_count()
    renderer = ChromiumRenderer(workers=1)
    renderer.render_sync(drawing(DOT))
    process = renderer._studio._browser.process
    folder, root = process.folder, psutil.Process(process.pid)
    family = [root, *root.children(recursive=True)]
    assert len(family) > 3 and folder.exists()
    renderer.close()
    renderer.close()
    assert not [member for member in family if member.is_running()]
    assert not folder.exists() and threading.active_count() == threads
    with pytest.raises(PaintError, match="closed"):
        renderer.render_sync(drawing(DOT))


# -- what it needs -----------------------------------------------------------------------------------------------------


def test_closing_ends_what_nobody_waits_for_any_more():
    """A command that fails while others paint says one sentence, and nothing of tasks that were destroyed."""
    code = (
        "import asyncio\n"
        "from paintcli.backends.chromium import ChromiumRenderer\n"
        "async def main():\n"
        "    with ChromiumRenderer(workers=1) as painter:\n"
        "        every = [asyncio.ensure_future(painter.render('function setup() { noLoop(); }')) for _ in range(6)]\n"
        "        await asyncio.sleep(0.05)\n"
        "        assert not any(task.done() for task in every)\n"
        "        for task in every:\n            task.cancel()\n"
        "        await asyncio.gather(*every, return_exceptions=True)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")


def test_altered_and_missing_libraries_name_the_remedy(monkeypatch, tmp_path):
    found = find_libraries()
    copy = tmp_path / "p5.min.js"
    copy.write_bytes(found["p5"].read_bytes() + b"\n")
    monkeypatch.setattr("paintcli.backends.chromium.libraries.library_folders", lambda: (tmp_path,))
    with pytest.raises(PaintError, match=r"not the p5 2\.3\.4 .* `paint doctor --fix`"):
        find_libraries()
    copy.unlink()
    with pytest.raises(PaintError, match="not installed; run `paint doctor --fix`"):
        find_libraries()


def test_browser_named_by_hand_and_none_at_all(monkeypatch, tmp_path):
    monkeypatch.setenv("PAINT_CHROMIUM", str(find_chromium()))
    assert find_chromium().exists()
    monkeypatch.setenv("PAINT_CHROMIUM", str(tmp_path / "nothing"))
    with pytest.raises(PaintError, match="not a program"):
        find_chromium()
    monkeypatch.delenv("PAINT_CHROMIUM")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PaintError, match="`paint doctor --fix`"):
        find_chromium()


def test_unknown_gl_is_a_usage_error(monkeypatch):
    monkeypatch.setenv("PAINT_GL", "voodoo")
    with pytest.raises(UsageError, match="voodoo"):
        probe_gl()


def test_the_browser_sees_no_tokens(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with ChromiumRenderer(workers=1) as renderer:
        renderer.render_sync(drawing(DOT))
        process = psutil.Process(renderer._studio._browser.process.pid)
        seen = []
        for child in [process, *process.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):  # the browser's helpers come and go
                seen.append(str(child.environ()))
        assert len(seen) > 3 and not any("hf_secret" in environment for environment in seen)
