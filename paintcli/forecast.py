"""Will a run learn? Said from a handful of samples, before the money. Pure numbers on a table of samples.

GRPO without scaling of rewards learns from one thing: how far the rewards of a group lie apart for reasons that are the
policy's own. These numbers say how much of that there is, and the last how far the run can follow it (`FORMULA`):

- *p*, *m*: share of the samples that pass the gate, and of those that do the mean of each term that weighs;
- *within*: variance of the reward between samples that meet the same references, what the advantages are made of;
- *heritable*: the part of it that other references would confirm: all of it but the judge's term, of that what its
  reliability leaves (the mean correlation of the samples' win shares between two references, raised to the number in
  a group by Spearman and Brown). Selection moves a population by its heritable variance only: the breeder's equation;
- *live*: share of groups in which not all rewards are equal. A group without spread moves nothing;
- *members*: rewarded samples of a group. More of them average the noise away;
- *reach*: the largest relative change of a layer's output that learning rate and steps permit. Adam moves a weight of
  the adapter by at most the learning rate a step, whatever the size of the gradient, so the sum of the rates bounds
  what B·A·(α/r) adds to a layer: α·Σlr/√3 of its input (peft draws A uniformly with standard deviation 1/√(3·width)),
  against the layer's own output of initializer_range·√width.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from paintcli.analysis.statistics import safe_divide
from paintcli.errors import UsageError
from paintcli.gate import Violation
from paintcli.judging import Share, clustered, wilson
from paintcli.pool import tier_rank
from paintcli.reward import PRESETS, TERMS, Mix, combine

RESPONSE = 5.0
"""Standard deviations of heritable reward that a unit of reach buys, the root of a group's size left aside."""

LEARNS = 0.05
"""A gain in mean reward worth the name: what a frozen test of 40 samples a side can just tell from nothing."""

RESAMPLES = 400
GROUPS = 2000
"""Groups resampled for the share without a gradient."""

LOW, HIGH = 0.1, 0.9
"""Bounds of a gain's interval; the references' agreement is taken at the lower one, so that a few coins that fell
alike are not taken for a judge."""

ROUNDING = 1e-14
"""A variance of rewards below this is rounding."""

PIECES = 100
"""Pieces that the way is cut into."""

FORMULA = (
    "dp/dκ = p(1−p)·q/s, dm/dκ = e·o/s, q = Σ w·m, o = Σ w·e, s = √(p(1−p)·q² + p·o²), "
    "e = cov(term, reward)/√own at first, then in proportion to m(1−m), at most √(m(1−m)); from κ = 0 to "
    "κ = {response:g}·reach·√(live · members · heritable/within); gain = p·q at the end − p·q at the start; "
    "reach = α·Σlr / (√3 · initializer_range·√width)"
)
"""Two things can be won, as in the analyser's decomposition: more samples pass (p), and the terms of those that do get
better (m). Selection by a standard deviation s of heritable reward moves each by its covariance with the reward over s
(the breeder's equation, for several traits). As a term moves, its spread goes with m(1−m), that of an even shift in
log-odds, and is never more than a number between 0 and 1 can have."""


class Meeting(NamedTuple):
    """Samples that meet the same references, as a training group does: rows and reference columns of the table."""

    rows: np.ndarray
    columns: np.ndarray


