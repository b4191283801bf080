"""Several processes, one run: all train the policy, the first alone has the run folder, the browsers and the judges.

Processes are started by accelerate's or torch's launcher, one for each GPU; nothing here starts any.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from paintcli.errors import PaintError

T = TypeVar("T")

PATIENCE = timedelta(hours=4)
"""How long the others wait for what the first process does: a probe or an exam of a large policy takes an hour."""


def number() -> int:
    """How many processes train, by what every launcher sets."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_first() -> bool:
    return int(os.environ.get("RANK", "0")) == 0


def by_first(work: Callable[[], T]) -> T:
    """What `work` gives in the first process, in every process; a PaintError is raised in every one too.

    All processes must come here, in the same order. With one process this is `work()`.
    """
    if number() == 1:
        return work()
    from accelerate import PartialState
    from accelerate.utils import broadcast_object_list

    # the first call makes the group of processes, which later users of accelerate then share
    PartialState(cpu=os.environ.get("ACCELERATE_USE_CPU", "").lower() == "true", timeout=PATIENCE)
    told: list[object] = [None, None]
    if is_first():
        try:
            told[0] = work()
        except PaintError as error:
            told[1] = error
    broadcast_object_list(told)
    if isinstance(told[1], PaintError):
        raise told[1]
    return told[0]  # type: ignore[return-value]
