"""Ours against what the published configuration painted (data/fidelity/README.md): every pixel, all kinds of shapes."""

from pathlib import Path

import pytest

from benchmarks.render import psnr
from paintcli.backends.chromium import ChromiumRenderer
from paintcli.painting import Painting

pytestmark = pytest.mark.browser
DATA = Path(__file__).parent / "data"
QUICK = {"circles", "density2", "offcanvas"}
"""Painted in the default suite; the other seven take some fifteen seconds of processor time."""

SKETCHES = [
    pytest.param(path, marks=[] if path.stem in QUICK else pytest.mark.slow, id=path.stem)
    for path in sorted((DATA / "fidelity").glob("*.js"))
]


@pytest.fixture(scope="module")
def renderer():
    with ChromiumRenderer(workers=1, deadline=60) as made:
        yield made


def held_against_the_published(renderer: ChromiumRenderer, sketch: Path, decibels: float) -> None:
    ours = renderer.render_sync(sketch.read_text("utf-8"), seed=0)
    published = Painting.from_file(sketch.with_suffix(".gpu-raster.png"))
    assert ours.finished and ours.fault is None and ours.js_errors == ()
    assert ours.rgb.shape == published.rgb.shape
    assert published.coverage >= 0.1
    assert psnr(ours, published, painted_only=False) >= decibels
    assert ours.coverage == pytest.approx(published.coverage, rel=0.01)


@pytest.mark.parametrize("sketch", SKETCHES)
def test_every_kind_of_shape_is_the_published_picture(renderer, sketch):
    held_against_the_published(renderer, sketch, 46)


def test_the_flower_is_the_published_picture(renderer):
    held_against_the_published(renderer, DATA / "sketches" / "flower.js", 48)
