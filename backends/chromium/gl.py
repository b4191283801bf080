"""Which OpenGL the browser paints with."""

from __future__ import annotations

from pathlib import Path


def choose_gl(program: Path) -> str:
    return "llvmpipe"
