"""How long a step and a run will take, and the time a Job must be given. Estimates, each with where it comes from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from paintcli.training.memory import Part as Phase
from paintcli.training.recipe import EXAM_REFERENCES, Recipe

TOKENS = 2000
"""Mean completion length of the published runs."""

PUBLISHED_STEP = {"hps-only": 1067.0, "judge-led": 1139.0, "hps-led": 1055.0}
"""Mean seconds a step took in the published runs, 70–80 % of it in the environment."""

PAINTING = 1.2
"""Seconds a painting of real length takes one worker (measured: 1.07–1.24 on one of two cores)."""

JUDGING = 0.4
"""Seconds a comparison takes, assumed."""

SCORING = 0.3
"""Seconds HPSv3 takes for a painting, assumed."""

SET_UP = 1800.0
"""Seconds a Job needs before its first step: image, wheels, 70 GB of weights."""


@dataclass(frozen=True)
class Pace:
    """Seconds of a step by phase, and of a run."""

    phases: tuple[Phase, ...]
    steps: int
    exams: float = 0.0
    """Seconds of all the exams together."""

    @property
    def step(self) -> float:
        return sum(p.size for p in self.phases)

    @property
    def run(self) -> float:
        return self.step * self.steps + self.exams

    @property
    def timeout_hours(self) -> int:
        """What a Job is given: set-up, the run and half as much again, in whole hours."""
        return math.ceil((SET_UP + 1.5 * self.run) / 3600)


def estimate(recipe: Recipe, config: Any, parameters: int, gpu: bool) -> Pace:
    """The pace of `recipe`; `gpu` False for a CPU."""
    text = config.get_text_config()
    tokens = min(TOKENS, recipe.max_completion)
    longest = min(1.4 * tokens, recipe.max_completion)  # the slowest of a group of eight decides
    group = tokens * recipe.generations
    if gpu:
        # per decoding step transformers launches the kernels of 40 layers: 75 ms; with this the published step's
        # 20–30 % outside the environment (210–320 s) comes out
        writing = 0.075 * text.num_hidden_layers / 40 * longest
        learning = 2.5e-3 * group * text.num_hidden_layers / 40
        how = "scaled from the published runs"
    else:
        # measured with 268 million parameters on two cores: 62 s writing, 38 s learning for 8 × 256 tokens
        writing = 62 / 256 * longest * parameters / 268e6
        learning = 38 / 2048 * group * parameters / 268e6
        how = "scaled from 268 M parameters on two cores"
    phases = [Phase("writing", writing * recipe.turns, how), Phase("learning", learning, how)]
    if not recipe.is_control:
        at_once = max(1, min(recipe.workers, recipe.generations))
        paint = PAINTING * recipe.generations / at_once * recipe.turns
        phases.append(Phase("painting", paint, f"{PAINTING} s each, {at_once} at once"))
        mix = recipe.weights()
        if mix.wants("judge") and recipe.judge != "taste":
            questions = recipe.generations * recipe.references * 2
            phases.append(Phase("judging", JUDGING * questions, f"{questions} comparisons at {JUDGING} s, assumed"))
        if mix.wants("hpsv3") and recipe.scorer != "taste":
            phases.append(Phase("scoring", SCORING * recipe.generations, f"{SCORING} s a painting, assumed"))
    return Pace(tuple(phases), recipe.steps, exams(recipe, phases) if recipe.exam_every else 0.0)


def exams(recipe: Recipe, phases: list[Phase]) -> float:
    """Seconds: every sample is written and painted as in a step, and meets all of the exam's references."""
    each = sum(p.size for p in phases if p.name in ("writing", "painting")) / recipe.generations
    if recipe.judge != "taste":
        each += JUDGING * EXAM_REFERENCES * 2
    return each * recipe.exam_samples * (math.ceil(recipe.steps / recipe.exam_every) + 1)
