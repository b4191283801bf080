"""The rasteriser of the fill masks (page/mask.ts, mask.js), in the page it is made for: sample for sample."""

import asyncio
import base64
import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import paintcli.backends.chromium.renderer as renderer_module
from paintcli.backends.chromium import ChromiumRenderer, find_chromium
from paintcli.backends.chromium.browser import Browser
from paintcli.backends.chromium.install import compile_mask
from paintcli.backends.chromium.libraries import MASK, library_folders, library_sources, mask_source
from paintcli.errors import UsageError

pytestmark = pytest.mark.browser
DATA = Path(__file__).parent / "data" / "masks"
SAMPLES = ((6, 2), (14, 6), (2, 10), (10, 14))  # of a pixel, in 1/16 px from its left and top
DOT = """function setup() { createCanvas(200, 200, WEBGL); noLoop(); }
function draw() { background(250); brush.noStroke(); brush.fill("#c33", 200); brush.circle(0, 0, 90); }"""

DRAW = """(masks, jobs) => jobs.map(({ width, height, steps }) => {
  const canvas = { width, height };
  const context = masks.contextOf(canvas);
  for (const [name, ...values] of steps)
    if (typeof context[name] === "function") context[name](...values);
    else context[name] = values[0];
  const upload = { width, height };
  masks.contextOf(upload).drawImage(canvas, 0, 0, width, height, 0, 0, width, height);
  const { pixels, spans, band } = masks.uploadOf(upload);
  let text = "";
  for (let i = 3; i < pixels.length; i += 4) text += String.fromCharCode(pixels[i]);
  return [btoa(text), Array.from(spans), band];
})"""


def drawn(*jobs: dict) -> list[tuple[np.ndarray, list[int], int]]:
    """Alpha (height, width), spans and band of each job: {width, height, steps}, a step a call or a set property."""

    async def run() -> list:
        browser = await Browser.launch(find_chromium(), "swiftshader")
        try:
            page = await browser.open_page()
            answer = await page.send(
                "Runtime.evaluate",
                {"expression": f"({DRAW})({mask_source()}, {json.dumps(jobs)})", "returnByValue": True},
                timeout=120,
            )
            assert "exceptionDetails" not in answer, answer["exceptionDetails"]
            return answer["result"]["value"]
        finally:
            await browser.close()

    return [
        (np.frombuffer(base64.b64decode(text), np.uint8).reshape(job["height"], job["width"]).astype(int), spans, band)
        for job, (text, spans, band) in zip(jobs, asyncio.run(run()), strict=True)
    ]


def outline(corners: np.ndarray, close: bool = True) -> list[list]:
    (x, y), *others = corners.tolist()
    return [["beginPath"], ["moveTo", x, y], *(["lineTo", *c] for c in others), *([["closePath"]] if close else [])]


def opaque(width: int, height: int, *steps: list) -> dict:
    colours = [["fillStyle", "rgb(255 0 0 / 100%)"], ["strokeStyle", "rgb(255 0 0 / 1)"]]
    return {"width": width, "height": height, "steps": [*colours, *steps]}


def wound(corners: np.ndarray, width: int, height: int) -> np.ndarray:
    """Alpha (height, width) of a filled polygon, by counting: corners in 1/16 px, the non-zero rule at four samples."""
    rounded = np.rint(corners.astype(np.float32) * 16).astype(np.int64)
    counts = np.zeros((height, width), int)
    for across, down in SAMPLES:
        x, y = np.meshgrid(16 * np.arange(width) + across, 16 * np.arange(height) + down)
        winding = np.zeros((height, width), int)
        for (x0, y0), (x1, y1) in zip(rounded, np.roll(rounded, -1, 0), strict=True):
            sign = 1
            if y0 > y1:
                x0, y0, x1, y1, sign = x1, y1, x0, y0, -1
            winding += sign * ((y0 <= y) & (y < y1) & ((x - x0) * (y1 - y0) >= (y - y0) * (x1 - x0)))
        counts += winding != 0
    return (255 * counts + 2) >> 2


def test_a_sample_is_inside_where_the_path_winds_around_it():
    random = np.random.default_rng(7)
    polygons = [
        random.uniform(-20, 120, (40, 2)),  # crossing itself, and over every border
        random.normal(50, 12, (300, 2)),  # winding many times
        np.array([[10, 10], [60, 10], [60, 60], [10, 60]], float),  # borders of pixels
        np.array([[10.5, 3.25], [40.125, 3.25], [40.125, 90], [10.5, 90]]),
        np.array([[-1e7, -5e6], [2e7, 40], [-3e6, 8e6]]),  # far out
        np.array([[20, 20], [80, 80], [20, 20], [80, 81]], float),  # next to nothing
    ]
    pictures = drawn(*(opaque(101, 90, *outline(p), ["fill"]) for p in polygons))
    for polygon, (alpha, _, _) in zip(polygons[:4] + polygons[5:], [*pictures[:4], *pictures[5:]], strict=True):
        assert np.array_equal(alpha, wound(polygon, 101, 90))
    assert pictures[4][0].max() in (0, 255)  # clamped, so not where it was: but whole


