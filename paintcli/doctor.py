"""What is installed, what would answer, and what to do about each gap. Looks, never changes anything."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Literal

from paintcli import __version__
from paintcli.errors import PaintError
from paintcli.settings import Settings

State = Literal["ok", "gap", "optional"]


@dataclass(frozen=True)
class Finding:
    """One thing looked at. "gap": painting does not work without it; "optional": something more would work with it."""

    what: str
    state: State
    detail: str
    remedy: str = ""


def examine(settings: Settings) -> Iterator[Finding]:
    """Look at everything, the quick things first; the browser's GL is really probed (about a second)."""
    yield Finding("paint", "ok", f"{__version__} on Python {platform.python_version()}, {os.cpu_count()} cores")
    if settings.project:
        yield Finding("project", "ok", str(settings.project))
    else:
        yield Finding(
            "project",
            "optional",
            "no paint.toml here or above",
            "put one in a folder to make it a project: its settings, its pool/, its runs/",
        )
    yield from _page()
    yield from _models()
    yield from _backends(settings)


def _page() -> Iterator[Finding]:
    from paintcli.backends.chromium import find_chromium, find_libraries, probe_gl
    from paintcli.backends.chromium.libraries import LIBRARIES

    try:
        find_libraries()
        names = ", ".join(f"{library.name} {library.version}" for library in LIBRARIES)
        yield Finding("page libraries", "ok", f"{names} (integrity checked)")
    except PaintError as error:
        yield Finding("page libraries", "gap", str(error), "they come from npm, once, checked by their hashes")
        return
    try:
        chromium = find_chromium()
    except PaintError as error:
        yield Finding("browser", "gap", str(error), "install Chromium or Chrome, or set PAINT_CHROMIUM to it")
        return
    yield Finding("browser", "ok", str(chromium))
    try:
        gl = probe_gl()
    except PaintError as error:
        yield Finding("GL", "gap", str(error), "see whether the browser starts by itself in a terminal")
        return
    exact = gl.name == "llvmpipe"
    promise = "equal seeds paint equal bytes" if exact else "equal seeds paint alike, a few pixels may differ"
    yield Finding(
        "GL",
        "ok",
        f"{gl.name}: {promise}",
        "" if exact else "Mesa's llvmpipe (Debian: libgl1-mesa-dri) paints byte-equal",
    )
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        yield Finding("sandbox", "optional", "off: Chromium has none for root", "run paint as an ordinary user")
    else:
        yield Finding("sandbox", "ok", "on")


def _models() -> Iterator[Finding]:
    for package, module, use, extra in (
        ("torch", "torch", "training, HPSv3 and local judges", "train"),
        ("transformers", "transformers", "HPSv3 and local judges", "train"),
        ("trl", "trl", "training", "train"),
        ("peft", "peft", "training", "train"),
        ("bitsandbytes", "bitsandbytes", "4-bit models", "train"),
        ("datasets", "datasets", "published pools and rollouts", "train"),
        ("trackio", "trackio", "live curves", "train"),
        ("llama-cpp-python", "llama_cpp", "gguf: judges", "gguf"),
        ("pyarrow", "pyarrow", "rollouts in Parquet files", "parquet"),
    ):
        if find_spec(module):
            yield Finding(package, "ok", f"{_version(package)}: {use}")
        else:
            yield Finding(package, "optional", f"not installed: {use}", f"pip install 'paintcli[{extra}]'")
    if find_spec("torch"):
        import torch

        if torch.cuda.is_available():
            memory = torch.cuda.get_device_properties(0).total_memory / 2**30
            yield Finding("GPU", "ok", f"{torch.cuda.get_device_name(0)}, {memory:.0f} GiB")
        else:
            yield Finding(
                "GPU", "optional", "none seen by torch", "the 35B recipe wants one H200; the control task none"
            )


def _backends(settings: Settings) -> Iterator[Finding]:
    from huggingface_hub import get_token

    yield Finding("renderer, scorer, judge", "ok", f"{settings.renderer}, {settings.scorer}, {settings.judge}")
    if get_token():
        yield Finding("Hugging Face token", "ok", "found; it never enters the browser's environment")
    else:
        yield Finding("Hugging Face token", "optional", "none: hub: backends do not answer", "`hf auth login`")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # importable without metadata: built into the system
        return "?"