@dataclass(frozen=True)
class Table:
    """Samples in rows. What was not asked or not answered is NaN.

    `terms`: each of reward.TERMS but the judge's → (samples,), 0–1; gate 0 is a refusal. `shares`: win share against
    each reference, (samples, references), both orders, 0–1.
    """

    terms: Mapping[str, np.ndarray]
    shares: np.ndarray
    references: tuple[str, ...]
    tiers: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]]) -> Table:
        """From rollouts (rollouts.py) as mappings. Raises UsageError when they do not say what passed the gate."""
        if not any(row.get("gate") is not None for row in rows):
            raise UsageError("None of these samples says whether it passed the gate, so nothing can be forecast.")
        tiers = {c["reference"]: c["tier"] for row in rows for c in row.get("comparisons") or ()}
        names = tuple(sorted(tiers, key=lambda name: (tier_rank(tiers[name]), name)))
        column = {name: j for j, name in enumerate(names)}
        shares = np.full((len(rows), len(names)), np.nan)
        for i, row in enumerate(rows):
            for comparison in row.get("comparisons") or ():
                shares[i, column[comparison["reference"]]] = comparison["score"]
        terms = {t: np.array([_number(row.get(t)) for row in rows]) for t in TERMS if t != "judge"}
        # the embedded scorer in HPSv3's place answers for its weight
        stand_in = np.array([_number(row.get("taste")) for row in rows])
        terms["hpsv3"] = np.where(np.isnan(terms["hpsv3"]), stand_in, terms["hpsv3"])
        return cls(terms, shares, names, tuple(tiers[name] for name in names))

    def __len__(self) -> int:
        return len(self.shares)

    @property
    def passed(self) -> np.ndarray:
        """Bool (samples,): those that passed the gate."""
        return self.terms["gate"] == 1

    def lacks(self, mix: Mix) -> list[str]:
        """The terms that weigh and were answered for no sample that passed."""
        known = {t: bool(np.isfinite(v[self.passed]).any()) for t, v in self.terms.items()}
        known["judge"] = bool(np.isfinite(self.shares).any())
        return [t for t in TERMS if mix.wants(t) and not known[t]]

    def agreement(self, times: np.ndarray) -> np.ndarray:
        """(resamples,): how far two references agree on who of the samples is better, 0–1. `times` (resamples,
        samples): how often each sample was drawn.

        Σ covariance / Σ product of standard deviations over pairs of references that met the very same samples: 1
        when every reference orders them alike, whatever the distances; 0 for coins. NaN where no two told any apart.
        """
        met = np.isfinite(self.shares)
        patterns, which = np.unique(met, axis=0, return_inverse=True)
        together, apart = np.zeros(len(times)), np.zeros(len(times))
        for number, pattern in enumerate(patterns):
            rows, columns = np.flatnonzero(which.ravel() == number), np.flatnonzero(pattern)
            if len(rows) > 1 and len(columns) > 1:
                block, drawn = self.shares[np.ix_(rows, columns)], times[:, rows]
                each = _weighted_variance(block, drawn)
                together += _weighted_variance(block.sum(axis=1, keepdims=True), drawn)[:, 0] - each.sum(axis=1)
                apart += np.sqrt(each).sum(axis=1) ** 2 - each.sum(axis=1)
        return np.clip(safe_divide(together, np.where(apart > ROUNDING, apart, 0)), 0, 1)