def test_a_layer_is_rounded_as_the_published_raster_rounds_it():
    """What the accelerated canvas had after 1, 2, 3, 5, … layers: a percentage as it is, a number in 8 bits."""
    layers = [1, 2, 3, 5, 8, 13, 21, 34, 55, 89]
    published = {
        ("0.61%", "source-over"): [2, 4, 6, 10, 13, 18, 26, 39, 60, 94],
        ("0.0061", "source-over"): [2, 4, 6, 10, 16, 26, 42, 66, 87, 121],
        ("2.92%", "source-over"): [7, 14, 21, 35, 53, 81, 117, 161, 205, 238],
        ("0.0292", "source-over"): [7, 14, 21, 33, 51, 77, 112, 155, 200, 235],
        ("0.0292", "destination-out"): [248, 241, 234, 222, 204, 178, 143, 100, 55, 20],
        ("0.061", "destination-out"): [239, 224, 210, 185, 152, 110, 66, 29, 7, 7],
        ("0.0013", "source-over"): [0] * 10,
    }
    square = np.array([[2, 2], [18, 2], [18, 18], [2, 18]], float)
    jobs = []
    for alpha, operation in published:
        for n in layers:
            full = [*outline(square), ["fill"]] if operation == "destination-out" else []
            layer = [
                ["globalCompositeOperation", operation],
                ["fillStyle", f"rgb(255 0 0 / {alpha})"],
                *outline(square),
            ]
            jobs.append(opaque(20, 20, *full, *layer, *[["fill"]] * n))
    middles = [int(alpha[10, 10]) for alpha, _, _ in drawn(*jobs)]
    assert [middles[i : i + 10] for i in range(0, len(middles), 10)] == list(published.values())


def test_shapes_are_those_of_the_published_raster():
    """Circles and a petal to the last sample, the petal's stroke but for its sharpest corners."""
    shapes = json.loads((DATA / "shapes.json").read_text("utf-8"))
    jobs = []
    for shape in shapes:
        numbers = shape["numbers"]
        if shape["kind"] == "circle":
            x, y, radius = numbers
            path = [["beginPath"], ["moveTo", x + radius, y], ["arc", x, y, radius, 0, 2 * np.pi], ["fill"]]
        else:
            width = [["lineWidth", shape["line_width"]]] if shape["kind"] == "stroke" else []
            path = [*width, *outline(np.reshape(numbers, (-1, 2))), [shape["kind"]]]
        jobs.append(opaque(600, 600, *path))
    for shape, (ours, _, _) in zip(shapes, drawn(*jobs), strict=True):
        with Image.open(DATA / f"{shape['name']}.png") as picture:
            theirs = np.asarray(picture).astype(int)
        partial = ((ours > 0) & (ours < 255)) | ((theirs > 0) & (theirs < 255))
        error = np.sqrt(((ours - theirs)[partial] ** 2).mean())
        assert error <= {"circle": 0, "fill": 0, "stroke": 20}[shape["kind"]], shape["name"]
        assert ours.sum() == pytest.approx(theirs.sum(), rel={"circle": 0, "fill": 0, "stroke": 2e-3}[shape["kind"]])


def test_strokes_end_as_asked_and_a_squeezed_pen_is_an_ellipse():
    line = np.array([[20, 30], [60, 30]], float)
    by_cap = {
        cap: opaque(80, 60, ["lineWidth", 10], ["lineCap", cap], *outline(line, False), ["stroke"])
        for cap in ("butt", "round", "square")
    }
    squeezed = opaque(  # 40 × 4 times 4 × 1: 160 along, 40 thick up and down, 10 on its ends
        200,
        100,
        ["setTransform", 4, 0, 0, 1, 20, 50],
        ["lineWidth", 10],
        *outline(np.array([[0, 0], [40, 0], [40, 0.001]]), False),
        ["stroke"],
    )
    square = np.array([[20, 20], [60, 20], [60, 60], [20, 60]], float)
    mitred = opaque(80, 80, ["lineWidth", 8], *outline(square), ["stroke"])
    *capped, (ellipse, _, _), (frame, _, _) = drawn(*by_cap.values(), squeezed, mitred)
    butt, round_, full = (alpha.sum() / 255 for alpha, _, _ in capped)
    assert butt == 400 and full == 500 and round_ == pytest.approx(400 + 25 * np.pi, abs=2)
    assert np.argwhere(capped[1][0].T == 255)[0][0] == 15 and capped[0][0][:, 19].max() == 0
    assert frame.sum() / 255 == 48**2 - 32**2  # corners and all, the middle left out
    assert ellipse[:, 100].sum() / 255 == 10 and ellipse[45:55, 20:180].min() == 255


