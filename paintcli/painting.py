"""A Painting: the picture's bytes, what the page reported while it was painted, and two measures of the pixels."""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PIL import Image, UnidentifiedImageError

PAINT_DISTANCE = 32
"""Euclidean RGB distance from the paper beyond which a pixel counts as paint (published definition)."""

Fault = Literal["render_failed", "render_timeout"]


def paper_colour(rgb: np.ndarray) -> np.ndarray:
    """Mean colour of the most populous 4-bit-per-channel bin.

    `rgb` is uint8 of shape (height, width, 3); the result is float64 of shape (3,), 0–255.
    """
    bins = (rgb >> 4).astype(np.int32)
    index = (bins[..., 0] << 8) | (bins[..., 1] << 4) | bins[..., 2]
    modal = np.bincount(index.ravel(), minlength=4096).argmax()
    return rgb[index == modal].mean(axis=0)


def paint_mask(rgb: np.ndarray) -> np.ndarray:
    """Which pixels are paint, further than 32 (Euclidean RGB) from the paper: bool (height, width)."""
    distance = rgb.astype(np.float64) - paper_colour(rgb)
    mask: np.ndarray = (distance**2).sum(axis=-1) > PAINT_DISTANCE**2
    return mask


def coverage_of(rgb: np.ndarray) -> float:
    """Share of pixels that are paint, 0–1. `rgb`: uint8 (height, width, 3)."""
    return float(paint_mask(rgb).mean())


def flatten(image: Image.Image) -> np.ndarray:
    """Any Pillow image as uint8 RGB of shape (height, width, 3), alpha composited over white."""
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        rgba = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba)
    elif image.mode.startswith("I"):  # a 16-bit grey: Pillow's own conversion clips at 255 instead of scaling
        grey = np.asarray(image, dtype=np.float64).clip(0, 65535)
        image = Image.fromarray((grey / 257).round().astype(np.uint8))
    return np.asarray(image.convert("RGB"))


@dataclass(frozen=True)
class Mark:
    """One shape of the brush as the page saw it: its box on the canvas in pixels from the top left, before bleeding.

    `colour` (as the sketch wrote it) and `opacity` (0–255) are those of `brush.fill`; None where it was not plain.
    """

    what: str
    left: float
    top: float
    right: float
    bottom: float
    colour: str | None
    opacity: float | None


@dataclass(frozen=True)
class Painting:
    """What a renderer returns for one sketch and one seed, or what a picture on disk is when loaded.

    `png` is None when there is no picture (`fault` says why). `calls` counts what really ran in the page:
    "brush.circle", "p5.ellipse", "page.fetch" … → times; None where nobody counted (a picture from disk,
    a page that died). `marks` are the first 2,000 shapes and circles, in order: advice, never evidence.
    """

    png: bytes | None
    seed: int = 0
    seconds: float = 0.0
    renderer: str = ""
    finished: bool = False
    js_errors: tuple[str, ...] = ()
    calls: dict[str, int] | None = None
    fault: Fault | None = None
    fault_detail: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    marks: tuple[Mark, ...] = ()

    @classmethod
    def from_file(cls, path: Path) -> Painting:
        """Load a picture of any format Pillow reads. Raises PaintError with one sentence when it is not one."""
        from paintcli.errors import PaintError

        try:
            data = path.read_bytes()
            with Image.open(io.BytesIO(data)) as image:
                image.load()
                if image.format != "PNG":
                    buffer = io.BytesIO()
                    Image.fromarray(flatten(image)).save(buffer, "PNG")
                    data = buffer.getvalue()
        except FileNotFoundError:
            raise PaintError(f"{path} does not exist.") from None
        except UnidentifiedImageError:  # its own words name a BytesIO object
            raise PaintError(f"{path} is not a readable picture.") from None
        except Exception as error:  # Pillow raises many types for bad files; the person needs one sentence
            raise PaintError(f"{path} is not a readable picture ({str(error).rstrip('.')}).") from error
        return cls(png=data)

    def pack(self) -> dict[str, Any]:
        """Every field as JSON holds it, `png` as base64: what a painting needs to travel whole. See `unpack`."""
        packed = asdict(self)
        packed["png"] = None if self.png is None else base64.b64encode(self.png).decode("ascii")
        return packed

    @classmethod
    def unpack(cls, packed: Mapping[str, Any]) -> Painting:
        """The painting that was packed; fields of a newer version are left out. Raises ValueError for what is none."""
        try:
            known = {f.name: packed[f.name] for f in fields(cls) if f.name in packed}
            png = None if known["png"] is None else base64.b64decode(known["png"], validate=True)
            marks = tuple(Mark(**mark) for mark in known.get("marks", ()))
            return cls(**{**known, "png": png, "marks": marks, "js_errors": tuple(known.get("js_errors", ()))})
        except (KeyError, TypeError, binascii.Error) as error:
            raise ValueError("this is no packed painting") from error

    @cached_property
    def rgb(self) -> np.ndarray:
        """uint8 (height, width, 3), alpha over white. Raises ValueError when there is no picture."""
        if self.png is None:
            raise ValueError("this painting has no picture")
        with Image.open(io.BytesIO(self.png)) as image:
            return flatten(image)

    @property
    def image(self) -> Image.Image:
        return Image.fromarray(self.rgb)

    @property
    def width(self) -> int:
        return int(self.rgb.shape[1]) if self.png else 0

    @property
    def height(self) -> int:
        return int(self.rgb.shape[0]) if self.png else 0

    @cached_property
    def coverage(self) -> float:
        """Share of pixels that are paint, 0–1; 0 when there is no picture."""
        return coverage_of(self.rgb) if self.png else 0.0

    def pigment(self, target: float) -> float:
        """min(coverage / target, 1): the optional reward term. `target` is the domain's, 0 < target ≤ 1."""
        return min(self.coverage / target, 1.0)
