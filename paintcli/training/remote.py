"""A task whose painting, gate and judging are an OpenEnv environment's: the published Space, or one of our own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from paintcli.backends.hub.env import Environment, picture, violation
from paintcli.backends.protocols import Message
from paintcli.domains import Domain
from paintcli.errors import Unavailable
from paintcli.gate import Violation
from paintcli.reward import combine
from paintcli.rollouts import Rollout
from paintcli.sketch import extract
from paintcli.training.recipe import Recipe
from paintcli.training.task import Group, Sample
from paintcli.training.turns import Look


class Remote:
    """A `Task`. The environment answers with unweighted terms; the mix that weighs them is the recipe's.

    A weighted term the environment did not answer makes the reward None, as at home.
    """

    def __init__(self, recipe: Recipe, domain: Domain, environment: Environment) -> None:
        self.recipe, self.environment = recipe, environment
        self.subject = recipe.subject or domain.subject
        self.mix = recipe.weights()
        self.prompt: list[Message] = domain.messages(self.subject)
        self.labels: Mapping[str, str] = {"renderer": environment.name}

    async def learn_prompt(self) -> None:
        """Take the environment's own prompts, where it has any. Raises Unavailable when it does not answer."""
        seen = (await self.environment.reset(self.options(0))).observation
        if seen.get("prompt"):
            system = [{"role": "system", "content": seen["system_prompt"]}] if seen.get("system_prompt") else []
            self.prompt = [*system, {"role": "user", "content": seen["prompt"]}]

    def options(self, step: int) -> dict[str, Any]:
        """What `reset` is told: kwargs of `step` are dropped on the way."""
        return {
            "subject": self.subject,
            "references": self.recipe.references,
            "return_image": True,
            "seed": self.recipe.group_seed(step),
        }

    async def assess(self, samples: Sequence[Sample], step: int) -> Group:
        return Group(list(await asyncio.gather(*(self._one(s, step, i) for i, s in enumerate(samples)))))

    async def look(self, samples: Sequence[Sample], step: int) -> list[Look | None]:
        raise NotImplementedError("an environment has one turn; open_task sees to it")

    async def _one(self, sample: Sample, step: int, position: int) -> tuple[Rollout, bytes | None]:
        try:
            seen = (await self.environment.episode(sample.text, self.options(step))).observation
            outage = {}
        except Unavailable as error:
            seen, outage = {}, {"gate": str(error)}
        rollout = self.rollout(sample.text, seen, outage)
        rollout.step, rollout.position_in_group = step, position
        rollout.seed = rollout.reference_seed = self.recipe.group_seed(step)
        return rollout, picture(seen)

    def rollout(self, reply: str, seen: Mapping[str, Any], outage: Mapping[str, str]) -> Rollout:
        """A rollout from the published observation fields."""
        violations = [violation(v) for v in seen.get("violations") or []]
        down = bool(seen.get("render_unavailable"))
        terms: dict[str, float | None] = {
            "gate": None if down or "gate_passed" not in seen else float(bool(seen["gate_passed"])),
            "length": _number(seen.get("length_score")),
            "judge": _number(seen.get("judge_score")) if seen.get("judged") else None,
            "hpsv3": _number(seen.get("quality_score")) if seen.get("quality_scored") else None,
        }
        coverage = _number(seen.get("paint_fraction"))
        reasons = dict(outage)
        if down:
            reasons["gate"] = "the environment could not paint it"
        refused = terms["gate"] == 0
        if refused and not violations:
            violations = [Violation("render_failed", None, "refused without a reason")]
        reward = combine(self.mix, terms, reasons, violations if refused else (), self.labels)
        sketch = extract(reply)
        counts = sketch.inventory
        code = sketch.source or reply
        return Rollout(
            run="", step=0, position_in_group=0, reward=reward.value, code=code, code_chars=len(code),
            n_shapes=counts.n_shapes, n_vertices=counts.n_vertices, n_circles=counts.n_circles,
            n_fill_calls=counts.n_fill_calls, brush_methods_used=list(counts.brush_methods_used),
            judge_weight=self.mix.weights["judge"], hpsv3_weight=self.mix.weights["hpsv3"],
            gate_weight=self.mix.weights["gate"], length_weight=self.mix.weights["length"],
            gate=reward.terms["gate"], length=terms["length"], judge=terms["judge"], hpsv3=terms["hpsv3"],
            coverage=coverage, violations=[{"code": v.code, "line": v.line, "detail": v.detail} for v in violations],
            unavailable=list(reward.unavailable), js_errors=[str(e) for e in seen.get("js_errors") or []],
            subject=self.subject, renderer=self.environment.name, scorer=self.environment.name,
            judge_backend=self.environment.name,
        )  # fmt: skip


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
