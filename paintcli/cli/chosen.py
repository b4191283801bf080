"""What the settings of a command chose: its pool, its judge, its scorer, opened at the start and closed with it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paintcli.backends.protocols import Comparer, Scorer
    from paintcli.pool import Pool, Reference
    from paintcli.settings import Settings


def find_pool(chosen: Settings) -> Pool:
    """The pool of these settings, said on stderr when nobody named it."""
    from huggingface_hub import get_token

    from paintcli.cli import output as o
    from paintcli.pool import resolve

    found = resolve(chosen.pool, chosen.project, chosen.domain, hub=get_token() is not None)
    if not chosen.pool:
        o.say(f"References from {found.origin}.")
    return found


def newest_run(project: Path | None, *files: str) -> Path:
    """The folder under runs/ that was written to last, of those that hold one of `files`. UsageError for none."""
    from paintcli.errors import UsageError

    runs = (project or Path.cwd()) / "runs"
    found = [folder for folder in runs.glob("*") if any((folder / name).is_file() for name in files)]
    if not found:
        raise UsageError("There is no run under runs/ here: name one, or begin one with `paint train`.")
    return max(found, key=lambda folder: max(path.stat().st_mtime for path in folder.iterdir()))


def newest_paintings(project: Path | None) -> Path:
    """The same of runs with paintings; it explains why a control run is none of them."""
    from paintcli.errors import UsageError
    from paintcli.rollouts import PAINTED, UNPAINTED

    newest = newest_run(project, PAINTED, UNPAINTED)
    try:
        return newest_run(project, PAINTED)
    except UsageError:
        raise UsageError(
            f"{newest.name} has no painting (a control run paints none), nor has any other run here: name a folder "
            "that has, such as `paint score SKETCHES -o scored` makes."
        ) from None


def pool_to_fill(chosen: Settings) -> Path:
    """The folder that is filled: --pool, else the project's pool/, else ./pool. UsageError for one on the Hub."""
    from paintcli.errors import UsageError

    if chosen.pool and chosen.pool.startswith("hub:"):
        raise UsageError(
            f"A pool on the Hub is not filled from here; copy it first: paint pool import {chosen.pool} --pool mine."
        )
    return Path(chosen.pool) if chosen.pool else (chosen.project or Path()) / "pool"


def comparer_of(chosen: Settings, pool: Pool | None, stack: ExitStack) -> Comparer:
    from paintcli.backends.specs import make_comparer

    return opened(stack, make_comparer(chosen.judge, pool, chosen.workers))


def scorer_of(chosen: Settings, pool: Pool | None, stack: ExitStack) -> Scorer:
    from paintcli.backends.specs import make_scorer

    return opened(stack, make_scorer(chosen.scorer, pool, chosen.workers))


def opened(stack: ExitStack, backend: Any) -> Any:
    """Read a local model now, so that a missing one is said once; close what can be closed when the command ends."""
    if hasattr(backend, "close"):
        stack.callback(backend.close)
    if hasattr(backend, "load"):
        backend.load()
    return backend


def draw(pool: Pool | None, references: int, seed: int) -> list[Reference]:
    from paintcli.cli import output as o
    from paintcli.pool import shares_of

    assert pool is not None
    drawn = pool.draw(shares_of(references), seed)
    for warning in drawn.warnings:
        o.say(warning)
    return list(drawn.references)
