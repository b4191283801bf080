"""From a reply to a number, or to an honest "no number". The only place that knows that None is not 0.

A refused sketch earns 0. A term that weighs and could not be answered makes the reward None, with the reason. A term
of weight 0 is not asked for at all, unless it is observed: then it is recorded and changes nothing.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from paintcli import gate
from paintcli.attempt import attempt
from paintcli.backends.protocols import Comparer, Renderer, Scorer
from paintcli.domains import Domain
from paintcli.errors import Unavailable, UsageError
from paintcli.gate import Verdict, Violation
from paintcli.judging import Judgement, judge
from paintcli.painting import Painting
from paintcli.pool import Reference
from paintcli.sketch import Sketch, extract

TERMS = ("gate", "length", "judge", "hpsv3", "pigment")
"""Every term a mix may weigh; each is in [0, 1]."""

PRESETS = {
    "judge-led": {"gate": 0.05, "length": 0.05, "judge": 0.60, "hpsv3": 0.30},
    "hps-led": {"gate": 0.05, "length": 0.05, "judge": 0.30, "hpsv3": 0.60},
    "hps-only": {"gate": 0.05, "length": 0.05, "judge": 0.0, "hpsv3": 0.90},
}
"""The three published mixes."""

STAND_IN = "taste"
"""The term that takes hpsv3's place, and its weight, when the embedded scorer stands in: never a column `hpsv3`."""


@dataclass(frozen=True)
class Mix:
    """Weights of the terms; all of TERMS are there and they sum to 1."""

    name: str
    weights: Mapping[str, float]

    @classmethod
    def parse(cls, text: str) -> Mix:
        """A preset's name or "term=weight,term=weight". Raises UsageError in one sentence."""
        if text in PRESETS:
            return cls(text, _complete(PRESETS[text]))
        if "=" not in text:
            raise UsageError(
                f"There is no mix {text!r}: it is {', '.join(PRESETS)}, or like gate=.1,length=.1,judge=.8."
            )
        weights: dict[str, float] = {}
        for part in text.split(","):
            term, _, number = (side.strip() for side in part.partition("="))
            if term not in TERMS:
                raise UsageError(f"The mix names the unknown term {term!r}; there are {', '.join(TERMS)}.")
            if term in weights:
                raise UsageError(f"The mix names {term} twice.")
            try:
                weights[term] = float(number)
            except ValueError:
                raise UsageError(f"The weight of {term} must be a number, not {number!r}.") from None
            if not 0 <= weights[term] <= 1:
                raise UsageError(f"The weight of {term} must be between 0 and 1, not {number}.")
        total = math.fsum(weights.values())
        if abs(total - 1) > 1e-6:
            raise UsageError(f"The weights of the mix must sum to 1, not {total:g}.")
        return cls(text, _complete(weights))

    def wants(self, term: str) -> bool:
        return self.weights[term] > 0


def _complete(weights: Mapping[str, float]) -> dict[str, float]:
    return {term: float(weights.get(term, 0.0)) for term in TERMS}


def length_term(code: str) -> float:
    """The length term of an extracted sketch, 0–1 (published): tokens are characters / 4.

    0 below 150 tokens and above 6,000; (tokens − 150) / 2,850 up to 3,000; 1 from there to 6,000.
    """
    tokens = len(code) / 4
    if tokens < 150 or tokens > 6000:
        return 0.0
    return min((tokens - 150) / 2850, 1.0)


def hpsv3_term(mu: float) -> float:
    """sigmoid(mu / 4), the published squashing of a scorer's unbounded mu into 0–1; written nowhere else."""
    return 1 / (1 + math.exp(-max(-200.0, min(mu, 200.0)) / 4))


@dataclass(frozen=True)
class Reward:
    """A number in [0, 1], or None and why. `terms` are unweighted; a term that was not asked for is None."""

    value: float | None
    terms: Mapping[str, float | None]
    weights: Mapping[str, float]
    unavailable: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()
    backends: Mapping[str, str] = field(default_factory=dict)
    observed_unavailable: tuple[str, ...] = ()

    def to_json(self, name: str) -> dict[str, Any]:
        """The documented object of `score --json`.

        Of the terms pigment and taste are there when they were asked. `unavailable` tells of observed terms too, which
        make no null: only what is needed does.
        """
        always = ("gate", "length", "judge", "hpsv3")
        shown = [t for t in self.terms if t in always or self.terms[t] is not None or self.weights.get(t)]
        return {
            "input": name,
            "reward": None if self.value is None else round(self.value, 6),
            "terms": {t: None if (v := self.terms[t]) is None else round(v, 6) for t in shown},
            "weights": {t: self.weights[t] for t in shown},
            "unavailable": [
                *self.unavailable,
                *(f"{why} (observed, weighs nothing)" for why in self.observed_unavailable),
            ],
            "violations": [{"code": v.code, "line": v.line, "detail": v.detail} for v in self.violations],
            "backends": dict(self.backends),
        }

    def explain(self) -> list[tuple[str, float | None, float, float | None]]:
        """(term, its value, its weight, the points it gives) of every term that weighs or was observed."""
        refused = bool(self.violations)
        rows = []
        for term, weight in self.weights.items():
            value = self.terms[term]
            if weight or value is not None:
                points = 0.0 if refused else None if value is None else value * weight
                rows.append((term, value, weight, points))
        return rows


