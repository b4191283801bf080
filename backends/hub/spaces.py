"""Spaces on the Hub: where one answers, whether it is up, what it runs on and costs, and how to wake or stop it."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from logging import getLogger
from typing import Any, TypeVar

import httpx2

from paintcli.backends.hub.http import FINAL, is_address
from paintcli.errors import PaintError, Unavailable, UsageError

T = TypeVar("T")

NAME = re.compile(r"[\w.-]+/[\w.-]+")
COMING = ("SLEEPING", "BUILDING", "APP_STARTING", "RUNNING_BUILDING", "RUNNING_APP_STARTING")
"""Stages that pass by themselves: a request wakes a Space that sleeps, and building and starting end."""
STOPPED = ("PAUSED", "STOPPED")
BILLED = ("RUNNING", "RUNNING_BUILDING", "RUNNING_APP_STARTING", "APP_STARTING")
"""Stages in which the hardware runs. A Space that builds, sleeps or is paused costs nothing."""
FREE = "cpu-basic"
LOOK_AGAIN = 5.0
"""Seconds for which an answer about a Space's stage holds: thirty-two requests that failed together ask once."""


@dataclass(frozen=True)
class Space:
    """A Space as the Hub describes it. `sleep_time`: seconds without a request until it sleeps, None: never set.

    `hardware` is what it runs on, or will.
    """

    name: str
    stage: str
    hardware: str
    sleep_time: int | None

    @property
    def billed(self) -> bool:
        """Whether it costs money at this moment."""
        return self.stage in BILLED and self.hardware != FREE

    @property
    def sleeps(self) -> str:
        """When it goes to sleep by itself, in words."""
        if self.sleep_time is not None and self.sleep_time > 0:
            return f"sleeps after {duration(self.sleep_time)} without a request"
        return "sleeps after two days without a request" if self.hardware == FREE else "never sleeps by itself"


def checked(name: str) -> str:
    """`name`. Raises UsageError when it is not owner/name."""
    if not NAME.fullmatch(name):
        raise UsageError(f"A Space is named owner/name, not {name!r}.")
    return name


def look(name: str) -> Space:
    """The Space `owner/name` as it is now. Raises PaintError when there is none, Unavailable without an answer."""
    from huggingface_hub import HfApi

    return _space(name, asked(name, lambda: HfApi().get_space_runtime(checked(name))))


def _space(name: str, runtime: Any) -> Space:
    return Space(
        name=name,
        stage=_word(runtime.stage),
        hardware=_word(runtime.hardware or runtime.requested_hardware or FREE),
        sleep_time=runtime.sleep_time,
    )


def billed(owner: str) -> list[str]:
    """The names of an account's Spaces that cost money now. Raises Unavailable when the Hub does not answer."""
    from huggingface_hub import HfApi

    found = asked(f"the Spaces of {owner}", lambda: list(HfApi().list_spaces(author=owner, expand=["runtime"])))
    return [info.id for info in found if info.runtime and _space(info.id, info.runtime).billed]


def wake(name: str) -> None:
    """Start a Space that sleeps or is paused. Raises PaintError when this token may not."""
    from huggingface_hub import HfApi

    asked(name, lambda: HfApi().restart_space(checked(name)))


def pause(name: str) -> None:
    """Stop a Space until it is woken; it costs nothing meanwhile. Raises PaintError when this token may not."""
    from huggingface_hub import HfApi

    asked(name, lambda: HfApi().pause_space(checked(name)))


def sleep_after(name: str, seconds: int) -> None:
    """Let a Space sleep after that long without a request; -1: never. Raises PaintError when this token may not."""
    from huggingface_hub import HfApi

    asked(name, lambda: HfApi().set_space_sleep_time(checked(name), seconds))


def prices() -> dict[str, float]:
    """US dollars an hour by hardware, as the Hub lists them. Raises Unavailable when it does not answer."""
    from huggingface_hub import HfApi

    hours = {"minute": 60.0, "hour": 1.0}
    listed = asked("the Hub's price list", lambda: HfApi().list_spaces_hardware())
    return {h.name: h.unit_cost_usd * hours[h.unit_label] for h in listed if h.unit_label in hours}