def test_what_is_uploaded_says_where_the_mask_is():
    [(alpha, spans, band)] = drawn(
        opaque(70, 50, *outline(np.array([[20, 17], [41, 17], [41, 30], [20, 30]])), ["fill"])
    )
    assert band * len(spans) / 2 >= 50 > band * (len(spans) / 2 - 1)
    for i in range(0, len(spans), 2):
        columns = np.flatnonzero(alpha[i // 2 * band : (i // 2 + 1) * band].max(0))
        if len(columns) == 0:
            assert spans[i] == spans[i + 1]
        else:
            assert spans[i] <= columns[0] < columns[0] + 4 > spans[i] and columns[-1] < spans[i + 1] <= columns[-1] + 4
    assert any(spans[i] < spans[i + 1] for i in range(0, len(spans), 2))


def test_the_browsers_own_raster_is_there_when_asked_for(monkeypatch):
    monkeypatch.setenv("PAINT_RASTER", "skia")
    with ChromiumRenderer(workers=1) as renderer:
        theirs = renderer.render_sync(DOT)
    monkeypatch.delenv("PAINT_RASTER")
    with ChromiumRenderer(workers=1) as renderer:
        ours = renderer.render_sync(DOT)
    assert theirs.renderer.endswith("float16") and theirs.versions["raster"] == "float16"
    assert ours.renderer.endswith("mask2") and ours.versions["raster"] == "mask2"
    assert theirs.png != ours.png and theirs.coverage == pytest.approx(ours.coverage, rel=0.05)
    monkeypatch.setenv("PAINT_RASTER", "cairo")
    with pytest.raises(UsageError, match="PAINT_RASTER is 'cairo'; it may be wasm or skia"):
        ChromiumRenderer(workers=1)


@pytest.mark.parametrize(
    "asked, named",
    [
        ("r.quadraticCurveTo(1,2,3,4);", "quadraticCurveTo"),
        ("r.fillStyle='red';", "the colour red"),
        ("r.globalCompositeOperation='xor';", "the operation xor"),
    ],
)
def test_what_the_masks_do_not_serve_is_painted_by_the_browsers_own_raster_and_said(monkeypatch, request, asked, named):
    p5, brush = library_sources()
    close = "r.closePath()"
    assert brush.count(close) == 1
    monkeypatch.setattr(renderer_module, "library_sources", lambda: (p5, brush.replace(close, f"{asked}{close}")))
    renderer_module._preload.cache_clear()
    request.addfinalizer(renderer_module._preload.cache_clear)
    shape = DOT.replace("brush.circle(0, 0, 90)", "brush.rect(-40, -40, 80, 80)")
    with ChromiumRenderer(workers=1) as renderer, pytest.warns(RuntimeWarning, match=named):
        painting = renderer.render_sync(shape)
    assert painting.versions["raster"] == "float16" and painting.fault is None and painting.coverage > 0.02


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js")
def test_the_pinned_file_is_what_its_source_compiles_to(tmp_path):
    compile_mask(Path(shutil.which("node")), library_folders()[1], tmp_path / "mask.wasm")
    assert hashlib.sha256((tmp_path / "mask.wasm").read_bytes()).hexdigest() == MASK.sha256


@pytest.mark.parametrize("background", ["background(250);", "background(250, 60, 20, 90);", ""])
def test_blending_only_where_there_is_a_mask_changes_no_pixel(monkeypatch, request, background):
    """Also where the canvas lets light through: there a pixel without mask is not left as it is, and all is blended."""
    sketch = f"""function setup() {{ createCanvas(200, 200, WEBGL); noLoop(); }}
    function draw() {{
      {background}
      brush.noStroke();
      brush.fillBleed(0.2);
      brush.fill("#c33", 200);
      brush.circle(-20, 0, 60);
      brush.fill("#36c", 120);
      brush.beginShape(0.2);
      for (const [x, y] of [[-90, -80], [95, 20], [20, 90]]) brush.vertex(x, y);
      brush.endShape(CLOSE);
    }}"""
    with ChromiumRenderer(workers=1) as renderer:
        banded = renderer.render_sync(sketch)
    harness = renderer_module._harness
    assert "opaque = clearing === 1" in harness(True, "wasm")
    monkeypatch.setattr(
        renderer_module, "_harness", lambda *of: harness(*of).replace("opaque = clearing === 1", "opaque = false")
    )
    renderer_module._preload.cache_clear()
    request.addfinalizer(renderer_module._preload.cache_clear)
    with ChromiumRenderer(workers=1) as renderer:
        whole = renderer.render_sync(sketch)
    assert banded.js_errors == () and banded.png == whole.png
