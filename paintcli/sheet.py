"""Contact sheets: paintings in rows, a caption under each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from paintcli.painting import flatten

GAP, CAPTION = 6, 18
PAGE, INK, FRAME = "#fbfaf7", "#55524c", "#cccccc"
BETWEEN = "#777777"
"""Between paintings whose papers would run into each other."""


def sheet(items: Sequence[tuple[Image.Image | Path | None, str]], columns: int, side: int = 150) -> Image.Image:
    """Pictures or their files (None: an empty frame) with a caption under each, in rows of `columns`; `side` in pixels.

    Files are opened one at a time. Raises OSError for one that is missing or no picture.
    """
    lines = -(-len(items) // columns)
    page = Image.new("RGB", (columns * (side + GAP) + GAP, lines * (side + CAPTION + GAP) + GAP), PAGE)
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(12)
    for index, (picture, caption) in enumerate(items):
        x, y = GAP + index % columns * (side + GAP), GAP + index // columns * (side + CAPTION + GAP)
        if picture is None:
            pen.rectangle((x, y, x + side - 1, y + side - 1), outline=FRAME)
        else:
            small = Image.fromarray(flatten(Image.open(picture) if isinstance(picture, Path) else picture))
            small.thumbnail((side, side), Image.Resampling.LANCZOS)
            page.paste(small, (x + (side - small.width) // 2, y + (side - small.height) // 2))
        pen.text((x, y + side + 2), caption, fill=INK, font=font)
    return page


def strip(pictures: Sequence[Image.Image], places: int, side: int = 600) -> Image.Image:
    """Pictures in one row of `places` equal squares of `side` pixels, parted by a grey line; empty places are white."""
    gap = max(2, side // 30)
    page = Image.new("RGB", (places * (side + gap) - gap, side), BETWEEN if len(pictures) == places else "white")
    for index, picture in enumerate(pictures):
        small = picture.convert("RGB")
        small.thumbnail((side, side), Image.Resampling.LANCZOS)
        x = index * (side + gap)
        page.paste(BETWEEN, (max(0, x - gap), 0, x + side + gap, side))
        page.paste("white", (x, 0, x + side, side))
        page.paste(small, (x + (side - small.width) // 2, (side - small.height) // 2))
    return page
