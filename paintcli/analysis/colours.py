"""Colours: how far the paintings of a group are apart, over time and against the renderer's own noise."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from paintcli.analysis.steps import Steps
from paintcli.painting import coverage_of, flatten, paper_colour

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PIL.Image import Image

LEVELS = 6
"""Histogram bins per channel: 216 colours, coarse enough that a grain of texture is not another colour."""

GLANCE = 64
"""Pictures looked at when not all were asked for."""

NOISE_PAIRS = 20


def palette(picture: Image) -> np.ndarray:
    """Shares of the painted pixels in each of 216 colours, float64 of shape (216,); all paper gives zeros.

    Taken from a 96-pixel thumbnail; paint is what is further than 32 (RGB) from the paper, as for coverage.
    """
    from PIL import Image as Pillow

    small = Pillow.fromarray(flatten(picture))
    small.thumbnail((96, 96))
    rgb = np.asarray(small)
    paint = ((rgb.astype(float) - paper_colour(rgb)) ** 2).sum(axis=-1) > 32**2
    bins = (rgb[paint].astype(int) * LEVELS) // 256
    counts = np.bincount(bins @ [LEVELS * LEVELS, LEVELS, 1], minlength=LEVELS**3)
    return counts / max(counts.sum(), 1)


def distance(one: np.ndarray, two: np.ndarray) -> float:
    """Total variation of two palettes: the share of paint of another colour, 0–1."""
    return float(np.abs(one - two).sum() / 2)


def colours(steps: Steps, everything: bool, advance: Callable[[], None] = lambda: None) -> dict[str, Any] | None:
    """The "colours" of `analyze --json`; None when there are no pictures. `across` fills in "other_runs".

    "thirds" holds each third's mean palette (see `palette`; null without pictures), "palette" its commonest colours.

    With `everything` each picture is opened, and a missing coverage column is filled in. Otherwise at most GLANCE,
    whole groups of evenly spaced steps.
    """
    run = steps.run
    if run.painted is None or not run.painted.any() or not run.has_pictures:
        return None
    rows = np.flatnonzero(run.painted)
    if not everything and len(rows) > GLANCE:
        size = max(1, len(rows) // len(steps))
        chosen = np.unique(np.linspace(0, len(steps) - 1, max(2, GLANCE // size)).astype(int))
        rows = rows[np.isin(steps.index[rows], chosen)]
    palettes: dict[int, np.ndarray] = {}
    unreadable = 0
    for row, picture in zip(rows.tolist(), run.pictures(rows.tolist()), strict=True):
        advance()
        if picture is None:
            unreadable += 1
            continue
        palettes[row] = palette(picture)
        if everything and not np.isfinite(run.numbers["coverage"][row]):
            _set(run.numbers, row, coverage_of(flatten(picture)))
    if unreadable:
        run.notes.append(f"{unreadable} of {len(rows)} pictures looked at are missing or not readable.")
    ends = []
    for part in steps.parts:
        within, means = [], []
        for step in part:
            group = [palettes[row] for row in rows[steps.index[rows] == step].tolist() if row in palettes]
            within += [distance(one, two) for one, two in combinations(group, 2)]
            means += group
        ends.append((float(np.mean(within)) if within else None, np.mean(means, axis=0) if means else None))
    first, _, last = (mean for _, mean in ends)
    return {
        "pictures": len(palettes),
        "within_group": {"first": ends[0][0], "last": ends[2][0]},
        "moved": distance(first, last) if first is not None and last is not None else None,
        "renderer_noise": _noise(steps, palettes),
        "palette": {"first": _listed(first), "last": _listed(last)},
        "thirds": [None if mean is None else mean.round(5).tolist() for _, mean in ends],
        "other_runs": {},
    }


def across(reports: Sequence[dict[str, Any]]) -> None:
    """Fill in "other_runs": how far the runs' mean palettes are apart in the first, the middle and the last third.

    Distances as within a group, so the renderer's noise is the measure for both; None where a third has no picture.
    """
    seen = [report for report in reports if report["colours"]]
    for one, two in combinations(seen, 2):
        thirds = zip(one["colours"]["thirds"], two["colours"]["thirds"], strict=True)
        apart = [None if a is None or b is None else distance(np.array(a), np.array(b)) for a, b in thirds]
        one["colours"]["other_runs"][label(two, reports)] = apart
        two["colours"]["other_runs"][label(one, reports)] = apart


def label(report: dict[str, Any], reports: Sequence[dict[str, Any]]) -> str:
    """What a run is called among several: its name, or where it lies when another has that name too."""
    alone = sum(other["run"] == report["run"] for other in reports) == 1
    return str(report["run"] if alone else report["source"])


def _set(numbers: dict[str, np.ndarray], row: int, value: float) -> None:
    if not numbers["coverage"].flags.writeable:
        numbers["coverage"] = numbers["coverage"].copy()
    numbers["coverage"][row] = value


def _noise(steps: Steps, palettes: dict[int, np.ndarray]) -> float | None:
    """Mean distance between paintings of one and the same sketch; None when no sketch was painted twice."""
    keys = steps.run.code_keys
    if keys is None:
        return None
    by_code: dict[int, list[int]] = {}
    for row in palettes:
        if keys[row]:
            by_code.setdefault(int(keys[row]), []).append(row)
    pairs = [pair for rows in by_code.values() for pair in combinations(rows, 2)][:NOISE_PAIRS]
    return float(np.mean([distance(palettes[a], palettes[b]) for a, b in pairs])) if pairs else None


def _listed(mean: np.ndarray | None) -> list[dict[str, Any]]:
    """The six commonest colours: {"colour": "#rrggbb", "share"}."""
    if mean is None:
        return []
    found = []
    for index in np.argsort(-mean)[:6].tolist():
        if mean[index] > 0:
            levels = (index // LEVELS**2, index // LEVELS % LEVELS, index % LEVELS)
            red, green, blue = (int((level + 0.5) * 256 / LEVELS) for level in levels)
            found.append({"colour": f"#{red:02x}{green:02x}{blue:02x}", "share": float(mean[index])})
    return found
