"""`paint pool rate`: a person's hours in front of a pool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paintcli.cli import options
from paintcli.cli.pool import group

if TYPE_CHECKING:
    from paintcli.pairs import PoolPairs
    from paintcli.rating import Rating
    from paintcli.sitting import Sitting

Browser = Annotated[bool, typer.Option("--browser", help="On a local page instead of in the terminal.")]
Port = Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="Of the page; 0 takes a free one.")]
Rater = Annotated[
    str | None, typer.Option("--rater", metavar="NAME", help="Who rates; default: the user's name.", show_default=False)
]


def register(app: typer.Typer) -> None:
    group.command()(rate)


def rate(
    pool: options.OwnPool = None,
    browser: Browser = False,
    rater: Rater = None,
    tier: Annotated[
        str | None, typer.Option("--tier", metavar="NAME", help="Only those of this tier.", show_default=False)
    ] = None,
    family: Annotated[
        str | None,
        typer.Option("--family", metavar="TEXT", help="Only this family or generator.", show_default=False),
    ] = None,
    subject: Annotated[
        str | None, typer.Option("--subject", metavar="TEXT", help="Only this subject.", show_default=False)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Rated ones too.")] = False,
    unrated: Annotated[bool, typer.Option("--unrated", help="Only what nobody has rated: share the work.")] = False,
    blind: Annotated[bool, typer.Option("--blind/--open", help="Hide who painted it until it is rated.")] = True,
    pairs: Annotated[bool, typer.Option("--pairs", help="Two at a time: which one is better painted?")] = False,
    accept: Annotated[bool, typer.Option("--accept", help="With --pairs: give the tiers that the votes propose.")] = (
        False
    ),
    recheck: Annotated[
        int, typer.Option("--recheck", metavar="N", min=0, help="N rated ones again: do you agree with yourself?")
    ] = 0,
    port: Port = 0,
    seed: options.Seed = None,
    as_json: options.Json = False,
) -> None:
    """Rate a pool, one painting and one key at a time: love, okay, weak, no.

    Every key is on disk before the next painting appears. Paintings that another process adds join the queue. Each
    rater's keys are kept in the pool's ratings.jsonl; the column tier is the middle of the raters' latest (the lower
    of two). Stop whenever you like, and go on where you stopped.

    **Examples**

    `paint pool rate --pool mine`

    `paint pool rate --pool mine --browser --unrated`

    `paint pool rate --pool mine --pairs --tier okay`

    `paint pool rate --pool mine --recheck 10`
    """
    from paintcli import settings
    from paintcli.cli import output as o
    from paintcli.errors import UsageError
    from paintcli.pairs import PoolPairs
    from paintcli.rating import Rating, Recheck, Wanted, consistency

    if pairs and recheck:
        raise UsageError("--pairs and --recheck are two different sessions: choose one.")
    if accept and not pairs:
        raise UsageError("--accept takes the tiers proposed by --pairs: give both.")
    if everything and unrated:
        raise UsageError("--all and --unrated exclude each other.")
    chosen = settings.load(pool=pool, seed=seed)
    wanted = Wanted(tier or "", family or "", subject or "", everything, unrated)
    folder, name = own_pool(chosen), rater or user()
    sitting: Rating | PoolPairs
    if pairs:
        sitting = PoolPairs(folder, name, wanted, chosen.seed)
    elif recheck:
        sitting = Recheck(folder, name, recheck, wanted, chosen.seed)
    else:
        sitting = Rating(folder, name, wanted, chosen.seed, blind)
    told: dict[str, Any] = {"pool": str(sitting.folder), "rater": name}
    if accept and isinstance(sitting, PoolPairs):
        told["changed"] = sitting.accept()
        sitting.close()
    else:
        sit(sitting, browser, port)
    if isinstance(sitting, PoolPairs):
        told |= {"votes": len(sitting.votes()), "paintings": sitting.table()}
    elif isinstance(sitting, Recheck):
        told |= consistency(sitting.pairs())
    else:
        told |= {"left": sitting.left, "unreadable": sitting.unreadable}
    told["tiers"] = sitting.tally()
    if as_json:
        o.emit(told)
    else:
        tell(told)
        after(sitting)


def after(sitting: Rating | PoolPairs) -> None:
    """What to type next: the same again while something is left to do, else the road goes on."""
    from paintcli.cli.road import after_pool_in, pool_words, then
    from paintcli.pairs import PoolPairs
    from paintcli.rating import Recheck

    words = pool_words(sitting.folder)
    table = sitting.table() if isinstance(sitting, PoolPairs) else []
    if any(row["votes"] and row["proposed"] != row["tier"] for row in table):
        then("Take the tiers proposed", "pool", "rate", "--pairs", "--accept", *words)
    elif not isinstance(sitting, PoolPairs | Recheck) and sitting.left:
        then("Go on with", "pool", "rate", *words)
    else:
        after_pool_in(sitting.folder)


def own_pool(chosen: Any) -> Path:
    """The folder to rate: --pool, else the project's own, else ./pool. Raises UsageError for one on the Hub."""
    from paintcli.errors import UsageError
    from paintcli.pool import resolve

    if chosen.pool and chosen.pool.startswith("hub:"):
        raise UsageError(
            f"A pool on the Hub is copied before it is rated: paint pool import {chosen.pool} --pool mine."
        )
    if chosen.pool:
        return Path(chosen.pool)
    if chosen.project:
        return resolve(None, chosen.project, chosen.domain).path
    if (Path("pool") / "metadata.jsonl").is_file():
        return Path("pool")
    raise UsageError("Which pool? Name a folder with --pool; `paint pool import` makes one of pictures.")


