"""A real terminal for tests: tmux on a socket of its own, keys in, screens out as text or as pixels."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Terminal:
    """One command in one tmux window. A context manager; the server goes with it."""

    def __init__(self, folder: Path, *arguments: str, size=(80, 24), path: str = "") -> None:
        self.socket = folder / "tmux"
        self.folder = folder
        self.path = path
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), "-s", "t", "sh")
        self.run(*arguments)

    def run(self, *arguments: str) -> None:
        """Replace what runs in the window by `paint …`; its exit code is the window's last line."""
        words = shlex.join([sys.executable, "-m", "paintcli", *arguments])
        inside = f"cd {shlex.quote(str(self.folder))}; PATH={shlex.quote(self.path)}:$PATH TERM=xterm-256color"
        script = f"trap : INT; {inside} COLORTERM=truecolor {words}; echo code $?; exec sleep 1000"
        self._tmux("respawn-pane", "-k", "-t", "t", f"sh -c {shlex.quote(script)}")

    def _tmux(self, *arguments: str) -> str:
        environment = {k: v for k, v in os.environ.items() if k not in ("TMUX", "COLUMNS", "NO_COLOR")}
        ran = subprocess.run(
            ["tmux", "-S", str(self.socket), *arguments], capture_output=True, text=True, check=True, env=environment
        )
        return ran.stdout

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_) -> None:
        self._tmux("kill-server")

    def press(self, *keys: str) -> None:
        """Keys by tmux's names: "l", "Left", "Space", "C-c"."""
        self._tmux("send-keys", "-t", "t", *keys)

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-t", "t", "-x", str(columns), "-y", str(rows))

    def text(self) -> str:
        return self._tmux("capture-pane", "-p", "-t", "t")

    def words(self) -> str:
        """The screen's words without its pictures, white space squeezed."""
        return " ".join(self.text().replace("▀", " ").split())

    def wait(self, pattern: str, seconds: float = 240) -> str:
        """Wait until the screen's words match; returns them."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if re.search(pattern, words := self.words()):
                return words
            time.sleep(0.05)
        raise AssertionError(f"{pattern!r} never came; the screen says:\n{self.text()}")

    def pixels(self) -> np.ndarray:
        """The half blocks of the screen as uint8 (2 · rows, columns, 3); other cells are black."""
        lines = self._tmux("capture-pane", "-p", "-e", "-t", "t").split("\n")[:-1]
        height = int(self._tmux("display", "-p", "-t", "t", "#{pane_height}"))
        width = int(self._tmux("display", "-p", "-t", "t", "#{pane_width}"))
        found = np.zeros((2 * height, width, 3), np.uint8)
        fore = back = (0, 0, 0)
        for y, line in enumerate(lines):
            x = 0
            for style, character in re.findall(r"\x1b\[([\d;]*)m|([^\x1b])", line):
                if character:
                    if character == "▀":
                        found[2 * y, x], found[2 * y + 1, x] = fore, back
                    x += 1
                    continue
                codes = style.split(";")
                while codes:
                    code = codes.pop(0)
                    if code in ("38", "48"):
                        colour, codes = tuple(int(c) for c in codes[1:4]), codes[4:]
                        fore, back = (colour, back) if code == "38" else (fore, colour)
                    elif code in ("", "0"):
                        fore = back = (0, 0, 0)
        return found

    def pid(self) -> int:
        """Process id of the command in the window."""
        shell = self._tmux("display", "-p", "-t", "t", "#{pane_pid}").strip()
        return int(subprocess.run(["pgrep", "-P", shell], capture_output=True, text=True, check=True).stdout.split()[0])
