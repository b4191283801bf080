"""Results on stdout, talk on stderr: tables, JSON lines, progress, pictures in the terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image
    from rich.console import Console
    from rich.progress import Progress
    from rich.text import Text


PIPED = 10_000
"""Columns of a table in a pipe: rich would break its cells at 80, and `grep` and `awk` read whole lines."""


@cache
def out() -> Console:
    """The console for results. Piped, it is plain and as wide as its content needs (COLUMNS narrows it)."""
    from rich.console import Console

    if sys.stdout.isatty() or os.environ.get("COLUMNS"):
        return Console(highlight=False, soft_wrap=not sys.stdout.isatty())
    return Console(highlight=False, soft_wrap=True, width=PIPED)


@cache
def err() -> Console:
    """The console for talk."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def printable(text: str) -> str:
    """Words of a file, a server or a model on one line, without what would drive the terminal."""
    return "".join(c if c.isprintable() else " " for c in text)


def _lines(text: str) -> str:
    """The same, line ends kept."""
    return "\n".join(map(printable, text.split("\n")))


def say(text: str) -> None:
    """One line of talk on stderr. `text` is plain, not rich markup: paths hold brackets."""
    err().print(_lines(text), markup=False)


def emit(row: dict[str, Any]) -> None:
    """One JSON object as one line on stdout, flushed: a reader down the pipe sees each result as it comes."""
    sys.stdout.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()


@contextmanager
def progress(total: int | None, what: str) -> Iterator[Progress]:
    """A bar on stderr when that is a terminal, gone when done. Advance `progress.tasks[0].id`."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = (
        [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
        if total is None or total > 1
        else [SpinnerColumn(), TextColumn("{task.description}")]
    )
    with Progress(*columns, console=err(), transient=True, disable=not err().is_terminal) as bar:
        bar.add_task(what, total=total)
        yield bar


def plain(text: str) -> Text:
    """Text for a table cell or a line, never read as markup: a path may hold brackets."""
    from rich.text import Text

    return Text(_lines(text))


def can_show() -> bool:
    """Whether stdout is a terminal that pictures can be drawn in: one of a known size, with colours."""
    if not sys.stdout.isatty() or out().color_system is None:
        return False
    return os.get_terminal_size(sys.stdout.fileno()).columns > 0  # 0 where nobody set it, as under some `docker -t`


@cache
def terminal_pictures() -> ModuleType:
    """`textual_image.renderable`, imported with care: on import it asks the terminal what it can draw.

    It asks and listens on stdin, which may be a pipe (`paint render - --show`) or closed: then on /dev/tty, and
    where there is none, nobody is asked and half blocks are drawn.
    """
    kept = sys.__stdin__
    with ExitStack() as stack:
        if kept is None or not kept.isatty():
            try:
                sys.__stdin__ = stack.enter_context(Path("/dev/tty").open())  # type: ignore[misc]
            except OSError:
                sys.__stdin__ = None  # type: ignore[misc]
        try:
            import textual_image.renderable
            from textual_image._terminal import get_cell_size

            get_cell_size()  # kept by the library from now on
        finally:
            sys.__stdin__ = kept  # type: ignore[misc]
    return textual_image.renderable


def fitted(image: Image, columns: int, rows: int) -> tuple[Any, int]:
    """What draws a picture in at most `columns` × `rows` cells, and how many columns it takes.

    Drawn by kitty's protocol, sixel (iTerm2 and others), else half blocks in true colour.
    """
    renderable = terminal_pictures()
    from textual_image._terminal import get_cell_size

    cell = get_cell_size()
    width = max(4, min(columns, int(rows * cell.height / cell.width * image.width / image.height)))
    return renderable.Image(image, width=width, height="auto"), width


def show(image: Image, caption: str = "", columns: int | None = None) -> None:
    """Draw a picture in the terminal: at most `columns` cells wide (default: all), leaving room for a line of text."""
    console = out()
    drawn, _ = fitted(image, min(columns or console.width, console.width), max(4, console.height - 3))
    console.print(drawn)
    if caption:
        console.print(caption, markup=False)
