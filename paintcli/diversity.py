"""How varied a pool is: a pool of one picture trains one picture.

Distances are taken between the features that the embedded judge reads (`backends/taste.py`): coverage, density, edges,
hues, composition. They are measured in fixed units, not in the pool's own spread, which would make any pool varied.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from paintcli import pool as pools
from paintcli.backends.taste import FEATURES, pool_features
from paintcli.painting import Painting, paint_mask
from paintcli.pool import Pool, Reference

UNIT = {
    "coverage": 0.146, "density": 0.254, "depth": 0.442, "density spread": 0.123, "translucency": 0.14, "wash": 0.044,
    "edge sharpness": 0.04, "edge darkening": 0.09, "tonal steps": 1.749, "granulation": 0.355, "mottling": 0.731,
    "chroma": 0.719, "chroma spread": 0.306, "hue focus": 0.127, "hues": 0.899, "warmth": 0.408, "palette": 0.529,
    "off-centre": 0.344, "reach": 0.485, "imbalance": 0.112, "scatter": 0.156, "solidity": 0.209, "contrast": 0.033,
    "paper": 0.17, "restlessness": 0.044,
}  # fmt: skip
"""Standard deviation of each feature over the 39 paintings of the hibiscus starter pool."""

LIKENESS = 0.8
"""Distance at which two paintings are exp(−½) = 0.61 alike.

Five repaintings each of tests/data/sketches/flower.js and low.js, other seeds, lie 0.18 to 0.71 apart (median 0.43:
0.87 alike) and count as 1.5 and 1.7; two paintings of the hibiscus starter pool lie 0.38 to 3.35 apart (median 1.28:
0.28 alike).
"""

ONE_PICTURE = 3.0
"""Effective paintings under which six or more are called one picture: one sketch repainted counts up to 1.7."""

NAMED = 4
"""Of many paintings that are nearly one, how many a sentence names."""

HUES = ((20, "red"), (45, "orange"), (70, "yellow"), (165, "green"), (255, "blue"), (295, "violet"), (345, "pink"))
"""Upper ends in degrees of the colour circle; what is beyond the last is red again."""

GREY = 0.06
"""Mean chroma (largest minus smallest channel, 0–1) of the paint under which it has no hue."""

COVERAGES = ((0.15, "airy, under 15 %"), (0.35, "15 to 35 %"), (1.0, "full, over 35 %"))
"""Upper ends of the painted share of the paper."""


def distances(rows: np.ndarray) -> np.ndarray:
    """Root-mean-square distance over the features, in UNITs: float64 (n, n). `rows`: float (n, len(FEATURES))."""
    scaled = rows / np.array([UNIT[name] for name in FEATURES])
    squares = (scaled**2).sum(axis=1)
    apart = squares[:, None] + squares[None] - 2 * scaled @ scaled.T
    np.fill_diagonal(apart, 0)
    return np.sqrt(np.maximum(apart, 0) / scaled.shape[1])


def effective(apart: np.ndarray) -> float:
    """The effective number of paintings, 1 to n, of their distances (n, n): n when none is like another.

    The Vendi score (Friedman and Dieng, "The Vendi Score: A Diversity Evaluation Metric for Machine Learning", TMLR
    2023): exp of the Shannon entropy of the eigenvalues of K / n, K = exp(−d² / 2 LIKENESS²).
    """
    likeness = np.exp(-(apart**2) / (2 * LIKENESS**2))
    weights = np.linalg.eigvalsh(likeness / len(likeness))
    weights = weights[weights > 1e-12]
    return float(np.exp(-(weights * np.log(weights)).sum()))


def hue(painting: Painting) -> str:
    """The hue most of a painting's colour is of, in a word; "grey" where there is hardly any, or no paint."""
    small = painting.image
    small.thumbnail((96, 96))
    rgb = np.asarray(small)
    paint = rgb[paint_mask(rgb)].astype(float) / 255
    if not len(paint):
        return "grey"
    high, low = paint.max(axis=1), paint.min(axis=1)
    chroma = high - low
    if chroma.mean() < GREY:
        return "grey"
    red, green, blue = paint.T
    with np.errstate(invalid="ignore", divide="ignore"):
        angle = np.select(
            [high == red, high == green],
            [(green - blue) / chroma % 6, (blue - red) / chroma + 2],
            (red - green) / chroma + 4,
        )
    degrees = np.where(chroma > 0, angle * 60, 0.0)
    ends = [end for end, _ in HUES]
    weights = np.bincount(np.searchsorted(ends, degrees, side="right") % len(HUES), chroma, len(HUES))
    return HUES[int(weights.argmax())][1]


def coverage_class(painting: Painting) -> str:
    return next(name for end, name in COVERAGES if painting.coverage <= end)


REGIONS: dict[str, Callable[[Reference], str]] = {
    "subject": lambda e: e.subject or "(unnamed)",
    "hue": lambda e: hue(e.painting),
    "coverage": lambda e: coverage_class(e.painting),
}
"""What a tier is looked through by."""


