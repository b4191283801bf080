"""Sheets of rollouts: what a policy painted, side by side."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from paintcli.files import write_atomic
from paintcli.rollouts import PAINTED, rows

GAP, CAPTION = 6, 18
FILM = "film.png"


def sheet(items: Sequence[tuple[Path | None, str]], columns: int, side: int = 150) -> Image.Image:
    """Pictures (None: an empty frame) with a caption each, in rows; `side` in pixels."""
    lines = -(-len(items) // columns)
    page = Image.new("RGB", (columns * (side + GAP) + GAP, lines * (side + CAPTION + GAP) + GAP), "white")
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(12)
    for index, (path, caption) in enumerate(items):
        x, y = GAP + index % columns * (side + GAP), GAP + index // columns * (side + CAPTION + GAP)
        if path is None:
            pen.rectangle((x, y, x + side - 1, y + side - 1), outline="#cccccc")
        else:
            with Image.open(path) as picture:
                small = picture.convert("RGB")
                small.thumbnail((side, side), Image.Resampling.LANCZOS)
            page.paste(small, (x + (side - small.width) // 2, y + (side - small.height) // 2))
        pen.text((x, y + side + 2), caption, fill="#555555", font=font)
    return page


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
    items: list[tuple[Path | None, str]] = []
    for line in (median, best):
        items += [(run / r["file_name"], f"{r['step']}: {caption(r)}") for r in line]
    write_png(sheet(items, len(kept)), run / FILM)
    return True


def write_png(image: Image.Image, path: Path) -> None:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    write_atomic(path, buffer.getvalue())
