"""`paint score`: sketches and pictures in, rewards out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paintcli.cli import options
from paintcli.cli.options import STDIN, is_sketch, read_sketch
from paintcli.cli.road import then

if TYPE_CHECKING:
    from paintcli.pool import Reference
    from paintcli.reward import Assessor, Evaluation


def register(app: typer.Typer) -> None:
    app.command()(score)


def score(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="SKETCH_OR_IMAGE",
            help="Sketches, replies, pictures with their .js beside them, folders of these, - for a sketch on stdin.",
            show_default=False,
        ),
    ],
    mix: Annotated[
        str,
        typer.Option(
            "--mix", metavar="NAME|TERM=W,...", help="judge-led, hps-led, hps-only, or weights that sum to 1."
        ),
    ] = "judge-led",
    explain: Annotated[bool, typer.Option("--explain", help="Show where each point came from.")] = False,
    observe: Annotated[
        bool, typer.Option("--observe", help="Ask the terms of weight 0 too; they change nothing.")
    ] = False,
    references: options.References = 4,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Keep paintings and rewards as a run folder: paint gallery and paint pool import read it.",
            show_default=False,
        ),
    ] = None,
    pool: options.Pool = None,
    seed: options.Seed = None,
    domain: options.Domain = None,
    renderer: options.Renderer = None,
    scorer: options.Scorer = None,
    judge: options.Judge = None,
    workers: options.Workers = None,
    deadline: options.Deadline = None,
    as_json: options.Json = False,
) -> None:
    """Reward sketches and pictures as training would.

    A refused sketch earns 0. Where something that weighs could not be answered there is no number (–, null) and the
    reason. Every input of one call is compared with the same references. Exit code 3 when a sketch was refused, 4 when
    one could not be judged.

    **Examples**

    `paint score examples/peach-hibiscus.js --explain`

    `paint score paintings/ --mix gate=.1,length=.1,pigment=.2,judge=.6 --json`

    `paint score replies/ -o scored && paint gallery scored`
    """
    import asyncio

    from paintcli import settings
    from paintcli.cli import output as o
    from paintcli.errors import UsageError
    from paintcli.reward import Mix
    from paintcli.rollouts import PAINTED

    chosen = settings.load(
        pool=pool, seed=seed, domain=domain, renderer=renderer, scorer=scorer, judge=judge, workers=workers,
        deadline=deadline,
    )  # fmt: skip
    weights = Mix.parse(mix)
    if missing := [name for name in inputs if name != STDIN and not Path(name).exists()]:
        raise UsageError(f"{missing[0]} does not exist.")
    keep = keeper(output) if output else None
    with ExitStack() as stack:
        jury = Jury(chosen, weights, observe, references, stack)

        async def run() -> tuple[int, int]:
            refused = unjudged = 0
            rows = []
            with o.progress(None, "scoring") as bar:
                async for name, evaluation in stream(find(inputs), jury, 2 * chosen.workers):
                    bar.advance(bar.tasks[0].id)
                    refused += bool(evaluation.reward.violations)
                    unjudged += evaluation.reward.value is None
                    if keep:
                        keep(evaluation, jury)
                    if as_json:
                        o.emit(evaluation.reward.to_json(name))
                    elif explain:
                        show_points(name, evaluation, jury)
                    else:
                        rows.append((name, evaluation.reward))
            if rows:
                print_table(rows)
            return refused, unjudged

        refused, unjudged = asyncio.run(run())
    if output and not as_json and (output / PAINTED).is_file():
        then("Every painting on a page", "gallery", output)
    if unjudged:
        raise typer.Exit(4)
    if refused:
        raise typer.Exit(3)


def keeper(folder: Path) -> Callable[[Evaluation, Jury], None]:
    """What writes evaluations into a new run folder, all as one group. Raises UsageError for a folder in use."""
    from itertools import count

    from paintcli.errors import UsageError
    from paintcli.rollouts import RunFolder
    from paintcli.training.studio import rollout_of

    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise UsageError(f"{folder} is there already: name a new folder with -o.")
    files, position = RunFolder(folder), count()

    def keep(evaluation: Evaluation, jury: Jury) -> None:
        rollout = rollout_of(evaluation, jury.assessor, "")
        rollout.run, rollout.position_in_group = files.run, next(position)
        rollout.seed = rollout.reference_seed = jury.chosen.seed
        rollout.references = [r.drawn for r in jury.references]
        files.append(rollout, evaluation.painting.png if evaluation.painting else None)

    return keep


class Jury:
    """The assessor and the references of one call; the browser starts with the first sketch that needs it."""

    def __init__(self, chosen: Any, mix: Any, observe: bool, references: int, stack: ExitStack) -> None:
        from paintcli import domains
        from paintcli.backends.specs import label
        from paintcli.cli.chosen import comparer_of, draw, find_pool, scorer_of
        from paintcli.reward import Assessor

        self.chosen, self.stack = chosen, stack
        subject = domains.load(chosen.domain)
        asked = frozenset({"judge", "hpsv3", "pigment"}) if observe else frozenset()
        wants = {term: mix.wants(term) or term in asked for term in ("judge", "hpsv3")}
        taste = (wants["judge"] and chosen.judge == "taste") or (wants["hpsv3"] and chosen.scorer == "taste")
        self.pool = rated = find_pool(chosen) if wants["judge"] or taste else None
        self.references: list[Reference] = draw(rated, references, chosen.seed) if wants["judge"] else []
        self.assessor: Assessor = Assessor(
            mix=mix,
            domain=subject,
            comparer=comparer_of(chosen, rated, stack) if wants["judge"] else None,
            scorer=scorer_of(chosen, rated, stack) if wants["hpsv3"] else None,
            labels={"renderer": chosen.renderer, "judge": label(chosen.judge), "hpsv3": label(chosen.scorer)},
            stand_in=chosen.scorer == "taste",
            observe=asked,
            timeout_is_ours=chosen.timeout == "infrastructure",
        )

    async def score(self, name: str) -> Evaluation:
        """One input. An unreadable one is a reward of None, so that a batch goes on."""
        import asyncio

        from paintcli import sketch as sketches
        from paintcli.errors import PaintError
        from paintcli.painting import Painting
        from paintcli.pool import sketch_beside
        from paintcli.reward import Evaluation, combine

        if is_sketch(name) and self.assessor.renderer is None:
            self.open_renderer()  # no browser at all is no row of the table: it ends the command, as in `paint render`
        try:
            if is_sketch(name):
                return await self.assessor.evaluate(read_sketch(name), self.references, self.chosen.seed, name)
            painting = await asyncio.to_thread(Painting.from_file, Path(name))
            source = sketch_beside(Path(name))
            sketch = sketches.read(source.read_bytes(), str(source)) if source else None
            return await self.assessor.evaluate_picture(painting, sketch, self.references, name)
        except PaintError as error:
            return Evaluation(
                name, combine(self.assessor.mix, {}, {"gate": str(error)}, stand_in=self.assessor.stand_in)
            )

    def open_renderer(self) -> None:
        from dataclasses import replace

        from paintcli.backends.specs import make_renderer

        painter: Any = make_renderer(self.chosen.renderer, workers=self.chosen.workers, deadline=self.chosen.deadline)
        self.assessor = replace(self.assessor, renderer=self.stack.enter_context(painter))


def find(inputs: Iterable[str]) -> Iterator[str]:
    """Every input by name; folders are walked as they are read, a picture's own sketch is not scored a second time."""
    from paintcli.errors import UsageError
    from paintcli.pool import IMAGE_SUFFIXES
    from paintcli.sketch import files_in

    for name in dict.fromkeys(inputs):
        path = Path(name)
        if name == STDIN:
            yield name
        elif path.is_dir():
            pictures = [p for p in path.rglob("*") if p.suffix.lower() in IMAGE_SUFFIXES]
            beside = {p.with_suffix("") for p in pictures}
            stems = {p.stem for p in pictures}
            alone = [
                p
                for p in files_in(path)
                if p.with_suffix("") not in beside and not (p.parent.name == "sources" and p.stem in stems)
            ]
            if not (pictures or alone):
                raise UsageError(f"{name} holds neither sketches nor pictures.")
            yield from map(str, sorted([*pictures, *alone]))
        else:
            yield name


