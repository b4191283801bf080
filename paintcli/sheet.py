"""Contact sheets: paintings in rows, a caption under each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from paintcli.painting import flatten

GAP, CAPTION = 6, 18
PAGE, INK, FRAME = "#fbfaf7", "#55524c", "#cccccc"


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
