"""`paint duel`: which of two paints better, by a person who does not know which is which."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paintcli.cli import options
from paintcli.cli.rate import Browser, Port, Rater
from paintcli.cli.road import given, then

if TYPE_CHECKING:
    from paintcli.duel import Duel, Side
    from paintcli.settings import Settings


def register(app: typer.Typer) -> None:
    app.command()(duel)


def duel(
    first: Annotated[Path, typer.Argument(metavar="A", help="A run, samples, a pool or a folder of pictures.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="The other one.")],
    browser: Browser = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where the votes go.", show_default=False),
    ] = None,
    last: Annotated[
        int, typer.Option("--last", metavar="N", min=1, help="Steps at a training run's end that stand for it.")
    ] = 10,
    report: Annotated[bool, typer.Option("--report", help="No more votes: what came of those there are.")] = False,
    judge: options.Judge = None,
    scorer: options.Scorer = None,
    pool: options.Pool = None,
    domain: options.Domain = None,
    rater: Rater = None,
    port: Port = 0,
    seed: options.Seed = None,
    as_json: options.Json = False,
) -> None:
    """Choose the better of two paintings, again and again, not knowing whose they are.

    Pairs are of one subject and, where it is known, one seed; sides and order are random; ties count half. It stops
    once the interval decides: it holds at every number of votes, so stopping on it is honest. Every vote is kept in
    a file; the same duel goes on there. With --judge or --scorer, how often those agree with you on the same pairs.

    **Examples**

    `paint duel runs/judge-led runs/hps-led`

    `paint duel before-samples after-samples --browser`

    `paint duel a b --report --judge taste --scorer taste --pool mine`
    """
    from dataclasses import replace

    from paintcli import settings
    from paintcli.cli import output as o
    from paintcli.cli.rate import sit, user
    from paintcli.duel import Duel, Side
    from paintcli.errors import UsageError
    from paintcli.training.recipe import FILE

    chosen = settings.load(judge=judge, scorer=scorer, pool=pool, domain=domain, seed=seed)
    if first.resolve() == second.resolve():
        raise UsageError(f"{first} cannot meet itself: name two folders.")
    sides = [Side.read(folder, last) for folder in (first, second)]
    if sides[0].name == sides[1].name:
        sides = [replace(side, name=str(folder)) for side, folder in zip(sides, (first, second), strict=True)]
    name = "-against-".join(side.name.strip("./").replace("/", "-") for side in sides) + ".jsonl"
    path = output or (chosen.project or Path()) / "duels" / name
    meeting = Duel(sides[0], sides[1], path, rater or user(), chosen.seed)
    if report and not meeting.votes:
        raise UsageError(f"There are no votes of {meeting.rater} in {path} to report on.")
    for side in sides:
        say_of(side)
    with ExitStack() as stack:
        # opened before the votes: what is missing is said before an hour of them, not after
        witnesses = witnesses_of(judge, scorer, chosen, stack)
        if not report:
            sit(meeting, browser, port)
        told = meeting.result()
        if meeting.votes:
            told["witnesses"] = ask(meeting, witnesses, chosen)
    if as_json:
        o.emit(told)
    else:
        tell(told, meeting)
        if not told["votes"] or (not meeting.verdict and meeting.at < len(meeting.pairs)):
            then("Go on with", "duel", first, second, *given(rater=rater))
        elif meeting.verdict and (runs := [folder for folder in (first, second) if (folder / FILE).is_file()]):
            then("What did it learn?", "analyze", *runs)


def say_of(side: Side) -> None:
    from paintcli.cli import output as o

    if side.steps:
        o.say(f"{side.name}: {len(side.works)} paintings of steps {side.steps[0]}–{side.steps[1]}.")
    if side.unpainted:
        o.say(f"{side.name}: {side.unpainted} of {side.unpainted + len(side.works)} sketches painted nothing "
              "and are not shown.")  # fmt: skip


def witnesses_of(judge: str | None, scorer: str | None, chosen: Settings, stack: ExitStack) -> list[tuple[str, Any]]:
    """The judge and the scorer that were named, opened: (role, backend)."""
    from paintcli.cli.chosen import comparer_of, find_pool, scorer_of

    specs = [spec for spec, named in ((chosen.judge, judge), (chosen.scorer, scorer)) if named]
    found = find_pool(chosen) if "taste" in specs else None
    opened: list[tuple[str, Any]] = []
    if judge:
        opened.append(("judge", comparer_of(chosen, found, stack)))
    if scorer:
        opened.append(("scorer", scorer_of(chosen, found, stack)))
    return opened


def ask(meeting: Duel, witnesses: list[tuple[str, Any]], chosen: Settings) -> dict[str, Any]:
    """What the witnesses say of the pairs that were voted on."""
    import asyncio

    from paintcli import domains
    from paintcli import duel as duels
    from paintcli.backends.specs import label

    subject = domains.load(chosen.domain)
    votes = meeting.voted() if witnesses else []

    async def all_of_them() -> dict[str, Any]:
        told = {}
        for role, backend in witnesses:
            if role == "judge":
                said = await duels.judged(votes, backend, subject.criteria)
            else:
                said = await duels.scored(votes, backend, subject.hpsv3_prompt)
            told[role] = {"backend": label(chosen.judge if role == "judge" else chosen.scorer), **said.to_json()}
        return told

    return asyncio.run(all_of_them())


def tell(told: dict[str, Any], meeting: Duel) -> None:
    from rich.table import Table

    from paintcli.cli import output as o
    from paintcli.cli.rate import share_words

    rate = told["win_rate"]
    if not told["votes"]:
        o.say("No votes, no result.")
        return
    names = meeting.first.name, meeting.second.name
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_row(o.plain(names[0]), f"wins {told['wins']}, loses {told['losses']}, ties {told['ties']}")
    table.add_row("win rate", share_words(rate))
    verdict = {"first": f"{names[0]} is better", "second": f"{names[1]} is better", "equal": "as good as each other"}
    table.add_row("so far", o.plain(verdict.get(meeting.verdict, "not decided: the interval holds one half")))
    for role, said in told["witnesses"].items():
        agrees = share_words(said["agreement"]) if said["agreement"]["of"] else "not known, every vote was a tie"
        table.add_row(role, o.plain(f"{said['backend']}: agrees with you {agrees}, win rate {said['win_rate']:.0%}"))
    o.out().print(table)
    if not meeting.verdict and meeting.at >= len(meeting.pairs):
        o.say("Every pair has met: more paintings on both sides would decide (`paint sample -n 64`).")
    o.say(f"The votes: {meeting.journal.path}")