async def stream(names: Iterable[str], jury: Jury, at_once: int) -> AsyncIterator[tuple[str, Evaluation]]:
    """Results in the order of the inputs, each as soon as it and all before it are there; `at_once` in the works."""
    import asyncio
    from collections import deque

    waiting: deque[tuple[str, asyncio.Task[Evaluation]]] = deque()
    try:
        for name in names:
            waiting.append((name, asyncio.create_task(jury.score(name))))
            if len(waiting) >= at_once:
                first, task = waiting.popleft()
                yield first, await task
        while waiting:
            first, task = waiting.popleft()
            yield first, await task
    finally:
        for _, task in waiting:
            task.cancel()


def print_table(rows: list[tuple[str, Any]]) -> None:
    from rich.table import Table

    from paintcli.cli import output as o

    terms = [t for t in rows[0][1].weights if any(r.weights[t] or r.terms[t] is not None for _, r in rows)]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("input", overflow="fold")
    table.add_column("reward", justify="right", style="bold")
    for term in terms:
        table.add_column(f"{term}\n{rows[0][1].weights[term]:g}", justify="right")
    table.add_column("")
    for name, reward in rows:
        why = "; ".join([*together(reward.unavailable), *dict.fromkeys(v.code for v in reward.violations)])
        table.add_row(o.plain(name), number(reward.value), *(number(reward.terms[t]) for t in terms), o.plain(why))
    o.out().print(table)