def _weighted_variance(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(resamples, columns): variance of the rows of `values` drawn `times` (resamples, rows) each."""
    count = np.maximum(times.sum(axis=1, keepdims=True), 1)
    centred = values - values.mean(axis=0)
    found: np.ndarray = np.maximum(times @ centred**2 / count - (times @ centred / count) ** 2, 0)
    return found


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)


def meetings(table: Table, draws: Iterable[Sequence[str]]) -> list[Meeting]:
    """Every sample meets each draw (names of references), as if the policy stood still for so many steps."""
    column = {name: j for j, name in enumerate(table.references)}
    everyone = np.arange(len(table))
    return [Meeting(everyone, np.array([column[n] for n in names if n in column], int)) for names in draws]


def logged(rows: Sequence[Mapping[str, Any]], table: Table) -> list[Meeting]:
    """The groups as they were: the rollouts of each step, and what they were compared with."""
    steps = np.array([row["step"] for row in rows])
    found = []
    for step in np.unique(steps):
        here = np.flatnonzero(steps == step)
        found.append(Meeting(here, np.flatnonzero(np.isfinite(table.shares[here]).any(axis=0))))
    return found


@dataclass(frozen=True)
class Plan:
    """What the recipe brings. `rates`: the learning rates of all steps summed; `gain`: initializer_range·√width."""

    generations: int
    steps: int
    rates: float
    alpha: float
    gain: float

    @property
    def reach(self) -> float:
        return self.alpha * self.rates / (math.sqrt(3) * self.gain)


def plan_of(recipe: Any, config: Any) -> Plan:
    """The Plan of a training recipe and its model's transformers configuration."""
    text = config.get_text_config()
    left = recipe.steps - min(recipe.warmup_steps, recipe.steps)
    warming = (recipe.steps - left) / 2
    falls = recipe.schedule in ("linear", "cosine")  # both average one half
    whole = recipe.steps if recipe.schedule == "constant" else warming + left * (0.5 if falls else 1.0)
    gain = getattr(text, "initializer_range", 0.02) * math.sqrt(text.hidden_size)
    return Plan(recipe.generations, recipe.steps, recipe.learning_rate * whole, recipe.alpha, gain)


# -- the numbers ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Signal:
    """What the groups of a policy carry. Variances and means of the reward, NaN where nothing was rewarded.

    `sd`: mean standard deviation within a group, as a run's curve logs it; `dead`: share of groups without a gradient,
    its interval that of the commonest reward's share (Wilson) to the power of the group's size.
    """

    mean: float
    within: float
    heritable: float
    confirmed: float
    sd: float
    dead: Share
    members: float
    step_sd: float
    draw_share: float | None
    draw_reason: str

    @property
    def live(self) -> float:
        return 1 - self.dead.value


@dataclass(frozen=True)
class Gain:
    """A predicted gain in mean reward over the run, its 80 % interval, and in which share of the resamples it is worth
    the name."""

    value: float
    low: float
    high: float
    chance: float

    @property
    def learns(self) -> bool:
        return self.chance > 0.5

    def to_json(self) -> dict[str, Any]:
        return {name: round(getattr(self, name), 4) for name in ("value", "low", "high", "chance")}


class Moments(NamedTuple):
    """Arrays of the shape (resamples,), those of terms (terms, resamples)."""

    weights: np.ndarray
    """(terms, 1): of every term that weighs."""
    passes: np.ndarray
    """Share that passes the gate."""
    levels: np.ndarray
    """Of those that pass, each term's mean."""
    shared: np.ndarray
    """Of those that pass, each term's heritable covariance with the reward within a meeting."""
    within: np.ndarray
    """Variance of all rewards within a meeting."""

    @property
    def own(self) -> np.ndarray:
        """Heritable variance of the reward among those that pass."""
        own = (self.weights * self.shared).sum(axis=0)
        return np.where(own < ROUNDING, 0.0, own)

    @property
    def quality(self) -> np.ndarray:
        """Mean reward of those that pass."""
        level: np.ndarray = (self.weights * self.levels).sum(axis=0)
        return level

    @property
    def mean(self) -> np.ndarray:
        return self.passes * self.quality

    @property
    def heritable(self) -> np.ndarray:
        """Passing or not is the policy's own in full; then the law of total variance."""
        return self.passes * (1 - self.passes) * self.quality**2 + self.passes * self.own

    @property
    def confirmed(self) -> np.ndarray:
        """heritable / within, 0–1; 0 where nothing varies."""
        return np.clip(np.nan_to_num(safe_divide(self.heritable, self.within)), 0, 1)

    def widened(self, size: float) -> Moments:
        """A resample of `size` samples repeats some, which have no spread among themselves: variances · n/(n−1)."""
        return self._replace(within=self.within * size / (size - 1), shared=self.shared * size / (size - 1))

    def gained(self, way: float) -> np.ndarray:
        """The gain in mean reward after κ = way · √confirmed. `FORMULA` says how."""
        passes, levels = self.passes, np.clip(self.levels, 0, 1)
        reward = np.sqrt(self.own)
        at_first = safe_divide(self.shared, reward * levels * (1 - levels))
        at_first = np.where(np.isfinite(at_first), at_first, 0.0)
        step = way * np.sqrt(self.confirmed) / PIECES
        for _ in range(PIECES):
            room = levels * (1 - levels)
            spread = np.clip(at_first * room, -np.sqrt(room), np.sqrt(room))
            quality = (self.weights * levels).sum(axis=0)
            better = np.maximum((self.weights * spread).sum(axis=0), 0)
            rare = passes * (1 - passes) * quality
            pace = np.nan_to_num(safe_divide(step, np.sqrt(rare * quality + passes * better**2)))
            passes = np.minimum(passes + pace * rare, 1.0)
            levels = np.clip(levels + pace * spread * better, 0.0, 1.0)
        ends: np.ndarray = passes * (self.weights * levels).sum(axis=0) - self.mean
        return ends


def _spread(values: np.ndarray, counted: np.ndarray, other: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """(mean, variance with n − 1, or covariance with `other`) along the last axis over what is counted, else NaN."""
    count = counted.sum(axis=-1)
    mean = safe_divide(np.where(counted, values, 0.0).sum(axis=-1), count)
    away = np.where(counted, values - mean[..., None], 0.0)
    products = (away * (away if other is None else np.where(counted, other, 0.0))).sum(axis=-1)
    return mean, safe_divide(products, np.maximum(count - 1, 0))


def _average(values: np.ndarray) -> np.ndarray:
    """Mean over the meetings (the first axis) that have a number; 0 where none has."""
    known = np.isfinite(values)
    return np.nan_to_num(safe_divide(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0)))


class Prospect:
    """Samples under one mix, one set of draws and one group size: their signal, and the gain of a plan."""

    def __init__(self, table: Table, mix: Mix, meetings: Sequence[Meeting], generations: int, seed: int = 0) -> None:
        """Raises UsageError for fewer samples than a group holds."""
        self.table, self.mix, self.meetings, self.seed = table, mix, list(meetings), seed
        self.size = generations
        most = max((len(m.rows) for m in self.meetings), default=0)
        if most < self.size:
            raise UsageError(
                f"{len(table)} samples are too few to forecast groups of {self.size} from: {self.size} must meet the "
                f"same references, and {4 * self.size} say more."
            )
        self.member = np.zeros((len(self.meetings), len(table)), bool)
        self.rewards = np.full(self.member.shape, np.nan)
        self.judged = np.full(self.member.shape, np.nan)
        self._fill()

    def _fill(self) -> None:
        """`rewards` (meetings, samples) by the one rule of reward.py, and `judged`: the judge's term."""
        refused = self.table.terms["gate"] == 0
        terms: list[dict[str, float | None]] = [
            {t: None if math.isnan(v[i]) else float(v[i]) for t, v in self.table.terms.items()}
            for i in range(len(self.table))
        ]
        for b, (rows, columns) in enumerate(self.meetings):
            self.member[b, rows] = True
            for i in rows:
                known = self.table.shares[i, columns]
                known = known[np.isfinite(known)]
                judge = float(known.mean()) if len(known) else None
                violations = (Violation("refused", None, ""),) if refused[i] else ()
                value = combine(self.mix, {**terms[i], "judge": judge}, None, violations).value
                if value is not None:
                    self.rewards[b, i] = value
                    self.judged[b, i] = math.nan if judge is None else judge

    def moments(self, rows: np.ndarray) -> Moments:
        """Of each resample; `rows` (resamples, samples) are their samples."""
        values = self.rewards[:, rows]
        known = np.isfinite(values)
        good = known & self.table.passed[rows]
        weights = {t: w for t, w in self.mix.weights.items() if w}
        levels, shared = [], []
        for term, weight in weights.items():
            own = (
                self.judged[:, rows] if term == "judge" else np.broadcast_to(self.table.terms[term][rows], values.shape)
            )
            level, covariance = (_average(x) for x in _spread(own, good, values))
            if term == "judge":
                covariance = covariance - weight * self._doubt * _average(_spread(own, good)[1])
            levels.append(level)
            shared.append(covariance)
        passes = np.nan_to_num(safe_divide(good.sum(axis=(0, -1)), known.sum(axis=(0, -1))))
        within = _average(_spread(values, known)[1])
        return Moments(
            np.array(list(weights.values()))[:, None], passes, np.array(levels), np.array(shared),
            np.where(within < ROUNDING, 0.0, within),
        )  # fmt: skip

    @cached_property
    def _resamples(self) -> np.ndarray:
        """(RESAMPLES, samples): which samples were drawn, with replacement."""
        samples = len(self.table)
        return np.random.default_rng(self.seed).integers(0, samples, (RESAMPLES, samples))

    @cached_property
    def _doubt(self) -> float:
        """The share of the judge's variance that other references would not confirm; 0 where nothing tells."""
        times = np.stack([np.bincount(drawn, minlength=len(self.table)) for drawn in self._resamples])
        pairs = self.table.agreement(times)
        pairs = pairs[np.isfinite(pairs)]
        if not len(pairs):
            return 0.0
        pair, k = float(np.quantile(pairs, LOW)), float(np.mean([len(m.columns) for m in self.meetings]))
        return 1 - k * pair / (1 + (k - 1) * pair)  # Spearman and Brown

    @cached_property
    def _groups(self) -> tuple[np.ndarray, np.ndarray]:
        """(which meeting, rows) of resampled groups: `size` different samples of one meeting each."""
        random = np.random.default_rng(self.seed)
        usable = np.flatnonzero(self.member.sum(axis=1) >= self.size)
        which = usable[np.arange(GROUPS) % len(usable)]
        keys = np.where(self.member[which], random.random((GROUPS, self.member.shape[1])), np.inf)
        return which, np.argpartition(keys, self.size - 1, axis=1)[:, : self.size]

    @cached_property
    def signal(self) -> Signal:
        here = self.moments(np.arange(len(self.table))[None])
        which, rows = self._groups
        values = self.rewards[which[:, None], rows]
        known = np.isfinite(values)
        count = known.sum(axis=1)
        level, variance = _spread(values, known)
        alive = count > 1
        away = np.abs(np.where(known, values - level[:, None], 0.0)).max(axis=1)
        dead = ~alive | (away < 1e-9)
        share, reason = self._draw_share(which[:DRAWN], rows[:DRAWN], values[:DRAWN])
        return Signal(
            mean=float(here.mean[0]),
            within=float(here.within[0]),
            heritable=float(here.heritable[0]),
            confirmed=float(here.confirmed[0]),
            sd=float(np.sqrt(variance[alive]).mean()) if alive.any() else 0.0,
            dead=self._dead(float(dead.mean())),
            members=float(count.mean()),
            step_sd=float(np.nanstd(level)) if alive.any() else 0.0,
            draw_share=share,
            draw_reason=reason,
        )

    def _dead(self, value: float) -> Share:
        """The share of groups without a gradient with an interval: how sure is it that rewards differ at all?"""
        modes = []
        for row, member in zip(self.rewards, self.member, strict=True):
            shown = np.where(np.isnan(row[member]), -1.0, np.round(row[member], 9))
            modes.append(np.unique(shown, return_counts=True)[1].max() / len(shown))
        samples = len(self.table)
        common = wilson(float(np.mean(modes)) * samples, samples)
        return Share(value, min(common.low**self.size, value), max(common.high**self.size, value), samples)

    def _draw_share(self, which: np.ndarray, rows: np.ndarray, values: np.ndarray) -> tuple[float | None, str]:
        """Share of the steps' noise that is the draw, as `paint analyze` will compute it of the run's own steps."""
        from paintcli.analysis import draw
        from paintcli.analysis.sources import Comparisons, Run
        from paintcli.analysis.steps import Steps

        if not self.mix.wants("judge"):
            return 0.0, ""
        count, size = rows.shape
        shares = self.table.shares[rows.ravel()]
        met = np.zeros((count * size, shares.shape[1]), bool)
        for step, b in enumerate(which):
            met[step * size : (step + 1) * size, self.meetings[b].columns] = True
        row, reference = np.nonzero(met & np.isfinite(shares))
        numbers = {
            "step": np.repeat(np.arange(count, dtype=float), size),
            "reward": values.ravel(),
            "judge": np.where(np.isfinite(shares).any(axis=1), 1.0, np.nan),
        }
        if not len(row):
            return None, "nothing was compared"
        compared = Comparisons(row, reference, shares[row, reference], list(self.table.references))
        steps = Steps(Run("forecast", "", False, numbers, comparisons=compared), "card")
        fitted = draw.fit(steps)
        if isinstance(fitted, str):
            return None, fitted
        effect = np.nan_to_num(fitted.effect) * self.mix.weights["judge"] * fitted.judged_share
        variance = float(np.nanvar(steps.reward))
        return (min(float(effect.var()) / variance, 1.0) if variance > ROUNDING else 0.0), fitted.note

    def gain(self, plan: Plan) -> Gain:
        """The gain by `FORMULA`; its interval resamples the samples."""
        members = self.signal.members * plan.generations / self.size  # a lever: more of them, as often answered
        way = RESPONSE * plan.reach * math.sqrt(self.signal.live * members)
        value = float(self.moments(np.arange(len(self.table))[None]).gained(way)[0])
        size = float(self.member.sum(axis=1).mean())
        drawn = self.moments(self._resamples).widened(size).gained(way)
        low, high = np.quantile(drawn, [LOW, HIGH])
        return Gain(value, min(float(low), value), max(float(high), value), float((drawn >= LEARNS).mean()))


DRAWN = 200
"""Resampled groups that the draw's share is computed on."""


# -- the words -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lever:
    """Something to change. `gain` None: its effect cannot be computed from these samples."""

    name: str
    what: str
    gain: Gain | None

    def to_json(self) -> dict[str, Any]:
        return {"lever": self.name, "what": self.what, "predicted_gain": self.gain.to_json() if self.gain else None}


@dataclass(frozen=True)
class Forecast:
    """A verdict and what it rests on. `levers` come strongest first."""

    samples: int
    mix: Mix
    plan: Plan
    signal: Signal
    gain: Gain
    passed: Share
    references: tuple[tuple[str, str, Share], ...]
    """(reference, tier, the samples' win share)."""
    tiers: tuple[tuple[str, Share], ...]
    why: str
    levers: tuple[Lever, ...]

    @property
    def verdict(self) -> str:
        return "likely to learn" if self.gain.learns else "likely flat"

    def to_json(self) -> dict[str, Any]:
        s = self.signal
        return {
            "verdict": self.verdict,
            "why": self.why,
            "predicted_gain": self.gain.to_json(),
            "samples": self.samples,
            "weights": {t: w for t, w in self.mix.weights.items() if w},
            "passed": self.passed.to_json(),
            "reward": {"mean": round(s.mean, 4), "within_sd": round(s.sd, 4), "step_sd": round(s.step_sd, 4)},
            "groups": {"size": self.plan.generations, "rewarded": round(s.members, 3), "dead": s.dead.to_json()},
            "variance": {
                "within": round(s.within, 6), "heritable": round(s.heritable, 6), "confirmed": round(s.confirmed, 4),
            },
            "draw": {
                "share_of_step_noise": None if s.draw_share is None else round(s.draw_share, 4),
                "reason": s.draw_reason or None,
            },
            "references": [{"reference": n, "tier": t, "share": v.to_json()} for n, t, v in self.references],
            "tiers": [{"tier": t, "share": v.to_json()} for t, v in self.tiers],
            "reach": round(self.plan.reach, 4),
            "levers": [lever.to_json() for lever in self.levers],
            "formula": formula(),
        }  # fmt: skip


def formula() -> str:
    return FORMULA.format(response=RESPONSE)


def forecast(
    table: Table,
    mix: Mix,
    plan: Plan,
    met: Sequence[Meeting],
    rungs: Mapping[str, Sequence[Meeting]] | None = None,
    seed: int = 0,
) -> Forecast:
    """The forecast of a run of `mix` and `plan` whose groups meet `met`.

    `rungs`: other draws that could be chosen ("an easier rung" → its meetings), for the levers. Raises UsageError
    for fewer samples than a group holds, and for a term that weighs and that nobody answered.
    """
    if table.passed.any() and (missing := table.lacks(mix)):
        raise UsageError(f"The mix {mix.name} weighs {' and '.join(missing)}, which no sample has an answer of.")
    prospect = Prospect(table, mix, met, plan.generations, seed)
    gain = prospect.gain(plan)
    known = table.terms["gate"][np.isfinite(table.terms["gate"])]
    references = tuple(
        (name, tier, _share_of(table.shares[:, [j]]))
        for j, (name, tier) in enumerate(zip(table.references, table.tiers, strict=True))
    )
    tiers = tuple(
        (tier, _share_of(table.shares[:, [j for j, t in enumerate(table.tiers) if t == tier]]))
        for tier in dict.fromkeys(table.tiers)
    )
    passed = wilson(float(known.sum()), len(known))
    return Forecast(
        len(table), mix, plan, prospect.signal, gain, passed, references, tiers,
        _why(prospect.signal, gain, passed, table, mix, plan), _levers(prospect, plan, passed, rungs or {}),
    )  # fmt: skip


def _share_of(shares: np.ndarray) -> Share:
    """The win share against these references: one number a sample, so that the samples are the n."""
    met = np.isfinite(shares).any(axis=1)
    return clustered(np.nanmean(shares[met], axis=1).tolist()) if met.any() else Share(math.nan, 0.0, 1.0, 0)


def _why(signal: Signal, gain: Gain, passed: Share, table: Table, mix: Mix, plan: Plan) -> str:
    """The tightest bottleneck, in one sentence with its number."""
    if gain.learns:
        return (
            f"Rewards in a group lie {signal.sd:.3f} apart, {signal.confirmed:.0%} of that variance is the policy's "
            f"own, and {signal.live:.0%} of the groups have a gradient."
        )
    if signal.members < 2:
        return f"Of a group of {plan.generations} only {signal.members:.1f} get a reward at all."
    if passed.value < 0.2:
        return f"Only {passed.value:.0%} of the samples pass the gate."
    won = table.shares[table.passed]
    won = float(np.nanmean(won)) if np.isfinite(won).any() else math.nan
    if signal.mean > 0.93:
        return f"The reward is {signal.mean:.2f} already: there is nothing left to gain."
    if mix.wants("judge") and (signal.live < 0.5 or signal.sd < 0.01):
        if won < 0.05:
            return f"Nothing can be won: the samples' share against the references is {won:.3f}."
        if won > 0.95:
            return f"Everything is won: the samples' share against the references is {won:.3f}."
        return f"The judge does not tell the samples apart: a group's rewards lie {signal.sd:.4f} apart."
    if signal.live < 0.5:
        return f"In {signal.dead.value:.0%} of the groups all rewards are equal."
    if signal.confirmed < 0.25:
        return (
            f"Only {signal.confirmed:.0%} of a group's variance would be confirmed by other references: the rest is "
            "noise of the judge or of who met whom."
        )
    return (
        f"The learning rate over {plan.steps} steps reaches {plan.reach:.3f} of what a layer does: too little for "
        f"rewards that lie {signal.sd:.3f} apart."
    )


def _levers(prospect: Prospect, plan: Plan, passed: Share, rungs: Mapping[str, Sequence[Meeting]]) -> tuple[Lever, ...]:
    table, mix, seed = prospect.table, prospect.mix, prospect.seed
    found = [
        Lever("more generations", f"{2 * plan.generations} in a group instead of {plan.generations}",
              prospect.gain(replace(plan, generations=2 * plan.generations))),
        Lever("higher learning rate", "three times as high", prospect.gain(replace(plan, rates=3 * plan.rates))),
    ]  # fmt: skip
    for name, met in rungs.items():
        found.append(
            Lever(name, "references of that tier alone", Prospect(table, mix, met, prospect.size, seed).gain(plan))
        )
    for name in PRESETS:
        other = Mix.parse(name)
        if dict(other.weights) != dict(mix.weights) and not table.lacks(other):
            gain = Prospect(table, other, prospect.meetings, prospect.size, seed).gain(plan)
            found.append(Lever("another split", f"the weights of {name}", gain))
    found.sort(key=lambda lever: (lever.gain.chance, lever.gain.value) if lever.gain else (0.0, 0.0), reverse=True)
    judged = table.shares[np.isfinite(table.shares)]
    if passed.value < 0.5 or (mix.wants("judge") and len(judged) and judged.mean() < 0.1):
        # first: no number from samples that win nothing can say what others would win
        found.insert(0, Lever("warm start", "fine-tune on the pool's sketches first (--warm-start)", None))
    return tuple(found)


# -- the judge and the money ---------------------------------------------------------------------------------------


def rater_bound(rechecked: Sequence[tuple[str, str]]) -> Share | None:
    """How often the rater ranks two paintings again as before: what a judge's agreement with him can reach.

    Over pairs of paintings rated twice, of different tiers at first: the share in the same order when shown again,
    equal tiers ½. The interval is Wilson's on the number of paintings. None without such a pair.
    """
    first = [tier_rank(a) for a, _ in rechecked]
    again = [tier_rank(b) for _, b in rechecked]
    kept = [
        0.5 if again[i] == again[j] else float(again[i] < again[j])
        for i in range(len(first))
        for j in range(len(first))
        if first[i] < first[j]
    ]
    if not kept:
        return None
    share = sum(kept) / len(kept)
    return wilson(share * len(rechecked), len(rechecked))


@dataclass(frozen=True)
class Cost:
    """Of a whole run. Seconds, and money in the currency the prices were given in; None without a price."""

    step_seconds: float
    hours: float
    comparisons: int
    machine: float | None
    judge: float | None

    @property
    def total(self) -> float | None:
        known = [part for part in (self.machine, self.judge) if part is not None]
        return sum(known) if known else None

    def to_json(self) -> dict[str, Any]:
        return {
            "step_seconds": round(self.step_seconds, 1), "run_hours": round(self.hours, 2),
            "comparisons": self.comparisons, "machine": self.machine, "judge": self.judge, "total": self.total,
        }  # fmt: skip


def cost(
    step_seconds: float,
    steps: int,
    comparisons: int,
    per_hour: float | None = None,
    per_comparison: float | None = None,
) -> Cost:
    """`comparisons`: questions to a paid judge in the whole run."""
    hours = step_seconds * steps / 3600
    return Cost(
        step_seconds, hours, comparisons,
        None if per_hour is None else hours * per_hour,
        None if per_comparison is None else comparisons * per_comparison,
    )  # fmt: skip
