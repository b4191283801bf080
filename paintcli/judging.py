"""Comparing a painting with references, both ways round, and finding out how far such a judge can be trusted."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paintcli.backends.protocols import Comparer
from paintcli.errors import Unavailable, UsageError
from paintcli.painting import Painting
from paintcli.pool import SMALLEST_SPLIT, Pool, Reference, consistency, tier_rank

Z95 = 1.959964
"""The normal quantile of a two-sided 95 % interval."""


@dataclass(frozen=True)
class Comparison:
    """One duel with one reference; both numbers are the probability (or 0/1 verdict) that the candidate wins.

    `forward`: the candidate was shown first; `backward`: it was shown second.
    """

    reference: str
    tier: str
    forward: float
    backward: float

    @property
    def score(self) -> float:
        """The candidate's win share, 0–1: a verdict that turns with the order is ½."""
        return (self.forward + self.backward) / 2

    @property
    def tie(self) -> bool:
        """The two orders name different winners, or neither names one."""
        return (self.forward - 0.5) * (self.backward - 0.5) <= 0

    def to_json(self) -> dict[str, Any]:
        return {
            "reference": self.reference,
            "tier": self.tier,
            "forward": round(self.forward, 6),
            "backward": round(self.backward, 6),
            "score": round(self.score, 6),
        }


@dataclass(frozen=True)
class Judgement:
    """What one candidate made of its references. `dropped` says which comparisons failed and why; they do not count."""

    comparisons: tuple[Comparison, ...]
    dropped: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """Mean win share over the references, 0–1; a win counts the same against every tier."""
        return sum(c.score for c in self.comparisons) / len(self.comparisons)

    @property
    def ties(self) -> int:
        return sum(c.tie for c in self.comparisons)


async def compare(
    candidate: Painting, reference: Painting, comparer: Comparer, criteria: str = ""
) -> tuple[float, float]:
    """(forward, backward) of one duel, the two orders asked at once. Raises Unavailable when either fails."""
    forward, lost = await asyncio.gather(
        comparer.prefer(candidate, reference, criteria), comparer.prefer(reference, candidate, criteria)
    )
    return forward, 1 - lost


async def judge(
    candidate: Painting, references: Sequence[Reference], comparer: Comparer, criteria: str = ""
) -> Judgement:
    """Compare `candidate` with every reference in both orders, all at once; the comparer bounds its own concurrency.

    A comparison that fails is dropped. Raises Unavailable when every one failed.
    """

    async def duel(reference: Reference) -> Comparison:
        forward, backward = await compare(candidate, reference.painting, comparer, criteria)
        return Comparison(reference.name, reference.tier, forward, backward)

    results = await asyncio.gather(*(duel(r) for r in references), return_exceptions=True)
    comparisons: list[Comparison] = []
    dropped: list[str] = []
    for reference, result in zip(references, results, strict=True):
        if isinstance(result, Comparison):
            comparisons.append(result)
        elif isinstance(result, Unavailable):
            dropped.append(f"{reference.name}: {result}")
        else:
            raise result
    if not comparisons:
        why = dropped[0].partition(": ")[2] if dropped else "there is nothing to compare with"
        raise Unavailable(f"no comparison succeeded ({why.rstrip('.')})")
    return Judgement(tuple(comparisons), tuple(dropped))


# -- how far to trust it -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Share:
    """A proportion with its 95 % interval; `of` is how many answers (or clusters of answers) it rests on."""

    value: float
    low: float
    high: float
    of: int

    def to_json(self) -> dict[str, Any]:
        value = None if math.isnan(self.value) else round(self.value, 4)
        return {"value": value, "low": round(self.low, 4), "high": round(self.high, 4), "of": self.of}


def wilson(hits: float, of: int) -> Share:
    """The Wilson score interval of hits/of: (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n), z = 1.96."""
    if of == 0:
        return Share(math.nan, 0.0, 1.0, 0)
    p, z2 = hits / of, Z95**2
    centre = (p + z2 / (2 * of)) / (1 + z2 / of)
    half = Z95 * math.sqrt(p * (1 - p) / of + z2 / (4 * of**2)) / (1 + z2 / of)
    return Share(p, max(0.0, centre - half), min(1.0, centre + half), of)


def clustered(values: Sequence[float]) -> Share:
    """The mean of one number per duel with a Wilson interval on the number of *duels*.

    Answers to the same question repeat each other, so the n that counts is how many different questions were asked.
    """
    return wilson(sum(values), len(values))


@dataclass(frozen=True)
class Trust:
    """What asking the same questions again shows.

    `retest`: chance that two answers to the very same ordered question name the same winner. `first`: share of answers
    for whichever picture was shown first; ½ is no position bias. `ties`: share of duels whose two orders disagree.
    Each is averaged within a duel first; the interval is Wilson's on the number of duels.
    """

    retest: Share
    first: Share
    ties: Share
    repeats: int

    def to_json(self) -> dict[str, Any]:
        return {
            "repeats": self.repeats,
            "retest_agreement": self.retest.to_json(),
            "first_shown_wins": self.first.to_json(),
            "tie_rate": self.ties.to_json(),
            "interval": "95 % Wilson, n = duels",
        }


