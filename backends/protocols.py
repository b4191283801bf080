"""The contracts between the project and its heavy parts. Every backend implements one of these and nothing more.

A backend that cannot answer raises `paintcli.errors.Unavailable`; it never returns a made-up number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from paintcli.errors import Unavailable
from paintcli.painting import Painting

Message = dict[str, Any]
"""One chat message: {"role": "system"|"user"|"assistant", "content": str or a list of content parts}."""


class Reply(str):
    """A model's words and what they took: tokens read and written, US dollars; None where nobody said.

    Always text that a file can hold: half of a surrogate pair, which JSON may carry, becomes a question mark.
    """

    tokens_in: int | None
    tokens_out: int | None
    cost: float | None

    def __new__(
        cls, text: str, tokens_in: int | None = None, tokens_out: int | None = None, cost: float | None = None
    ) -> Reply:
        reply = super().__new__(cls, text.encode("utf-8", "replace").decode())
        reply.tokens_in, reply.tokens_out, reply.cost = tokens_in, tokens_out, cost
        return reply


class EmptyReply(Unavailable):
    """The model answered and wrote nothing. It was paid for: asked again, it would be paid for again."""

    def __init__(self, sentence: str, reply: Reply) -> None:
        super().__init__(sentence)
        self.reply = reply


@runtime_checkable
class Renderer(Protocol):
    """Runs a sketch and returns what it painted."""

    async def render(self, source: str, seed: int = 0) -> Painting:
        """Paint `source` (JavaScript) with random seed `seed` ≥ 0.

        A failure of the sketch is a Painting with `fault` set; a failure of ours raises Unavailable.
        """
        ...


@runtime_checkable
class Scorer(Protocol):
    """Says how good a picture is on its own (HPSv3 or a stand-in)."""

    async def score(self, paintings: Sequence[Painting], prompt: str) -> list[float]:
        """One unbounded score (HPSv3's mu) per painting, in order."""
        ...


@runtime_checkable
class Comparer(Protocol):
    """Says which of two pictures is painted better."""

    async def prefer(self, first: Painting, second: Painting, criteria: str) -> float:
        """Probability in [0, 1] that `first` wins, shown in this order; 0 or 1 where only a verdict is known."""
        ...


@runtime_checkable
class Generator(Protocol):
    """A language model that writes sketches."""

    async def write(self, messages: Sequence[Message], seed: int | None = None) -> Reply:
        """The model's whole reply; with `seed` (0 ≤ seed < 2³¹) the same again where the model can do that.

        Raises EmptyReply when it wrote nothing.
        """
        ...


@runtime_checkable
class Critic(Protocol):
    """A vision model that says what to change."""

    async def critique(self, painting: Painting, photo: Painting | None, brief: str) -> Reply:
        """Words for the generator: what to change, most important first."""
        ...
