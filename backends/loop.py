"""An event loop in a thread of its own: connections that outlive one `asyncio.run` live there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any


class Loop:
    """Runs coroutines of any thread, one loop for all of them, until it is closed."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def submit(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Begin `work`; `asyncio.wrap_future` makes what comes back awaitable in another loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.submit(work).result()

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
