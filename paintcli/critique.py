"""What is wrong with a sketch, said so that a language model can change it; no model is needed to find it out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from PIL import ImageColor

from paintcli.attempt import Attempt
from paintcli.domains import Domain
from paintcli.gate import Violation
from paintcli.painting import PAINT_DISTANCE, Mark, Painting, paint_mask, paper_colour

TRACE = 0.02
"""Share of paint in a shape's box under which it is called invisible. A lone circle of p5.brush 2.2.2 leaves 1.2 % at
opacity 20, 1.6 % at 40 and 20 % at 180: most of a box stays paper even where a shape is plain to see."""


FEW = 0.1
"""Share of the shapes up to which something is a whim and not worth a round: a highlight in the paper's own colour."""


def violations_in_words(violations: Sequence[Violation]) -> list[str]:
    """One line a violation: code, line in the sketch, detail."""
    return [f"{v.code}{f' (line {v.line})' if v.line else ''}: {v.detail}" for v in violations]


def main_colours(pixels: np.ndarray, count: int = 3) -> list[tuple[str, float]]:
    """The `count` most frequent colours as #rrggbb with their share, 0–1. `pixels`: uint8 (n, 3), n > 0."""
    # 3 bits a channel: fine enough to name a wash, coarse enough to gather one
    bins = pixels >> 5
    keys, counts = np.unique(bins, axis=0, return_counts=True)
    found = []
    for index in np.argsort(-counts, kind="stable")[:count]:
        colour = pixels[(bins == keys[index]).all(axis=1)].mean(axis=0)
        found.append((_hex(colour), float(counts[index] / len(pixels))))
    return found


def _hex(colour: np.ndarray) -> str:
    """#rrggbb of three numbers, 0–255."""
    return "#" + "".join(f"{round(float(c)):02x}" for c in colour)


def in_words(painting: Painting) -> str:
    """A painting for somebody without eyes: how much paint, where it lies (pixels), its three main colours."""
    paint = paint_mask(painting.rgb)
    if not paint.any():
        return "an empty sheet."
    down, across = np.nonzero(paint)
    colours = ", ".join(colour for colour, _ in main_colours(painting.rgb[paint]))
    return (
        f"paint on {paint.mean():.0%} of the {painting.width} × {painting.height} sheet, from x {across.min()} to "
        f"{across.max()} and y {down.min()} to {down.max()}, mostly {colours}."
    )


def photo_in_words(photo: Painting) -> str:
    """A photograph for somebody without eyes: its shape and its six main colours with their shares."""
    small = photo.image
    small.thumbnail((128, 128))
    colours = main_colours(np.asarray(small).reshape(-1, 3), 6)
    return ", ".join(f"{colour} ({share:.0%})" for colour, share in colours)


def remarks(attempt: Attempt, domain: Domain) -> list[str]:
    """What to change, most important first: what the gate refused, what the page reported, then what can be measured.

    Measured against the domain's targets where it has them (coverage, shapes, opacity); shapes off the canvas, shapes
    without a trace and colours lost in the paper are told for any. Empty when there is nothing to say.
    """
    said = [f"Refused: {words}" for words in violations_in_words(attempt.verdict.violations)]
    painting = attempt.painting
    if painting is None:
        return said
    # an error that is the reason of a refusal has been told
    said += [f"The page reported: {e}" for e in painting.js_errors[:3] if not any(e in words for words in said)]
    if painting.png is None:
        return said
    return said + _marks(painting, domain) + _coverage(painting, domain)


def _coverage(painting: Painting, domain: Domain) -> list[str]:
    low, high = domain.targets.get("coverage", (0.0, 1.0))
    if low <= painting.coverage <= high:
        return []
    what = "paint more of the sheet" if painting.coverage < low else "leave more paper bare"
    return [
        f"The paint covers {painting.coverage:.1%} of the sheet; good ones cover {low:.0%} to {high:.0%}: {what}. "
        f"Now there is {in_words(painting)}"
    ]


def _marks(painting: Painting, domain: Domain) -> list[str]:
    marks, said = painting.marks, []
    if not marks:
        return []
    enough = FEW * len(marks)
    few, many = domain.targets.get("shapes", (0, 0))
    if len(marks) < few:
        said.append(f"Shapes painted: {len(marks)}; {few} to {many} are asked for.")
    width, height = painting.width, painting.height
    outside = [m for m in marks if m.right <= 0 or m.bottom <= 0 or m.left >= width or m.top >= height]
    if len(outside) > enough:
        sheet = f"{width} × {height}"
        said.append(f"Off the canvas ({sheet}): {len(outside)} of {len(marks)} shapes, {_named(outside[0])}.")
    paper = paper_colour(painting.rgb)
    lost = Counter(m.colour for m in marks if m.colour and _distance(m.colour, paper) <= PAINT_DISTANCE)
    if lost.total() > enough:
        colours, name = ", ".join(str(colour) for colour, _ in lost.most_common(3)), _hex(paper)
        said.append(f"Lost in the paper ({name}): {lost.total()} of {len(marks)} shapes, filled with {colours}.")
    paint = paint_mask(painting.rgb)
    faint = [m for m in marks if m not in outside and m.colour not in lost and _trace(m, paint) < TRACE]
    if len(faint) > enough:
        said.append(f"Hardly a trace: {len(faint)} of {len(marks)} shapes, {_named(faint[0])}.")
    least = domain.targets.get("opacity", (0.0, 0.0))[0]
    thin = [m.opacity for m in marks if m.opacity is not None and m.opacity < least]
    if len(thin) > enough:
        said.append(f"Opacity under {least:g}: {len(thin)} of {len(marks)} fills, the lowest {min(thin):g}.")
    return said


def _named(mark: Mark) -> str:
    filled = f" filled with {mark.colour} at opacity {mark.opacity:g}" if mark.colour else ""
    return (
        f"the first a {mark.what}{filled}, from x {mark.left:.0f} to {mark.right:.0f} and "
        f"y {mark.top:.0f} to {mark.bottom:.0f}"
    )


def _distance(colour: str, paper: np.ndarray) -> float:
    """Euclidean RGB distance of a CSS colour from the paper; infinite for one that cannot be read."""
    try:
        return float(np.linalg.norm(np.array(ImageColor.getrgb(colour)[:3]) - paper))
    except ValueError:
        return float("inf")


def _trace(mark: Mark, paint: np.ndarray) -> float:
    """Share of paint, 0–1, in the part of the mark's box that is on the canvas."""
    box = paint[max(int(mark.top), 0) : int(mark.bottom) + 1, max(int(mark.left), 0) : int(mark.right) + 1]
    return float(box.mean()) if box.size else 0.0
