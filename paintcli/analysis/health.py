"""Is the run sound: collapsed groups, what was left out and why, phantom zeros, truncations; and is it being gamed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from paintcli.analysis import statistics as st
from paintcli.analysis.gain import _plain
from paintcli.analysis.steps import Steps

SAME = 1e-6
"""Rewards that differ by less are the same reward."""

FAR = 3.5
"""Robust standard deviations above the neighbours at which a reward is suspect (Iglewicz and Hoaglin, 1993)."""

NEIGHBOURS = 2
"""Steps to either side whose rollouts are a painting's neighbours."""


def health(steps: Steps) -> dict[str, Any]:
    """The "health" of `analyze --json`; keys whose data is missing are null."""
    run = steps.run
    first, last = steps.parts[0], steps.parts[2]

    def ends(series: np.ndarray | None) -> dict[str, float | None] | None:
        if series is None:
            return None
        return {"first": _nanmean(series[first]), "last": _nanmean(series[last])}

    found: dict[str, Any] = {
        "entropy": ends(steps.from_curve("entropy")),
        "clipped": ends(steps.from_curve("clipped_ratio")),
        "collapsed_groups": None,
        "excluded": None,
        "phantom_zeros": None,
        "diversity": None,
        "renderers": run.renderer,
    }
    if run.cut_off is not None:
        found["clipped"] = ends(steps.mean(run.cut_off))
    if run.is_curve:
        zero = steps.from_curve("frac_reward_zero_std")
        found["collapsed_groups"] = int(np.nansum(zero > 0)) if zero is not None else None
        spread = steps.from_curve("reward_std")
        found["diversity"] = {"reward_sd": ends(spread)} if spread is not None else None
        return found

    reward = run.numbers["reward"]
    spread = _spread(steps, reward)
    counted = steps.sum(steps.rewarded)
    found["collapsed_groups"] = int(((spread < SAME) & (counted > 1)).sum())
    without = np.flatnonzero(~steps.rewarded)
    causes: Counter[str] = Counter()
    said: dict[int, str] = {}
    for rollout, cause in run.labels.get("unavailable", []):
        said.setdefault(rollout, cause)
    for row in without.tolist():
        causes[said.get(row, "not said")] += 1
    found["excluded"] = {"rollouts": len(without), "causes": dict(causes.most_common())}
    found["phantom_zeros"] = _phantom_zeros(steps)
    diversity: dict[str, Any] = {"reward_sd": ends(spread)}
    shapes = run.column("n_shapes")
    if shapes is not None:
        diversity["shapes_sd"] = ends(_spread(steps, shapes))
    if run.code_keys is not None and (run.code_keys != 0).any():
        has = run.code_keys != 0
        pairs = np.unique(np.stack([steps.index[has], run.code_keys[has]], axis=1), axis=0)
        distinct = np.bincount(pairs[:, 0], minlength=len(steps))
        diversity["distinct_sketches"] = ends(st.safe_divide(distinct, steps.sum(has)))
    found["diversity"] = diversity
    return found


def _nanmean(values: np.ndarray) -> float | None:
    values = values[np.isfinite(values)]
    return float(values.mean()) if len(values) else None


def _spread(steps: Steps, values: np.ndarray) -> np.ndarray:
    """Per-step standard deviation over rollouts (population)."""
    mean = steps.mean(values)
    return np.sqrt(np.maximum(steps.mean((values - mean[steps.index]) ** 2), 0))


def _phantom_zeros(steps: Steps) -> dict[str, Any]:
    """Rollouts rewarded although a term that counts is missing: an outage turned into a 0.

    Known for sure where the data has terms: gate passed, a reward, and no number for a term with a weight. Where it
    has none, only suspicion: a reward of exactly 0 in spite of a picture.
    """
    run = steps.run
    passed = run.column("gate")
    suspects = np.zeros(len(run), bool)
    has_terms = passed is not None and (run.column("judge") is not None or run.column("hpsv3") is not None)
    if has_terms and passed is not None:
        for term, column in (("judge", "judge_weight"), ("hpsv3", "hpsv3_weight")):
            suspects |= (
                (passed >= 0.5)
                & steps.rewarded
                & ~np.isfinite(run.numbers[term])
                & (np.nan_to_num(run.numbers[column]) > 0)
            )
    else:
        painted = run.painted if run.painted is not None else np.zeros(len(run), bool)
        suspects = (run.numbers["reward"] == 0) & painted
    return {
        "rollouts": int(suspects.sum()),
        "known_by": "terms" if has_terms else "a reward of 0 in spite of a picture",
        "first": [
            {"step": int(run.numbers["step"][row]), "position_in_group": _plain(run.numbers["position_in_group"][row])}
            for row in np.flatnonzero(suspects)[:5]
        ],
    }


