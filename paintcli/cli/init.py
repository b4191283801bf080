"""`paint init`: a project folder of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ROAD = (
    ("paint pool generate -n 8 --photos photos/", "models write, the browser paints"),
    ("paint pool import paintings/", "or: what you painted yourself"),
    ("paint pool rate", "love, okay, no: one key a painting"),
    ("paint pool rate --recheck 10", "do you agree with yourself?"),
    ("paint judge --held-out", "how far does the judge agree?"),
    ("paint forecast --mix judge-led", "will it learn? before you pay"),
    ("paint train --mix control", "does the trainer move?"),
    ("paint train --mix judge-led --exam-every 10", "the run"),
    ("paint exam", "did it get better?"),
    ("paint analyze", "what did it learn?"),
    ("paint gallery", "every painting on a page"),
    ("paint publish all --dry-run --out look", "give it away"),
)


def register(app: typer.Typer) -> None:
    app.command()(init)


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where; it is made. Default: here.")] = Path(),
    subject: Annotated[
        str, typer.Option("--subject", metavar="TEXT", help="What is painted, as a request names it.")
    ] = "a peach hibiscus",
) -> None:
    """Begin a project of your own: its settings, what it paints, an empty pool; and the way from there.

    Nothing that is there is changed.

    **Examples**

    `paint init irises --subject "a blue iris"`
    """
    from rich.table import Table

    from paintcli import project
    from paintcli.cli import output as o

    for path in project.create(folder, subject):
        o.out().print(f"{path}{'/' if path.is_dir() else ''}", markup=False)
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for command, why in ROAD if folder.resolve() == Path.cwd() else ((f"cd {folder}", ""), *ROAD):
        table.add_row(command, o.plain(why))
    o.err().print("\nFrom here:")
    o.err().print(table)
