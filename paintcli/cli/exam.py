"""`paint exam`: did the model get better? One frozen test for every run, adapter and folder of sketches."""

from __future__ import annotations

import math
from contextlib import ExitStack
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paintcli.cli import options
from paintcli.cli.road import then

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from paintcli.training.exam import Exam, Result
    from paintcli.training.recipe import Recipe


def register(app: typer.Typer) -> None:
    app.command()(exam)


def exam(
    entrants: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN_OR_ADAPTER",
            help="A run, a state of one, an adapter (folder or owner/name on the Hub), a folder of sketches. "
            "Default: the newest run.",
            show_default=False,
        ),
    ] = None,
    count: Annotated[int, typer.Option("-n", "--count", metavar="N", help="How many samples each.")] = 32,
    renderer: options.Renderer = None,
    judge: options.Judge = None,
    pool: options.Pool = None,
    domain: options.Domain = None,
    workers: options.Workers = None,
    deadline: options.Deadline = None,
    as_json: options.Json = False,
) -> None:
    """Examine policies: the same prompt, the same seeds, against references that no training ever draws.

    The score is the mean share of wins, each pair judged in both orders; what the gate refuses wins nothing. It does
    not depend on how a run was rewarded, so it compares across steps, runs, mixes and models. Several are ranked.
    Whatever was written and judged once is kept and never paid for again. Judge, pool and domain are the runs' own
    unless named. Exit code 4 when a sample could not be judged.

    **Examples**

    `paint exam runs/judge-led-1`

    `paint exam runs/a runs/b runs/a/state/checkpoint-150 owner/adapter`

    `paint exam samples-before/ samples-after/ -n 16 --judge taste --json`
    """
    from functools import cache

    from paintcli import domains, settings
    from paintcli.backends.loop import Loop
    from paintcli.cli import output as o
    from paintcli.cli.chosen import find_pool, newest_run
    from paintcli.training import exam as exams
    from paintcli.training.recipe import FILE, Recipe

    names = entrants or [str(newest_run(settings.find_project(), FILE))]
    sitting = [exams.entrant(name) for name in dict.fromkeys(names)]
    own = [e.recipe for e in sitting if e.run and e.recipe]
    chosen = settings.load(
        renderer=renderer,
        workers=workers,
        deadline=deadline,
        judge=judge or agreed(own, "judge"),
        pool=pool or agreed(own, "pool"),
        domain=domain or agreed(own, "domain"),
    )
    test = exams.Exam.of(domains.load(chosen.domain), find_pool(chosen), chosen.judge, count)
    for each in sitting:
        each.check(test)

    with ExitStack() as stack:
        loop = Loop()
        stack.callback(loop.close)
        recipe = Recipe(renderer=chosen.renderer, workers=chosen.workers, deadline=chosen.deadline)
        assessor = cache(lambda: exams.open_assessor(test, recipe, stack))
        results = []
        with o.progress(count * len(sitting), "examining") as bar:
            for index, each in enumerate(sitting):

                def told(group: Any, done: int, before: int = index * count) -> None:
                    bar.update(bar.tasks[0].id, completed=before + done)

                results.append(exams.take(test, each, assessor, loop, told))
                bar.update(bar.tasks[0].id, completed=(index + 1) * count)
    results.sort(key=lambda r: -1.0 if r.score.value != r.score.value else r.score.value, reverse=True)
    if as_json:
        emit(results, test)
    else:
        show(results, test)
        runs = [e.run for e in sitting if e.run]
        if runs and not any(r.unavailable for r in results):
            then("What did it learn?", "analyze", *dict.fromkeys(runs))
    if any(r.unavailable for r in results):
        raise typer.Exit(4)


def agreed(recipes: Sequence[Recipe], name: str) -> str | None:
    """What the runs say of `name`; None when none of them does. Raises UsageError when they differ."""
    from paintcli.errors import UsageError

    asked = [r for r in recipes if name != "judge" or r.weights().wants("judge")]
    values = sorted({str(v) for r in asked if (v := getattr(r, name))})
    if len(values) > 1:
        raise UsageError(
            f"These runs were trained with different {name}s ({', '.join(values)}), so no exam is theirs alike: name "
            f"one with --{name}."
        )
    return values[0] if values else None


def emit(results: Sequence[Result], test: Exam) -> None:
    """One line each, best first, then one for every pair."""
    from paintcli.backends.specs import label
    from paintcli.cli import output as o
    from paintcli.training.exam import number

    about = {"domain": test.domain.name, "subject": test.domain.subject, "pool": test.pool.name,
             "references": len(test.references), "judge": label(test.judge)}  # fmt: skip
    for rank, result in enumerate(results, 1):
        o.emit({"rank": rank, **result.to_json(), **about})
    for better, other in combinations(results, 2):
        found, paired = better.minus(other)
        o.emit({"first": better.name, "second": other.name, "difference": number(found.value),
                "low": number(found.low), "high": number(found.high), "paired": paired})  # fmt: skip


def show(results: Sequence[Result], test: Exam) -> None:
    from rich.table import Table

    from paintcli.backends.specs import label
    from paintcli.cli import output as o

    console = o.out()
    console.print(
        o.plain(
            f"{test.samples} samples of {test.domain.subject!r} against {len(test.references)} reserved references of "
            f"{test.pool.name}, both orders; judge {label(test.judge)}"
        ),
        style="bold",
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("", "", "step", "score", "95 %", "pass the gate", *(["behind the first"] if results[1:] else [])):
        table.add_column(heading, justify="left" if heading == "" else "right")
    for rank, result in enumerate(results, 1):
        told = result.to_json()
        cells: list[RenderableType] = [
            str(rank),
            o.plain(result.name),
            "" if result.step is None else str(result.step),
            "–" if told["score"] is None else f"{told['score']:.3f}",
            "–" if told["low"] is None else f"{told['low']:.3f}–{told['high']:.3f}",
            "–" if told["passed"] is None else f"{told['passed']:.0%} of {told['samples']}",
        ]
        if results[1:]:
            cells.append("" if rank == 1 else behind(results[0], result))
        table.add_row(*cells)
    console.print(table)
    for result in results:
        if result.unavailable:
            console.print(o.plain(f"{result.name}: {result.unavailable} samples could not be judged; run this again."))
    console.print(
        o.plain("95 %: other samples and other references of this rater; * the difference is not 0"), style="dim"
    )


def behind(first: Result, other: Result) -> str:
    """The difference to the first with its interval, and whether it is sure; "unpaired" where the seeds differ."""
    found, paired = first.minus(other)
    if math.isnan(found.low):
        return "–"
    said = f"{found.value:.3f} ({found.low:+.3f} to {found.high:+.3f})".replace("-", "−")
    return said + ("*" if found.sure else "") + ("" if paired else " unpaired")
