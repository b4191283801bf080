"""One sketch on its way through the house: static gate, renderer, run-time gate. Shared by render, score and train."""

from __future__ import annotations

from dataclasses import dataclass

from paintcli import gate
from paintcli.backends.protocols import Renderer
from paintcli.domains import Domain
from paintcli.errors import Unavailable
from paintcli.gate import Verdict
from paintcli.painting import Painting
from paintcli.sketch import Sketch


@dataclass(frozen=True)
class Attempt:
    """What became of one sketch. Exactly one of three holds: passed, refused (violations), unavailable (our fault)."""

    sketch: Sketch
    seed: int
    verdict: Verdict
    painting: Painting | None = None
    unavailable: str | None = None

    @property
    def passed(self) -> bool | None:
        """True or False by the gate; None when nobody could find out."""
        return None if self.unavailable else self.verdict.passed


async def attempt(
    sketch: Sketch,
    renderer: Renderer,
    domain: Domain,
    seed: int = 0,
    *,
    anyway: bool = False,
    timeout_is_ours: bool = False,
) -> Attempt:
    """Gate, paint and gate again.

    A sketch refused by its syntax is not painted unless `anyway`; its verdict stays. With `timeout_is_ours`
    (the published rule) a time-out is unavailable instead of the sketch's fault. Never raises Unavailable.
    """
    verdict = gate.check(sketch, domain)
    if not verdict.passed and not (anyway and sketch.source):
        return Attempt(sketch, seed, verdict)
    try:
        painting = await renderer.render(sketch.source, seed)
    except Unavailable as outage:
        # what syntax already refused stays refused, whether or not the browser lived to paint it
        return Attempt(sketch, seed, verdict, unavailable=None if verdict.violations else str(outage))
    if painting.fault == "render_timeout" and timeout_is_ours and verdict.passed:
        return Attempt(sketch, seed, verdict, painting, unavailable=painting.fault_detail or "time-out")
    seen = gate.check_painting(painting, sketch, domain)
    # what syntax found comes with its line, so of what the page saw only other codes are news
    known = {violation.code for violation in verdict.violations}
    news = (violation for violation in seen.violations if violation.code not in known)
    return Attempt(sketch, seed, gate.verdict(verdict.violations, news), painting)
