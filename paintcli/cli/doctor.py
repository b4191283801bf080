"""`paint doctor`: what is here, what is missing, what to do; what runs on the Hub, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from paintcli.cli import options
from paintcli.cli.road import then

if TYPE_CHECKING:
    from paintcli.doctor import Finding, Tenant
    from paintcli.settings import Settings


def register(app: typer.Typer) -> None:
    app.command()(doctor)


def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Fetch what can be fetched: npm packages, a browser.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say only what is missing.")] = False,
    hub: Annotated[bool, typer.Option("--hub", help="Look at the token and the Spaces instead.")] = False,
    space: Annotated[
        list[str] | None,
        typer.Option("--space", metavar="OWNER/NAME", help="With --hub: this Space too.", show_default=False),
    ] = None,
    wake: Annotated[
        list[str] | None,
        typer.Option("--wake", metavar="OWNER/NAME", help="Start this Space.", show_default=False),
    ] = None,
    pause: Annotated[
        list[str] | None,
        typer.Option("--pause", metavar="OWNER/NAME", help="Stop this Space until woken.", show_default=False),
    ] = None,
    sleep_time: Annotated[
        list[str] | None,
        typer.Option(
            "--sleep-time", metavar="OWNER/NAME=MIN", help="Let it sleep after MIN idle minutes.", show_default=False
        ),
    ] = None,
    renderer: options.Renderer = None,
    scorer: options.Scorer = None,
    judge: options.Judge = None,
    as_json: options.Json = False,
) -> None:
    """Look at everything paint needs and say what to do about each gap.

    Exit code 1 when something is missing without which nothing can be painted. With --hub: what the token may do,
    and the state, hardware and price of every Space that paint.toml, the environment or a flag names, and of your own
    that cost money now; in a terminal it offers to wake, pause or send each to sleep.

    **Examples**

    `paint doctor`

    `paint doctor --fix`

    `paint doctor --hub --pause me/hpsv3`
    """
    from paintcli import doctor as checks
    from paintcli import settings

    chosen = settings.load(renderer=renderer, scorer=scorer, judge=judge)
    if hub or space or wake or pause or sleep_time:
        missing = look_at_hub(chosen, space or [], wake or [], pause or [], sleep_time or [], quiet, as_json)
        raise typer.Exit(1 if missing else 0)
    if fix:
        repair()
    missing = show(checks.examine(chosen), quiet, as_json)[1]
    if not (missing or quiet or as_json or chosen.project):
        then("All of it, shown in one to three minutes", "demo")
    raise typer.Exit(1 if missing else 0)


def repair() -> None:
    from paintcli.backends.chromium import install
    from paintcli.cli import output as o
    from paintcli.errors import PaintError

    for one in (install.libraries, install.browser):
        try:
            for line in one():
                o.say(line)
        except PaintError as error:  # one repair that fails does not keep the others from being tried
            o.say(str(error))


def show(findings: Iterable[Finding], quiet: bool, as_json: bool) -> tuple[list[Finding], int]:
    """Print findings as they come, or as a table; returns them and how many are gaps."""
    from dataclasses import asdict

    from rich.table import Table
    from rich.text import Text

    from paintcli.cli import output as o

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    colours = {"ok": "green", "gap": "bold red", "optional": "yellow"}
    marks = {"ok": "✓", "gap": "✗", "optional": "–"}
    seen = []
    for finding in findings:
        seen.append(finding)
        if as_json:
            o.emit(asdict(finding))
        elif not quiet or finding.state == "gap":
            detail = Text(finding.detail)
            if finding.remedy:
                detail.append(f"\n{finding.remedy}", style="dim")
            table.add_row(Text(marks[finding.state], style=colours[finding.state]), finding.what, detail)
    if table.row_count:
        o.out().print(table)
    return seen, sum(finding.state == "gap" for finding in seen)


def look_at_hub(
    chosen: Settings, others: list[str], wake: list[str], pause: list[str], sleep_time: list[str], quiet: bool,
    as_json: bool,
) -> int:  # fmt: skip
    """Do what the flags ask, show what there is then, and on a terminal offer the rest. Returns the number of gaps."""
    import sys

    from paintcli import doctor as checks
    from paintcli.backends.hub import spaces
    from paintcli.cli import output as o
    from paintcli.doctor import Tenant

    timers = [timer(text) for text in sleep_time]
    for name in wake:
        spaces.wake(name)
        o.say(f"{name} starts; that takes minutes.")
    for name in pause:
        spaces.pause(name)
        o.say(f"{name} is paused.")
    for name, seconds in timers:
        spaces.sleep_after(name, seconds)
        o.say(f"{name} sleeps after {spaces.duration(seconds)} without a request.")
    others = [*others, *wake, *pause, *(name for name, _ in timers)]
    seen, missing = show(checks.examine_hub(checks.named_spaces(chosen), others), quiet, as_json)
    if not (as_json or quiet or wake or pause or timers) and sys.stdin.isatty() and sys.stderr.isatty():
        for finding in seen:
            if isinstance(finding, Tenant):
                offer(finding)
    return missing


def timer(text: str) -> tuple[str, int]:
    """ "owner/name=15" as (Space, seconds). Raises UsageError for anything else."""
    from paintcli.errors import UsageError

    name, _, minutes = text.rpartition("=")
    if not (name and minutes.isdecimal() and int(minutes) > 0):
        raise UsageError(f"--sleep-time takes OWNER/NAME=MINUTES, not {text!r}.")
    return name, 60 * int(minutes)


def offer(found: Tenant) -> None:
    """Ask what to do with one Space; Enter leaves it as it is. Nothing is offered for a Space that costs nothing."""
    from paintcli.backends.hub import spaces
    from paintcli.cli import output as o
    from paintcli.errors import PaintError

    name = found.space
    try:
        if found.billed:
            asked = f"{name}: pause it (p), let it sleep after so many idle minutes (15, say), or leave it (Enter)"
            answer = typer.prompt(asked, default="", show_default=False, err=True).strip()
            if answer in ("p", "pause"):
                spaces.pause(name)
                o.say(f"{name} is paused.")
            elif answer.isdecimal() and int(answer) > 0:
                spaces.sleep_after(name, 60 * int(answer))
                o.say(f"{name} sleeps after {answer} min without a request.")
            elif answer:
                o.say(f"Nothing is done: {answer!r} is neither p nor a number of minutes.")
        elif found.stage in (*spaces.STOPPED, "SLEEPING"):
            cost = f", ${found.dollars:.2f} an hour" if found.dollars else ""
            if typer.confirm(f"{name}: wake it ({found.hardware}{cost})?", default=False, err=True):
                spaces.wake(name)
                o.say(f"{name} starts; that takes minutes.")
    except PaintError as error:  # what is refused for one Space says nothing about the next
        o.say(str(error))


def remind(*specs: str | None) -> None:
    """Say which of these Spaces still run and cost money. A reminder is never worth an error."""
    from contextlib import suppress

    from paintcli import doctor as checks
    from paintcli.backends.hub import spaces
    from paintcli.cli import output as o
    from paintcli.errors import PaintError

    for name in checks.spaces_of(*specs):
        with suppress(PaintError):
            found = checks.tenant(spaces.look(name), spaces.prices(), needed=False)
            if found.billed:
                o.say(f"{name} still runs: {found.detail}. To stop it: paint doctor --pause {name}")
