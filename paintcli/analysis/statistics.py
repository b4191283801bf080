"""Statistics on steps, and on samples crossed with references.

Every figure of the analyser is a function of sums over steps, so one resampling serves all.

Rollouts of one step share their references and their policy, so they are not independent: the step is the unit.
Intervals are bootstrap intervals over whole steps, drawn within each third (a fixed design: a resampled run has as
many early and late steps as the real one).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

CONFIDENCE = 0.95
RESAMPLES = 2000
CELLS = 4_000_000
"""Weights held at once while resampling: 32 MB, however long the run."""


class Estimate(NamedTuple):
    """A figure with its interval; NaN bounds where there are too few steps to say (fewer than two in a third)."""

    value: float
    low: float
    high: float

    @property
    def sure(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Sums:
    """Sums over a set of steps, by name: floats for the data, arrays of shape (resamples,) for the bootstrap."""

    values: dict[str, np.ndarray]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.values[name]

    def ratio(self, top: str, bottom: str) -> np.ndarray:
        return safe_divide(self[top], self[bottom])


def safe_divide(top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    """top / bottom, NaN where the denominator is 0."""
    top, bottom = np.asarray(top, float), np.asarray(bottom, float)
    return np.divide(top, bottom, out=np.full(np.broadcast(top, bottom).shape, np.nan), where=bottom != 0)


class StepBootstrap:
    """Resamples steps within parts (the thirds) and hands out the sums of each part."""

    def __init__(self, parts: list[np.ndarray], resamples: int = RESAMPLES, seed: int = 0) -> None:
        """`parts`: index arrays into the steps, disjoint."""
        self.parts, self.resamples, self.seed = parts, resamples, seed

    def sums(self, table: dict[str, np.ndarray]) -> tuple[list[Sums], list[Sums]]:
        """(of the data, of the resamples), one Sums per part. `table`: name → per-step sums of shape (steps,)."""
        names = list(table)
        matrix = np.stack([np.nan_to_num(np.asarray(table[name], float)) for name in names], axis=1)
        rng = np.random.default_rng(self.seed)
        real, drawn = [], []
        for part in self.parts:
            block = matrix[part]
            real.append(Sums(dict(zip(names, block.sum(axis=0), strict=True))))
            total = np.concatenate([weights @ block for weights in self._weights(len(part), rng)])
            drawn.append(Sums(dict(zip(names, total.T, strict=True))))
        return real, drawn

    def _weights(self, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """How often each of `size` steps was drawn: blocks of shape (resamples in the block, size)."""
        if size == 0:
            yield np.zeros((self.resamples, 0))
            return
        left = self.resamples
        while left:
            rows = min(left, max(1, CELLS // size))
            drawn = rng.integers(0, size, (rows, size)) + np.arange(rows)[:, None] * size
            yield np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size).astype(float)
            left -= rows


def total(sums: list[Sums]) -> Sums:
    """The parts together."""
    return Sums({name: np.add.reduce([part[name] for part in sums]) for name in sums[0].values})


def estimate(
    figure: Callable[[list[Sums]], np.ndarray | float],
    real: list[Sums],
    drawn: list[Sums],
    steps: int,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """`figure` of the data, with the expanded percentile interval of its resamples.

    The plain percentile interval is too narrow for few units, by the factor sqrt((n−1)/n) and by taking normal for
    t quantiles. Expanded (T. Hesterberg, "What Teachers Should Know About the Bootstrap", 2015, section 3.3): take the
    percentiles α' = Φ(−sqrt(n/(n−1)) · t(α/2, n−1)) and 1 − α'. `steps` is n, the units of the smallest part used.
    """
    value = float(np.asarray(figure(real)).reshape(()))
    if steps < 2 or math.isnan(value):
        return Estimate(value, math.nan, math.nan)
    samples = np.asarray(figure(drawn), float)
    samples = samples[np.isfinite(samples)]
    if len(samples) < 20:
        return Estimate(value, math.nan, math.nan)
    tail = (1 - confidence) / 2
    tail = NormalDist().cdf(-math.sqrt(steps / (steps - 1)) * t_quantile(1 - tail, steps - 1))
    low, high = np.quantile(samples, [tail, 1 - tail])
    return Estimate(value, float(low), float(high))


def t_quantile(probability: float, freedom: float) -> float:
    """Student's t quantile for 0.5 ≤ probability < 1, to six digits: bisection on the integral of the density.

    The density is integrated in θ = atan(t/√ν), where it is Γ((ν+1)/2)/(√π Γ(ν/2)) · cos(θ)^(ν−1): smooth, finite.
    """
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    low, high = 0.0, math.pi / 2
    grid = np.linspace(0, 1, 2001)
    for _ in range(60):
        middle = (low + high) / 2
        if 0.5 + constant * np.trapezoid(np.cos(middle * grid) ** (freedom - 1), middle * grid) < probability:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(low)


def crossed(table: np.ndarray, strata: np.ndarray, confidence: float = CONFIDENCE) -> Estimate:
    """The mean of shares (0–1) of rows × columns, both drawn at random: every row meets every column once.

    `table`: (rows n, columns m); `strata`: (m,) labels, columns were drawn within them (a fixed design). In such a
    table neither cells nor rows are independent: a row's cells share the row, a column's the column. With
    y = μ + row + column + rest,

        Var(mean) = (MS_rows + MS_columns − MS_rest) / (n·m)

    (mean squares of the two-way layout; columns and rest about their stratum's mean), degrees of freedom ν by
    Satterthwaite, and t = t(ν). The interval is Wilson's with t for z and N = mean(1 − mean)/Var for n, so it stays
    in [0, 1] and is not empty where every cell is 0: there N is n, fewer than which no share of n rows can tell. A
    bootstrap of rows and columns at once would count MS_rest twice. NaN bounds with fewer than two rows, or no two
    columns in one stratum.
    """
    return _crossed(table, strata, confidence)[0]


def crossed_difference(
    first: np.ndarray, second: np.ndarray, strata: np.ndarray, paired: bool, confidence: float = CONFIDENCE
) -> Estimate:
    """mean(first) − mean(second) of two tables of `crossed` that met the same columns.

    What a column does to both cancels; `paired`: row i of one belongs to row i of the other (they were drawn with the
    same seeds), so that cancels too. Limits by squaring and adding the distances to each mean's own limits (R. Newcombe
    1998, method 10): d − √(a² + b² − 2ρab), where ρ = (V₁ + V₂ − V_d) / (2 √(V₁V₂)) is the correlation of the two means
    by their variances and V_d the variance of the difference.
    """
    one, variance1 = _crossed(first, strata, confidence)
    two, variance2 = _crossed(second, strata, confidence)
    value = one.value - two.value
    if math.isnan(variance1) or math.isnan(variance2):
        return Estimate(value, math.nan, math.nan)
    if paired:
        together = _variance(first - second, strata)[0]
    else:  # rows differ: the columns' effect on the difference, and each one's own rows
        columns = first.mean(axis=0) - second.mean(axis=0)
        both = [_parts(t, strata) for t in (first, second)]
        rest = sum(p.rest / t.shape[0] for p, t in zip(both, (first, second), strict=True))
        rows = sum(p.rows / t.shape[0] for p, t in zip(both, (first, second), strict=True))
        within = _within(columns, strata)
        together = max(rows + within - rest, rows, 0.0) / len(strata)
    scale = math.sqrt(variance1 * variance2)
    shared = float(np.clip((variance1 + variance2 - together) / (2 * scale), -1, 1)) if scale else 0.0

    def reach(a: float, b: float) -> float:
        return math.sqrt(max(a * a + b * b - 2 * shared * a * b, 0.0))

    return Estimate(
        value,
        value - reach(one.value - one.low, two.high - two.value),
        value + reach(one.high - one.value, two.value - two.low),
    )


class MeanSquares(NamedTuple):
    """Of the two-way layout: between rows, between columns of one stratum, and the rest."""

    rows: float
    columns: float
    rest: float


def _within(means: np.ndarray, strata: np.ndarray) -> float:
    """The variance of column means about their stratum's mean: Σ (x − x̄_stratum)² / (m − strata)."""
    labels = np.unique(strata)
    inside = sum(((means[strata == s] - means[strata == s].mean()) ** 2).sum() for s in labels)
    return float(inside / (len(strata) - len(labels)))


