"""Asking a server that may be busy, slow or broken: time-outs, retries and their limits, in one place.

Every request is its own: its own connection, its own time-outs, its own answer. What comes back is the answer to that
request, or Unavailable; never a made-up number, and never later than `Patience.total`.
"""

from __future__ import annotations

import asyncio
import random
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TypeVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import httpx2  # what huggingface_hub 2 speaks HTTP with; its errors come through
from huggingface_hub.errors import HfHubHTTPError, InferenceTimeoutError

from paintcli.errors import PaintError, Unavailable, UsageError

T = TypeVar("T")

FINAL = {
    401: "refuses the token; run `hf auth login` or set HF_TOKEN",
    402: "asks for payment: the account's credits are used up",
    403: "refuses this token: it lacks the right",
    404: "does not exist, or not for this token",
}
"""Answers that asking again cannot change, and that concern every request: the command stops."""
PASSING = {408, 409, 425, 429}
"""Answers below 500 that may be different the next time."""


@dataclass(frozen=True)
class Patience:
    """How long to go on asking. All times in seconds; `wait` doubles from attempt to attempt, up to `longest_wait`.

    A server that is on its way up is waited for `wake` seconds besides.
    """

    attempts: int = 6
    attempt: float = 60.0
    total: float = 300.0
    wait: float = 1.0
    longest_wait: float = 30.0
    wake: float = 1200.0

    def before_retry(self, number: int, asked_for: float) -> float:
        """Seconds to wait after failed attempt `number` ≥ 1: half to all of the doubling wait, never less than asked.

        The spread keeps thirty-two requests that failed together from coming back together.
        """
        doubled = min(self.wait * 2 ** (number - 1), self.longest_wait)
        return max(asked_for, doubled * random.uniform(0.5, 1.0))


@cache
def certificates() -> ssl.SSLContext:
    """Read once: reading the bundle takes 20 ms, and every request opens a connection of its own."""
    return ssl.create_default_context()


class NotNow(Exception):
    """The server answered, but with nothing that can be used; asking again may help."""


async def _never(status: int) -> bool:
    return False


class Counter:
    """Where requests to one server queue: at most `places` under way at once, each with patience of its own.

    `coming`, told the status of a failure (0: no answer), says whether the server is on its way up: then failures do
    not count until it is.
    """

    def __init__(self, name: str, places: int, coming: Callable[[int], Awaitable[bool]] = _never) -> None:
        self.name = name
        self._places = places
        self._coming = coming
        # A semaphore belongs to the loop it first waited in; a backend outlives loops (one `asyncio.run` a step).
        self._open: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    async def ask(self, once: Callable[[], Awaitable[T]], patience: Patience) -> T:
        """What `once` returns, asked again while its failure may pass.

        Raises Unavailable when patience ends or this one request is refused, PaintError when every request would be.
        A place is held while a request is under way, not while waiting to ask again.
        """
        places = self._open.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self._places))
        deadline = awake_by = None
        number = 0
        while True:
            number += 1
            async with places:
                # The clock starts at the first place, so that a long queue is not an outage.
                deadline = deadline or time.monotonic() + patience.total
                try:
                    async with asyncio.timeout(min(patience.attempt, max(deadline - time.monotonic(), 0.001))):
                        return await once()
                except (NotNow, HfHubHTTPError, httpx2.RequestError, TimeoutError, InferenceTimeoutError) as error:
                    why, asked_for = self._passing(error, patience)
                    status = error.response.status_code if isinstance(error, HfHubHTTPError) else 0
            awake_by = awake_by or time.monotonic() + patience.wake
            if time.monotonic() < awake_by and await self._coming(status):
                number, deadline = 0, None
                await asyncio.sleep(max(asked_for, patience.longest_wait / 3))
                continue
            wait = patience.before_retry(number, asked_for)
            if number == patience.attempts or time.monotonic() + wait >= deadline:
                raise Unavailable(f"{self.name} gave no answer in {number} attempts ({why}).")
            await asyncio.sleep(wait)

    def _passing(self, error: Exception, patience: Patience) -> tuple[str, float]:
        """(reason, seconds the server asked to wait) of a failure that may pass; raises for one that will not."""
        if isinstance(error, (TimeoutError, InferenceTimeoutError, httpx2.TimeoutException)):
            return f"nothing within {patience.attempt:g} s", 0.0
        if not isinstance(error, HfHubHTTPError):
            return str(error) or type(error).__name__, 0.0
        status = error.response.status_code
        if status in FINAL:
            raise PaintError(f"{self.name} {FINAL[status]}.") from error
        if status < 500 and status not in PASSING:
            said = " ".join((error.server_message or error.response.reason_phrase).split())[:160]
            raise Unavailable(f"{self.name} refused this request ({status}: {said}).") from error
        return f"status {status}", retry_after(error.response.headers.get("Retry-After"))


def raise_for_status(response: httpx2.Response) -> None:
    """huggingface_hub's own, also for servers whose error bodies are JSON but no object, over which it falls."""
    from huggingface_hub.utils import hf_raise_for_status  # type: ignore[attr-defined]

    try:
        hf_raise_for_status(response)
    except (AttributeError, TypeError):
        raise HfHubHTTPError(f"status {response.status_code}", response=response) from None


def is_address(name: str) -> bool:
    """Whether a backend's name is an http(s) address rather than a Hub id. Raises UsageError for half an address."""
    if not name.startswith(("http://", "https://")):
        return False
    try:
        parts = urlsplit(name)
        complete = bool(parts.hostname) and parts.port != 0
    except ValueError:
        complete = False
    if not complete:
        raise UsageError(f"{name!r} is not an address that can be asked.")
    return True


def retry_after(value: str | None) -> float:
    """Seconds of a Retry-After header in either of its forms, number or date; 0 without one or for a strange one."""
    if not value:
        return 0.0
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    return max((when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)
