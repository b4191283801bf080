"""The same backends over a cluster, through Ray: actors that each hold one, and a queue that they take work from.

A node that is lost loses nothing but time: what its actors had under way goes back into the queue.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from paintcli.backends.local import require
from paintcli.backends.loop import Loop
from paintcli.errors import PaintError, Unavailable, UsageError
from paintcli.painting import Painting

IN_LINE = 2
"""Questions an actor is given at once: one that it answers, and the next, so that no way to and fro is waited for."""

LOSSES = 3
"""Actors that may die over a question, or over being opened in one place, before nobody tries again."""

PATIENCE = 180.0
"""Seconds for which a question waits while not one actor lives: starting a node, or having one back, takes so long."""


class Hand:
    """What an actor is: one backend, opened by `make` on its node, and answers to whatever is asked of it."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    async def open(self) -> None:
        """Make the backend and warm it: a browser is started, weights are read."""
        self._backend = await asyncio.to_thread(self._make)
        for name in ("warm_up", "load"):
            if warm := getattr(self._backend, name, None):
                await asyncio.to_thread(warm)

    async def ask(self, method: str, *arguments: Any) -> Any:
        return await getattr(self._backend, method)(*arguments)

    async def stay(self) -> None:
        """Never answered: that it fails tells at once that the actor is gone, whether it was asked anything or not."""
        await asyncio.Event().wait()

    async def close(self) -> None:
        if hasattr(self._backend, "close"):
            await asyncio.to_thread(self._backend.close)


@dataclass
class Job:
    """A question on its way. `losses`: actors that died over it."""

    method: str
    arguments: tuple[Any, ...]
    answer: asyncio.Future[Any]
    losses: int = 0

    def fail(self, error: BaseException) -> None:
        if not self.answer.done():  # who asked may have gone
            self.answer.set_exception(error)


