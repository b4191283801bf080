"""The OpenEnv protocol (0.10) around our environment: sessions over a WebSocket, single requests over HTTP.

Spoken here rather than by the `openenv` package, which cannot be installed beside pyppeteer: so the ordinary
installation serves, and `openenv`'s own client and validator are what the tests hold it against.

Message frames: {"type": "reset"|"step"|"state"|"close", "data"} → {"type": "observation"|"state"|"error", "data"}.
A session is nothing but its episode; what is bounded is the painting (`pulse.py`). So many may be open, and each waits
for its turn.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI, Request, WebSocket
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from paintcli import __version__
from paintcli.errors import PaintError, UsageError
from paintcli.serving.environment import Answer, Easel, Episode
from paintcli.serving.server import LARGEST, TooLarge, body_of, refusal

NAME = "paint"
ABOUT = "Paint with p5.brush: a reply's sketch is gated, painted, judged against a rated pool and scored."


class Action(BaseModel):
    """What `step` takes."""

    response: str = Field(description="The model's whole reply; the sketch is found in it.")


class Observation(BaseModel):
    """The fields of the published environment; everything of ours is in `breakdown`."""

    prompt: str = Field("", description="After reset: the request.")
    system_prompt: str = Field("", description="After reset: what comes before the request.")
    task_id: str = Field("", description="The episode.")
    subject: str = ""
    feedback: str = Field("", description="The score in a few words.")
    gate_passed: bool = False
    violations: list[str] = Field([], description="Codes; with lines and details in breakdown.violations.")
    js_errors: list[str] = []
    render_unavailable: bool = Field(False, description="Nobody could paint it: our fault, no reward.")
    finished: bool = False
    judged: bool = False
    judge_score: float = Field(0.0, description="Mean share of wins against the references; 0 where not judged.")
    judge_weight: float = 0.0
    quality_scored: bool = False
    quality_score: float = Field(0.0, description="sigmoid(mu / 4) of HPSv3; 0 where not scored, or by a stand-in.")
    length_score: float = 0.0
    paint_fraction: float = 0.0
    breakdown: dict[str, Any] = Field({}, description="The object of `paint score --json`, comparisons, seeds, times.")
    image_png_base64: str | None = Field(None, description="With return_image.")


class State(BaseModel):
    """What `state` answers."""

    episode_id: str | None = None
    step_count: int = 0
    subject: str = ""
    seed: int | None = None


@dataclass(eq=False)
class Session:
    """One client. `episode` is what its last reset chose."""

    episode: Episode | None = None
    steps: int = 0
    busy: bool = False
    silent_since: float = field(default_factory=time.monotonic)
    task: asyncio.Task[Any] | None = None
    evicted: bool = False

    def state(self) -> State:
        if self.episode is None:
            return State()
        seen = self.episode
        return State(episode_id=seen.id, step_count=self.steps, subject=seen.subject, seed=seen.seed)


class Full(Exception):
    """All places are taken."""


class Sessions:
    """Who is connected: at most `most`. A newcomer to a full house takes the place of the session that has been silent
    longest, if that is longer than `idle` seconds: its client is away, or has forgotten to say goodbye."""

    def __init__(self, most: int, idle: float) -> None:
        self.most, self.idle = most, idle
        self.open: set[Session] = set()

    def enter(self, session: Session) -> None:
        """Raises Full."""
        if len(self.open) >= self.most:
            now = time.monotonic()
            silent = [s for s in self.open if not s.busy and now - s.silent_since > self.idle]
            if not silent:
                raise Full
            self.leave(min(silent, key=lambda s: s.silent_since))
        self.open.add(session)

    def leave(self, session: Session) -> None:
        if session in self.open:
            self.open.remove(session)
            if session.task is not None and session.task is not asyncio.current_task():
                session.evicted = True
                session.task.cancel()


def create_app(easel: Easel, *, sessions: int = 64, idle: float = 900.0) -> FastAPI:
    """The server's application. `sessions`: clients at once, beyond that CAPACITY_REACHED; `idle`: see Sessions."""
    app = FastAPI(title=NAME, description=ABOUT, version="1.0.0")  # the version of OpenEnv's HTTP interface
    guests = Sessions(sessions, idle)
    app.state.sessions = guests

    @app.exception_handler(TooLarge)
    async def too_large(request: Request, error: Exception) -> Response:
        return refusal(413, f"A request has at most {LARGEST >> 20} MiB.")

    @app.exception_handler(UsageError)
    async def misused(request: Request, error: Exception) -> Response:
        return refusal(422, str(error))

    @app.exception_handler(PaintError)
    async def failed(request: Request, error: Exception) -> Response:
        return refusal(503, str(error))

    @app.get("/health")
    async def health() -> Response:
        told = await easel.health()
        told |= {"sessions": {"open": len(guests.open), "limit": guests.most}, "version": __version__}
        return JSONResponse(told, status_code=503 if told["status"] == "unhealthy" else 200)

    @app.get("/metadata")
    async def metadata() -> dict[str, str]:
        return {"name": NAME, "description": ABOUT, "version": __version__}

    @app.get("/schema")
    async def schema() -> dict[str, Any]:
        return {
            "action": Action.model_json_schema(),
            "observation": Observation.model_json_schema(),
            "state": State.model_json_schema(),
        }

    @app.post("/mcp")
    async def mcp() -> dict[str, Any]:
        """OpenEnv asks every environment for it; ours has no tools."""
        return {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "This environment has no tools."}}

    # Over HTTP there are no sessions: a step brings its options along and is an episode of its own.

    @app.post("/reset")
    async def reset(request: Request) -> dict[str, Any]:
        return flat(easel.opening(easel.begin(parsed(await body_of(request)))))

    @app.post("/step")
    async def step(request: Request) -> dict[str, Any]:
        options = parsed(await body_of(request))
        reply = response_of(options.pop("action", None))
        for other in ("timeout_s", "request_id"):  # of every OpenEnv request
            options.pop(other, None)
        return flat(await easel.step(easel.begin(options), reply))

    @app.get("/state")
    async def state() -> State:
        return State()

    @app.websocket("/ws")
    async def session(socket: WebSocket) -> None:
        await socket.accept()
        guest = Session(task=asyncio.current_task())
        try:
            guests.enter(guest)
        except Full:
            words = f"all {guests.most} sessions are taken"
            await say(socket, error("CAPACITY_REACHED", words, active_sessions=guests.most, max_sessions=guests.most))
            await socket.close(1013, "CAPACITY_REACHED")
            return
        try:
            await converse(socket, guest, easel)
        except asyncio.CancelledError:
            if not guest.evicted:
                raise
            await socket.close(1001, "silent for too long while others waited")
        finally:
            guests.leave(guest)

    return app


