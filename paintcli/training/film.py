"""Sheets of rollouts: what a policy painted, side by side."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from PIL import Image

from paintcli.files import write_atomic
from paintcli.rollouts import PAINTED, rows
from paintcli.sheet import sheet

FILM = "film.png"


def caption(row: dict[str, Any]) -> str:
    """The reward, or why there is none."""
    if row["reward"] is None:
        return "not judged"
    return row["violations"][0]["code"] if row["violations"] else f"{row['reward']:.2f}"


def film(run: Path, most: int = 20) -> bool:
    """Write `film.png` into a run folder: of up to `most` steps, evenly spread, the median painting above the best.

    Refused paintings count in the median. Returns False when nothing was painted yet.
    """
    steps: dict[int, list[dict[str, Any]]] = {}
    for row in rows(run / PAINTED, code=False):
        if row["reward"] is not None:
            steps.setdefault(row["step"], []).append(row)
    if not steps:
        return False
    order = sorted(steps)
    kept = sorted({order[round(i * (len(order) - 1) / max(1, most - 1))] for i in range(most)})
    ranked = [sorted(steps[s], key=lambda r: r["reward"]) for s in kept]
    median = [group[(len(group) - 1) // 2] for group in ranked]
    best = [group[-1] for group in ranked]
    items: list[tuple[Image.Image | Path | None, str]] = []
    for line in (median, best):
        items += [(run / r["file_name"], f"{r['step']}: {caption(r)}") for r in line]
    write_png(sheet(items, len(kept)), run / FILM)
    return True


def write_png(image: Image.Image, path: Path) -> None:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    write_atomic(path, buffer.getvalue())
