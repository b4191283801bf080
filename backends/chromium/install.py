"""Fetches what the renderer needs: the page's libraries by npm, a browser by the system's package manager."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from paintcli.backends.chromium.libraries import (
    HERE,
    LIBRARIES,
    MASK,
    find_chromium,
    find_libraries,
    library_folders,
)
from paintcli.errors import PaintError

COMPILER = "assemblyscript@0.28.20"
"""As package.json has it: the compiled file is pinned by its hash, and so is what compiles it."""

# Each manager's quiet way to install Chromium. Debian's package pulls in Mesa's llvmpipe, which paints byte-equal.
# Ubuntu's package of that name is an empty shell around a snap, which cannot be driven headless by root.
MANAGERS = {
    "apt-get": ["apt-get install -y -qq chromium"],
    "dnf": ["dnf install -y -q chromium mesa-dri-drivers"],
    "pacman": ["pacman -S --noconfirm --quiet chromium mesa"],
    "apk": ["apk add --quiet chromium mesa-dri-gallium"],
    "zypper": ["zypper --quiet install -y chromium Mesa-dri"],
}


def libraries() -> Iterator[str]:
    """Fetch p5 and p5.brush and compile the mask rasteriser when one is missing or altered; yields what is being done.

    In a source tree `npm ci` follows the lock file; elsewhere they go to the user's data folder. Either way the
    files are then checked against their pinned hashes. Raises PaintError in one sentence.
    """
    try:
        find_libraries()
        return
    except PaintError:
        pass
    npm, node = shutil.which("npm"), shutil.which("node")
    if not npm or not node:
        raise PaintError("npm is needed once to fetch p5 and p5.brush: install Node.js, then `paint doctor --fix`.")
    vendor, source_tree, user = library_folders()
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    if (source_tree.parent / "package-lock.json").is_file():
        modules, compiled = source_tree, vendor
        yield f"npm ci in {source_tree.parent}"
        _run([npm, "ci", *quiet], source_tree.parent)
    else:
        modules = compiled = user
        wanted = [f"{library.name}@{library.version}" for library in LIBRARIES] + [COMPILER]
        yield f"npm install {' '.join(wanted)} into {user.parent}"
        user.parent.mkdir(parents=True, exist_ok=True)
        _run([npm, "install", *quiet, "--prefix", str(user.parent), *wanted], user.parent)
    yield f"compiling the mask rasteriser into {compiled}"
    compiled.mkdir(parents=True, exist_ok=True)
    compile_mask(Path(node), modules, compiled / MASK.path)
    find_libraries()


def compile_mask(node: Path, modules: Path, to: Path) -> None:
    """Compile page/mask.ts to `to` with the AssemblyScript in the folder `modules`. Raises PaintError."""
    compiler = modules / "assemblyscript" / "bin" / "asc.js"
    options = ["-O3", "--runtime", "stub", "--noAssert", "--enable", "simd", "--outFile", str(to)]
    _run([str(node), str(compiler), "mask.ts", *options], HERE / "page")


def browser() -> Iterator[str]:
    """Install Chromium by the system's package manager when there is none and we are root; yields what is being done.

    Raises PaintError that names the command to run where it cannot.
    """
    try:
        find_chromium()
        return
    except PaintError as error:
        if os.environ.get("PAINT_CHROMIUM"):  # the user named one: do not install another behind their back
            raise error
    manager = next((name for name in MANAGERS if shutil.which(name)), None)
    if manager is None:
        how = "brew install --cask chromium" if sys.platform == "darwin" else "install Chromium or Chrome"
        raise PaintError(f"No browser was found: {how}, or set PAINT_CHROMIUM to one.")
    commands = MANAGERS[manager]
    if os.geteuid() != 0:
        raise PaintError(f"No browser was found: run `sudo {commands[-1]}`.")
    if manager == "apt-get":
        commands = ["apt-get update -qq", *commands]
    for command in commands:
        yield command
        _run(command.split(), Path("/"))
    find_chromium()


def _run(command: list[str], folder: Path) -> None:
    """Run to the end, its output kept back unless it fails: then its last line is the reason."""
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
    )
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if line.strip()] or ["no output"]
        raise PaintError(f"`{' '.join(command)}` failed: {lines[-1].strip()}")