async def converse(socket: WebSocket, guest: Session, easel: Easel) -> None:
    """Question and answer until the client leaves. One that goes while it is answered is noticed at once: what was not
    begun for it is not begun."""
    ahead = asyncio.ensure_future(hear(socket))
    try:
        while (text := await ahead) is not None:
            guest.busy = True
            work = asyncio.ensure_future(answer(guest, text, easel))
            ahead = asyncio.ensure_future(hear(socket))
            try:
                await asyncio.wait({work, ahead}, return_when=asyncio.FIRST_COMPLETED)
                if ahead.done() and ahead.result() is None:
                    return
                frame = await work
            finally:
                work.cancel()
                guest.busy, guest.silent_since = False, time.monotonic()
            if frame is None:
                await socket.close()
                return
            await say(socket, frame)
    finally:
        ahead.cancel()


async def hear(socket: WebSocket) -> str | None:
    """The next message, None when the client is gone. A binary one is read as text: it is JSON either way."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        return None
    text = message.get("text")
    return text if text is not None else message["bytes"].decode("utf-8", "replace")


async def say(socket: WebSocket, frame: dict[str, Any]) -> None:
    """Send a frame; to a client that has just left it is sent in vain."""
    with contextlib.suppress(RuntimeError):  # starlette's word for a closed socket
        await socket.send_text(json.dumps(frame, ensure_ascii=False, allow_nan=False))


async def answer(guest: Session, text: str, easel: Easel) -> dict[str, Any] | None:
    """The frame that answers a message; None: goodbye. Never raises: an error is a frame, and the session goes on."""
    try:
        message = parsed(text)
    except UsageError as wrong:
        return error("INVALID_JSON", str(wrong))
    kind, data = message.get("type"), message.get("data")
    try:
        match kind:
            case "reset":
                guest.episode, guest.steps = easel.begin(options_of(data)), 0
                return {"type": "observation", "data": flat(easel.opening(guest.episode))}
            case "step":
                if guest.episode is None:
                    return error("EXECUTION_ERROR", "No episode has begun on this connection: reset first.")
                reply = response_of(data)
                guest.steps += 1
                return {"type": "observation", "data": flat(await easel.step(guest.episode, reply))}
            case "state":
                return {"type": "state", "data": guest.state().model_dump()}
            case "close":
                return None
    except UsageError as wrong:
        return error("VALIDATION_ERROR", str(wrong))
    except PaintError as outage:
        return error("EXECUTION_ERROR", str(outage))
    return error("UNKNOWN_TYPE", f"A message's type is reset, step, state or close, not {kind!r:.40}.")


def flat(told: Answer) -> dict[str, Any]:
    """An answer as OpenEnv writes it: reward and done beside the observation."""
    return {"observation": told.observation, "reward": told.reward, "done": told.done}


def error(code: str, message: str, **more: Any) -> dict[str, Any]:
    return {"type": "error", "data": {"message": message, "code": code, **more}}


def parsed(text: str | bytes) -> dict[str, Any]:
    """A JSON object; nothing at all is an empty one. Raises UsageError."""
    try:
        message = json.loads(text or "{}")
    except (ValueError, RecursionError):
        raise UsageError("A message is a JSON object; this is no JSON.") from None
    if not isinstance(message, dict):
        raise UsageError("A message is a JSON object.")
    return message


def options_of(data: Any) -> dict[str, Any]:
    if data is None or isinstance(data, dict):
        return data or {}
    raise UsageError("The data of a reset are an object of options.")


def response_of(action: Any) -> str:
    """The reply in an action. Raises UsageError."""
    if not isinstance(action, dict) or not isinstance(action.get("response"), str):
        raise UsageError('An action is {"response": <the whole reply>}.')
    return str(action["response"])
