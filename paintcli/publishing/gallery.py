"""A static gallery of every painting of some runs: a folder that any web server, or a double click, shows.

What the page needs lies in it: `data.js` (one line a painting), `code/N.js` (sketches, forty a file, loaded when one is
opened), `thumbs/` and `paintings/` (WebP), `libraries.js` (p5, p5.brush and the renderer's own mask rasteriser as text,
for repainting) and their licences. Scripts instead of JSON files because a page opened from disk may load scripts but
not fetch.
"""

from __future__ import annotations

import io
import json
import math
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paintcli.analysis.sources import Run
from paintcli.errors import PaintError, UsageError
from paintcli.files import reason, write_atomic

if TYPE_CHECKING:
    from PIL.Image import Image

THUMB = 280
"""Pixels; shown at up to 220, so that a dense screen has something to show."""

CHUNK = 40
"""Sketches a file: about 150 kB, one wait for a whole step and its neighbours."""

BATCH = 64
"""Paintings in memory at once."""


def build(runs: Sequence[Run], folder: Path, title: str, advance: Callable[[], None] = lambda: None) -> int:
    """Write the gallery into `folder`; returns how many paintings it shows. `advance` is called once for each.

    A folder that holds something other than a gallery is left alone. Raises UsageError or PaintError.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / "data.js").is_file():
        raise UsageError(f"{folder} holds something that is not a gallery: name a new folder.")
    painted = [np.flatnonzero(run.painted) if run.painted is not None else np.array([], int) for run in runs]
    if not sum(len(rows) for rows in painted):
        which = ", ".join(run.name for run in runs)
        raise UsageError(f"There is no painting in {which} (a control run paints none): name a run that has some.")
    try:
        for name in ("thumbs", "paintings", "code"):
            shutil.rmtree(folder / name, ignore_errors=True)
            (folder / name).mkdir(parents=True)
    except OSError as error:
        raise PaintError(f"{folder} cannot be written: {reason(error)}.") from error

    entries: list[dict[str, Any]] = []
    chunk: list[str] = []
    for number, (run, rows) in enumerate(zip(runs, painted, strict=True)):
        violations: dict[int, list[str]] = {}
        for row, code in run.labels.get("violations", []):
            violations.setdefault(row, []).append(code)
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH].tolist()
            first = len(entries)
            with ThreadPoolExecutor(4) as pool:  # Pillow lets go of the lock while it encodes
                names = [f"{first + i:05d}.webp" for i in range(len(batch))]
                jobs = [
                    pool.submit(_save, picture, folder, name)
                    for name, picture in zip(names, run.pictures(batch), strict=True)
                ]
            for row, name, code, job in zip(batch, names, run.code(batch), jobs, strict=True):
                advance()
                size = job.result()
                if size is None:  # missing or corrupt: nothing to hang
                    continue
                chunk.append(code)
                entries.append(_entry(run, number, row, name, size, violations.get(row, []), len(entries)))
                if len(chunk) == CHUNK:
                    _write_code(folder, (len(entries) - 1) // CHUNK, chunk)
                    chunk = []
    if chunk:
        _write_code(folder, (len(entries) - 1) // CHUNK, chunk)
    if not entries:
        raise PaintError("None of the pictures could be read.")
    data = {"title": title, "runs": [run.name for run in runs], "chunk": CHUNK, "paintings": entries}
    write_atomic(folder / "data.js", _script("GALLERY", data))
    _write_page(folder, title)
    return len(entries)


def _save(picture: Image | None, folder: Path, name: str) -> tuple[int, int] | None:
    """Write a painting in full and small; returns (width, height), None when there is no picture."""
    from PIL import Image

    from paintcli.painting import flatten

    if picture is None:
        return None
    full = Image.fromarray(flatten(picture))
    size = full.size
    for part, quality in (("paintings", 90), ("thumbs", 82)):
        if part == "thumbs":
            full.thumbnail((THUMB, THUMB), Image.Resampling.LANCZOS)
        buffer = io.BytesIO()
        full.save(buffer, "WEBP", quality=quality, method=2)
        (folder / part / name).write_bytes(buffer.getvalue())
    return size


def _entry(
    run: Run, number: int, row: int, name: str, size: tuple[int, int], violations: list[str], index: int
) -> dict[str, Any]:
    numbers = run.numbers

    def figure(column: str, digits: int = 4) -> float | None:
        value = float(numbers[column][row])
        return round(value, digits) if math.isfinite(value) else None

    return {
        "id": f"{number}-{numbers['step'][row]:g}-{figure('position_in_group') or index:g}",
        "run": number,
        "step": int(numbers["step"][row]),
        "file": name,
        "size": list(size),
        "seed": int(figure("seed") or 0),
        "reward": figure("reward"),
        "coverage": figure("coverage"),
        "terms": {
            term: value for term in ("judge", "hpsv3", "length", "pigment") if (value := figure(term)) is not None
        },
        "shapes": figure("n_shapes"),
        "violations": violations,
    }


def _write_code(folder: Path, number: int, sketches: list[str]) -> None:
    body = json.dumps(sketches, ensure_ascii=False)
    (folder / "code" / f"{number}.js").write_text(f"CODE({number},{body});\n", "utf-8")


def _script(name: str, value: Any) -> bytes:
    return f"const {name} = {json.dumps(value, ensure_ascii=False, separators=(',', ':'))};\n".encode()


def _write_page(folder: Path, title: str) -> None:
    from html import escape

    from paintcli.backends.chromium.libraries import find_libraries, library_sources, mask_source

    assets = files("paintcli.publishing") / "gallery_page"
    for name in ("gallery.css", "gallery.js"):
        write_atomic(folder / name, (assets / name).read_bytes())
    html = (assets / "index.html").read_text("utf-8").replace("{{title}}", escape(title))
    write_atomic(folder / "index.html", html.encode())
    p5, brush = library_sources()
    write_atomic(folder / "libraries.js", _script("LIBRARIES", [p5, brush]) + _script("MASKS", mask_source()))
    write_atomic(folder / "LICENCES.txt", _licences(find_libraries()).encode())


def _licences(paths: dict[str, Path]) -> str:
    """The licence texts of both libraries as they came, or where to read them."""
    names = {
        "p5": ("p5.js, LGPL-2.1, https://p5js.org", ("../license.txt", "p5.license.txt")),
        "p5.brush": (
            "p5.brush, MIT, https://github.com/acamposuribe/p5.brush",
            ("../LICENSE.md", "p5.brush.license.md"),
        ),
    }
    parts = [
        "libraries.js holds these two libraries, unchanged, as text, and paint's own mask rasteriser (Apache-2.0).\n"
        "They run only when you repaint a sketch.\n"
    ]
    for library, (title, places) in names.items():
        text = next((t for place in places if (t := paths[library].parent / place).is_file()), None)
        parts.append(f"{'=' * 78}\n{title}\n{'=' * 78}\n" + (text.read_text("utf-8") if text else ""))
    return "\n".join(parts)