def thin(entries: Sequence[Reference]) -> list[dict[str, Any]]:
    """Where a tier has next to nothing of what the pool has: a judge would take that for the difference in taste.

    {"tier", "by", "value", "paintings", "expected"}: fewer than a third of the `expected` number, which is the pool's
    share of that value times the tier's size and at least 2. Largest gap first. Tiers that are never drawn count not.
    """
    tiers = pools.tiers_of(e for e in entries if e.tier and e.tier != pools.REFUSED_TIER)
    everything = [e for members in tiers.values() for e in members]
    found = []
    for by, region in REGIONS.items():
        value_of = {e.name: region(e) for e in everything}
        shares = {v: n / len(everything) for v, n in pools.counts(value_of.values()).items()}
        for tier, members in tiers.items():
            there = pools.counts(value_of[e.name] for e in members)
            for value, share in shares.items():
                expected = share * len(members)
                if expected >= 2 and there.get(value, 0) < expected / 3:
                    found.append(
                        {"tier": tier, "by": by, "value": value, "paintings": there.get(value, 0),
                         "expected": round(expected, 1)}
                    )  # fmt: skip
    return sorted(found, key=lambda f: f["paintings"] - f["expected"])


def duplicates(entries: Sequence[Reference]) -> list[dict[str, Any]]:
    """Pairs that are one painting: {"first", "second", "why"}: nearly the same picture, or the very same sketch."""
    pairs = [
        {"first": a.name, "second": b.name, "why": f"nearly the same picture (distance {distance:.3f})"}
        for a, b, distance in pools.near_duplicates(entries)
    ]
    named = {(p["first"], p["second"]) for p in pairs}
    by_code: dict[str, list[str]] = {}
    for entry in entries:
        if entry.code:
            by_code.setdefault(entry.code.strip(), []).append(entry.name)
    return pairs + [
        {"first": a, "second": b, "why": "the same sketch"}
        for names in by_code.values()
        for a, b in combinations(names, 2)
        if (a, b) not in named
    ]


def diversity(pool: Pool) -> dict[str, Any]:
    """The "diversity" of `pool stats --json`; distances in UNITs, None for a pool of one painting.

    `standing_alone`: paintings whose distance to the nearest is more than 1.5 interquartile ranges over the upper
    quartile, where a few more would fill a gap. `closest`: the three pairs most alike.
    """
    table = pool_features(pool)
    names = [e.name for e in pool.entries]
    apart = distances(np.stack([table[name] for name in names]))
    told: dict[str, Any] = {
        "effective": round(effective(apart), 2),
        "effective_by_tier": {
            tier: round(effective(apart[np.ix_(rows, rows)]), 2)
            for tier, members in pool.tiers().items()
            if (rows := [names.index(e.name) for e in members])
        },
        "distance_median": None, "nearest_median": None, "nearest_min": None, "closest": [], "standing_alone": [],
        "near_duplicates": duplicates(pool.entries),
        "thin": thin(pool.entries),
        "hues": pools.counts(hue(e.painting) for e in pool.entries),
        "coverages": pools.counts(coverage_class(e.painting) for e in pool.entries),
    }  # fmt: skip
    if len(names) > 1:
        first, second = np.triu_indices(len(names), 1)
        pairs = apart[first, second]
        nearest = (apart + np.diag(np.full(len(names), np.inf))).min(axis=1)
        low, high = np.percentile(nearest, [25, 75])
        told |= {
            "distance_median": round(float(np.median(pairs)), 3),
            "nearest_median": round(float(np.median(nearest)), 3),
            "nearest_min": round(float(nearest.min()), 3),
            "closest": [
                {"first": names[first[i]], "second": names[second[i]], "distance": round(float(pairs[i]), 3)}
                for i in np.argsort(pairs, kind="stable")[:3]
            ],
            "standing_alone": [n for n, d in zip(names, nearest, strict=True) if d > high + 1.5 * (high - low)],
        }
    return told


def in_words(told: dict[str, Any], paintings: int) -> list[str]:
    """What `diversity` found, in sentences for a painter; most important first."""
    number = told["effective"]
    there = f"{paintings} painting{'' if paintings == 1 else 's'}"
    said = [f"{there}, as varied as {number:.0f} that have nothing in common."]
    if paintings >= 6 and number < ONE_PICTURE:
        said.append("That is one picture painted again and again, and a pool of one picture trains one picture.")
    pairs = {(pair["first"], pair["second"]): pair["why"] for pair in told["near_duplicates"]}
    for names in pools.groups(pairs):
        if len(names) == 2:
            said.append(f"{names[0]} and {names[1]}: {pairs[names[0], names[1]]}.")
        else:
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            said.append(f"{len(names)} paintings are nearly one: {', '.join(names[:NAMED])}{more}.")
    hues = list(told["hues"].items())
    if paintings >= 6 and hues[0][1] > 0.8 * paintings:
        said.append(f"{hues[0][1]} of {paintings} are {hues[0][0]}: what is learned is that colour too.")
    for gap in told["thin"]:
        what = {"subject": "of", "hue": "in", "coverage": "painted"}[gap["by"]]
        few = "none" if not gap["paintings"] else f"only {gap['paintings']}"
        said.append(
            f"{gap['tier']} has {few} {what} {gap['value']}, where the pool as a whole would give it "
            f"{gap['expected']:.0f}: a judge takes that for the difference between the tiers."
        )
    if told["standing_alone"]:
        said.append(f"Standing alone, a few more like them would fill a gap: {', '.join(told['standing_alone'])}.")
    return said