def connect(address: str) -> None:
    """Join the cluster at `address` (host:port), or at "" the one that RAY_ADDRESS or this machine knows.

    A process joins one cluster, once. Raises UsageError without Ray or for what is no address, Unavailable when nobody
    answers.
    """
    require("ray", "Ray", "ray")
    import ray

    if ray.is_initialized():
        return
    address = address or os.environ.get("RAY_ADDRESS", "")
    nobody = f"There is no Ray cluster {f'at {address}' if address else 'here: `ray start --head` starts one'}."
    if address:
        host, _, port = address.removeprefix("ray://").rpartition(":")
        if not (host and port.isdigit()):
            raise UsageError(f"A Ray cluster's address is HOST:PORT, not {address!r}.")
        try:  # Ray itself would try for four minutes
            socket.create_connection((host, int(port)), timeout=5).close()
        except (OSError, OverflowError) as error:
            raise Unavailable(nobody) from error
    try:
        ray.init(address or "auto", log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        why = f" that lets us join ({' '.join(str(error).split())[:160]})." if address else "."
        raise Unavailable(nobody.removesuffix(".") + why) from error


def count(address: str, resource: str) -> int:
    """How many of "CPU" or "GPU" the cluster has. Raises as `connect`."""
    connect(address)
    import ray

    return int(ray.cluster_resources().get(resource, 0))


class Crew:
    """`seats` actors with `cpus` cores and `gpus` GPUs each, every one holding what `make` makes on its node.

    `make` is pickled by name, so paintcli is installed on every node. An actor that dies is started anew wherever the
    cluster has room; without room its seat stays empty until a node comes back. Callable from any thread and any loop.
    """

    def __init__(
        self, address: str, make: Callable[[], Any], *, seats: int, cpus: float = 0.0, gpus: float = 0.0
    ) -> None:
        connect(address)
        self._make, self._claim = make, {"num_cpus": cpus, "num_gpus": gpus}
        self._loop = Loop()
        self._alive = 0
        self._since = time.monotonic()  # when the last living actor was lost
        self._refusals: list[str] = []
        self._closed = False
        self._loop.run(self._begin(seats))

    def load(self) -> None:
        """Wait for the first actor. Raises what `ask` would: a cluster on which nothing can be opened is told now."""
        self._loop.run(self._first())

    warm_up = load

    async def ask(self, method: str, *arguments: Any) -> Any:
        """The answer of whichever actor is free first.

        What the backend raises is raised here; Unavailable, too, when actor after actor died over it or none lives.
        """
        return await asyncio.wrap_future(self._loop.submit(self._ask(method, arguments)))

    def close(self) -> None:
        """Close every backend and let the actors go. Safe to call twice."""
        if not self._closed:
            self._closed = True
            self._loop.run(self._end())
            self._loop.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- on the crew's own loop --------------------------------------------------------------------------------------

    async def _begin(self, seats: int) -> None:
        self._jobs: asyncio.Queue[Job] = asyncio.Queue()
        self._seats = [asyncio.create_task(self._seat()) for _ in range(seats)]
        self._watcher = asyncio.create_task(self._watch())

    async def _end(self) -> None:
        self._watcher.cancel()
        for seat in self._seats:
            seat.cancel()
        await asyncio.wait({self._watcher, *self._seats})
        self._drop("the crew was closed")

    async def _ask(self, method: str, arguments: tuple[Any, ...]) -> Any:
        job = Job(method, arguments, asyncio.get_running_loop().create_future())
        self._jobs.put_nowait(job)
        return await job.answer

    async def _first(self) -> None:
        while not self._alive:
            if self._hopeless():
                raise Unavailable(self._why())
            await asyncio.sleep(0.1)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(1)
            if self._hopeless():
                self._drop(self._why())

    def _hopeless(self) -> bool:
        gone = all(seat.done() for seat in self._seats)
        return not self._alive and (gone or time.monotonic() > self._since + PATIENCE)

    def _why(self) -> str:
        if self._refusals:
            return f"No node of the cluster can do it: {self._refusals[-1]}"
        claim = " and ".join(f"{n:g} {what[4:-1].upper()}" for what, n in self._claim.items() if n)
        return f"No node of the cluster had {claim} to spare for {PATIENCE:.0f} s."

    def _drop(self, why: str) -> None:
        while not self._jobs.empty():
            self._jobs.get_nowait().fail(Unavailable(why))

    async def _seat(self) -> None:
        """One actor after another, for as long as they can be opened."""
        import ray
        from ray.exceptions import RayError, RayTaskError

        failures, warm = 0, False
        while failures < LOSSES:
            actor: Any = ray.remote(Hand).options(**self._claim).remote(self._make)
            try:
                await _answer(actor.open.remote())
                failures, warm = 0, True
                self._alive += 1
                try:
                    await self._work(actor)
                finally:
                    self._alive -= 1
                    self._since = time.monotonic()
            except asyncio.CancelledError:
                if warm:
                    await _farewell(actor)
                raise
            except RayTaskError as refused:  # opened and refused, in words of ours or by a fault: it would be again
                self._refusals.append(_words(refused))
                failures = LOSSES
            except RayError as lost:
                self._refusals.append(_words(lost))
                failures += 1
            warm = False
            ray.kill(actor)

    async def _work(self, actor: Any) -> None:
        """Returns when the actor is gone; what it had under way is in the queue again then."""
        room, entry = asyncio.Semaphore(IN_LINE), asyncio.Lock()
        hands = [asyncio.create_task(self._take(actor, room, entry)) for _ in range(IN_LINE)]
        try:
            await asyncio.wait({*hands, _answer(actor.stay.remote())}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for hand in hands:
                hand.cancel()
            await asyncio.gather(*hands, return_exceptions=True)

    async def _take(self, actor: Any, room: asyncio.Semaphore, entry: asyncio.Lock) -> None:
        """One question after another. One that an actor died over is asked alone: it takes nobody with it again."""
        from ray.exceptions import RayError, RayTaskError

        while True:
            job = await self._jobs.get()
            if job.answer.done():
                continue
            places = 0
            asked = False
            try:
                async with entry:
                    while places < (IN_LINE if job.losses else 1):
                        await room.acquire()
                        places += 1
                asked = True
                answer = await _answer(actor.ask.remote(job.method, *job.arguments))
            except RayTaskError as failed:
                job.fail(failed.cause)
            except (RayError, asyncio.CancelledError):
                job.losses += asked
                if job.losses < LOSSES:
                    self._jobs.put_nowait(job)
                else:
                    job.fail(Unavailable(f"{LOSSES} actors of the cluster died over it."))
                return
            except Exception as fault:  # a question that cannot be sent: whoever asked is told
                job.fail(fault)
            else:
                if not job.answer.done():
                    job.answer.set_result(answer)
            for _ in range(places):
                room.release()


class RayRenderer(Crew):
    """Renderer: an actor with a warm Chromium for every core of the cluster, one page each.

    `deadline` in seconds a painting. Bytes are equal where the nodes' Chromium and GL are: `Painting.renderer` says.
    """

    def __init__(self, address: str, make: Callable[[], Any]) -> None:
        super().__init__(address, make, seats=count(address, "CPU"), cpus=1)

    async def render(self, source: str, seed: int = 0) -> Painting:
        """As every Renderer's; raises Unavailable when nodes were lost over it, again and again."""
        painting: Painting = await self.ask("render", source, seed)
        return painting


class RayModel(Crew):
    """Comparer and Scorer, whichever `make` makes: an actor for every second GPU, for a judge and a scorer share them.

    One GPU alone holds both, as it would without a cluster.
    """

    def __init__(self, address: str, make: Callable[[], Any]) -> None:
        gpus = count(address, "GPU")
        super().__init__(address, make, seats=max(1, gpus // 2), gpus=1.0 if gpus > 1 else 0.5)

    async def prefer(self, first: Painting, second: Painting, criteria: str) -> float:
        """As every Comparer's; raises Unavailable when nodes were lost over it, again and again."""
        probability: float = await self.ask("prefer", first, second, criteria)
        return probability

    async def score(self, paintings: Sequence[Painting], prompt: str) -> list[float]:
        """As every Scorer's; raises Unavailable when nodes were lost over it, again and again."""
        scores: list[float] = await self.ask("score", paintings, prompt)
        return scores


def _answer(reference: Any) -> asyncio.Future[Any]:
    """Ray's answer. To stop waiting for it cancels nothing there, and whoever stopped is not told how it ended."""
    answer = asyncio.wrap_future(reference.future())
    awaited = asyncio.shield(answer)
    for future in (answer, awaited):
        future.add_done_callback(lambda done: done.cancelled() or done.exception())
    return awaited


def _words(error: Exception) -> str:
    """One sentence of ours, or the last line of what Ray tells in pages: there the traceback ends."""
    cause = getattr(error, "cause", error)
    return str(cause) if isinstance(cause, PaintError) else str(cause).strip().splitlines()[-1].strip()


async def _farewell(actor: Any) -> None:
    """A browser is closed before its actor is killed: it has a profile folder to remove."""
    import ray
    from ray.exceptions import RayError

    with contextlib.suppress(RayError, TimeoutError):  # gone it may be, or too busy
        await asyncio.wait_for(_answer(actor.close.remote()), 10)
    ray.kill(actor)
