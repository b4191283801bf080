"""A client of OpenEnv environments over their WebSocket, the published watercolour Space's included.

One episode is `reset` with options, then `step` with the model's whole reply. The protocol has no request ids, so after
a time-out the socket is dropped: what comes late on it could be taken for the answer to the next question.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from paintcli.backends.hub.http import FINAL
from paintcli.backends.hub.spaces import Door
from paintcli.errors import PaintError, Unavailable, UsageError
from paintcli.gate import Violation

LARGEST = 16 * 2**20
"""Bytes of a message: OpenEnv closes the socket over a larger one (code 1009)."""


@dataclass(frozen=True)
class Step:
    """What an environment answered: its observation's fields and its own reward, None where it gave none."""

    observation: Mapping[str, Any]
    reward: float | None


@dataclass(frozen=True)
class Waits:
    """Seconds. `answer`: for one frame; `capacity`: in all for a free session; `pause`: the first wait, doubled each
    time up to a minute; `wake`: for a Space that sleeps, is built or starts. `attempts`: episodes begun anew after a
    closed socket or a time-out."""

    answer: float = 600.0
    capacity: float = 3600.0
    wake: float = 1200.0
    pause: float = 1.0
    attempts: int = 5


@dataclass
class _Session:
    """One socket, opened when first used and again after it was dropped."""

    socket: Any = field(default=None)


class Full(Exception):
    """The environment has no session free for us."""


class Environment:
    """An environment at an address or on a Space (owner/name); up to `sessions` episodes at once.

    One that serves fewer sessions is noticed: those it turns away are given up as long as another one is open, so a
    Space for a single client is used by one after the other. Safe on one event loop at a time.
    """

    def __init__(self, where: str, *, sessions: int = 4, waits: Waits = Waits()) -> None:
        self.name = f"env {where}"
        self.waits = waits
        self._door = Door(re.sub(r"^ws(?=s?://)", "http", where))
        self._wanted = sessions
        self._free: asyncio.Queue[_Session] | None = None
        self._open: set[int] = set()

    async def episode(self, reply: str, options: Mapping[str, Any]) -> Step:
        """Reset with `options` (subject, seed, references, return_image …), then one step with `reply`.

        Raises Unavailable when it cannot be had, PaintError when the environment does not understand us.
        """
        return await self._talk([("reset", dict(options)), ("step", {"response": reply})])

    async def reset(self, options: Mapping[str, Any]) -> Step:
        """Only the reset: its observation holds the prompts."""
        return await self._talk([("reset", dict(options))])

    async def close(self) -> None:
        """Say goodbye to every open session, so that a Space for one client is free for the next."""
        while self._free and not self._free.empty():
            session = self._free.get_nowait()
            socket = session.socket
            if socket is not None:
                with contextlib.suppress(Exception):  # it may be gone already, which is what is wanted
                    await asyncio.wait_for(socket.send(json.dumps({"type": "close", "data": {}})), 5)
                await self._drop(session)
                with contextlib.suppress(Exception):  # its tasks end with it, not with the loop
                    await asyncio.wait_for(socket.wait_closed(), 5)

    async def _talk(self, messages: list[tuple[str, dict[str, Any]]]) -> Step:
        if self._free is None:
            self._free = asyncio.Queue()
            for _ in range(self._wanted):
                self._free.put_nowait(_Session())
        session = await self._free.get()
        began, pause, failures = time.monotonic(), self.waits.pause, 0
        try:
            while True:
                try:
                    for kind, data in messages:
                        answer = await self._ask(session, kind, data)
                    return answer
                except Full:
                    await self._drop(session)
                    if self._open:  # another session of ours is served: leave it the place and wait for that one
                        session = await self._free.get()
                        continue
                    if time.monotonic() - began > self.waits.capacity:
                        raise Unavailable(f"{self.name} had no free session for {self.waits.capacity:.0f} s") from None
                except (TimeoutError, OSError, EOFError) as error:
                    await self._drop(session)
                    coming = time.monotonic() - began < self.waits.wake and await self._door.coming()
                    failures += not coming
                    if failures >= self.waits.attempts:
                        raise Unavailable(
                            f"{self.name} failed {failures} times ({error or 'no answer in time'})"
                        ) from error
                await asyncio.sleep(pause)
                pause = min(2 * pause, 60.0)
        except BaseException:
            await self._drop(session)
            raise
        finally:
            self._free.put_nowait(session)

    async def _ask(self, session: _Session, kind: str, data: dict[str, Any]) -> Step:
        import websockets

        message = json.dumps({"type": kind, "data": data})
        if len(message.encode()) > LARGEST:
            raise PaintError(f"{self.name} takes messages of at most 16 MiB, and this {kind} is larger.")
        try:
            if session.socket is None:
                session.socket = await asyncio.wait_for(self._connect(), self.waits.answer)
            # turned away, it was told why before the socket closed: that frame is still to be read
            with contextlib.suppress(websockets.exceptions.ConnectionClosed):
                await session.socket.send(message)
            frame = await asyncio.wait_for(session.socket.recv(), self.waits.answer)
        except websockets.exceptions.ConnectionClosed as closed:
            if "CAPACITY_REACHED" in str(closed):
                raise Full from None
            raise EOFError(f"the socket closed: {closed}") from None
        except websockets.exceptions.WebSocketException as error:
            # which of the two holds the status changed with the library's rewrite
            status = getattr(getattr(error, "response", error), "status_code", None)
            if status in FINAL:
                raise PaintError(f"{self.name} {FINAL[status]}.") from None
            raise EOFError(str(error)) from None
        step = read(frame, self.name)
        self._open.add(id(session))
        return step

    async def _connect(self) -> Any:
        import websockets

        try:
            where, headers = await self._door.find()
        except Unavailable as outage:
            raise EOFError(str(outage).rstrip(".")) from None
        # the argument's name changed with the library's rewrite; pyppeteer pins it to 10 where pip decides
        name = "additional_headers" if int(websockets.__version__.split(".")[0]) >= 14 else "extra_headers"
        return await websockets.connect(address(where), max_size=4 * LARGEST, open_timeout=60, **{name: headers})

    async def _drop(self, session: _Session) -> None:
        socket, session.socket = session.socket, None
        self._open.discard(id(session))
        if socket is not None:
            socket.transport.abort()  # no closing handshake: the other side may be the one that hangs


