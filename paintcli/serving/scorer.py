"""HPSv3 as a server: POST /score {"png_base64", "prompt"} → {"available", "score", "mu", "sigma"}, as published.

Every request has a buffer of its own and a future of its own: no file is shared, no answer can cross. Requests that
wait while the model is busy are scored together.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import hmac
import io
import json
from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from PIL import Image
from pydantic import BaseModel, Field

from paintcli import __version__
from paintcli.errors import PaintError, Unavailable, UsageError
from paintcli.painting import Painting
from paintcli.reward import hpsv3_term
from paintcli.serving.server import LARGEST, TooLarge, body_of, refusal

MOST_PIXELS = 4096 * 4096
"""Of a picture; what a canvas of ours may have at most. Told from its header, before anything is unpacked."""
MOST_WAITING = 256
LONGEST_PROMPT = 2000

Score = tuple[float, float]


class Model(Protocol):
    """What is served: `HPSv3`."""

    name: str

    async def score_with_sigma(self, paintings: Sequence[Painting], prompt: str) -> list[Score]: ...


class Question(BaseModel):
    """The body of POST /score."""

    png_base64: str = Field(description="A picture, base64 of its PNG.")
    prompt: str = Field(description="What it is to show.")


class Verdict(BaseModel):
    """The answer. `score` is sigmoid(mu / 4); all three are null where `available` is false, and `reason` says why."""

    available: bool
    score: float | None = None
    mu: float | None = None
    sigma: float | None = None
    reason: str | None = None


class Busy(Exception):
    """More are waiting than the server takes."""


@dataclass(eq=False)
class _Waiting:
    painting: Painting
    prompt: str
    answer: asyncio.Future[Score]


class Batches:
    """Asks the model about what waits: at most `largest` pictures of one prompt at a time, oldest first.

    A batch that fails is asked one by one, so that a picture only fails itself.
    """

    def __init__(self, model: Model, largest: int = 8) -> None:
        self.model, self.largest = model, largest
        self.scored = 0
        self.trouble = ""
        self._waiting: deque[_Waiting] = deque()
        self._some = asyncio.Event()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    async def score(self, painting: Painting, prompt: str) -> Score:
        """(mu, sigma). Raises Busy, Unavailable when the model cannot answer, PaintError for what it cannot read."""
        if self.waiting >= MOST_WAITING:
            raise Busy
        mine = _Waiting(painting, prompt, asyncio.get_running_loop().create_future())
        self._waiting.append(mine)
        self._some.set()
        return await mine.answer

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            await self._some.wait()
            if batch := self._take():
                await self._ask(batch)
            else:
                self._some.clear()

    def _take(self) -> list[_Waiting]:
        """The oldest and others of the same prompt; those whose client has left are dropped."""
        alive = [one for one in self._waiting if not one.answer.done()]
        batch = [one for one in alive if one.prompt == alive[0].prompt][: self.largest]
        self._waiting = deque(one for one in alive if one not in batch)
        return batch

    async def _ask(self, batch: Sequence[_Waiting]) -> None:
        try:
            scores = await self.model.score_with_sigma([one.painting for one in batch], batch[0].prompt)
        except Exception as error:
            if len(batch) > 1:
                for one in batch:
                    await self._ask([one])
                return
            self.trouble = str(error) if not isinstance(error, PaintError) or isinstance(error, Unavailable) else ""
            if not batch[0].answer.done():
                batch[0].answer.set_exception(error)
        else:
            self.trouble = ""
            self.scored += len(batch)
            for one, score in zip(batch, scores, strict=True):
                if not one.answer.done():
                    one.answer.set_result(score)


def create_app(model: Model, *, token: str | None = None, largest: int = 8) -> FastAPI:
    """The server's application. `token`: POST /score asks for it as "Authorization: Bearer …"; /health never does.

    `largest`: pictures the model looks at together. The model is loaded before the server listens.
    """
    batches = Batches(model, largest)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        work = asyncio.ensure_future(batches.run())
        yield
        work.cancel()

    app = FastAPI(title="hpsv3", description=__doc__, version=__version__, lifespan=lifespan)

    @app.exception_handler(TooLarge)
    async def too_large(request: Request, error: Exception) -> Response:
        return refusal(413, f"A request has at most {LARGEST >> 20} MiB, a picture {MOST_PIXELS:,} pixels.")

    @app.exception_handler(Busy)
    async def busy(request: Request, error: Exception) -> Response:
        return refusal(503, f"{MOST_WAITING} pictures are waiting already.", **{"Retry-After": "10"})

    @app.exception_handler(PaintError)
    async def refused(request: Request, error: Exception) -> Response:
        return refusal(422, str(error))

    @app.get("/health")
    async def health() -> Response:
        """Whether the last question was answered, and how many wait."""
        told: dict[str, Any] = {"status": "unhealthy" if batches.trouble else "healthy", "why": batches.trouble}
        told |= {"model": model.name, "waiting": batches.waiting, "scored": batches.scored, "version": __version__}
        return JSONResponse(told, status_code=503 if batches.trouble else 200)

    body = {"required": True, "content": {"application/json": {"schema": Question.model_json_schema()}}}

    @app.post("/score", response_model=Verdict, openapi_extra={"requestBody": body})
    async def score(request: Request) -> Response | Verdict:
        if token and not hmac.compare_digest(request.headers.get("authorization", "").encode(), _bearer(token)):
            return refusal(
                401, "This scorer asks for a token: Authorization: Bearer …", **{"WWW-Authenticate": "Bearer"}
            )
        painting, prompt = await asyncio.to_thread(read, await body_of(request))
        try:
            mu, sigma = await batches.score(painting, prompt)
        except Unavailable as outage:
            return Verdict(available=False, reason=str(outage))
        return Verdict(available=True, score=hpsv3_term(mu), mu=mu, sigma=sigma)

    return app


def _bearer(token: str) -> bytes:
    return f"Bearer {token}".encode()


def read(body: bytes) -> tuple[Painting, str]:
    """The picture and the prompt of a request. Raises UsageError in one sentence, TooLarge for too many pixels."""
    try:
        asked = json.loads(body)
        encoded, prompt = asked["png_base64"], asked["prompt"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError('A request is {"png_base64": …, "prompt": …}.') from None
    if not isinstance(prompt, str) or len(prompt) > LONGEST_PROMPT:
        raise UsageError(f"A prompt is a text of at most {LONGEST_PROMPT:,} characters.")
    try:
        png = base64.b64decode(encoded, validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise UsageError("png_base64 is not base64.") from None
    try:
        with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
            width, height = image.size
            if width * height > MOST_PIXELS:
                raise TooLarge
            image.load()
    except Image.DecompressionBombError:
        raise TooLarge from None
    except (OSError, SyntaxError, ValueError):  # what Pillow raises for a foreign or broken file
        raise UsageError("png_base64 is not a whole PNG picture.") from None
    return Painting(png), prompt