def trust(rounds: Sequence[Sequence[Comparison]], candidates: Sequence[str] | None = None) -> Trust:
    """Compare repeated rounds of the same duels. `rounds[r]` are the comparisons of repeat r.

    `candidates[i]` names the candidate of comparison i where several are mixed; duels that were dropped in some round
    are left out of it. Raises UsageError for fewer than two rounds.
    """
    if len(rounds) < 2:
        raise UsageError("Test and retest need at least two rounds: --repeat 2.")
    duels: dict[tuple[str, str], list[Comparison]] = {}
    for comparisons in rounds:
        for i, comparison in enumerate(comparisons):
            key = (candidates[i] if candidates else "", comparison.reference)
            duels.setdefault(key, []).append(comparison)
    retest, first, ties = [], [], []
    for answers in duels.values():
        first.append(_mean([(_verdict(a.forward) + 1 - _verdict(a.backward)) / 2 for a in answers]))
        ties.append(_mean([float(a.tie) for a in answers]))
        if len(answers) > 1:
            retest.append(_mean([_agreement([a.forward for a in answers]), _agreement([a.backward for a in answers])]))
    return Trust(clustered(retest), clustered(first), clustered(ties), len(rounds))


def _verdict(probability: float) -> float:
    return 0.5 if probability == 0.5 else float(probability > 0.5)


def _agreement(answers: Sequence[float]) -> float:
    """Share of all pairs of answers that name the same winner; two undecided answers agree."""
    verdicts = [_verdict(a) for a in answers]
    pairs = len(verdicts) * (len(verdicts) - 1) / 2
    return sum(a == b for i, a in enumerate(verdicts) for b in verdicts[:i]) / pairs


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


@dataclass(frozen=True)
class HeldOut:
    """A judge against the rater on paintings it has not learned from. `rater`: the rater's own consistency, or None.

    `agreement`: share of the verdicts, one for each order of a pair, that are for the better-rated painting; its
    interval: 2,000 bootstrap resamples of paintings within their tiers, percentiles 2.5 and 97.5.
    """

    agreement: Share
    ties: Share
    paintings: int
    dropped: tuple[str, ...]
    rater: dict[str, Any] | None

    def to_json(self) -> dict[str, Any]:
        return {
            "held_out": self.paintings,
            "agreement": self.agreement.to_json(),
            "tie_rate": self.ties.to_json(),
            "rater_consistency": self.rater,
            "dropped": list(self.dropped),
            "interval": "95 % bootstrap over paintings within tiers; ties: Wilson, n = duels",
        }


async def held_out(pool: Pool, comparer: Comparer, criteria: str = "", most: int = 400) -> HeldOut:
    """Let the judge decide pairs of reserved paintings of different tiers, both orders (thinned evenly to `most`).

    Raises UsageError when the reserved part holds no two tiers, Unavailable when every comparison failed.
    """
    import numpy as np

    entries = pool.reserved
    pairs = [(a, b) for a in entries for b in entries if tier_rank(a.tier) < tier_rank(b.tier)]
    if not pairs:
        raise UsageError(
            f"The reserved part of {pool.path} ({len(entries)} paintings) holds no two tiers to tell apart: "
            f"rate more, for a fifth of each tier of {SMALLEST_SPLIT} or more is kept from training."
        )
    pairs = pairs[:: max(1, -(-len(pairs) // most))]
    results = await asyncio.gather(
        *(compare(a.painting, b.painting, comparer, criteria) for a, b in pairs), return_exceptions=True
    )
    index = {e.name: i for i, e in enumerate(entries)}
    won, met = np.zeros((len(entries),) * 2), np.zeros((len(entries),) * 2)
    ties, dropped = 0, []
    for (a, b), result in zip(pairs, results, strict=True):
        if isinstance(result, Unavailable):
            dropped.append(f"{a.name} against {b.name}: {result}")
        elif isinstance(result, BaseException):
            raise result
        else:
            comparison = Comparison(b.name, b.tier, *result)
            won[index[a.name], index[b.name]] = _mean([_verdict(p) for p in result])
            met[index[a.name], index[b.name]] = 1
            ties += comparison.tie
    if not met.any():
        raise Unavailable(f"no comparison succeeded ({dropped[0]})")
    random = np.random.default_rng(0)
    groups = [np.array([index[e.name] for e in members]) for members in pool.tiers(entries).values()]
    draws = []
    for _ in range(2000):
        times = sum(np.bincount(random.choice(g, len(g)), minlength=len(entries)) for g in groups)
        total = times @ met @ times
        if total:
            draws.append(times @ won @ times / total)
    low, high = np.percentile(draws, [2.5, 97.5])
    count = int(met.sum())
    return HeldOut(
        Share(float(won.sum() / count), float(low), float(high), count),
        wilson(ties, count),
        len(entries),
        tuple(dropped),
        consistency(pool),
    )
