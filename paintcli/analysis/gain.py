"""Did it learn, and what: thirds, slope, order statistics, the decomposition of the gain, terms and correlations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from paintcli.analysis import statistics as st
from paintcli.analysis.statistics import Estimate, Sums
from paintcli.analysis.steps import TERMS, Steps

BAD = 0.3
"""A reward under this is a bad one (published threshold)."""

TOP_BAND = 0.65
"""Correlations are also taken within rewards from here up (published band)."""

FORMULA = (
    "Δ = (p₀−p₁)·(ḡ−b̄) [bad ones became rare] + (1−p̄)·(g₁−g₀) [good ones got better] + p̄·(b₁−b₀) [bad ones got better]"
)
"""p share under the threshold, g and b mean reward of the others and of these, 0 and 1 the first and last third, a bar
the mean of the two. Exact: Kitagawa (1955), "Components of a Difference Between Two Rates", which for these factors is
also their Shapley value."""


@dataclass(frozen=True)
class Options:
    """What the caller may choose. `targets` is the domain's table of what the prompt asks for."""

    split: str | None = None
    threshold: float = BAD
    band: float = TOP_BAND
    resamples: int = st.RESAMPLES
    seed: int = 0
    between: tuple[int, int] | None = None
    images: bool = False
    targets: dict[str, Any] | None = None


def decompose(first: Sums, last: Sums) -> dict[str, np.ndarray]:
    """The gain in mean reward, exactly: three parts that sum to it. `FORMULA` says how.

    Both Sums hold n, bad_n, bad, good: rollouts, how many are bad, and the sums of bad and of good rewards. Where a
    third has no bad (or no good) ones their mean is taken as the other third's: nothing is known to have changed.
    """
    share = [st.safe_divide(part["bad_n"], part["n"]) for part in (first, last)]
    bad = [part.ratio("bad", "bad_n") for part in (first, last)]
    good = [st.safe_divide(part["good"], part["n"] - part["bad_n"]) for part in (first, last)]
    bad = _filled(bad)
    good = _filled(good)
    kept = 1 - (share[0] + share[1]) / 2
    return {
        "bad_became_rare": (share[0] - share[1]) * ((good[0] + good[1]) - (bad[0] + bad[1])) / 2,
        "good_got_better": kept * (good[1] - good[0]),
        "bad_got_better": (1 - kept) * (bad[1] - bad[0]),
        "good_first": good[0],
        "good_last": good[1],
        "bad_first": bad[0],
        "bad_last": bad[1],
        "share_first": share[0],
        "share_last": share[1],
    }


def _filled(pair: list[np.ndarray]) -> list[np.ndarray]:
    """NaN in one replaced by the other; 0 where both are NaN (its weight is 0 there)."""
    one, two = (np.asarray(x, float) for x in pair)
    return [np.nan_to_num(np.where(np.isnan(one), two, one)), np.nan_to_num(np.where(np.isnan(two), one, two))]


