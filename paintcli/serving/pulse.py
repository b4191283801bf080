"""Is each backend alive? Told by its last answer, and asked again when that is old. What `/health` reports."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from paintcli.backends.protocols import Comparer, Renderer, Scorer
from paintcli.errors import PaintError
from paintcli.painting import Painting

FRESH = 60.0
"""Seconds for which an answer says that its backend is there; an outage is looked at again after a tenth of that."""

GLANCE = 3.0
"""Seconds `/health` waits for a backend that is looked at; what comes later is reported by the next call."""

PROBE = "function setup() { createCanvas(32, 32, WEBGL); background(200); noLoop(); }"


class Pulse:
    """A backend's last sign of life. `probe` asks it cheaply and raises PaintError; None: only its answers tell.

    One on this machine was loaded when the server started, which is a sign of life too.
    """

    def __init__(self, name: str, probe: Callable[[], Awaitable[object]] | None = None) -> None:
        self.name = name
        self.under_way = 0
        self.begun = 0
        self._probe = probe
        self._trouble = ""
        self._at = 0.0 if name.startswith("hub") else time.monotonic()
        self._looking: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Around every question: its end is a sign of life, a PaintError one of trouble."""
        self.under_way += 1
        self.begun += 1
        try:
            yield
        except PaintError as error:
            self._trouble, self._at = str(error), time.monotonic()
            raise
        else:
            self._trouble, self._at = "", time.monotonic()
        finally:
            self.under_way -= 1

    async def look(self) -> dict[str, Any]:
        """{"name", "state": "ok"|"down"|"unknown", "why", "seconds_ago", "under_way", "asked"}.

        Asks the backend when nobody did lately, and waits for it no longer than GLANCE.
        """
        old = time.monotonic() - self._at > (FRESH / 10 if self._trouble else FRESH)
        if self._probe and old and not self.under_way and self._looking is None:
            self._looking = asyncio.ensure_future(self._ask())
        if self._looking is not None:
            await asyncio.wait({self._looking}, timeout=GLANCE)
        state = "down" if self._trouble else "ok" if self._at else "unknown"
        told = {"name": self.name, "state": state, "why": self._trouble, "under_way": self.under_way}
        ago = round(time.monotonic() - self._at, 1) if self._at else None
        return {**told, "asked": self.begun, "seconds_ago": ago}

    async def _ask(self) -> None:
        assert self._probe is not None
        try:
            await self._probe()
        except PaintError as error:
            self._trouble = str(error)
        else:
            self._trouble = ""
        finally:
            self._at, self._looking = time.monotonic(), None


class WatchedRenderer:
    """Renderer: at most `places` paintings are under way. What waits can be cancelled, what has begun runs to its end.

    A cancelled call would take pyppeteer's connection with it; a painting that nobody wants any more costs at most
    its deadline.
    """

    def __init__(self, renderer: Renderer, name: str, places: int) -> None:
        self._renderer = renderer
        self._places = asyncio.Semaphore(places)
        self.pulse = Pulse(name, lambda: renderer.render(PROBE))

    async def render(self, source: str, seed: int = 0) -> Painting:
        await self._places.acquire()
        work = asyncio.ensure_future(self._paint(source, seed))
        work.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(work)

    async def _paint(self, source: str, seed: int) -> Painting:
        try:
            with self.pulse.watching():
                return await self._renderer.render(source, seed)
        finally:
            self._places.release()


class WatchedScorer:
    """Scorer, watched."""

    def __init__(self, scorer: Scorer, name: str, probe: Callable[[], Awaitable[object]] | None = None) -> None:
        self._scorer = scorer
        self.pulse = Pulse(name, probe)

    async def score(self, paintings: Sequence[Painting], prompt: str) -> list[float]:
        with self.pulse.watching():
            return await self._scorer.score(paintings, prompt)


class WatchedComparer:
    """Comparer, watched."""

    def __init__(self, comparer: Comparer, name: str) -> None:
        self._comparer = comparer
        self.pulse = Pulse(name)

    async def prefer(self, first: Painting, second: Painting, criteria: str) -> float:
        with self.pulse.watching():
            return await self._comparer.prefer(first, second, criteria)
