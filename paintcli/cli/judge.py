"""`paint judge`: pictures against the pool, or against one another, and how far the judge can be trusted."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paintcli.cli import options
from paintcli.cli.chosen import comparer_of, draw, find_pool
from paintcli.cli.road import given, then

if TYPE_CHECKING:
    from paintcli.backends.protocols import Comparer
    from paintcli.judging import Judgement
    from paintcli.pool import Pool, Reference
    from paintcli.settings import Settings


def register(app: typer.Typer) -> None:
    app.command()(judge)


def judge(
    images: Annotated[
        list[str] | None,
        typer.Argument(metavar="IMAGE", help="Pictures, or folders of them.", show_default=False),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="IMAGE", help="Compare with this picture instead.", show_default=False),
    ] = None,
    references: options.References = 4,
    repeat: Annotated[
        int,
        typer.Option(
            "--repeat", metavar="N", min=1, help="Ask everything N times: retest agreement, position bias, ties."
        ),
    ] = 1,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="Agreement with the rater on the reserved part of the pool.")
    ] = False,
    pool: options.Pool = None,
    seed: options.Seed = None,
    domain: options.Domain = None,
    judge: options.Judge = None,
    as_json: options.Json = False,
) -> None:
    """Compare pictures with rated paintings, each pair in both orders.

    The score is the mean share of wins; a verdict that turns with the order counts ½. All pictures of one call meet
    the same references, drawn by --seed. Exit code 4 when a picture could not be judged.

    **Examples**

    `paint judge painting.png`

    `paint judge a.png --against b.png`

    `paint judge paintings/ --judge vlm:Qwen/Qwen3-VL-4B-Instruct --repeat 3 --json`

    `paint judge --held-out`
    """
    import asyncio

    from paintcli import domains, settings
    from paintcli.cli import output as o
    from paintcli.errors import UsageError

    if held_out and (images or against):
        raise UsageError("--held-out judges the pool's own reserved paintings: it takes no pictures.")
    if not images and not held_out:
        raise UsageError("No picture was named: name some, or ask with --held-out how far the judge agrees with you.")
    chosen = settings.load(pool=pool, seed=seed, domain=domain, judge=judge)
    criteria = domains.load(chosen.domain).criteria
    named = pictures(images or [])  # what is not there is said before a judge is loaded
    with ExitStack() as stack:
        rated = find_pool(chosen) if held_out or not against or chosen.judge == "taste" else None
        comparer = comparer_of(chosen, rated, stack)
        if held_out:
            assert rated is not None
            sure = asyncio.run(show_held_out(rated, comparer, criteria, chosen.judge, as_json))
            if sure and not as_json:
                then("Will it learn?", "forecast", "--mix", "judge-led", *given(pool=pool, judge=judge, domain=domain))
            elif not as_json:
                o.say("That may be a coin's: rate more paintings, or name another judge with --judge.")
            return
        opponents = [opponent(against)] if against else draw(rated, references, chosen.seed)
        failed = asyncio.run(judge_all(named, opponents, comparer, criteria, repeat, chosen, as_json))
    if failed:
        raise typer.Exit(4)


def opponent(name: str) -> Reference:
    """A picture that is no pool's: the other side of --against."""
    from paintcli.errors import UsageError
    from paintcli.painting import Painting
    from paintcli.pool import Reference

    path = Path(name)
    if not path.is_file():
        raise UsageError(f"{name} does not exist.")
    Painting.from_file(path)  # unreadable: said now, not after the first duel
    return Reference(path=path, source=None, tier="", subject="", family="", row={"file_name": name})


def pictures(names: list[str]) -> list[str]:
    from paintcli.errors import UsageError
    from paintcli.pool import IMAGE_SUFFIXES

    found: list[str] = []
    for name in dict.fromkeys(names):
        path = Path(name)
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.suffix.lower() in IMAGE_SUFFIXES)
            if not inside:
                raise UsageError(f"{name} holds no pictures.")
            found += map(str, inside)
        elif not path.exists():
            raise UsageError(f"{name} does not exist.")
        elif path.suffix.lower() in (".js", ".txt", ".md"):
            raise UsageError(f"{name} is a sketch: `paint render` makes a picture of it, `paint score` rewards it.")
        else:
            found.append(name)
    return found


# -- the duels -----------------------------------------------------------------------------------------------------