def together(reasons: Iterable[str]) -> list[str]:
    """ "gate: x" and "length: x" as "gate, length: x"."""
    terms: dict[str, list[str]] = {}
    for reason in reasons:
        term, _, why = reason.partition(": ")
        terms.setdefault(why, []).append(term)
    return [f"{', '.join(names)}: {why}" for why, names in terms.items()]


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def show_points(name: str, evaluation: Evaluation, jury: Jury) -> None:
    """Where each point of one reward came from: terms times weights, the duels, the features that decided."""
    from textwrap import fill

    from rich.table import Table

    from paintcli.backends.taste import Taste
    from paintcli.cli import output as o

    reward = evaluation.reward
    console = o.out()
    console.print(o.plain(f"{name}  reward {number(reward.value)}"), style="bold")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2), header_style="dim")
    for heading in ("term", "value", "weight", "points"):
        table.add_column(heading, justify="left" if heading == "term" else "right")
    for term, value, weight, points in reward.explain():
        table.add_row(term, number(value), f"{weight:g}", number(points))
    console.print(table)
    lines = [f"refused: {v.code}  {f'line {v.line}: ' if v.line else ''}{v.detail}" for v in reward.violations]
    lines += [f"unavailable: {why}" for why in together([*reward.unavailable, *reward.observed_unavailable])]
    if evaluation.mu is not None:
        lines.append(f"scorer: mu {evaluation.mu:+.2f}, sigmoid(mu / 4)")
    if evaluation.judgement:
        lines += [
            f"against {duel.reference} ({duel.tier}): shown first {duel.forward:.2f}, second {duel.backward:.2f}, "
            f"share {duel.score:.2f}"
            for duel in evaluation.judgement.comparisons
        ]
    judge = next((b for b in (jury.assessor.comparer, jury.assessor.scorer) if isinstance(b, Taste)), None)
    if judge and evaluation.judgement and evaluation.painting:
        gave = ", ".join(f"{feature} {logits:+.2f}" for feature, logits in judge.decided(evaluation.painting)[:6])
        lines.append(f"taste, logits: {gave}")
    for line in lines:
        words = fill(line, console.width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        console.print(o.plain(words))
