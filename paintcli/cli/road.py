"""The road from photographs to a painter that is given away: every command ends by naming the next."""

from __future__ import annotations

from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paintcli.pool import Pool

RUN = ("train", "--mix", "judge-led", "--exam-every", 10)
"""What the road leads to."""


def then(why: str, *words: object) -> None:
    """Say on stderr what to type next, a path as short as it is from here. For people: never with --json."""
    from paintcli.cli import output as o

    typed = join(short(word) if isinstance(word, Path) else str(word) for word in words)
    o.say(f"{why}{'' if why.endswith('?') else ':'} paint {typed}")


def short(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def given(**flags: str | None) -> tuple[str, ...]:
    """The flags that were given, as they are typed: what was chosen by hand is chosen for the next command too."""
    return tuple(word for name, value in flags.items() if value for word in (f"--{name}", value))


def pool_words(folder: Path) -> tuple[object, ...]:
    """`--pool FOLDER`, or nothing where commands find that pool by themselves."""
    from paintcli import settings

    chosen = settings.load()
    named = Path(chosen.pool) if chosen.pool else chosen.project and chosen.project / "pool"
    return () if named and named.resolve() == folder.resolve() else ("--pool", folder)


def after_pool(pool: Pool) -> None:
    """What a pool of one's own needs next: ratings, a second look at some, more, a forecast. Others' need nothing."""
    from paintcli.errors import UsageError
    from paintcli.rating import own_folder

    try:
        own_folder(pool.path)
    except UsageError:  # packaged
        return
    if not pool.origin.startswith(("the pool", "the project's")):  # fetched from the Hub
        return
    words = pool_words(pool.path)
    unrated = len(pool) - len(pool.rated)
    if unrated:
        then(f"Rate the {unrated} that nobody has rated" if pool.rated else "Rate them", "pool", "rate", *words)
    elif not pool.rechecked:
        then("Do you agree with yourself?", "pool", "rate", "--recheck", min(10, len(pool)), *words)
    elif len({e.tier for e in pool.reserved}) < 2:
        then("Ten loved and ten okay let the judge be held against you; more paintings", "pool", "generate", *words)
    else:
        then("Will it learn?", "forecast", "--mix", "judge-led", *words)


def after_pool_in(folder: Path) -> None:
    """The same of a folder that was just written to; where it cannot be read, what says why."""
    from paintcli.errors import UsageError
    from paintcli.pool import Pool

    try:
        pool = Pool.load(folder)
    except UsageError:
        then("Not all of it can be read; why", "pool", "check", *pool_words(folder))
    else:
        after_pool(pool)


def after_run(folder: Path, *, examined: bool) -> None:
    """What to ask of a training run that ended."""
    if not examined:
        then("Did it get better?", "exam", folder)
    then("What did it learn?", "analyze", folder)


def after_control(folder: Path, rewards: Sequence[float]) -> None:
    """The control run paints nothing: where its reward rose the trainer moves, and the real run is next."""
    then("What did it learn?", "analyze", folder)
    if len(rewards) >= 20 and sum(rewards[-10:]) > sum(rewards[:10]):
        then("The trainer moves; the run", *RUN)


def after_analysis(names: Sequence[object], painted: bool, control: bool) -> None:
    if painted:
        then("Every painting on a page", "gallery", *names)
    elif control:
        then("The run", *RUN)


def after_gallery(names: Sequence[object], everything: bool) -> None:
    """`everything`: a training run and a pool of one's own are here to be given away with it."""
    what = "all" if everything else "gallery"
    then("Give it away; this builds it and sends nothing", "publish", what, *names, "--dry-run", "--out", "look")