def combine(
    mix: Mix,
    terms: Mapping[str, float | None],
    reasons: Mapping[str, str] | None = None,
    violations: Sequence[Violation] = (),
    backends: Mapping[str, str] | None = None,
    stand_in: bool = False,
) -> Reward:
    """The one rule. `terms` holds what was answered, `reasons` why a term could not be.

    Refused (any violation): 0, whatever else is missing. Else any term that weighs and is None: None. The gate's own
    answer is always needed, even at weight 0, because a refusal is 0 outright. With `stand_in` the value and weight of
    hpsv3 are written under "taste" and hpsv3 itself stays None at weight 0.
    """
    reasons = reasons or {}
    values = {term: terms.get(term) for term in TERMS}
    weights = dict(mix.weights)
    if violations:
        values["gate"] = 0.0
    needed = [t for t in TERMS if weights[t] > 0 or t == "gate"]
    missing = [t for t in needed if values[t] is None]
    value: float | None = None
    if violations:
        value, missing = 0.0, []
    elif not missing:
        value = math.fsum(weights[t] * v for t in needed if (v := values[t]) is not None)
        value = min(max(value, 0.0), 1.0)
    shown = {t: STAND_IN if stand_in and t == "hpsv3" else t for t in TERMS}
    unavailable = tuple(f"{shown[t]}: {reasons.get(t, 'not answered')}" for t in missing)
    observed = tuple(f"{shown[t]}: {why}" for t, why in reasons.items() if t not in needed)
    if stand_in:
        values = {**values, STAND_IN: values["hpsv3"], "hpsv3": None}
        weights = {**weights, STAND_IN: weights["hpsv3"], "hpsv3": 0.0}
    return Reward(value, values, weights, unavailable, tuple(violations), dict(backends or {}), observed)


