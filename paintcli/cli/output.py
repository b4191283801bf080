"""Results on stdout, talk on stderr: tables, JSON lines, progress, pictures in the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PIL.Image import Image
    from rich.console import Console
    from rich.progress import Progress
    from rich.text import Text


@cache
def out() -> Console:
    """The console for results. Piped, it is plain and as wide as its content needs."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


@cache
def err() -> Console:
    """The console for talk."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    """One line of talk on stderr. `text` is plain, not rich markup: paths hold brackets."""
    err().print(text, markup=False)


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

    return Text(text)


def can_show() -> bool:
    """Whether stdout is a terminal that pictures can be drawn in."""
    return sys.stdout.isatty() and out().color_system is not None


def show(image: Image, caption: str = "", columns: int | None = None) -> None:
    """Draw a picture in the terminal: kitty, sixel (iTerm2 and others), else half blocks in true colour.

    At most `columns` cells wide (default: the terminal) and as high as leaves room for a line of text.
    """
    # textual-image asks the terminal what it can do when it is imported, hence only here
    from textual_image._terminal import get_cell_size
    from textual_image.renderable import Image as Renderable

    console = out()
    cell = get_cell_size()
    rows = max(4, console.height - 3)
    width = min(
        columns or console.width, console.width, int(rows * cell.height / cell.width * image.width / image.height)
    )
    console.print(Renderable(image, width=max(4, width), height="auto"))
    if caption:
        console.print(caption, markup=False)
