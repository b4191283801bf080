"""`paint gallery`: every painting of some runs as a static page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from paintcli.cli.road import after_gallery


def register(app: typer.Typer) -> None:
    app.command()(gallery)


def gallery(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN",
            help="Run folders or rollouts datasets with pictures. Default: the newest run.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where the page goes.")] = Path(
        "gallery"
    ),
    title: Annotated[
        str | None,
        typer.Option("--title", metavar="TEXT", help="Of the page. Default: the runs' names.", show_default=False),
    ] = None,
) -> None:
    """Every painting of every run on one page: by step, by reward, with its sketch, repainted in the reader's browser.

    The folder is whole in itself: open index.html, or put it on any static host.

    **Examples**

    `paint gallery runs/judge-led runs/hps-led -o gallery`

    `paint gallery OWNER/rollouts -o gallery --title "Hibiscus"`
    """
    from paintcli import settings
    from paintcli.analysis import sources
    from paintcli.cli import output as o
    from paintcli.cli.chosen import newest_paintings
    from paintcli.publishing import gallery as page
    from paintcli.rollouts import PAINTED
    from paintcli.training.recipe import FILE

    project = settings.find_project()
    names: list[Any] = [*inputs] if inputs else [newest_paintings(project)]
    runs = [run for name in names for run in sources.load(str(name))]
    total = sum(int(run.painted.sum()) for run in runs if run.painted is not None)
    with o.progress(total, "hanging") as bar:
        count = page.build(
            runs, output, title or ", ".join(run.name for run in runs), lambda: bar.advance(bar.tasks[0].id)
        )
    o.out().print(str(output / "index.html"), markup=False)
    left = f", {total - count} could not be read" if total > count else ""
    o.say(f"{count} paintings{left}.")
    trained = len(names) == 1 and (Path(names[0]) / FILE).is_file()
    after_gallery(names, trained and project is not None and (project / "pool" / PAINTED).is_file())