def user() -> str:
    import getpass

    return getpass.getuser()


def sit(sitting: Sitting, browser: bool, port: int) -> None:
    """Let a person work through a sitting, here in the terminal or on a local page."""
    if browser:
        import typer

        from paintcli.backends.sitting_page import PageServer
        from paintcli.cli import output as o

        with PageServer(sitting, port) as server:
            typer.echo(server.address)
            o.say("The page is open to this machine alone; q on it, or Ctrl-C here, ends the session.")
            typer.launch(server.address)
            server.wait()
        sitting.close()
    else:
        from paintcli.cli.screen import Screen

        Screen(sitting).run()


def tell(told: dict[str, Any]) -> None:
    """What came of it, for a person."""
    from rich.table import Table

    from paintcli.cli import output as o

    if "paintings" in told:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for heading in ("painting", "strength", "95 % interval", "votes", "tier", "proposed"):
            table.add_column(heading, justify="right" if heading in ("strength", "votes") else "left")
        for row in told["paintings"]:
            interval = f"{row['low']:+.2f} … {row['high']:+.2f}"
            changed = row["proposed"] if row["votes"] and row["proposed"] != row["tier"] else ""
            table.add_row(
                o.plain(row["file_name"]), f"{row['strength']:+.2f}", interval, str(row["votes"]), row["tier"] or "",
                changed,
            )  # fmt: skip
        o.out().print(table)
        if "changed" in told:
            o.say(f"{told['changed']} tiers changed.")
        elif any(row["votes"] for row in told["paintings"]):
            o.say("Proposed: love where the interval lies above the pool's middle, weak where it lies below, else what "
                  "it is, or okay. --pairs --accept gives these tiers.")  # fmt: skip
    elif "rechecked" in told:
        same, order = told["same"], told["order"]
        if told["rechecked"]:
            o.out().print(f"same tier again: {share_words(same)} of {told['rechecked']} paintings")
        if order:
            o.out().print(
                f"same order again: {share_words(order)}; no judge can be expected to agree with you more often"
            )
    else:
        left = f"{told['left']} to rate" if told["left"] else "nothing left to rate"
        o.out().print(o.plain("  ".join(f"{tier} {count}" for tier, count in told["tiers"].items()) + f"   {left}"))


def share_words(share: dict[str, Any]) -> str:
    return f"{share['value']:.0%} ({share['low']:.0%}–{share['high']:.0%})"
