"""The draw: how hard each step's references were, and what the curve looks like without that.

All rollouts of a step meet the same few references, so a hard draw lowers a whole step and no statistic of rewards
can tell it from a bad policy. Logged comparisons can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paintcli.analysis import statistics as st
from paintcli.analysis.gain import Options, _plain, interval
from paintcli.analysis.steps import Steps

RATIOS = np.geomspace(0.02, 500, 60)
"""Noise-to-hardness variance ratios tried by the fit; at the last one hardness is next to nothing."""

FEWEST_PAIRS = 6
"""Fewer (reference, second step) meetings than this tie too few steps together to compare them."""


@dataclass(frozen=True)
class Draw:
    """`effect` (steps,): how much the draw raised the step's judge term; NaN where nothing was judged."""

    basis: str
    effect: np.ndarray
    judged_share: np.ndarray
    """(steps,): share of the rewarded rollouts that have a judge term."""
    hardness: dict[str, float]
    """Reference → how much of a win share meeting it costs, above (+) or below (−) the average reference."""
    note: str = ""


def fit(steps: Steps) -> Draw | str:
    """The draw's effect per step, or the sentence that says why it cannot be known."""
    if steps.run.comparisons is not None:
        return _from_comparisons(steps)
    if steps.run.references and any(mu == mu for refs in steps.run.references.values() for _, mu in refs):
        return _from_scores(steps)
    return "cannot say how hard the draws were: the data names no comparisons and no references"


def _from_comparisons(steps: Steps) -> Draw | str:
    """Score of step t against reference r = level(t) − hardness(r) + noise, hardness ~ N(0, τ²).

    Within a step every rollout meets the same references, so their differences say which are hard, and references met
    in several steps tie the steps together. Mixed model: levels are fixed, hardness is random (shrunk towards the
    average by how little it was met), the variance ratio is the maximum of the restricted likelihood (Patterson and
    Thompson, 1971) over a grid. The effect on a step is minus the mean hardness of what it drew.
    """
    logged = steps.run.comparisons
    assert logged is not None
    row, score, names = logged.row, logged.score, logged.names
    cells, inverse, count = np.unique(
        steps.index[row] * len(names) + logged.reference, return_inverse=True, return_counts=True
    )
    mean = np.bincount(inverse, score) / count
    at, who = cells // len(names), cells % len(names)
    if len(cells) - len(np.unique(who)) < FEWEST_PAIRS:
        return "cannot say how hard the draws were: hardly any reference was met in two different steps"

    weight = count.astype(float)
    met = np.zeros((len(steps), len(names)))  # how often a step met a reference
    met[at, who] = weight
    of_step = met.sum(axis=1)
    level = st.safe_divide(np.bincount(at, weight * mean, minlength=len(steps)), of_step)
    centred = mean - level[at]
    # the normal equations with the steps' levels taken out
    gram = np.diag(met.sum(axis=0)) - met.T @ (met / np.where(of_step, of_step, 1)[:, None])
    moment = -np.bincount(who, weight * centred, minlength=len(names))
    # what rollouts differ by within a cell belongs to the noise, after each rollout's own level is taken out
    own = np.bincount(row, score, minlength=len(steps.run)) / np.maximum(np.bincount(row, minlength=len(steps.run)), 1)
    residual = score - own[row]
    within = residual - (np.bincount(inverse, residual) / count)[inverse]
    rest = float((weight * centred**2).sum() + (within**2).sum())
    freedom = len(score) - len(np.unique(row))
    values, vectors = np.linalg.eigh(gram)
    values, projected = np.maximum(values, 0), vectors.T @ moment

    def likelihood(ratio: float) -> float:
        left = rest - (projected**2 / (values + ratio)).sum()
        return -0.5 * (freedom * np.log(max(left, 1e-12)) + np.log1p(values / ratio).sum())

    best = max(RATIOS, key=likelihood)
    if best == RATIOS[-1]:
        hardness = np.zeros(len(names))
        note = "the references do not differ in hardness by more than the judge's noise"
    else:
        hardness = vectors @ (projected / (values + best))
        note = ""
    effect = st.safe_divide(np.bincount(at, -weight * hardness[who], minlength=len(steps)), of_step)
    return Draw("comparisons", effect, _judged_share(steps), dict(zip(names, hardness.tolist(), strict=True)), note)


def _from_scores(steps: Steps) -> Draw | str:
    """Without comparisons: the step's mean judge term on its references' mean HPSv3, next to a curved trend in step.

    Least squares on 1, step, step² and the mean mu; the effect is the last coefficient times mu − mean mu.
    """
    found = steps.term("judge")
    if found is None:
        return "cannot say how hard the draws were: references are named, but there is no judge term"
    judge = st.safe_divide(*found)
    mu = np.array([np.nanmean([m for _, m in steps.run.references.get(int(s), [])] or [np.nan]) for s in steps.numbers])
    keep = np.isfinite(judge) & np.isfinite(mu)
    if keep.sum() < 10 or mu[keep].std() == 0:
        return "cannot say how hard the draws were: too few steps whose references have an HPSv3 score"
    time = (steps.numbers - steps.numbers.mean()) / max(np.ptp(steps.numbers), 1)
    design = np.stack([np.ones(len(time)), time, time**2, mu - mu[keep].mean()], axis=1)
    coefficients, *_ = np.linalg.lstsq(design[keep], judge[keep], rcond=None)
    return Draw("references' HPSv3", coefficients[3] * (mu - mu[keep].mean()), _judged_share(steps), {})