def hacking(steps: Steps) -> dict[str, Any] | None:
    """The "hacking" of `analyze --json`: violations by third and step, judge against HPSv3, rewards far above others.

    "counts" and "shares" have a number for each third, "by_step" one for each of the series' steps: rollouts with it.
    """
    run = steps.run
    if run.is_curve:
        return None
    rows_of: dict[str, list[int]] = {}
    for row, code in run.labels.get("violations", []):
        rows_of.setdefault(code, []).append(row)
    sizes = np.bincount(steps.third_of, minlength=3)
    found: dict[str, Any] = {
        "violations": {
            code: {
                "counts": (counts := np.bincount(steps.third_of[rows], minlength=3).tolist()),
                "shares": [_plain(c / s) if s else None for c, s in zip(counts, sizes, strict=True)],
                "by_step": np.bincount(steps.index[rows], minlength=len(steps)).tolist(),
            }
            for code, rows in sorted(rows_of.items(), key=lambda item: -len(item[1]))
        },
        "judge_against_hpsv3": None,
        "far_above": far_above(steps),
    }
    judge, hpsv3 = run.column("judge"), run.column("hpsv3")
    if judge is None or hpsv3 is None:
        pair = [steps.term("judge"), steps.term("hpsv3")]
        if pair[0] and pair[1] and len(steps) >= 6:
            series = [st.safe_divide(*term) for term in pair if term]
            found["judge_against_hpsv3"] = {"unit": "steps", **_agreement(series[0], series[1], _part_of(steps))}
    else:
        found["judge_against_hpsv3"] = {"unit": "rollouts", **_agreement(judge, hpsv3, steps.third_of)}
    return found


def _part_of(steps: Steps) -> np.ndarray:
    part = np.empty(len(steps), int)
    for number, indices in enumerate(steps.parts):
        part[indices] = number
    return part


def _agreement(judge: np.ndarray, hpsv3: np.ndarray, third: np.ndarray) -> dict[str, Any]:
    """Pearson's r of the two within each third: a policy that games one of them parts them."""
    found = []
    for number in range(3):
        keep = (third == number) & np.isfinite(judge) & np.isfinite(hpsv3)
        varies = keep.sum() > 2 and judge[keep].std() > SAME and hpsv3[keep].std() > SAME
        found.append(_plain(np.corrcoef(judge[keep], hpsv3[keep])[0, 1]) if varies else None)
    return {"correlation": found}


def _median(values: np.ndarray) -> float:
    """Of at least one number. Sorting forty beats np.median, whose checks take ten times as long."""
    ordered, middle = np.sort(values), len(values) // 2
    return float(ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2)


def far_above(steps: Steps, most: int = 5) -> list[dict[str, Any]]:
    """Rollouts whose reward stands more than FAR robust deviations above the rollouts of their own and near steps."""
    reward = steps.run.numbers["reward"]
    rows = np.flatnonzero(steps.rewarded)
    order = rows[np.argsort(steps.index[rows], kind="stable")]
    bounds = np.searchsorted(steps.index[order], np.arange(len(steps) + 1))
    found: list[dict[str, Any]] = []
    for step in range(len(steps)):
        own = order[bounds[step] : bounds[step + 1]]
        near = order[bounds[max(step - NEIGHBOURS, 0)] : bounds[min(step + NEIGHBOURS + 1, len(steps))]]
        if len(near) < 8 or not len(own):
            continue
        top = own[reward[own].argmax()]
        middle = _median(reward[near])
        deviation = 1.4826 * _median(np.abs(reward[near] - middle))  # the factor makes it σ for a normal
        if deviation > SAME and (reward[top] - middle) / deviation > FAR:
            found.append(
                {
                    "step": int(steps.numbers[step]),
                    "position_in_group": _plain(steps.run.numbers["position_in_group"][top]),
                    "reward": float(reward[top]),
                    "neighbours": middle,
                    "deviations": float((reward[top] - middle) / deviation),
                }
            )
    return sorted(found, key=lambda one: -one["deviations"])[:most]