async def judge_all(
    names: list[str],
    opponents: list[Reference],
    comparer: Comparer,
    criteria: str,
    repeat: int,
    chosen: Settings,
    as_json: bool,
) -> int:
    """Judge every picture, print as it goes; returns how many could not be judged."""
    from paintcli.backends.specs import label
    from paintcli.cli import output as o
    from paintcli.errors import PaintError
    from paintcli.judging import judge, trust
    from paintcli.painting import Painting

    failed = 0
    rounds: list[list[Any]] = [[] for _ in range(repeat)]
    owners: list[str] = []
    with o.progress(len(names) * repeat, "judging") as bar:
        for name in names:
            row: dict[str, Any] = {"image": name, "score": None, "comparisons": [], "ties": 0}
            row |= {"backend": label(chosen.judge), "seed": chosen.seed}
            try:
                candidate = Painting.from_file(Path(name))
                results: list[Judgement] = []
                for _ in range(repeat):
                    results.append(await judge(candidate, opponents, comparer, criteria))
                    bar.advance(bar.tasks[0].id)
            except PaintError as error:
                failed += 1
                row["unavailable"] = [str(error)]
            else:
                first = results[0]
                row |= {
                    "score": round(first.score, 6),
                    "comparisons": [c.to_json() for c in first.comparisons],
                    "ties": first.ties,
                }
                if first.dropped:
                    row["unavailable"] = list(first.dropped)
                if repeat > 1:
                    row["scores"] = [round(r.score, 6) for r in results]
                    row |= trust([r.comparisons for r in results]).to_json()
                for index, result in enumerate(results):
                    rounds[index] += [(name, c) for c in result.comparisons]
                owners.append(name)
            if as_json:
                o.emit(row)
            else:
                print_judgement(row)
    if repeat > 1 and len(owners) > 1:
        # a comparison that failed in one round shifts the others: keyed by owner and reference, not by place
        keyed = [[_owned(name, c) for name, c in one] for one in rounds]
        together = trust(keyed).to_json()
        if as_json:
            o.emit({"images": len(owners)} | together)
        else:
            o.out().print(o.plain(f"all {len(owners)} pictures"), style="bold")
            print_trust(together)
    return failed


def _owned(name: str, comparison: Any) -> Any:
    from dataclasses import replace

    return replace(comparison, reference=f"{name}\0{comparison.reference}")


def print_judgement(row: dict[str, Any]) -> None:
    from rich.table import Table

    from paintcli.cli import output as o

    console = o.out()
    score = "–" if row["score"] is None else f"{row['score']:.3f}"
    console.print(o.plain(f"{row['image']}  {score}  {row['backend']}"), style="bold")
    if row["comparisons"]:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2), header_style="dim")
        for heading in ("reference", "tier", "shown first", "shown second", "share"):
            table.add_column(heading, justify="left" if heading in ("reference", "tier") else "right")
        for duel in row["comparisons"]:
            tie = (duel["forward"] - 0.5) * (duel["backward"] - 0.5) <= 0
            table.add_row(
                o.plain(duel["reference"]),
                duel["tier"],
                f"{duel['forward']:.2f}",
                f"{duel['backward']:.2f}",
                f"{duel['score']:.2f}{' tie' if tie else ''}",
            )
        console.print(table)
    for why in row.get("unavailable", []):
        console.print(o.plain(f"  unavailable: {why}"))
    if "repeats" in row:
        print_trust(row)


def print_trust(row: dict[str, Any]) -> None:
    from paintcli.cli import output as o

    for key, words in (
        ("retest_agreement", "the same question gets the same answer"),
        ("first_shown_wins", "whoever is shown first wins"),
        ("tie_rate", "the two orders disagree"),
    ):
        o.out().print(o.plain(f"  {share(row[key])}  {words}"))
    o.out().print(o.plain(f"  over {row['repeats']} rounds; intervals: {row['interval']}"), style="dim")


def share(told: dict[str, Any]) -> str:
    if told["value"] is None:
        return "unknown (n = 0)"
    return f"{told['value']:.1%} ({told['low']:.1%}–{told['high']:.1%}, n = {told['of']})"


async def show_held_out(pool: Pool, comparer: Comparer, criteria: str, spec: str, as_json: bool) -> bool:
    """Agreement with the rater's own ratings; for the embedded judge its leave-one-family-out accuracy too.

    Returns whether either is surely better than a coin's.
    """
    from paintcli.backends.specs import label
    from paintcli.backends.taste import Taste, leave_family_out
    from paintcli.cli import output as o
    from paintcli.judging import held_out

    with o.progress(1, "judging the reserved part"):
        told = await held_out(pool, comparer, criteria)
    sure = told.agreement.low > 0.5
    row = {"pool": pool.name, "backend": label(spec)} | told.to_json()
    families = len({e.family for e in pool.rated})
    if isinstance(comparer, Taste):
        row["decided_by"] = {feature: round(weight, 4) for feature, weight in comparer.decided()[:8]}
        if families > 1:
            left = leave_family_out(pool)
            sure = sure or left.low > 0.5
            row["leave_family_out"] = {
                "value": round(left.value, 4), "low": round(left.low, 4), "high": round(left.high, 4),
                "of": left.pairs, "families": left.families,
            }  # fmt: skip
    if as_json:
        o.emit(row)
        return sure
    console = o.out()
    console.print(o.plain(f"{row['backend']} on {told.paintings} reserved paintings of {pool.name}"), style="bold")
    console.print(o.plain(f"  {share(row['agreement'])}  the better rated painting wins"))
    console.print(o.plain(f"  {share(row['tie_rate'])}  the two orders disagree"))
    if told.rater:
        console.print(
            o.plain(f"  {told.rater['same']:.1%}  the rater agrees with the rater ({told.rater['rechecked']})")
        )
    else:
        console.print(o.plain("  the rater's own consistency is not known: no painting of this pool was rated twice"))
    if "leave_family_out" in row:
        left_out = share(row["leave_family_out"])
        console.print(o.plain(f"  {left_out}  the same, each of {families} families left out in turn"))
    if "decided_by" in row:
        console.print(o.plain("  decided by " + ", ".join(f"{k} {v:+.2f}" for k, v in row["decided_by"].items())))
    console.print(o.plain(f"  intervals: {row['interval']}"), style="dim")
    return sure
