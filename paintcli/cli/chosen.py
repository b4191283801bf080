"""What the settings of a command chose: its pool, its judge, its scorer, opened at the start and closed with it."""

from __future__ import annotations

from contextlib import ExitStack
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