def duration(seconds: float) -> str:
    """Seconds in the unit a person would use: "90 s", "15 min", "2 h"."""
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{seconds // size:.0f} {unit}"
    return f"{seconds:.0f} s"


def asked(name: str, question: Callable[[], T]) -> T:
    """What the Hub's client answers. Raises PaintError for a refusal, Unavailable where asking again may help."""
    from huggingface_hub.errors import HfHubHTTPError, RepositoryNotFoundError

    try:
        return question()
    except RepositoryNotFoundError:
        raise PaintError(f"There is no Space {name}, or not for your token.") from None
    except HfHubHTTPError as error:
        status = error.response.status_code
        if status in FINAL:
            raise PaintError(f"{name} {FINAL[status]}.") from error
        words = " ".join((error.server_message or error.response.reason_phrase).split())[:160]
        if status < 500 and status != 429:
            raise PaintError(f"The Hub refuses that for {name} ({status}: {words}).") from error
        raise Unavailable(f"The Hub does not answer about {name} (status {status}: {words}).") from error
    except (httpx2.HTTPError, OSError) as error:
        raise Unavailable(f"The Hub does not answer about {name} ({error or type(error).__name__}).") from error


def _word(value: Any) -> str:
    """A stage or a flavour as text; the client hands on enumerations and texts."""
    return str(getattr(value, "value", value))


class Door:
    """The way to a server: an http(s) address as it is, or a Space (owner/name) whose address and state the Hub knows.

    A token goes to private Spaces only: the header reaches the Space's own code, and a public one may be anybody's.
    """

    def __init__(self, where: str) -> None:
        self._space = not is_address(where)
        self.where = checked(where) if self._space else where
        self._guard = threading.Lock()
        self._found: tuple[str, dict[str, str]] | None = None if self._space else (where.rstrip("/"), {})
        self._looked = 0.0
        self._coming = False

    async def find(self) -> tuple[str, dict[str, str]]:
        """(address without a slash at its end, headers), asked of the Hub once.

        Raises PaintError when there is no such Space, Unavailable when the Hub does not answer or has no address yet.
        """
        return await asyncio.to_thread(self._find) if self._found is None else self._found

    async def coming(self, status: int = 0) -> bool:
        """Whether a Space that did not answer (`status` 0) is on its way up: asleep, building, starting. Said once.

        Raises PaintError when it will not come by itself: paused or broken.
        """
        return self._space and not 0 < status < 500 and await asyncio.to_thread(self._is_coming)

    def _find(self) -> tuple[str, dict[str, str]]:
        from huggingface_hub import HfApi, get_token

        with self._guard:
            if self._found is None:
                info = asked(self.where, lambda: HfApi().space_info(self.where))
                if not info.host:
                    raise Unavailable(f"The Space {self.where} has no address yet: it was never built.")
                token = get_token() if info.private else None
                self._found = info.host.rstrip("/"), {"Authorization": f"Bearer {token}"} if token else {}
            return self._found

    def _is_coming(self) -> bool:
        with self._guard:
            if time.monotonic() - self._looked < LOOK_AGAIN:
                return self._coming
            try:
                space = look(self.where)
            except Unavailable:  # the Hub is down too: then it is an outage like any other
                return False
            finally:
                self._looked = time.monotonic()
            was, self._coming = self._coming, space.stage in COMING
            if space.stage in STOPPED:
                remedy = f"`paint doctor --hub --wake {self.where}` starts it"
                raise PaintError(f"The Space {self.where} is {space.stage.lower()}; {remedy}.")
            if not self._coming and space.stage != "RUNNING":
                raise PaintError(f"The Space {self.where} does not run: its state is {space.stage}.")
            if self._coming and not was:
                state = {"SLEEPING": "was asleep and wakes", "BUILDING": "is being built"}.get(space.stage, "starts")
                getLogger(__name__).warning("The Space %s %s; waiting for it.", self.where, state)
            return self._coming