@dataclass(frozen=True)
class Evaluation:
    """One sketch or picture with everything that was found out on the way to its reward.

    `seconds`: wall-clock seconds of the phases that ran: "paint" (with both gates), "judge", "score".
    """

    name: str
    reward: Reward
    sketch: Sketch | None = None
    verdict: Verdict | None = None
    painting: Painting | None = None
    judgement: Judgement | None = None
    mu: float | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Assessor:
    """Everything that turns replies into rewards, chosen once. `evaluate` is the one way from text to number.

    `labels` name the backends in every output ("renderer", "judge", "hpsv3" → text; a stand-in's says so).
    `stand_in`: the scorer is the embedded one in HPSv3's place. `observe`: terms of weight 0 to record all the same.
    Raises UsageError when a term that weighs has nobody to answer it.
    """

    mix: Mix
    domain: Domain
    renderer: Renderer | None = None
    comparer: Comparer | None = None
    scorer: Scorer | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    stand_in: bool = False
    observe: frozenset[str] = frozenset()
    timeout_is_ours: bool = False

    def __post_init__(self) -> None:
        for term, backend in (("judge", self.comparer), ("hpsv3", self.scorer)):
            if self.asks(term) and backend is None:
                raise UsageError(f"The mix {self.mix.name} asks the {term}, but none was chosen.")
        if self.asks("pigment"):
            _ = self.domain.pigment_target  # a domain without one is told now, not after the first painting

    def asks(self, term: str) -> bool:
        """Whether this term is answered at all."""
        return self.mix.wants(term) or term in self.observe

    async def evaluate(
        self, reply: str | Sketch, references: Sequence[Reference] = (), seed: int = 0, name: str = "sketch"
    ) -> Evaluation:
        """From a model's reply (or a sketch) to its reward. Never raises Unavailable: that is a reward of None."""
        if self.renderer is None:
            raise UsageError("Nothing was chosen to paint with.")
        sketch = extract(reply, name) if isinstance(reply, str) else reply
        seconds: dict[str, float] = {}
        with _clock(seconds, "paint"):
            result = await attempt(sketch, self.renderer, self.domain, seed, timeout_is_ours=self.timeout_is_ours)
        reasons = {} if result.unavailable is None else {"gate": result.unavailable}
        return await self._answer(
            name, sketch, result.verdict, result.painting, result.passed, reasons, references, seconds
        )

    async def evaluate_picture(
        self, painting: Painting, sketch: Sketch | None, references: Sequence[Reference] = (), name: str = "picture"
    ) -> Evaluation:
        """The reward of a picture that was painted before. Without its sketch there is no gate, so no reward.

        The picture is taken as it is: what its page called is not known, so only the sketch's syntax and the paint on
        the canvas are gated.
        """
        reasons: dict[str, str] = {}
        verdict: Verdict | None = None
        passed: bool | None = None
        if sketch is None:
            missing = "the picture has no sketch beside it"
            reasons = {"gate": missing, "length": missing}
        else:
            verdict = gate.check(sketch, self.domain)
            if verdict.passed:
                verdict = gate.check_painting(painting, sketch, self.domain)
            passed = verdict.passed
        return await self._answer(name, sketch, verdict, painting, passed, reasons, references, {})

    async def evaluate_group(
        self, replies: Sequence[str], references: Sequence[Reference], seed: int = 0, names: Sequence[str] | None = None
    ) -> list[Evaluation]:
        """A whole training group at once: same references, same render seed; the backends bound their own concurrency.

        A rollout is judged as soon as it is painted, while others still paint.
        """
        names = names or [f"{i:02d}" for i in range(len(replies))]
        return await asyncio.gather(
            *(self.evaluate(r, references, seed, n) for r, n in zip(replies, names, strict=True))
        )

    async def _answer(
        self,
        name: str,
        sketch: Sketch | None,
        verdict: Verdict | None,
        painting: Painting | None,
        passed: bool | None,
        reasons: dict[str, str],
        references: Sequence[Reference],
        seconds: dict[str, float],
    ) -> Evaluation:
        terms: dict[str, float | None] = {"gate": None if passed is None else float(passed)}
        judgement: Judgement | None = None
        mu: float | None = None
        if sketch is not None:
            terms["length"] = length_term(sketch.source)
        violations = verdict.violations if verdict is not None and passed is False else ()
        picture = painting if painting is not None and painting.png is not None else None
        if picture is None and passed is not False:
            for term in ("judge", "hpsv3", "pigment"):
                if self.mix.wants(term):
                    reasons[term] = "there is no picture"
        elif picture is not None and passed is not False:
            if self.asks("pigment"):
                terms["pigment"] = picture.pigment(self.domain.pigment_target)
            (judgement, why_judge), (mu, why_score) = await asyncio.gather(
                self._judge(picture, references, seconds), self._score(picture, seconds)
            )
            terms["judge"] = judgement.score if judgement else None
            terms["hpsv3"] = None if mu is None else hpsv3_term(mu)
            reasons |= {t: why for t, why in (("judge", why_judge), ("hpsv3", why_score)) if why}
        reward = combine(self.mix, terms, reasons, violations, self._labels("paint" in seconds), self.stand_in)
        return Evaluation(name, reward, sketch, verdict, painting, judgement, mu, seconds)

    def _labels(self, painted: bool) -> dict[str, str]:
        used = {"renderer": painted, "judge": self.asks("judge"), "hpsv3": self.asks("hpsv3")}
        return {
            STAND_IN if self.stand_in and role == "hpsv3" else role: self.labels[role]
            for role, yes in used.items()
            if yes and role in self.labels
        }

    async def _judge(
        self, painting: Painting, references: Sequence[Reference], seconds: dict[str, float]
    ) -> tuple[Judgement | None, str]:
        if not self.asks("judge") or self.comparer is None:
            return None, ""
        with _clock(seconds, "judge"):
            try:
                return await judge(painting, references, self.comparer, self.domain.criteria), ""
            except Unavailable as outage:
                return None, str(outage)

    async def _score(self, painting: Painting, seconds: dict[str, float]) -> tuple[float | None, str]:
        if not self.asks("hpsv3") or self.scorer is None:
            return None, ""
        with _clock(seconds, "score"):
            try:
                (mu,) = await self.scorer.score([painting], self.domain.hpsv3_prompt)
            except Unavailable as outage:
                return None, str(outage)
        if not math.isfinite(mu):
            return None, f"the scorer answered {mu}"
        return mu, ""


@contextmanager
def _clock(seconds: dict[str, float], phase: str) -> Any:
    start = time.perf_counter()
    try:
        yield
    finally:
        seconds[phase] = time.perf_counter() - start
