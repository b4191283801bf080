"""The two rasters of the fill masks, ours and the browser's own: the gate and the embedded judge say the same of both.

Measured on the starter pools (`pytest -m slow tests/test_rasters.py` prints it): the browser's is a shade paler, which
the judge sees (the stored pictures' scores have a standard deviation of 4.9, the koi's of 10.6) and hardly minds.
"""

import asyncio
from itertools import product

import numpy as np
import pytest

from paintcli import domains, pool, sketch
from paintcli.attempt import Attempt, attempt
from paintcli.backends.chromium import ChromiumRenderer
from paintcli.backends.taste import Taste
from paintcli.pool import Pool, Reference

pytestmark = pytest.mark.browser

MARGIN = 0.05
"""Pairs whose p in our raster is within this of ½ may be told the other way round in the browser's: 3 of 431 were."""

CHANCE, SCORE = 0.08, 1.3
"""The most that p of a pair and the score of a painting may differ between the rasters: measured 0.066 and 1.04."""

STALE = 0.05
"""Mean squared difference, in levels, of a stored picture and its sketch painted now; 0 where the GL is llvmpipe."""

FEW = {
    "hibiscus": ("ink-faint-corner", "ink-indigo", "plain-pair", "plain-white-shadow"),
    "koi": ("sumi-leap", "sumi-too-little"),
}
"""The palest of each pool, which the gate could miss first, and some of either tier, which are quickly painted."""


@pytest.fixture(scope="module")
def renderers():
    with (
        ChromiumRenderer(workers=2, deadline=120, raster="wasm") as ours,
        ChromiumRenderer(workers=2, deadline=120, raster="skia") as theirs,
    ):
        yield ours, theirs


def painted(entries: list[Reference], domain: domains.Domain, renderer: ChromiumRenderer) -> list[Attempt]:
    async def all_of_them() -> list[Attempt]:
        read = [sketch.read(entry.source.read_bytes(), entry.source.name) for entry in entries]
        return await asyncio.gather(*(attempt(one, renderer, domain) for one in read))

    return asyncio.run(all_of_them())


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("which", ["few", pytest.param("all", marks=[pytest.mark.slow, pytest.mark.timeout(1200)])])
def test_the_gate_and_the_judge_say_the_same_under_both_rasters(renderers, name, which, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PAINT_CACHE", str(tmp_path))
    starter = Pool.load(pool.starter(name))
    entries = [entry for entry in starter.entries if which == "all" or entry.path.stem in FEW[name]]
    ours, theirs = (painted(entries, domains.load(name), renderer) for renderer in renderers)

    for entry, one, other in zip(entries, ours, theirs, strict=True):
        assert (one.passed, other.passed) == (True, True), entry.name
        assert one.verdict == other.verdict
        assert one.painting.calls == other.painting.calls
        assert one.painting.png != other.painting.png, "one raster painted both"
        squares = (one.painting.rgb.astype(float) - entry.painting.rgb) ** 2
        assert squares.mean() < STALE, f"{entry.name} is not what is painted now"

    judge = Taste(starter)
    scores = np.array([asyncio.run(judge.score([a.painting for a in attempts])) for attempts in (ours, theirs)])
    apart = np.abs(scores[1] - scores[0])

    async def chances(love: int, okay: int) -> list[float]:
        return [await judge.prefer(attempts[love].painting, attempts[okay].painting) for attempts in (ours, theirs)]

    places = {tier: [i for i, entry in enumerate(entries) if entry.tier == tier] for tier in ("love", "okay")}
    pairs = list(product(places["love"], places["okay"]))
    p = np.array([asyncio.run(chances(*pair)) for pair in pairs])
    turned = (p[:, 0] > 0.5) != (p[:, 1] > 0.5)
    closeness = np.abs(p[turned, 0] - 0.5).max(initial=0)
    differ = np.abs(p[:, 1] - p[:, 0])
    with capsys.disabled():
        print(
            f"\n{name}, {len(entries)} paintings under both rasters: score apart by {apart.max():.3f} at most "
            f"({entries[apart.argmax()].path.stem}), p of {len(pairs)} pairs by {differ.max():.3f}, on average "
            f"{differ.mean():.4f}; {turned.sum()} turned, of p within {closeness:.3f} of one half",
            end="",
        )
    assert closeness <= MARGIN
    assert differ.max() <= CHANCE
    assert apart.max() <= SCORE