def address(where: str) -> str:
    """The WebSocket address of an environment's "http(s)://…" or "ws(s)://…"."""
    match = re.fullmatch(r"(http|ws)(s?)://(\S+)", where)
    if not match:
        raise UsageError(f"An environment is an address or a Space owner/name, not {where!r}.")
    rest = match[3].rstrip("/")
    return f"ws{match[2]}://{rest}" + ("" if rest.endswith("/ws") else "/ws")


def read(frame: str | bytes, name: str) -> Step:
    """A frame as a Step. Raises Full, Unavailable or PaintError for an error frame, by its code."""
    try:
        message = json.loads(frame)
        kind, data = message["type"], message.get("data") or {}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Unavailable(f"{name} answered something that is no frame") from None
    if kind == "error":
        code, words = str(data.get("code", "")), str(data.get("message", ""))[:200]
        if code == "CAPACITY_REACHED":
            raise Full
        if code in ("VALIDATION_ERROR", "UNKNOWN_TYPE"):
            raise PaintError(f"{name} does not speak our protocol: {code}, {words}.")
        raise Unavailable(f"{name} failed on its side: {code}, {words}")
    if kind != "observation":
        raise Unavailable(f"{name} answered {kind!r} where an observation was due")
    reward = data.get("reward")
    return Step(data.get("observation", data), float(reward) if isinstance(reward, int | float) else None)


def picture(seen: Mapping[str, Any]) -> bytes | None:
    """The painting as PNG, where the observation holds one as base64 (with or without a data: prefix)."""
    text = seen.get("image") or seen.get("image_png_base64")
    if not isinstance(text, str):
        return None
    try:
        data = base64.b64decode(text.rpartition(",")[2], validate=True)
    except binascii.Error:
        return None
    return data if data.startswith(b"\x89PNG") else None


def violation(given: Any) -> Violation:
    """A violation as the published environment words it (text), or as ours does (an object)."""
    if isinstance(given, Mapping):
        return Violation(str(given.get("code", "")), given.get("line"), str(given.get("detail", "")))
    code, _, detail = str(given).partition(":")
    return Violation(code.strip(), None, detail.strip())
