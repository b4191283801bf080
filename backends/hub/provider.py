"""A model of the Hub's Inference Providers: judge, generator and critic over chat completion."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from logging import getLogger
from typing import Any
from urllib.parse import urlsplit

from paintcli.backends import duel
from paintcli.backends.hub.http import Counter, NotNow, Patience, is_address
from paintcli.backends.protocols import EmptyReply, Message, Reply
from paintcli.errors import PaintError
from paintcli.painting import Painting

JUDGE = "Qwen/Qwen3-VL-30B-A3B-Instruct"
"""The published judge."""

VERDICT = Patience(attempt=60.0, total=300.0)
WRITING = Patience(attempt=600.0, total=1800.0)
"""A sketch of 8,192 tokens at a busy provider takes minutes."""

ENDPOINTS = ".endpoints.huggingface.cloud"
NO_TOKEN = "none"
"""Sent to other people's servers. Given nothing, the client would send them the token saved on this machine."""

VERDICT_FORMAT = {
    "type": "json_schema",
    "json_schema": {
        "name": "verdict",
        "strict": True,
        "schema": {
            "type": "object",
            # The verdict stands first: a reason that is cut short or wanders off cannot change it.
            "properties": {"verdict": {"type": "string", "enum": ["A", "B"]}, "reason": {"type": "string"}},
            "required": ["verdict", "reason"],
            "additionalProperties": False,
        },
    },
}
ANSWER = 'Answer with JSON, the verdict first: {"verdict": "A" or "B", "reason": one short sentence}.'
VERDICT_START = re.compile(r'\s*(?:```(?:json)?\s*)?\{\s*"verdict"\s*:\s*"([AB])"')


class Provider:
    """Comparer, Generator and Critic: one model behind `huggingface_hub`'s inference client.

    `model` is a Hub id, with `:provider` behind it where one is wanted, or the address of a server that speaks chat
    completion, with `#name` behind it where that server wants a model's name. An id needs a token (PaintError without
    one); an address gets it only where it is an Inference Endpoint's.
    `concurrent` requests run at once; `max_tokens`, `temperature` and `top_p` are for writing, None leaves them to
    the provider.
    """

    def __init__(
        self,
        model: str = JUDGE,
        *,
        concurrent: int = 16,
        verdict: Patience = VERDICT,
        writing: Patience = WRITING,
        max_tokens: int = 8192,
        temperature: float | None = None,
        top_p: float | None = None,
    ) -> None:
        from huggingface_hub import get_token

        self.name = f"hub:{model}"
        if is_address(model):
            self._server, _, self._model = model.partition("#")
            self._endpoint = (urlsplit(self._server).hostname or "").endswith(ENDPOINTS)
            own = self._endpoint and self._server.startswith("https://")
            self._token = (get_token() if own else None) or NO_TOKEN
        else:
            self._server, self._model, self._endpoint = model, model, False
            self._token = get_token() or ""
            if not self._token:
                raise PaintError(
                    f"Asking {model} on the Hub needs a token: run `hf auth login`, set HF_TOKEN, or choose one on "
                    "this machine."
                )
            if not self._token.startswith("hf_"):
                raise PaintError("HF_TOKEN holds something that is not a token of the Hub: those begin with hf_.")
        self._counter = Counter(self.name, concurrent, self._starts)
        self._waited = False
        self._verdict, self._writing = verdict, writing
        self._options = {"max_tokens": max_tokens, "temperature": temperature, "top_p": top_p}

    async def prefer(self, first: Painting, second: Painting, criteria: str) -> float:
        """1.0 when the model names `first`, shown as picture A, else 0.0. Raises Unavailable without a verdict."""
        messages = duel.messages((duel.image_url(first), duel.image_url(second)), criteria, ANSWER)

        async def once() -> float:
            text, _ = await self._chat(
                messages, self._verdict, temperature=0.0, max_tokens=300, response_format=VERDICT_FORMAT
            )
            verdict = VERDICT_START.match(text)
            if verdict is None:
                raise NotNow("an answer without a verdict")
            return 1.0 if verdict[1] == "A" else 0.0

        return await self._counter.ask(once, self._verdict)

    async def write(self, messages: Sequence[Message], seed: int | None = None) -> Reply:
        """The model's whole reply. Raises EmptyReply where there is none: asked again it would be paid for again."""

        async def once() -> Reply:
            reply, thought = await self._chat(list(messages), self._writing, **self._options, seed=seed)
            if not reply.strip():
                why = "it thought, and wrote nothing" if thought else "its reply is empty"
                raise EmptyReply(f"{self.name} gave no sketch: {why}.", reply)
            return reply

        return await self._counter.ask(once, self._writing)

    async def critique(self, painting: Painting, photo: Painting | None, brief: str) -> Reply:
        """What to change, in the model's words; `brief` is the whole instruction, the pictures stand before it."""
        content = [{"type": "text", "text": "The painting:\n"}, duel.image_url(painting)]
        if photo is not None:
            content += [{"type": "text", "text": "\nThe photograph it was painted after:\n"}, duel.image_url(photo)]
        content.append({"type": "text", "text": "\n" + brief})
        return await self.write([{"role": "user", "content": content}])

    async def _starts(self, status: int) -> bool:
        """Whether an Inference Endpoint is on its way up: scaled to zero, its proxy answers for it until it is."""
        starting = self._endpoint and status in (502, 503)
        if starting and not self._waited:
            self._waited = True
            getLogger(__name__).warning("%s starts; waiting for it.", self.name)
        return starting

    async def _chat(self, messages: list[Message], patience: Patience, **options: Any) -> tuple[Reply, str]:
        """(reply, thoughts) of one answer; thoughts where the provider hands them out apart. Never retried here."""
        from huggingface_hub import AsyncInferenceClient

        async with AsyncInferenceClient(model=self._server, token=self._token, timeout=patience.attempt) as client:
            try:
                answer = await client.chat_completion(messages, model=self._model or None, **options)
                message = answer.choices[0].message
                content, thoughts = message.content or "", message.reasoning or message.get("reasoning_content") or ""
                used = answer.usage or {}
                read, written, cost = (used.get(n) for n in ("prompt_tokens", "completion_tokens", "cost"))
            except (ValueError, KeyError, TypeError, AttributeError, IndexError):
                raise NotNow("an answer of the wrong shape") from None
        if not isinstance(content, str):
            raise NotNow("an answer of the wrong shape")
        return Reply(content, _count(read), _count(written), _dollars(cost)), str(thoughts)


def _count(value: Any) -> int | None:
    """A number of tokens as a server gave it, None for anything else."""
    return value if isinstance(value, int) and value >= 0 else None


def _dollars(value: Any) -> float | None:
    """A cost as a server gave it, None for anything else: JSON as it is read here has infinities."""
    return float(value) if isinstance(value, int | float) and math.isfinite(value) and value >= 0 else None