def _parts(table: np.ndarray, strata: np.ndarray) -> MeanSquares:
    n, m = table.shape
    labels = np.unique(strata)
    rest = 0.0
    for label in labels:
        block = table[:, strata == label]
        rest += ((block - block.mean(axis=1, keepdims=True) - block.mean(axis=0) + block.mean()) ** 2).sum()
    return MeanSquares(
        float(m * table.mean(axis=1).var(ddof=1)),
        n * _within(table.mean(axis=0), strata),
        float(rest / ((n - 1) * (m - len(labels)))),
    )


def _variance(table: np.ndarray, strata: np.ndarray) -> tuple[float, float]:
    """(variance of the mean, degrees of freedom)."""
    n, m = table.shape
    parts, free = _parts(table, strata), m - len(np.unique(strata))
    # a negative column component is noise about none: the rows alone are the least there is
    total = max(parts.rows + parts.columns - parts.rest, parts.rows)
    if total <= 0:
        return 0.0, n - 1
    shares = parts.rows**2 / (n - 1) + parts.columns**2 / free + parts.rest**2 / ((n - 1) * free)
    return total / (n * m), max(1.0, total**2 / shares)


def _crossed(table: np.ndarray, strata: np.ndarray, confidence: float) -> tuple[Estimate, float]:
    n, m = table.shape
    mean = float(table.mean()) if table.size else math.nan
    if n < 2 or m <= len(np.unique(strata)):
        return Estimate(mean, math.nan, math.nan), math.nan
    variance, freedom = _variance(table, strata)
    t2 = t_quantile((1 + confidence) / 2, freedom) ** 2
    size = mean * (1 - mean) / variance if variance > 0 else float(n)
    centre = (mean + t2 / (2 * size)) / (1 + t2 / size)
    half = math.sqrt(t2 * (mean * (1 - mean) / size + t2 / (4 * size**2))) / (1 + t2 / size)
    return Estimate(mean, max(0.0, min(mean, centre - half)), min(1.0, max(mean, centre + half))), variance