def _judged_share(steps: Steps) -> np.ndarray:
    """Rollouts with a judge term per rewarded rollout; 1 where only group means are known."""
    judged = steps.run.column("judge")
    if judged is None:
        if steps.run.comparisons is None:
            return np.ones(len(steps))
        judged = np.full(len(steps.run), np.nan)
        judged[steps.run.comparisons.row] = 1.0
    return np.nan_to_num(st.safe_divide(steps.sum(np.isfinite(judged) & steps.rewarded), steps.sum(steps.rewarded)))


def draw(steps: Steps, options: Options) -> dict[str, Any]:
    """The draw's part of `analyze --json`: "basis" (null when it cannot be known, then "reason"), the adjusted curve,
    its slope and gain, and what two steps' difference is made of."""
    fitted = fit(steps)
    weights, _ = steps.weights
    found: dict[str, Any]
    if isinstance(fitted, str) or "judge" not in weights:
        reason = (
            fitted if isinstance(fitted, str) else "cannot take the draw out of the reward: its weights are unknown"
        )
        found = {"basis": None, "reason": reason}
        effect = None
    else:
        effect = np.nan_to_num(fitted.effect) * weights["judge"] * fitted.judged_share
        adjusted = steps.reward - effect
        counts = steps.sum(steps.rewarded)
        table = st.slope_sums(steps.numbers, adjusted, "slope_")
        table |= {"reward": np.nan_to_num(adjusted) * counts, "n": counts}
        real, drawn = steps.bootstrap(table, options.resamples, options.seed)
        ends = min(len(steps.parts[0]), len(steps.parts[2]))
        change = st.estimate(lambda s: s[2].ratio("reward", "n") - s[0].ratio("reward", "n"), real, drawn, ends)
        slope = st.estimate(lambda s: st.slope_of(st.total(s), "slope_"), real, drawn, len(steps))
        hardest = sorted(fitted.hardness.items(), key=lambda item: -item[1])
        left = steps.reward - _trend(steps)
        variance = float(np.nanvar(left)) if np.isfinite(left).any() else 0.0
        found = {
            "basis": fitted.basis,
            "reason": fitted.note or None,
            "judge_sd": _plain(np.nanstd(fitted.effect)),
            "reward_sd": _plain(effect.std()),
            "share_of_step_noise": _plain(min(effect.var() / variance, 1.0)) if variance else None,
            "adjusted": {
                "first": _plain(real[0].ratio("reward", "n")),
                "last": _plain(real[2].ratio("reward", "n")),
                "change": interval(change),
                "slope": {**interval(slope), "t": _plain(st.ols(steps.numbers, adjusted).t)},
                "curve": [_plain(value) for value in adjusted],
            },
            "hardest": [{"reference": name, "costs": value} for name, value in hardest[:3]],
            "easiest": [{"reference": name, "costs": value} for name, value in hardest[::-1][:3]],
        }
    found["between"] = between(steps, options.between, effect)
    return found


def _trend(steps: Steps) -> np.ndarray:
    line = st.ols(steps.numbers, steps.reward)
    return line.intercept + line.slope * steps.numbers if line.slope == line.slope else np.zeros(len(steps))


def between(steps: Steps, pair: tuple[int, int] | None, effect: np.ndarray | None) -> dict[str, Any] | None:
    """What the difference in mean reward of two steps is made of. Without a pair: the largest fall between neighbours.

    A term's part is weight × difference of its mean. Raises UsageError for a step that the run has not.
    """
    from paintcli.errors import UsageError

    if pair is None:
        falls = np.diff(steps.reward)
        if not np.isfinite(falls).any():
            return None
        at = int(np.nanargmin(falls))
        one, two = at, at + 1
    else:
        places = [np.flatnonzero(steps.numbers == step) for step in pair]
        for step, place in zip(pair, places, strict=True):
            if not len(place):
                raise UsageError(f"The run {steps.run.name} has no step {step}.")
        one, two = (int(place[0]) for place in places)
    change = steps.reward[two] - steps.reward[one]
    weights, _ = steps.weights
    terms = {}
    for name in ("judge", "hpsv3", "length", "pigment"):
        found = steps.term(name)
        if found is None:
            continue
        series = st.safe_divide(*found)
        part = weights[name] * (series[two] - series[one]) if name in weights else np.nan
        terms[name] = {
            "from": _plain(series[one]),
            "to": _plain(series[two]),
            "part": _plain(part),
            "share": _plain(part / change) if change else None,
        }
    part = effect[two] - effect[one] if effect is not None else np.nan
    return {
        "from": int(steps.numbers[one]),
        "to": int(steps.numbers[two]),
        "reward": [_plain(steps.reward[one]), _plain(steps.reward[two])],
        "change": _plain(change),
        "terms": terms,
        "draw": _plain(part),
        "draw_share": _plain(part / change) if change else None,
    }
