"""A sitting in the terminal: the painting as large as fits, the keys beside it, one key at a time."""

from __future__ import annotations

import os
import select
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from paintcli.cli import output as o
from paintcli.errors import UsageError

if TYPE_CHECKING:
    from PIL.Image import Image

    from paintcli.sitting import Key, Shown, Sitting, View

PANEL = 30
"""Columns of the words beside a painting."""

THUMB = 20
"""Columns of a painting on the contact sheet: 20 × 20 pixels in half blocks, where two paintings can be told apart."""

SMALLEST = (40, 12)
"""Columns and rows below which there is no room for a painting and the keys."""

TICK = 0.25
"""Seconds between looks at the terminal's size, at what arrived, at what is still to be saved."""

NAMES = {
    b"\x1b[D": "left", b"\x1b[C": "right", b"\x1bOD": "left", b"\x1bOC": "right",
    b" ": "space", b"\r": "enter", b"\n": "enter", b"\x03": "q", b"\x04": "q",
}  # fmt: skip


def need_terminal() -> None:
    """Raises UsageError when keys cannot be read or pictures not shown here."""
    if not sys.stdin.isatty():
        raise UsageError("Keys are read from a terminal, and stdin is none; --browser shows a local page instead.")
    if not o.can_show():
        raise UsageError("This terminal cannot show pictures; --browser shows a local page instead.")


@contextmanager
def _keys_one_by_one() -> Iterator[None]:
    """The terminal's other screen, without cursor, every key at once and unseen; as before on the way out.

    Also when the process is told to end. Ctrl-Z is no key here: a shell would be left on the other screen.
    """
    import signal
    import termios
    import tty

    def end(number: int, frame: object) -> NoReturn:
        sys.exit(128 + number)

    fd = sys.stdin.fileno()
    kept = termios.tcgetattr(fd)
    told = {s: signal.signal(s, end) for s in (signal.SIGTERM, signal.SIGHUP)}
    told[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    try:
        tty.setcbreak(fd)
        sys.stdout.write("\x1b[?1049h\x1b[?25l")
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, kept)
        sys.stdout.write("\x1b[?25h\x1b[?1049l")
        sys.stdout.flush()
        for number, handler in told.items():
            signal.signal(number, handler)