class Line(NamedTuple):
    """An ordinary least-squares line: y = intercept + slope · x, the slope's standard error and its t."""

    slope: float
    intercept: float
    error: float
    t: float


def ols(x: np.ndarray, y: np.ndarray) -> Line:
    """Least squares of y on x, pairs with a NaN left out; NaN where fewer than three pairs or all x are the same.

    t = b / sqrt(s² / Σ(x−x̄)²), s² = Σ residual² / (n−2): the textbook test of slope 0, as in the published curves.
    It takes steps as independent. A perfect line has no error and an infinite t.
    """
    keep = np.isfinite(x) & np.isfinite(y)
    x, y = np.asarray(x, float)[keep], np.asarray(y, float)[keep]
    spread = ((x - x.mean()) ** 2).sum() if len(x) else 0.0
    if len(x) < 3 or spread == 0:
        return Line(*[math.nan] * 4)
    slope = ((x - x.mean()) * (y - y.mean())).sum() / spread
    intercept = y.mean() - slope * x.mean()
    residual = y - intercept - slope * x
    error = math.sqrt((residual**2).sum() / (len(x) - 2) / spread)
    if error < 1e-15 * max(1.0, abs(y).max()):  # what is left is rounding
        return Line(slope, intercept, 0.0, 0.0 if abs(slope) < 1e-12 else math.copysign(math.inf, slope))
    return Line(slope, intercept, error, slope / error)


def slope_sums(x: np.ndarray, y: np.ndarray, name: str = "") -> dict[str, np.ndarray]:
    """Per-step columns for `slope_of`; a step whose y is NaN counts for nothing."""
    keep = np.isfinite(y).astype(float)
    y = np.nan_to_num(y)
    x = x - x.mean()  # numerically kinder, the slope is the same
    return {f"{name}w": keep, f"{name}x": keep * x, f"{name}y": y, f"{name}xx": keep * x * x, f"{name}xy": x * y}


def slope_of(sums: Sums, name: str = "") -> np.ndarray:
    """The least-squares slope from the sums of `slope_sums`."""
    w, x, y, xx, xy = (sums[name + part] for part in ("w", "x", "y", "xx", "xy"))
    return safe_divide(w * xy - x * y, w * xx - x * x)


def correlation_of(sums: Sums, name: str) -> np.ndarray:
    """Pearson's r from the sums name+n, x, y, xx, yy, xy: cov / sqrt(var · var); NaN where one does not vary."""
    n, x, y, xx, yy, xy = (np.asarray(sums[name + part], float) for part in ("n", "x", "y", "xx", "yy", "xy"))
    spread = np.maximum(n * xx - x * x, 0) * np.maximum(n * yy - y * y, 0)
    floor = 1e-18 * np.maximum(n * xx * n * yy, 1e-300)  # below this the variance is rounding
    return safe_divide(n * xy - x * y, np.sqrt(np.where(spread > floor, spread, 0)))


def thirds(steps: int, split: str) -> list[np.ndarray]:
    """Index arrays of the first, middle and last third of `steps` ordered steps.

    "card": as equal as can be, the longer ones first (110 → 37, 37, 36). "ends": ⌊n/3⌋ at each end, the rest in
    the middle (110 → 36, 38, 36). Fewer than three steps: the first and the last, an empty middle.
    """
    order = np.arange(steps)
    if split == "card":
        return np.array_split(order, 3) if steps >= 3 else [order[:1], order[1:1], order[1:]]
    size = max(steps // 3, 1)
    return [order[:size], order[size : max(steps - size, size)], order[max(steps - size, size) :]]
