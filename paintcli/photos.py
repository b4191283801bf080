"""Photos that a painting may be made from: a folder of pictures and a sidecar that says whose they are.

The sidecar is `photos.jsonl` or `metadata.jsonl` beside the pictures, one object a picture: `file_name`, `licence`
(such as "cc-by"), `attribution`, `url`. What is painted from a photo carries these three for as long as it exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from paintcli.errors import UsageError
from paintcli.pool import IMAGE_SUFFIXES
from paintcli.rollouts import rows

SIDECARS = ("photos.jsonl", "metadata.jsonl")
"""The first that is there is read."""

UNATTRIBUTED = frozenset({"cc0"})
"""Licences that let a photo be used without naming anybody."""


@dataclass(frozen=True)
class Photo:
    """One photo on disk. `name` is its file name; `licence` is "" only where somebody allowed that."""

    path: Path
    licence: str
    attribution: str
    url: str
    name: str


def from_folder(path: Path, allow_unlicensed: bool = False) -> list[Photo]:
    """The photos of a folder in the order of their names, every one of them readable.

    Raises UsageError in one sentence: no folder, no picture in it, one that cannot be read and, unless
    `allow_unlicensed`, one whose licence is not given or asks for an attribution that is not.
    """
    if not path.is_dir():
        raise UsageError(f"The photos {path} are not a folder.")
    pictures = sorted(p for p in path.iterdir() if p.suffix.lower() in IMAGE_SUFFIXES)
    if not pictures:
        raise UsageError(f"{path} holds no photos.")
    known = {str(row["file_name"]): row for row in sidecar(path) if row.get("file_name")}
    photos = [_photo(picture, known.get(picture.name, {})) for picture in pictures]
    for photo in photos:
        if why := unreadable(photo.path):
            raise UsageError(f"The photo {photo.path} cannot be read ({why}).")
        if allow_unlicensed:
            continue
        if not photo.licence:
            raise UsageError(
                f'The photo {photo.path} has no licence: give one in {path / SIDECARS[0]}, as {{"file_name": '
                f'"{photo.name}", "licence": "cc-by", "attribution": "…", "url": "…"}}.'
            )
        if photo.licence not in UNATTRIBUTED and not photo.attribution:
            raise UsageError(f"The photo {photo.path} is {photo.licence} but names nobody to attribute.")
    return photos


def sidecar(path: Path) -> list[dict[str, Any]]:
    """The rows that describe a folder's photos, [] where nobody wrote any. Raises PaintError for a broken line."""
    for name in SIDECARS:
        if (path / name).is_file():
            return list(rows(path / name))
    return []


def _photo(picture: Path, row: dict[str, Any]) -> Photo:
    licence, attribution, url = (
        str(next((row[key] for key in keys if row.get(key)), "")).strip()
        for keys in (("licence", "license"), ("attribution",), ("url",))
    )
    return Photo(picture, licence.lower(), attribution, url, picture.name)


def unreadable(picture: Path) -> str:
    """Why a file is no picture that can be read to its end; "" for one that is."""
    try:
        with Image.open(picture) as image:
            image.draft("RGB", (512, 512))  # a twelve-megapixel JPEG is read at an eighth, and still to its end
            image.load()
    except Exception as error:  # Pillow raises many types for bad files
        return "it is not a picture" if type(error).__name__ == "UnidentifiedImageError" else str(error).rstrip(".")
    return ""
