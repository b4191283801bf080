"""A renderer that is an OpenEnv environment: one of our own, whose paintings arrive whole, or the published Space.

The published one paints only what its own gate lets pass, does not seed, judges what it paints, and tells less: the
picture, the page's errors and its gate's words. What it does not tell stays unknown in the Painting.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from paintcli.backends.hub.env import Environment, Waits, picture, violation
from paintcli.backends.loop import Loop
from paintcli.errors import Unavailable
from paintcli.painting import Fault, Painting

RENDERING = Waits(answer=300.0, capacity=1200.0)
"""The published Space took up to 96 s for a painting, and then it judges."""

FAULTS: dict[str, Fault] = {"render_failed": "render_failed", "render_timeout": "render_timeout"}


class EnvironmentRenderer:
    """Renderer: `where` is a Space (owner/name) or an http(s) or ws(s) address; `workers` sketches under way at once.

    Callable from any thread and any event loop. Its deadline is the environment's own.
    """

    def __init__(self, where: str, *, workers: int = 4, waits: Waits | None = None) -> None:
        self.name = f"hub:{where}"
        self._environment = Environment(where, sessions=workers, waits=waits or RENDERING)
        self._loop = Loop()
        self._closed = False

    async def render(self, source: str, seed: int = 0) -> Painting:
        """Paint `source`. The sketch's failure is a Painting with `fault`; ours, and a refusal, raises Unavailable."""
        return await asyncio.wrap_future(self._loop.submit(self._render(source, seed)))

    def render_sync(self, source: str, seed: int = 0) -> Painting:
        """The same, for callers without an event loop."""
        return self._loop.run(self._render(source, seed))

    def close(self) -> None:
        """Give the sessions back. Safe to call twice."""
        if not self._closed:
            self._closed = True
            self._loop.run(self._environment.close())
            self._loop.close()

    def __enter__(self) -> EnvironmentRenderer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def _render(self, source: str, seed: int) -> Painting:
        began = time.monotonic()
        # `paint_only` is ours: the whole painting, whatever the gate says, and nobody judges it
        options = {"seed": seed, "return_image": True, "paint_only": True}
        seen = (await self._environment.episode(reply(source), options)).observation
        return painting(seen, self.name, seed, time.monotonic() - began)


def reply(source: str) -> str:
    """A sketch as a model would give it; one that holds a fence itself is sent bare."""
    return source if "```" in source else f"```javascript\n{source}\n```"


def painting(seen: Mapping[str, Any], name: str, seed: int, seconds: float) -> Painting:
    """An observation as a Painting. Raises Unavailable where nobody painted."""
    if seen.get("render_unavailable"):
        raise Unavailable(f"{name} could not paint it: {seen.get('unavailable') or 'it does not say why'}.")
    if seen.get("painting") is not None:
        try:
            return Painting.unpack(seen["painting"])
        except ValueError as error:
            raise Unavailable(f"{name} answered something that is no painting.") from error
    refusals = [violation(given) for given in seen.get("violations") or []]
    png = picture(seen)
    fault = next(((FAULTS[v.code], v.detail) for v in refusals if v.code in FAULTS), None)
    if png is None and fault is None and not any(v.code == "blank_canvas" for v in refusals):
        codes = ", ".join(dict.fromkeys(v.code for v in refusals))
        raise Unavailable(f"{name} {f'would not paint it: its gate says {codes}' if codes else 'sent no picture'}.")
    return Painting(
        png,
        seed=seed,
        seconds=seconds,
        renderer=name,
        finished=bool(seen.get("gate_passed")),
        js_errors=tuple(str(error) for error in seen.get("js_errors") or ()),
        fault=fault[0] if fault and png is None else None,
        fault_detail=fault[1] if fault and png is None else "",
    )
