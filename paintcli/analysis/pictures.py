"""Pictures of paintings: film strip, best of named steps, wall of the best, and several runs moving in step."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence

import numpy as np
from PIL import Image

from paintcli.analysis.steps import Steps
from paintcli.sheet import sheet


def _ranked(steps: Steps) -> dict[int, np.ndarray]:
    """Step index → its rollouts with picture and reward, worst first."""
    run = steps.run
    if run.painted is None:
        return {}
    rows = np.flatnonzero(run.painted & steps.rewarded)
    rows = rows[np.lexsort((run.numbers["reward"][rows], steps.index[rows]))]
    bounds = np.searchsorted(steps.index[rows], np.arange(len(steps) + 1))
    return {i: rows[bounds[i] : bounds[i + 1]] for i in range(len(steps)) if bounds[i] < bounds[i + 1]}


def _captioned(steps: Steps, rows: Sequence[int]) -> list[tuple[Image.Image | None, str]]:
    numbers = steps.run.numbers
    pictures = steps.run.pictures(rows)
    return [
        (picture, f"step {numbers['step'][row]:g}: {numbers['reward'][row]:.2f}")
        for row, picture in zip(rows, pictures, strict=True)
    ]


def strip(steps: Steps, most: int = 12, side: int = 140) -> Image.Image | None:
    """Of up to `most` steps, evenly spread: the median painting above the best. None without pictures."""
    ranked = _ranked(steps)
    if not ranked:
        return None
    order = sorted(ranked)
    kept = sorted({order[round(i * (len(order) - 1) / max(1, most - 1))] for i in range(most)})
    rows = [int(ranked[i][(len(ranked[i]) - 1) // 2]) for i in kept] + [int(ranked[i][-1]) for i in kept]
    return sheet(_captioned(steps, rows), len(kept), side)


def best_of(steps: Steps, chosen: Sequence[int], count: int = 4, side: int = 180) -> Image.Image | None:
    """The best `count` paintings of each named step, a row a step. Raises UsageError for a step without paintings."""
    from paintcli.errors import UsageError

    ranked = _ranked(steps)
    items: list[tuple[Image.Image | None, str]] = []
    for number in chosen:
        place = np.flatnonzero(steps.numbers == number)
        if not len(place) or int(place[0]) not in ranked:
            raise UsageError(f"The run {steps.run.name} has no painting of step {number}.")
        best = ranked[int(place[0])][::-1][:count].tolist()
        items += _captioned(steps, best) + [(None, "")] * (count - len(best))
    return sheet(items, count, side) if items else None


def wall(steps: Steps, count: int = 48, columns: int = 8, side: int = 140, seed: int = 0) -> Image.Image | None:
    """The `count` best paintings of the run, shuffled: nobody sees which is which before looking."""
    ranked = _ranked(steps)
    if not ranked:
        return None
    rows = np.concatenate(list(ranked.values()))
    best = rows[np.argsort(-steps.run.numbers["reward"][rows], kind="stable")][:count].tolist()
    random.Random(seed).shuffle(best)
    return sheet(_captioned(steps, best), min(columns, len(best)), side)


def animation(runs: Sequence[Steps], frames: int = 40, side: int = 300, seconds: float = 0.25) -> bytes | None:
    """Several runs' median paintings moving in step, side by side, as a GIF. None when no run has pictures.

    Frame k shows each run at the same share of its steps, so runs of different length end together.
    """
    ranked = [(steps, _ranked(steps)) for steps in runs]
    ranked = [(steps, found) for steps, found in ranked if found]
    if not ranked:
        return None
    longest = max(len(found) for _, found in ranked)
    count = min(frames, longest)
    pages = []
    for frame in range(count):
        items = []
        for steps, found in ranked:
            order = sorted(found)
            rows = found[order[round(frame / max(count - 1, 1) * (len(order) - 1))]]
            [(picture, caption)] = _captioned(steps, [int(rows[(len(rows) - 1) // 2])])
            items.append((picture, f"{steps.run.name}, {caption}"))
        pages.append(sheet(items, len(items), side))
    buffer = io.BytesIO()
    durations = [int(seconds * 1000)] * (len(pages) - 1) + [2000]
    pages[0].save(buffer, "GIF", save_all=True, append_images=pages[1:], duration=durations, loop=0)
    return buffer.getvalue()
