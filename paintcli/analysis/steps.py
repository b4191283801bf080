"""A run seen step by step: the series that everything else is computed from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paintcli.analysis.sources import Run
from paintcli.analysis.statistics import StepBootstrap, Sums, safe_divide, thirds

TERMS = {
    "judge": ("group_judge_mean", "judge_mean"),
    "hpsv3": ("group_quality_mean", "quality_mean"),
    "length": ("group_length_mean", "length_mean"),
    "pigment": ("", ""),
    "coverage": ("group_paint_mean", "paint_fraction_mean"),
}
"""Term → its name as a group mean in published rollouts, and in curve.csv."""

WEIGHTS = {"judge": "judge_weight", "hpsv3": "hpsv3_weight", "length": "length_weight", "pigment": "pigment_weight"}

INFERRED_WEIGHTS_ERROR = 0.02
"""Weights inferred from a curve are believed when reward is left with less than this standard deviation.
The three published curves leave 0.003 to 0.004."""


@dataclass(frozen=True)
class Steps:
    """The run's steps in order, split into thirds. All per-step arrays have the shape (steps,)."""

    run: Run
    split: str

    @cached_property
    def _unique(self) -> tuple[np.ndarray, np.ndarray]:
        return np.unique(self.run.numbers["step"], return_inverse=True)

    @property
    def numbers(self) -> np.ndarray:
        """The step numbers, ascending."""
        return self._unique[0]

    @property
    def index(self) -> np.ndarray:
        """Of shape (rollouts,): which step each rollout is of, as an index."""
        return self._unique[1]

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def parts(self) -> list[np.ndarray]:
        return thirds(len(self), self.split)

    @cached_property
    def third_of(self) -> np.ndarray:
        """Of shape (rollouts,): 0, 1 or 2."""
        of_step = np.empty(len(self), int)
        for number, part in enumerate(self.parts):
            of_step[part] = number
        return of_step[self.index]

    @cached_property
    def rewarded(self) -> np.ndarray:
        """Bool of shape (rollouts,): which have a reward."""
        return np.isfinite(self.run.numbers["reward"])

    def sum(self, values: np.ndarray) -> np.ndarray:
        """Per-step sum over rollouts, NaN as nothing."""
        return np.bincount(self.index, np.nan_to_num(values), minlength=len(self))

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Per-step mean over the rollouts that have a number; NaN where none has."""
        return safe_divide(self.sum(values), self.sum(np.isfinite(values)))

    @cached_property
    def reward(self) -> np.ndarray:
        """Mean reward of each step."""
        return self.mean(self.run.numbers["reward"])

    @cached_property
    def order_statistics(self) -> dict[str, np.ndarray]:
        """best, median and worst reward of each step; NaN for a step without one. Empty for a curve."""
        if self.run.is_curve:
            return {}
        rows = np.flatnonzero(self.rewarded)
        reward, step = self.run.numbers["reward"][rows], self.index[rows]
        order = np.lexsort((reward, step))
        reward, step = reward[order], step[order]
        present, start, count = np.unique(step, return_index=True, return_counts=True)
        found = {name: np.full(len(self), np.nan) for name in ("best", "median", "worst")}
        found["worst"][present] = reward[start]
        found["best"][present] = reward[start + count - 1]
        found["median"][present] = (reward[start + (count - 1) // 2] + reward[start + count // 2]) / 2
        return found

    def term(self, name: str) -> tuple[np.ndarray, np.ndarray] | None:
        """(sum, count) per step of a term over what has it: rollouts, else the group's mean, else the curve's.

        None when the data has it in no form.
        """
        own = self.run.column(name)
        if own is not None:
            return self.sum(own), self.sum(np.isfinite(own))
        group_name, curve_name = TERMS[name]
        group = self.run.column(group_name)
        mean = self.mean(group) if group is not None else self.from_curve(curve_name)
        if mean is None:
            return None
        return np.nan_to_num(mean), np.isfinite(mean).astype(float)

    def from_curve(self, column: str) -> np.ndarray | None:
        """A curve.csv column at these steps, NaN where the curve lacks one; None when it holds no number."""
        values = self.run.curve.get(column)
        if values is None or not np.isfinite(values).any():
            return None
        steps = self.run.curve["step"]
        place = np.clip(np.searchsorted(steps, self.numbers), 0, len(steps) - 1)
        found = np.where(steps[place] == self.numbers, values[place], np.nan)
        return found if np.isfinite(found).any() else None

    @cached_property
    def weights(self) -> tuple[dict[str, float], str]:
        """(term → weight in the reward, where they are from): "logged", "inferred" from the curve, or "unknown".

        Inferred: least squares of the steps' mean reward on their mean judge, HPSv3 and length terms and a constant
        (which takes up the gate's weight); the reward is linear in them but for refused sketches.
        """
        logged = {}
        for term, column in WEIGHTS.items():
            values = self.run.column(column)
            if values is not None:
                logged[term] = float(np.nanmean(values))
        if logged:
            return logged, "logged"
        names = [name for name in ("judge", "hpsv3", "length") if self.term(name)]
        series = [safe_divide(*(self.term(name) or ())) for name in names]
        if len(names) == 3:
            keep = np.isfinite(np.stack([*series, self.reward])).all(axis=0)
            if keep.sum() >= 20:
                design = np.stack([*(s[keep] for s in series), np.ones(keep.sum())], axis=1)
                found, *_ = np.linalg.lstsq(design, self.reward[keep], rcond=None)
                if (self.reward[keep] - design @ found).std() < INFERRED_WEIGHTS_ERROR:
                    return dict(zip(names, found[:3].tolist(), strict=True)), "inferred"
        return {}, "unknown"

    def bootstrap(self, table: dict[str, np.ndarray], resamples: int, seed: int) -> tuple[list[Sums], list[Sums]]:
        """`StepBootstrap.sums` of per-step sums over the thirds."""
        return StepBootstrap(self.parts, resamples, seed).sums(table)
