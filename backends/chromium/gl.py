"""Which OpenGL the browser paints with: found out once per browser by asking it, then remembered."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paintcli.backends.chromium.browser import Browser, BrowserGone, CallTimeout, PageGone
from paintcli.backends.chromium.libraries import find_chromium
from paintcli.backends.chromium.process import GL_FLAGS
from paintcli.errors import PaintError, Unavailable, UsageError
from paintcli.files import write_atomic

# llvmpipe first: it is the one on which equal seeds give equal bytes. A graphics card's rounding is its maker's, and
# SwiftShader differs from run to run in some 25 of 360,000 pixels.
ORDER = ("llvmpipe", "hardware", "swiftshader") if sys.platform == "linux" else ("hardware", "swiftshader")

ASK = """(() => {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return "";
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  return String(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
})()"""


@dataclass(frozen=True)
class GL:
    """What paints: `name` is "llvmpipe", "hardware" or "swiftshader", `renderer` what the driver calls itself."""

    name: str
    renderer: str

    @property
    def repeatable(self) -> bool:
        """Whether equal source and seed give equal bytes on this machine."""
        return self.name == "llvmpipe"


def probe_gl(program: Path | None = None, *, fresh: bool = False) -> GL:
    """The GL to paint with, best first; `PAINT_GL` names one by hand. `fresh` asks again instead of remembering.

    Raises UsageError for an unknown name in PAINT_GL and PaintError when the browser has no WebGL at all.
    """
    program = program or find_chromium()
    wanted = os.environ.get("PAINT_GL")
    if wanted and wanted not in GL_FLAGS:
        raise UsageError(f"PAINT_GL is {wanted!r}; it may be {', '.join(GL_FLAGS)}.")
    key = f"{program}|{program.resolve().stat().st_mtime_ns}|{wanted or 'any'}"
    remembered = {} if fresh else _read()
    if key in remembered:
        return GL(**remembered[key])
    for name in [wanted] if wanted else ORDER:
        try:
            renderer = _ask(program, name)
        except Unavailable as error:  # it does not even start, with whatever GL
            raise PaintError(str(error)) from error
        if renderer and _kind(renderer) == name:
            gl = GL(name, renderer)
            _write({**_read(), key: asdict(gl)})
            return gl
    raise PaintError(
        f"{program} offers no {wanted or 'WebGL'}; on Debian and Ubuntu the package libgl1-mesa-dri brings llvmpipe."
    )


def _kind(renderer: str) -> str:
    lower = renderer.lower()
    return next((name for name in ("llvmpipe", "swiftshader") if name in lower), "hardware")


def _ask(program: Path, name: str) -> str:
    """What the browser's WebGL says it is when started for `name`; empty when it has none or dies of the question.

    Raises Unavailable when the browser does not start.
    """
    with ThreadPoolExecutor(1) as apart:  # the caller may have an event loop of its own
        try:
            return apart.submit(lambda: asyncio.run(_asked(program, name))).result()
        except (BrowserGone, PageGone, CallTimeout):
            return ""


async def _asked(program: Path, name: str) -> str:
    browser = await Browser.launch(program, name)
    try:
        page = await browser.open_page()
        made = await page.send("Runtime.evaluate", {"expression": ASK})
        return str(made["result"].get("value", ""))
    finally:
        await browser.close()


def _file() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("paintcli", appauthor=False)) / "gl.json"


def _read() -> dict[str, Any]:
    try:
        return dict(json.loads(_file().read_text("utf-8")))
    except (OSError, ValueError):
        return {}


def _write(known: dict[str, Any]) -> None:
    with contextlib.suppress(PaintError):  # a cache that cannot be written is only asked again
        write_atomic(_file(), json.dumps(known, indent=1).encode())
