"""`paint sample`: what a trained policy paints."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paintcli.cli import options
from paintcli.cli.road import then

if TYPE_CHECKING:
    from paintcli.training.task import Group


def register(app: typer.Typer) -> None:
    app.command()(sample)


def sample(
    trained: Annotated[
        str | None, typer.Argument(metavar="RUN_OR_ADAPTER", help="Default: the newest run.", show_default=False)
    ] = None,
    count: Annotated[int, typer.Option("-n", "--count", metavar="N", min=1, help="How many sketches.")] = 16,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where they go.", show_default=False)
    ] = None,
    subject: Annotated[
        str | None, typer.Option("--subject", metavar="TEXT", help="Ask for something else.", show_default=False)
    ] = None,
    mix: Annotated[
        str | None,
        typer.Option("--mix", metavar="NAME|TERM=W,...", help="Reward them by another mix.", show_default=False),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Draw the sheet in the terminal.")] = False,
    renderer: options.Renderer = None,
    scorer: options.Scorer = None,
    judge: options.Judge = None,
    pool: options.Pool = None,
    seed: options.Seed = None,
    workers: options.Workers = None,
    deadline: options.Deadline = None,
    as_json: options.Json = False,
) -> None:
    """Let a trained policy write sketches; paint, gate and reward them, and put them on one sheet.

    The adapter is loaded only if every tensor of it finds its place. Backends are the run's own unless named. The
    folder is a run folder: `paint pool import` and `paint analyze` read it.

    **Examples**

    `paint sample runs/judge-led-1 -n 32 --show`

    `paint sample my-adapter --judge taste --scorer taste`

    `paint sample owner/adapter -n 4`  an adapter on the Hub
    """
    from dataclasses import replace

    from paintcli import settings
    from paintcli.backends.loop import Loop
    from paintcli.cli import output as o
    from paintcli.cli.chosen import newest_run
    from paintcli.cli.train import open_task
    from paintcli.rollouts import PAINTED
    from paintcli.sheet import sheet
    from paintcli.training import film, probe, recipe, sampling
    from paintcli.training.probe import writing

    chosen = settings.load()
    found = sampling.find(trained or str(newest_run(chosen.project, recipe.FILE)))
    flags = {"mix": mix, "subject": subject, "renderer": renderer, "scorer": scorer, "judge": judge, "pool": pool,
             "seed": seed, "workers": workers, "deadline": deadline}  # fmt: skip
    wanted = recipe.again(found.recipe, None, None, {k: v for k, v in flags.items() if v is not None})
    wanted = replace(wanted, warm_start="")
    folder = output or Path(f"samples-{found.name}" + (f"-{found.step}" if found.step is not None else ""))

    with ExitStack() as stack:
        task = open_task(wanted, chosen, stack)
        policy = sampling.load(replace(found, recipe=wanted))
        loop = Loop()
        stack.callback(loop.close)
        with o.progress(count, "sampling") as bar:

            def told(group: Group, done: int) -> None:
                bar.update(bar.tasks[0].id, completed=done)
                if as_json:
                    for rollout, _ in group.rows:
                        o.emit(row(rollout, folder))

            result = probe.sample(
                writing(policy, wanted, task, loop),
                lambda samples, step: loop.run(task.assess(samples, step)),
                folder,
                count,
                wanted.generations,
                told,
                first=0,
            )
    page = sheet(list(items(folder)), min(count, 8))
    film.write_png(page, folder / "sheet.png")
    if show and o.can_show():
        o.show(page)
    if not as_json:
        print_summary(result, folder)
        if (folder / PAINTED).is_file():
            then("Look through them", "gallery", folder)
    if result["unavailable"]:
        raise typer.Exit(4)
    if result["passed"] is not None and result["passed"] < 1:
        raise typer.Exit(3)


def row(rollout: Any, folder: Path) -> dict[str, Any]:
    return {
        "sketch": str(folder / rollout.source_file) if rollout.source_file else None,
        "png": str(folder / rollout.file_name) if rollout.file_name else None,
        "reward": rollout.reward,
        "terms": {t: getattr(rollout, t) for t in ("gate", "length", "judge", "hpsv3", "taste", "pigment")},
        "coverage": rollout.coverage,
        "violations": rollout.violations,
        "finish_reason": rollout.finish_reason,
        "unavailable": rollout.unavailable,
    }


def items(folder: Path) -> Any:
    """(picture or None, caption) of every sample, best first."""
    from paintcli.rollouts import stream
    from paintcli.training.film import caption

    rows = sorted(stream(folder, code=False), key=lambda r: -1 if r["reward"] is None else r["reward"], reverse=True)
    for each in rows:
        yield folder / each["file_name"] if each["file_name"] else None, caption(each)


def print_summary(result: dict[str, Any], folder: Path) -> None:
    from rich.table import Table

    from paintcli.cli import output as o
    from paintcli.cli.live import describe

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_row("samples", describe(result))
    for term in ("length", "judge", "hpsv3", "taste", "coverage"):
        if result[term] is not None:
            table.add_row(term, f"{result[term]:.3f}")
    for code, times in result["violations"].items():
        table.add_row(code, f"{times} of {result['samples']}")
    o.out().print(table)
    o.say(f"The sheet: {folder / 'sheet.png'}")
