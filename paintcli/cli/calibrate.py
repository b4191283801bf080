"""`paint pool calibrate`: which references a policy can beat, and a pool that draws only those."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paintcli.cli import options
from paintcli.cli.pool import group
from paintcli.cli.road import then

if TYPE_CHECKING:
    from paintcli.calibration import Calibration, Work
    from paintcli.pool import Pool
    from paintcli.settings import Settings


def register(app: typer.Typer) -> None:
    group.command()(calibrate)


def calibrate(
    source: Annotated[
        str,
        typer.Argument(metavar="RUN_OR_FOLDER", help="A run, samples, or a folder of pictures.", show_default=False),
    ],
    pool: options.Pool = None,
    last: Annotated[int, typer.Option("--last", metavar="N", min=0, help="Only the run's last N steps; 0: all.")] = 0,
    each: Annotated[
        int, typer.Option("--each", metavar="N", min=1, help="Paintings that meet a reference, if asked for.")
    ] = 16,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="NEWPOOL", help="Write a calibrated copy.", show_default=False),
    ] = None,
    rung: Annotated[
        bool, typer.Option("--rung", help="Give the copy a tier `weak` of the policy's own best paintings.")
    ] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Leave calibration.json in the pool: `paint train` warns by it.")
    ] = False,
    judge: options.Judge = None,
    domain: options.Domain = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
) -> None:
    """Count how often a policy's paintings beat each reference that training may draw.

    A win share of 0.25 to 0.75 makes a rival to learn from; what nobody or everybody beats teaches nothing. The
    comparisons are those the run recorded; the judge is asked where there are none, or when --judge names one. Nothing
    is changed in the pool: -o writes a copy in which the flagged references are set aside, never drawn but still
    learned from. Exit code 4 when a comparison failed.

    **Examples**

    `paint pool calibrate runs/judge-led-1 --last 20`

    `paint pool calibrate samples-judge-led-1 --judge vlm:Qwen/Qwen3-VL-4B-Instruct -o pool-2`

    `paint pool calibrate runs/small-1 --rung -o pool-2`
    """
    from paintcli import calibration, settings
    from paintcli import pool as pools
    from paintcli.cli import output as o
    from paintcli.cli.chosen import find_pool
    from paintcli.errors import UsageError
    from paintcli.rating import own_folder

    if rung and not output:
        raise UsageError("--rung adds paintings to a copy of the pool: name it with -o.")
    chosen = settings.load(pool=pool, judge=judge, domain=domain, seed=seed)
    work = calibration.work_of(Path(source), last)
    rated = find_pool(chosen)
    if record:
        own_folder(rated.path)
    if output:
        calibration.need_room(output)
    if not rated.drawable:
        raise UsageError(f"{rated.origin} has no rated painting to compare with.")
    found, dropped = calibration.from_record(rated, work), list[str]()
    if judge or not found.comparisons:
        if found.strangers and not judge:
            o.say(f"The {found.strangers} comparisons of {source} are with other references; the judge is asked.")
        found, dropped = ask(rated, work, chosen, each)
    if record:
        calibration.record(pools.metadata_folder(rated.path), found)
    written = calibration.write_pool(rated, found, output, work if rung else None) if output else None
    if as_json:
        for rival in found.rivals:
            o.emit(rival.to_json())
        o.emit(
            {"pool": rated.name, **found.to_json(), "left_to_draw": calibration.left_to_draw(found),
             "proposal": proposal(found), "dropped": dropped, "written": str(output) if output else None}
        )  # fmt: skip
    else:
        show(found, dropped)
        if written:
            o.say(f"{output} draws from {len(written.drawable)} of its {len(written)} paintings.")
            if gone := [tier for tier, n in calibration.left_to_draw(found).items() if not n]:
                o.say(
                    f"Nothing of {' or '.join(gone)} is left in the draw: calibrate anew once the policy paints better."
                )
            if written.drawable:
                then("Will it learn with that?", "forecast", "--mix", "judge-led", "--pool", output)
        elif said := proposal(found):
            o.say(said)
    if dropped:
        raise typer.Exit(4)


def ask(pool: Pool, work: Work, chosen: Settings, each: int) -> tuple[Calibration, list[str]]:
    """The judge's own comparisons, with a bar."""
    import asyncio

    from paintcli import calibration, domains
    from paintcli.backends.specs import label
    from paintcli.cli import output as o
    from paintcli.cli.chosen import comparer_of

    with ExitStack() as stack:
        comparer = comparer_of(chosen, pool, stack)
        total = len(calibration.meetings(pool, work, each, chosen.seed))
        o.say(f"{label(chosen.judge)} compares {total} pairs, both ways round.")
        bar = stack.enter_context(o.progress(total, "comparing"))
        criteria = domains.load(chosen.domain).criteria
        return asyncio.run(
            calibration.ask(
                pool, work, comparer, label(chosen.judge), criteria, each, chosen.seed,
                lambda: bar.advance(bar.tasks[0].id),
            )
        )  # fmt: skip


def proposal(found: Calibration) -> str | None:
    """What to do next, in a sentence; None when every reference is a rival, or nothing is known."""
    from paintcli.calibration import LEAST, RUNG, nearest

    if found.hopeless:
        near = nearest(found.rivals, 1)[0]
        return (
            f"This policy wins nothing here ({near.reference}, at {near.share.value:.2f}, is the nearest). Give it a "
            f"weaker rung: --rung -o NEWPOOL makes one of its own best {RUNG} paintings, which it beats and loses to."
        )
    if found.flagged:
        return f"{len(found.flagged)} references teach this policy nothing: -o NEWPOOL writes a pool without them."
    if not any(r.verdict != "unknown" for r in found.rivals):
        return f"No reference was met {LEAST} times: ask the judge with --judge, or calibrate after more steps."
    return None


def show(found: Calibration, dropped: list[str]) -> None:
    from rich.table import Table

    from paintcli.calibration import left_to_draw
    from paintcli.cli import output as o
    from paintcli.pool import tier_rank

    console = o.out()
    console.print(
        o.plain(f"{found.paintings} paintings of {found.source}, {found.comparisons} comparisons by {found.judge}"),
        style="bold",
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("reference", "tier", "won", "of", "share", "95 %", "verdict"):
        table.add_column(heading, justify="right" if heading in ("won", "of", "share", "95 %") else "left")
    for rival in sorted(
        found.rivals, key=lambda r: (tier_rank(r.tier), -r.share.value if r.shares else 1, r.reference)
    ):
        share: Any = rival.share
        numbers = (f"{share.value:.2f}", f"{share.low:.2f}–{share.high:.2f}") if rival.shares else ("", "")
        table.add_row(o.plain(rival.reference), rival.tier, str(rival.wins), str(share.of), *numbers, rival.verdict)
    console.print(table)
    verdicts = found.to_json()["verdicts"]
    console.print(o.plain(", ".join(f"{n} {verdict}" for verdict, n in verdicts.items() if n)))
    left = ", ".join(f"{tier} {n}" for tier, n in left_to_draw(found).items())
    console.print(o.plain(f"not flagged: {left}"))
    if found.strangers:
        console.print(o.plain(f"not counted: {found.strangers} comparisons with references not drawn from this pool"))
    for why in dropped[:5]:
        console.print(o.plain(f"unavailable: {why}"))
    if len(dropped) > 5:
        console.print(o.plain(f"… and {len(dropped) - 5} more"))