def gain(steps: Steps, options: Options) -> dict[str, Any]:
    """Everything about change that sums over steps can tell; keys as in `analyze --json`."""
    run, reward = steps.run, steps.run.numbers["reward"]
    here = steps.rewarded
    bad = here & (reward < options.threshold)
    shapes = run.column("n_shapes")
    table: dict[str, np.ndarray] = {
        "rollouts": steps.sum(np.ones(len(run))),
        "n": steps.sum(here),
        "reward": steps.sum(reward),
        "bad_n": steps.sum(bad),
        "bad": steps.sum(np.where(bad, reward, 0)),
        "good": steps.sum(np.where(here & ~bad, reward, 0)),
        "shapes": steps.sum(shapes) if shapes is not None else np.zeros(len(steps)),
        "shapes_n": steps.sum(np.isfinite(shapes)) if shapes is not None else np.zeros(len(steps)),
    }
    table |= st.slope_sums(steps.numbers, steps.reward, "slope_")
    for name, values in steps.order_statistics.items():
        table |= {name: np.nan_to_num(values), f"{name}_n": np.isfinite(values).astype(float)}
    terms = {name: term for name in TERMS if (term := steps.term(name))}
    for name, (sums, counts) in terms.items():
        table |= {f"term_{name}": sums, f"term_{name}_n": counts}
    table |= _correlation_sums(steps, options)

    real, drawn = steps.bootstrap(table, options.resamples, options.seed)
    ends = min(len(steps.parts[0]), len(steps.parts[2]))

    def changed(top: str, bottom: str) -> dict[str, Any]:
        first, last = (_plain(part.ratio(top, bottom)) for part in (real[0], real[2]))
        change = st.estimate(lambda s: s[2].ratio(top, bottom) - s[0].ratio(top, bottom), real, drawn, ends)
        return {"first": first, "last": last, "change": interval(change)}

    def figure(function: Any, units: int) -> dict[str, Any]:
        return interval(st.estimate(function, real, drawn, units))

    line = st.ols(steps.numbers, steps.reward)
    found: dict[str, Any] = {
        "thirds": _thirds(steps, real, shapes is not None, options.threshold),
        "gain": changed("reward", "n"),
        "slope": {
            **figure(lambda s: st.slope_of(st.total(s), "slope_"), len(steps) if len(steps) > 2 else 0),
            "t": _plain(line.t),
        },
        "order": {name: changed(name, f"{name}_n") for name in steps.order_statistics},
    }
    if not run.is_curve and len(steps.parts[2]):
        figures = {name: _plain(value) for name, value in decompose(real[0], real[2]).items()}
        parts = {
            name: figure(lambda s, name=name: decompose(s[0], s[2])[name], ends)
            for name in ("bad_became_rare", "good_got_better", "bad_got_better")
        }
        found["decomposition"] = {
            "threshold": options.threshold,
            "formula": FORMULA,
            "change": found["gain"]["change"]["value"],
            **figures,
            **parts,
            "good_change": figure(lambda s: (d := decompose(s[0], s[2]))["good_last"] - d["good_first"], ends),
            "ceiling": figure(lambda s: decompose(s[0], s[2])["good_last"], ends),
        }
    else:
        found["decomposition"] = None
    weights, origin = steps.weights
    found["weights"] = {"origin": origin, **{name: _plain(weight) for name, weight in weights.items()}}
    found["terms"] = {}
    for name in terms:
        entry = changed(f"term_{name}", f"term_{name}_n")
        weight = weights.get(name)
        entry["weight"] = _plain(weight) if weight is not None else None
        value = entry["change"]["value"]
        entry["contribution"] = weight * value if weight is not None and value is not None else None
        found["terms"][name] = entry
    found["correlations"] = {
        name: {
            where: {
                **figure(lambda s, key=f"{name}_{where}_": st.correlation_of(st.total(s), key), len(steps)),
                "rollouts": int(sum(part[f"{name}_{where}_n"] for part in real)),
            }
            for where in ("all", "top")
        }
        for name in _correlated(steps)
    }
    return found


def _thirds(steps: Steps, real: list[Sums], has_shapes: bool, threshold: float) -> list[dict[str, Any]]:
    rows = []
    for part, sums in zip(steps.parts, real, strict=True):
        if len(part) == 0:
            continue
        rows.append(
            {
                "from": int(steps.numbers[part[0]]),
                "to": int(steps.numbers[part[-1]]),
                "steps": len(part),
                "rollouts": None if steps.run.is_curve else int(sums["rollouts"]),
                "mean_reward": _plain(sums.ratio("reward", "n")),
                f"under_{threshold:g}": None if steps.run.is_curve else int(sums["bad_n"]),
                "shapes": _plain(sums.ratio("shapes", "shapes_n")) if has_shapes else None,
            }
        )
    return rows


def _correlated(steps: Steps) -> list[str]:
    if steps.run.is_curve:
        return []
    return [name for name in ("n_shapes", "code_chars", "coverage") if steps.run.column(name) is not None]


def _correlation_sums(steps: Steps, options: Options) -> dict[str, np.ndarray]:
    table: dict[str, np.ndarray] = {}
    reward = steps.run.numbers["reward"]
    for name in _correlated(steps):
        values = steps.run.numbers[name]
        both = np.isfinite(values) & steps.rewarded
        centre = np.nanmean(values)
        for where, mask in (("all", both), ("top", both & (reward >= options.band))):
            x, y = np.where(mask, values - centre, 0), np.where(mask, reward - 0.5, 0)
            sums = {"n": mask, "x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}
            table |= {f"{name}_{where}_{key}": steps.sum(value) for key, value in sums.items()}
    return table


def interval(estimate: Estimate) -> dict[str, float | None]:
    """An Estimate for JSON: {"value", "low", "high"}, null where unknown."""
    return {name: _plain(value) for name, value in estimate._asdict().items()}


def _plain(value: Any) -> float | None:
    """A float for JSON, None for NaN; an infinite t (a perfect line) is kept as 1e308."""
    number = float(np.asarray(value).reshape(()))
    if math.isinf(number):
        return math.copysign(1e308, number)
    return None if math.isnan(number) else number
