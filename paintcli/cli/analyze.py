"""`paint analyze`: what did a run actually learn?"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paintcli.cli import options
from paintcli.cli.road import after_analysis

if TYPE_CHECKING:
    from PIL.Image import Image

    from paintcli.analysis.gain import Options
    from paintcli.analysis.sources import Run


def register(app: typer.Typer) -> None:
    app.command()(analyze)


def analyze(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN",
            help="Run folders, rollouts datasets (folder, .jsonl, .parquet, .csv or a Hub id), curve CSVs. "
            "Default: the newest run.",
            show_default=False,
        ),
    ] = None,
    by_third: Annotated[bool, typer.Option("--by-third", help="Only the table by thirds.")] = False,
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            metavar="card|ends",
            help="Thirds as equal as can be (37/37/36 of 110), or ⌊n/3⌋ at each end. Default: card, for a curve ends.",
            show_default=False,
        ),
    ] = None,
    brief: Annotated[bool, typer.Option("--brief", help="Only the first screen.")] = False,
    between: Annotated[
        str | None,
        typer.Option(
            "--between", metavar="A,B", help="What the difference of two steps is made of.", show_default=False
        ),
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", metavar="X", help="A reward under this is a bad one.")
    ] = 0.3,
    band: Annotated[
        float, typer.Option("--top-band", metavar="X", help="Correlations also within rewards from here up.")
    ] = 0.65,
    images: Annotated[bool, typer.Option("--images", help="Look at every picture; fills in missing coverage.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="One self-contained page.", show_default=False)
    ] = None,
    pictures: Annotated[
        Path | None,
        typer.Option("--pictures", metavar="DIR", help="Charts, film strips and walls as files.", show_default=False),
    ] = None,
    best_of: Annotated[
        str | None,
        typer.Option("--best-of", metavar="A,B,...", help="Steps whose best four go side by side.", show_default=False),
    ] = None,
    wall: Annotated[int, typer.Option("--wall", metavar="N", help="How many of the best make the wall.")] = 48,
    show: Annotated[bool, typer.Option("--show", help="Draw the film strip in the terminal.")] = False,
    domain: options.Domain = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
) -> None:
    """What did a run actually learn? Every figure with a 95 % interval that resamples whole steps.

    **Examples**

    `paint analyze runs/judge-led`

    `paint analyze OWNER/rollouts --by-third`

    `paint analyze curve-a.csv curve-b.csv --html report.html`

    `paint analyze --between 11,12`
    """
    from paintcli import domains, settings
    from paintcli.analysis import report, sources, terminal
    from paintcli.analysis.gain import Options
    from paintcli.cli import output as o
    from paintcli.cli.chosen import newest_run
    from paintcli.errors import UsageError
    from paintcli.rollouts import PAINTED, UNPAINTED

    if split not in (None, "card", "ends"):
        raise UsageError(f"--split is card or ends, not {split!r}.")
    chosen = settings.load(domain=domain, seed=seed)
    wanted = Options(
        split=split,
        threshold=threshold,
        band=band,
        seed=chosen.seed,
        between=_pair(between),
        images=images,
    )
    looking = images or show or bool(html or pictures or best_of)
    names: list[Any] = [*inputs] if inputs else [newest_run(chosen.project, PAINTED, UNPAINTED)]
    runs = [run for name in names for run in sources.load(str(name), looking)]
    if by_third:
        for run in runs:
            found = report.by_third(run, wanted)
            if as_json:
                o.emit(found)
            else:
                o.out().print(terminal.title(found))
                o.out().print(terminal.thirds_table(found))
                for name, where in found["correlations"].items():
                    o.out().print(f"correlation of {name} with reward {report.spanned(where['all'])}", markup=False)
                for note in run.notes:
                    o.say(note)
        return

    default = domains.load(chosen.domain).targets

    def targets(run: Run) -> dict[str, Any]:
        own = report.own_targets(run) if domain is None else None
        return default if own is None else own

    reports = look_at(runs, wanted, targets)
    if as_json:
        for found in reports:
            o.emit(found)
    else:
        console = o.out()
        if not console.is_terminal:
            console.width = 140  # as wide as the widest table: rich would cut it at 80
        width = console.width
        if len(reports) > 1:
            console.print(terminal.comparison(reports))
            for line in terminal.colours_apart(reports):
                console.print(line)
            console.print()
        for found in reports:
            for part in terminal.summary(found, width):
                console.print(part)
            for part in () if brief else terminal.details(found):
                console.print(part)
            console.print()
    if html or pictures or best_of or show:
        draw(runs, reports, wanted, html=html, folder=pictures, best_of=best_of, wall=wall, show=show)
    if not as_json:
        painted = any(run.painted is not None and run.painted.any() for run in runs)
        recipes = [report.recipe_of(run) for run in runs]
        after_analysis(names, painted, any(recipe is not None and recipe.is_control for recipe in recipes))


def draw(
    runs: list[Run],
    reports: list[dict[str, Any]],
    wanted: Options,
    *,
    html: Path | None,
    folder: Path | None,
    best_of: str | None,
    wall: int,
    show: bool,
) -> None:
    """The pictures that were asked for: into a folder, the terminal, the page."""
    from paintcli.analysis import charts, page, pictures
    from paintcli.analysis.report import steps_of
    from paintcli.cli import output as o
    from paintcli.errors import UsageError
    from paintcli.files import write_atomic

    if wall < 1:
        raise UsageError(f"--wall must be at least 1, not {wall}.")
    if best_of and not (folder or html or show):
        raise UsageError("--best-of says what to show: add --show, --pictures or --html.")
    if show and not o.can_show():
        o.say("--show: standard output is not a terminal, so no picture is drawn.")
        show = False
    every = [steps_of(run, wanted) for run in runs]
    chosen = _steps(best_of, "--best-of") if best_of else []
    made: list[dict[str, Any]] = []
    for steps in every:
        own = {
            "Film strip: the median painting of a step above its best": pictures.strip(steps),
            "The best four of the named steps, a row a step": pictures.best_of(steps, chosen) if chosen else None,
            f"The {wall} best of the run, shuffled": pictures.wall(steps, wall, seed=wanted.seed),
        }
        made.append(own)
        if show:
            for caption, picture in list(own.items())[: 2 if chosen else 1]:
                if picture is not None:
                    o.show(picture, f"{steps.run.name}: {caption}")
            if not any(own.values()):
                o.say(f"{steps.run.name} has no pictures.")
    moving = pictures.animation(every) if folder or html else None
    if folder:
        for report, own in zip(reports, made, strict=True):
            stem = report["run"].replace("/", "-")
            names = ("curve", charts.curve), ("distribution", charts.distribution), ("waterfall", charts.waterfall)
            for name, chart in names:
                if svg := chart(report):
                    write_atomic(folder / f"{stem}-{name}.svg", charts.standalone(svg).encode())
            for name, picture in zip(("strip", "best", "wall"), own.values(), strict=True):
                if picture is not None:
                    write_atomic(folder / f"{stem}-{name}.png", _png(picture))
        if len(reports) > 1:
            write_atomic(folder / "curves.svg", charts.standalone(charts.curves(reports)).encode())
        if moving:
            write_atomic(folder / "medians.gif", moving)
        o.say(f"Pictures are in {folder}.")
    if html:
        made[0]["Median paintings over the run" + (", all runs in step" if len(every) > 1 else "")] = moving
        write_atomic(html, page.page(reports, made).encode())
        o.say(f"The report is {html}.")


def _png(picture: Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def look_at(runs: list[Run], wanted: Options, targets: Callable[[Run], dict[str, Any]]) -> list[dict[str, Any]]:
    """The report of each run, with a bar while pictures are looked at."""
    from dataclasses import replace

    from paintcli.analysis import report
    from paintcli.analysis.colours import across
    from paintcli.cli import output as o

    total = sum(int(run.painted.sum()) for run in runs if run.painted is not None) if wanted.images else 0
    if total:
        with o.progress(total, "looking at pictures") as bar:
            reports = [
                report.analyse(run, replace(wanted, targets=targets(run)), lambda: bar.advance(bar.tasks[0].id))
                for run in runs
            ]
    else:
        reports = [report.analyse(run, replace(wanted, targets=targets(run))) for run in runs]
    across(reports)
    return reports


def _pair(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    steps = _steps(text, "--between")
    if len(steps) != 2:
        from paintcli.errors import UsageError

        raise UsageError(f"--between takes two steps, like 11,12, not {text!r}.")
    return steps[0], steps[1]


def _steps(text: str, option: str) -> list[int]:
    from paintcli.errors import UsageError

    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"{option} takes step numbers with commas between, not {text!r}.") from None
