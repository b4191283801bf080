"""Where the browser and the two page libraries are found. Nothing is ever downloaded here."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from paintcli.errors import PaintError

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Library:
    """One script of the page: its npm name and version, its path in the package, the hash of that very file."""

    name: str
    version: str
    path: str
    sha256: str


# A painting's bytes depend on these files, so they are pinned by content, not only by version.
LIBRARIES = (
    Library("p5", "2.3.4", "p5/lib/p5.min.js", "bb8b82b97fcbcd5bb2d5475d1b6a3904f3ab4ed01b821134fd8f1e7710fce559"),
    Library(
        "p5.brush",
        "2.2.2",
        "p5.brush/dist/p5.brush.js",
        "6991d50b458478e1783b974ba027f28a59bda06c3b3cc6c501a5b30a8a360bcb",
    ),
)

# Our own: page/mask.ts, compiled (install.py).
MASK = Library("mask", "2", "mask.wasm", "32d2c9f26dfe5ef83381ff0638b9c4743c0f3f73e25801d1d72ce6d454b4b9e6")

BROWSER_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER_PLACES = {
    "darwin": (
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "~/Applications/Chromium.app/Contents/MacOS/Chromium",
        "~/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    ),
    "win32": (
        r"%ProgramFiles%\Google\Chrome\Application\chrome.exe",
        r"%ProgramFiles(x86)%\Google\Chrome\Application\chrome.exe",
        r"%LocalAppData%\Google\Chrome\Application\chrome.exe",
        r"%LocalAppData%\Chromium\Application\chrome.exe",
    ),
}


def library_folders() -> tuple[Path, ...]:
    """Folders searched for the page libraries, first hit wins: the wheel's own, the source tree's, the user's."""
    import platformdirs

    source_tree = HERE.parent.parent / "node_modules"
    user = Path(platformdirs.user_data_dir("paintcli", appauthor=False)) / "node_modules"
    return (HERE / "page" / "vendor", source_tree, user)


def find_libraries() -> dict[str, Path]:
    """Paths of p5, p5.brush and the mask rasteriser, each checked against its pinned SHA-256.

    Raises PaintError, in one sentence that names the remedy, when one is missing or is not the pinned file.
    """
    return {library.name: _find(library) for library in (*LIBRARIES, MASK)}


def _find(library: Library) -> Path:
    for folder in library_folders():
        # npm keeps the package's folders, the wheel keeps the bare files.
        for path in (folder / library.path, folder / Path(library.path).name):
            if path.is_file():
                if hashlib.sha256(path.read_bytes()).hexdigest() != library.sha256:
                    raise PaintError(
                        f"{path} is not the {library.name} {library.version} that paintings are made with; "
                        "run `paint doctor --fix`."
                    )
                return path
    raise PaintError(f"{library.name} {library.version} is not installed; run `paint doctor --fix`.")


@lru_cache(maxsize=1)
def library_sources() -> tuple[str, str]:
    """Text of p5 and of p5.brush, read and checked once per process."""
    paths = find_libraries()
    return paths["p5"].read_text("utf-8"), paths["p5.brush"].read_text("utf-8")


@lru_cache(maxsize=1)
def mask_source() -> str:
    """JavaScript whose value is what rasterises p5.brush's masks in one page: mask.js, applied to mask.wasm."""
    file = base64.b64encode(_find(MASK).read_bytes()).decode()
    return f'{(HERE / "page" / "mask.js").read_text("utf-8")}("{file}")'


def find_chromium() -> Path:
    """The Chromium or Chrome to use: `PAINT_CHROMIUM`, then the PATH, then the system's usual places.

    Raises PaintError, in one sentence that names the remedy, when there is none.
    """
    named = os.environ.get("PAINT_CHROMIUM")
    if named:
        found = shutil.which(named)
        if not found:
            raise PaintError(f"PAINT_CHROMIUM names {named}, which is not a program that can be run.")
        return Path(found)
    for name in BROWSER_NAMES:
        found = shutil.which(name)
        if found:
            return Path(found)
    for place in BROWSER_PLACES.get(sys.platform, ()):
        path = Path(os.path.expandvars(place)).expanduser()
        if path.is_file():
            return path
    raise PaintError("No Chromium or Chrome was found; run `paint doctor --fix`, or name one with PAINT_CHROMIUM.")
