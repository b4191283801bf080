"""The page's own count, without the syntax in front of it: what ran is seen, also between two awaits."""

import pytest

from paintcli import domains, gate
from paintcli.backends.chromium import ChromiumRenderer
from paintcli.sketch import extract

pytestmark = pytest.mark.browser

SKETCH = """
{0} function setup() {{ createCanvas(200, 200, WEBGL); angleMode(DEGREES); noLoop(); {1} }}
{2} function draw() {{
  translate(-100, -100); background('#f7f1e5');
  brush.noStroke(); brush.fill('#6d8f57', 200); brush.circle(100, 100, 60, 0.3);
  {3}
}}"""

HONEST = {
    "plain": ("", "", "", ""),
    "awaits": ("async", "await null;", "async", "await null; brush.circle(40, 40, 20);"),
    "sleeps": (
        "async",
        "await new Promise(r => setTimeout(r, 20));",
        "async",
        "await new Promise(r => setTimeout(r, 5));",
    ),
}
CHEATS = {
    "GL after an await": (
        ("async", "await null; document.querySelector('canvas').getContext('webgl2');", "", ""),
        "pixel",
    ),
    "GL in an asynchronous draw": (("", "", "async", "await null; drawingContext.clear(16384);"), "pixel"),
    "an element after an await": (("async", "await null; document.createElement('b');", "", ""), "external"),
    "a query": (("", "document.querySelector('canvas');", "", ""), "external"),
    "the document under a name that syntax cannot follow": (
        ("", "const key = (s) => s.split('').reverse().join(''); window[key('tnemucod')].title = 'leaf';", "", ""),
        "external",
    ),
    "the document of the camera": (
        ("", "", "", "createCamera()._renderer.canvas.ownerDocument;"),
        "external",
    ),
    "markup": (("", "document.body.innerHTML = '<b>leaf</b>';", "", ""), "external"),
    "an argument's valueOf": (
        ("", "", "", "random({ valueOf() { p5.prototype.ellipse.call(p5.instance, 0, 0, 50, 50); return 1; } });"),
        "external",
    ),
}


@pytest.fixture(scope="module")
def renderer():
    with ChromiumRenderer(workers=1) as running:
        yield running


def seen(renderer, parts):
    source = SKETCH.format(*parts)
    painting = renderer.render_sync(source)
    return gate.check_painting(painting, extract(source, "a.js"), domains.load())


@pytest.mark.parametrize("name", HONEST)
def test_honest_sketches_are_seen_as_such(renderer, name):
    assert seen(renderer, HONEST[name]).violations == ()


@pytest.mark.parametrize("name", CHEATS)
def test_what_ran_is_seen(renderer, name):
    parts, code = CHEATS[name]
    assert {"pixel": "pixel_access", "external": "external_access"}[code] in {
        v.code for v in seen(renderer, parts).violations
    }
