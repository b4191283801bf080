"""Everything about a run that can be known before it: coverage, memory, pace, and why it would be refused."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from paintcli.errors import PaintError
from paintcli.training import control, memory, models, pace
from paintcli.training.coverage import Coverage, coverage, with_adapter
from paintcli.training.memory import Plan
from paintcli.training.pace import Pace
from paintcli.training.recipe import Recipe


@dataclass(frozen=True)
class Survey:
    """The plan of a recipe. `objections` are the sentences a real run would be refused with; empty: it may start."""

    recipe: Recipe
    coverage: Coverage
    memory: Plan
    pace: Pace
    objections: tuple[PaintError, ...]

    def line(self) -> str:
        """What a run says of itself before it starts."""
        reached, layers = self.coverage.mixers
        return (
            f"Adapter of {self.coverage.trainable:,} parameters on the token mixers of {reached} of {layers} layers; "
            f"about {self.memory.total / memory.GB:.1f} of {self.memory.capacity / memory.GB:.0f} GB, "
            f"{self.pace.step:.0f} s a step."
        )

    def check(self) -> None:
        """Raises the first objection."""
        if self.objections:
            raise self.objections[0]

    def to_json(self) -> dict[str, Any]:
        """Sizes in 10⁹ bytes, times in seconds."""
        return {
            "coverage": {part: list(pair) for part, pair in self.coverage.parts.items()},
            "parameters": self.coverage.parameters,
            "trainable": self.coverage.trainable,
            "memory": {p.name: round(p.size / memory.GB, 3) for p in self.memory.parts},
            "memory_total": round(self.memory.total / memory.GB, 3),
            "memory_capacity": round(self.memory.capacity / memory.GB, 3),
            "step_seconds": {p.name: round(p.size, 1) for p in self.pace.phases},
            "run_hours": round(self.pace.run / 3600, 2),
            "timeout_hours": self.pace.timeout_hours,
            "objections": [str(o) for o in self.objections],
        }


def survey(recipe: Recipe, where: str = "local") -> Survey:
    """Look at a recipe without loading a weight. Raises PaintError when its model is not to be found at all."""
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
    if recipe.is_control:
        model, _ = control.policy(recipe)
        config = model.config
    else:
        config = models.configuration(recipe.model)
        model = models.skeleton(config, recipe.multimodal)
    reach = coverage(with_adapter(model, recipe))
    plan = memory.plan(recipe, config, reach.parameters, reach.trainable, where)
    _, _, gpu = memory.machine(recipe, where)
    objections = []
    for check in (recipe.refuse_stand_ins, lambda: reach.check(recipe.minimum_coverage), plan.check):
        try:
            check()
        except PaintError as objection:
            objections.append(objection)
    return Survey(recipe, reach, plan, pace.estimate(recipe, config, reach.parameters, gpu), tuple(objections))
