"""The real task: a group of replies is painted, gated, judged and scored at once, and written down as rollouts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from paintcli import pool as pools
from paintcli.attempt import attempt
from paintcli.backends.protocols import Message
from paintcli.domains import Domain
from paintcli.pool import Draw, Pool
from paintcli.reward import STAND_IN, Assessor, Evaluation
from paintcli.rollouts import Rollout
from paintcli.sketch import extract
from paintcli.training.processes import is_first
from paintcli.training.recipe import Recipe
from paintcli.training.task import Group, Sample
from paintcli.training.turns import Look, look


class Studio:
    """A `Task`: same references and same render seed for a group, both from its step.

    `pool` may be None only when nothing in the mix compares.
    """

    def __init__(self, recipe: Recipe, domain: Domain, assessor: Assessor, pool: Pool | None) -> None:
        self.recipe, self.domain, self.assessor, self.pool = recipe, domain, assessor, pool
        self.subject = recipe.subject or domain.subject
        self.prompt: list[Message] = domain.messages(self.subject)
        self.labels: Mapping[str, str] = assessor.labels
        self._said: set[str] = set()

    def draw(self, step: int) -> Draw:
        """The references of a step: the published half love, half okay, or by the schedule."""
        if self.pool is None or not self.assessor.asks("judge"):
            return Draw(())
        shares = pools.shares_of(self.recipe.references)
        if self.recipe.references_schedule == "easy-to-hard":
            shares = self.pool.scheduled(self.recipe.references, step / self.recipe.steps)
        return self.pool.draw(shares, self.recipe.group_seed(step))

    async def assess(self, samples: Sequence[Sample], step: int) -> Group:
        draw, seed = self.draw(step), self.recipe.group_seed(step)
        evaluations = await self.assessor.evaluate_group([s.text for s in samples], draw.references, seed)
        rows = []
        for position, (sample, evaluation) in enumerate(zip(samples, evaluations, strict=True)):
            rollout = rollout_of(evaluation, self.assessor, sample.text)
            rollout.step, rollout.position_in_group = step, position
            rollout.seed = rollout.reference_seed = seed
            rollout.subject = self.subject
            rollout.references = [r.drawn for r in draw.references]
            rows.append((rollout, evaluation.painting.png if evaluation.painting else None))
        new = tuple(w for w in draw.warnings if w not in self._said)  # said once, not at every step
        self._said.update(new)
        return Group(rows, new)

    async def look(self, samples: Sequence[Sample], step: int) -> list[Look | None]:
        """What each sample is shown of its own last reply, painted as the group will be."""
        renderer, seed = self.assessor.renderer, self.recipe.group_seed(step)
        assert renderer is not None
        attempts = await asyncio.gather(
            *(attempt(extract(s.text), renderer, self.domain, seed, timeout_is_ours=self.assessor.timeout_is_ours)
              for s in samples)
        )  # fmt: skip
        return [look(a, self.recipe.multimodal) for a in attempts]


def rollout_of(evaluation: Evaluation, assessor: Assessor, reply: str) -> Rollout:
    """Everything an evaluation knows, in the columns of a rollout. Step, position and seeds are the caller's."""
    reward, sketch, painting = evaluation.reward, evaluation.sketch, evaluation.painting
    weights, seconds = assessor.mix.weights, evaluation.seconds
    code = (sketch.source if sketch else "") or reply
    rollout = Rollout(
        run="",
        step=0,
        position_in_group=0,
        reward=reward.value,
        judge_weight=weights["judge"],
        hpsv3_weight=0.0 if assessor.stand_in else weights["hpsv3"],
        gate_weight=weights["gate"],
        length_weight=weights["length"],
        pigment_weight=weights["pigment"],
        code=code,
        code_chars=len(code),
        gate=reward.terms["gate"],
        length=reward.terms["length"],
        judge=reward.terms["judge"],
        hpsv3=reward.terms["hpsv3"],
        pigment=reward.terms["pigment"],
        hpsv3_mu=None if assessor.stand_in else evaluation.mu,
        violations=[{"code": v.code, "line": v.line, "detail": v.detail} for v in reward.violations],
        unavailable=[*reward.unavailable, *reward.observed_unavailable],
        seconds_paint=_rounded(seconds.get("paint")),
        seconds_judge=_rounded(seconds.get("judge")),
        seconds_score=_rounded(seconds.get("score")),
        renderer=assessor.labels.get("renderer", ""),
        scorer=assessor.labels.get("hpsv3", "") if assessor.asks("hpsv3") else "",
        judge_backend=assessor.labels.get("judge", "") if assessor.asks("judge") else "",
    )
    if STAND_IN in reward.terms:
        rollout.taste, rollout.taste_weight = reward.terms[STAND_IN], weights["hpsv3"]
    if evaluation.judgement:
        rollout.comparisons = [c.to_json() for c in evaluation.judgement.comparisons]
        rollout.unavailable += [f"judge: {reason}" for reason in evaluation.judgement.dropped]
    if sketch is not None and sketch.source:
        counts = sketch.inventory
        rollout.n_shapes, rollout.n_vertices = counts.n_shapes, counts.n_vertices
        rollout.n_circles, rollout.n_fill_calls = counts.n_circles, counts.n_fill_calls
        rollout.brush_methods_used = list(counts.brush_methods_used)
    if painting is not None:
        rollout.coverage = round(painting.coverage, 6) if painting.png else None
        rollout.js_errors = list(painting.js_errors)
        rollout.renderer = painting.renderer or rollout.renderer
        rollout.versions = dict(painting.versions)
        rollout.raster = painting.versions.get("raster", "")
        if painting.calls is not None:
            ran = painting.calls
            rollout.executed_shapes, rollout.executed_vertices = (
                ran.get("brush.endShape", 0),
                ran.get("brush.vertex", 0),
            )
            rollout.executed_circles, rollout.executed_fill_calls = ran.get("brush.circle", 0), ran.get("brush.fill", 0)
    return rollout


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def open_studio(recipe: Recipe, domain: Domain, pool: Pool | None, stack: ExitStack) -> Studio:
    """The studio of a recipe with its backends, closed with `stack`. Raises PaintError for what cannot be had."""
    from paintcli.backends.specs import label, make_comparer, make_renderer, make_scorer

    mix = recipe.weights()

    def kept(backend: Any) -> Any:
        if hasattr(backend, "close"):
            stack.callback(backend.close)
        if hasattr(backend, "load") and is_first():
            backend.load()  # a missing model is said before the run, not as an outage in every step
        return backend

    assessor = Assessor(
        mix=mix,
        domain=domain,
        comparer=kept(make_comparer(recipe.judge, pool, recipe.workers)) if mix.wants("judge") else None,
        scorer=kept(make_scorer(recipe.scorer, pool, recipe.workers)) if mix.wants("hpsv3") else None,
        renderer=kept(make_renderer(recipe.renderer, workers=recipe.workers, deadline=recipe.deadline)),
        labels={"renderer": recipe.renderer, "judge": label(recipe.judge), "hpsv3": label(recipe.scorer)},
        stand_in=recipe.scorer == "taste",
        timeout_is_ours=recipe.timeout == "infrastructure",
    )
    return Studio(recipe, domain, assessor, pool)


def needs_pool(recipe: Recipe) -> bool:
    """Whether anything in the mix compares with references, or learns from them."""
    mix = recipe.weights()
    return mix.wants("judge") or (mix.wants("hpsv3") and recipe.scorer == "taste")