class Screen:
    """Draws a sitting's views and reads its keys until it is over."""

    def __init__(self, sitting: Sitting) -> None:
        self.sitting = sitting
        self.page = 0
        self.note = ""
        self.frame: list[str] = []

    def run(self) -> None:
        """Raises UsageError without a terminal, PaintError when keys could not be saved at the end."""
        import termios

        need_terminal()
        o.terminal_pictures()  # asks the terminal what it can draw and listens for the answer, so before the keys
        with _keys_one_by_one(), tempfile.TemporaryDirectory(prefix="paint-") as folder:
            self.folder = Path(folder)
            drawn = -1
            while not self.sitting.over:
                view = self.sitting.view()
                try:
                    size = os.get_terminal_size()
                    frame = self.draw(view, size.columns, size.lines)
                    if view.turn != drawn:  # a key pressed before this painting was to be seen was meant for another
                        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
                    drawn = view.turn
                    sys.stdout.write(frame)
                    sys.stdout.flush()
                    self.note = ""
                    key = self.wait(size)
                except KeyboardInterrupt:
                    key = "q"
                if key:
                    self.pressed(key, view)
        self.sitting.close()

    def wait(self, size: os.terminal_size) -> str | None:
        """The next key, or None when there is something new to draw."""
        while True:
            ready, _, _ = select.select([sys.stdin.fileno()], [], [], TICK)
            if ready:
                data = os.read(sys.stdin.fileno(), 64)
                return NAMES.get(data[:3]) or NAMES.get(data[:1]) or data[:1].decode("ascii", "ignore").lower()
            if os.get_terminal_size() != size or self.sitting.tick():
                return None

    def pressed(self, key: str, view: View) -> None:
        actions = {k.key: k.action for k in view.keys}
        if key == "space" and view.kind in ("sheet", "text"):
            self.page += 1
            return
        action = actions.get(key) or ("begin" if view.kind == "sheet" else "")
        self.page = 0
        if action == "full":
            self.note = self.open_full(view)
        elif action:
            self.sitting.press(action)

    def open_full(self, view: View) -> str:
        """Open what is on the screen in the system's viewer; what to say about it."""
        import typer

        if not view.pictures:
            return ""
        target = self.folder / f"painting-{view.turn}.png"  # not the file's own name, which may tell whose it is
        if len(view.pictures) == 1:
            shutil.copyfile(view.pictures[0].path, target.with_suffix(view.pictures[0].path.suffix))
            target = target.with_suffix(view.pictures[0].path.suffix)
        else:
            together(view.pictures).save(target)
        try:
            typer.launch(str(target))
        except OSError:
            return "There is no viewer here; --browser shows paintings full size."
        return "Opened in the viewer."

    # -- drawing

    def draw(self, view: View, columns: int, rows: int) -> str:
        """The whole screen as what is to be written to the terminal, at once, so that it does not flicker."""
        self.frame = ["\x1b[0m\x1b[2J\x1b[H"]
        if columns < SMALLEST[0] or rows < SMALLEST[1]:
            self.at(1, 1, f"Too small: {SMALLEST[0]} × {SMALLEST[1]} is needed."[:columns])
        elif view.kind == "sheet":
            self.draw_sheet(view, columns, rows)
        elif view.kind == "pair" or columns < 2 * PANEL:
            self.draw_below(view, columns, rows)
        else:
            self.draw_beside(view, columns, rows)
        return "".join(self.frame)

    def at(self, x: int, y: int, text: str, style: str = "") -> None:
        """Text at column x and row y, both from 1."""
        self.frame.append(f"\x1b[{y};{x}H{style}{text}\x1b[0m")

    def lines_at(self, x: int, y: int, room: int, text: str, style: str) -> int:
        """Text broken into lines of `room` columns; the row after it."""
        for line in textwrap.wrap(o.printable(text), room):
            self.at(x, y, line, style)
            y += 1
        return y

    def picture_at(self, y: int, image: Image, columns: int, rows: int) -> int:
        """A picture from row y on, at the left; how many columns it took."""
        drawn, width = o.fitted(image, columns, rows)
        with o.out().capture() as caught:
            o.out().print(drawn)
        self.frame.append(f"\x1b[{y};1H{caught.get()}")
        return width

    def draw_beside(self, view: View, columns: int, rows: int) -> None:
        """The painting on the left at full height, the words on the right."""
        if view.kind == "one":
            width = self.picture_at(1, opened(view.pictures[0]), columns - PANEL - 2, rows - 1)
        else:
            width = columns - PANEL - 2
            self.draw_text(view, width, rows - 1)
        x, y = width + 3, 1
        room = columns - x + 1
        y = self.lines_at(x, y, room, view.title, "\x1b[1m")
        for line in view.lines:
            y = self.lines_at(x, y, room, line, "\x1b[2m")
        if view.kind == "one" and view.pictures[0].label:
            y = self.lines_at(x, y + 1, room, view.pictures[0].label, "\x1b[1m")
        said = self.said(view, room)
        y += 1
        # two columns of keys where one would push the last words off the screen
        across = 1 if y + len(view.keys) + len(said) < rows else 2
        for i, key in enumerate(view.keys):
            self.at(x + i % across * (room // across), y + i // across, key_word(key, room // across))
        y += -(-len(view.keys) // across) + 1
        for line, style in said[: max(0, rows - y + 1)]:
            self.at(x, y, line, style)
            y += 1

    def draw_below(self, view: View, columns: int, rows: int) -> None:
        """Two paintings side by side across the whole width (or one, where it is narrow), the words below."""
        help_lines = wrapped_keys(view, columns)
        said = self.said(view, columns)[:2]
        labels = any(shown.label for shown in view.pictures)
        below = len(help_lines) + len(said) + labels
        if view.kind in ("pair", "one"):
            self.at(1, 1, o.printable(f"{view.title}  {'  '.join(view.lines)}")[:columns], "\x1b[2m")
            width = self.picture_at(2, together(view.pictures), columns, rows - below - 2)
            if labels:
                self.at(1, rows - below + 1, side_by_side(view.pictures, width // len(view.pictures)), "\x1b[1m")
        else:
            self.draw_text(view, columns, rows - below)
        y = rows - len(help_lines) - len(said) + 1
        for line, style in said:
            self.at(1, y, line, style)
            y += 1
        for line in help_lines:
            self.at(1, y, line)
            y += 1

    def draw_text(self, view: View, columns: int, rows: int) -> None:
        """The sketch, or the closing words; space turns the page of a long one."""
        lines = [
            part
            for line in view.text.expandtabs(2).splitlines()
            for part in textwrap.wrap(o.printable(line), columns) or [""]
        ]
        start = self.page * (rows - 1) if self.page * (rows - 1) < len(lines) else 0
        for y, line in enumerate(lines[start : start + rows - 1], 1):
            self.at(1, y, line)
        if len(lines) > rows - 1:
            self.at(1, rows, f"line {start + 1} of {len(lines)}, space goes on"[:columns], "\x1b[2m")

    def draw_sheet(self, view: View, columns: int, rows: int) -> None:
        """Small paintings in rows, what this person said of each below it; space shows the next ones."""
        from paintcli.sheet import strip

        across = max(1, columns // THUMB)
        cells = columns // across
        deep = max(1, (rows - 2) // (cells // 2 + 1))
        fit = across * deep
        pages = max(1, -(-len(view.pictures) // fit))
        start = self.page % pages * fit
        title = f"{view.title}: look at them all before you rate"
        self.at(1, 1, o.printable(title)[:columns], "\x1b[1m")
        for line, top in enumerate(range(start, min(start + fit, len(view.pictures)), across)):
            row = view.pictures[top : top + across]
            y = 2 + line * (cells // 2 + 1)
            width = self.picture_at(y, strip([opened(s) for s in row], across, 200), columns, cells // 2)
            each = width // across
            self.at(1, y + cells // 2, side_by_side(row, each))
        page = f"  sheet {self.page % pages + 1} of {pages}" if pages > 1 else ""
        keys = "  ".join(f"{key.key} {key.word}" for key in view.keys if pages > 1 or key.action != "more")
        self.at(1, rows, (keys + page)[:columns], "\x1b[2m")

    def said(self, view: View, room: int) -> list[tuple[str, str]]:
        """What the last key did and what is wrong, in lines of `room` columns with their styles."""
        found = [(line, "\x1b[32m") for line in textwrap.wrap(o.printable(self.note or view.note), room)]
        return found + [(line, "\x1b[33m") for line in textwrap.wrap(o.printable(view.warning), room)]


def side_by_side(pictures: Sequence[Shown], each: int) -> str:
    """The labels, `each` columns a picture."""
    return "".join(f"{o.printable(s.label)[: each - 1]:<{each}}" for s in pictures).rstrip()


SIGNS = {"left": "←", "right": "→"}


def key_word(key: Key, room: int) -> str:
    name = SIGNS.get(key.key, key.key)
    return f"\x1b[1m{name}\x1b[0m {key.word[: room - len(name) - 2]}"


def wrapped_keys(view: View, columns: int) -> list[str]:
    """The keys in as few lines as they need."""
    lines, used = [""], 0
    for key in view.keys:
        length = len(SIGNS.get(key.key, key.key)) + 1 + len(key.word) + 2
        if used + length - 2 > columns:
            lines.append("")
            used = 0
        lines[-1] += key_word(key, columns) + "  "
        used += length
    return [line.rstrip() for line in lines]  # two blanks too many on the last row would scroll the screen


def opened(shown: Shown) -> Image:
    from paintcli.painting import Painting

    return Painting.from_file(shown.path).image


def together(pictures: tuple[Shown, ...]) -> Image:
    """One painting, or several in a row."""
    from paintcli.sheet import strip

    return opened(pictures[0]) if len(pictures) == 1 else strip([opened(s) for s in pictures], len(pictures))
