"""The embedded judge and scorer: a Bradley-Terry model of one pool's ratings on features a painter would name.

Nothing is downloaded. It knows only the pool it was fitted on: a stand-in for HPSv3, and a judge whose honest bounds
are `leave_family_out` (paintings in a hand it never saw) and `paint judge --held-out`.

Learned image embeddings were tried and left out: principal components of EfficientNet-Lite0's, centred per pool, beside
these features moved the accuracy with families left out from 0.757 to 0.762–0.789 on the hibiscus pool (interval
0.62–0.89) and from 0.857 to 0.786–0.913 on the koi, by their number alone: nothing that torch and 17 MB would buy.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import io
import os
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from paintcli.errors import PaintError, UsageError
from paintcli.files import write_atomic
from paintcli.painting import PAINT_DISTANCE, Painting, paper_colour
from paintcli.pool import Pool, Reference, tier_rank

SIDE = 256
"""Longest side, in pixels, that features are read at: sketches of other sizes then measure alike."""

FEATURES = {
    "coverage": "square root of the painted share of the paper",
    "density": "mean distance from the paper over the paint",
    "depth": "the darkest twentieth's distance from the paper",
    "density spread": "how much the density varies",
    "translucency": "share of the paint thinner than half its depth",
    "wash": "share of the paper that is faintly tinted, below the paint threshold",
    "edge sharpness": "slope at the border of the paint, against its depth",
    "edge darkening": "density of the rim against the inside",
    "tonal steps": "effective number of sixteen density levels (layering)",
    "granulation": "texture of one to two pixels inside the paint",
    "mottling": "texture of three to eight pixels inside the paint",
    "chroma": "mean colourfulness of the paint",
    "chroma spread": "how much the colourfulness varies",
    "hue focus": "1 for a single hue, 0 for hues all around",
    "hues": "effective number of twelve hues",
    "warmth": "mean hue towards orange (+) or blue (−)",
    "palette": "effective number of colours (three bits a channel)",
    "off-centre": "distance of the paint's centre from the middle",
    "reach": "root-mean-square radius of the paint",
    "imbalance": "left and right, top and bottom against each other",
    "scatter": "how evenly the paint lies over a six by six grid",
    "solidity": "painted share of the paint's own box (negative space)",
    "contrast": "spread of lightness over the whole sheet",
    "paper": "share of the sheet that is bare paper",
    "restlessness": "texture of the sheet's quietest tenth: a camera's noise is everywhere, paper is still",
}
"""Every feature in order, with what it measures; all are plain numbers around 0–10."""

RIDGE = 0.06
"""Weight of the squared coefficients against the mean log-likelihood of a pair."""

PULL = 2.5
"""Logits lost for each e-fold of 1 + novelty.

The logarithm keeps a beginner's paintings, all unlike the pool, apart from each other: a linear pull put every one of
them at 0.000 and left nothing to learn from.
"""

MARGIN = 0.5
"""Standard deviations that a feature may lie beyond the pool's own range before it counts as novel.

Measured on the hibiscus starter pool: its reserved paintings then have a novelty of 0, those of a family left out 0 to
3.9, a photograph 4.1, a blank sheet 6.5, a flat disc 7.3, noise 100.
"""

REACH = 2.5
"""Standard deviations beyond which a feature counts no further: outside the pool nothing was rated."""

MAX_PAIRS = 50_000


def features(painting: Painting) -> np.ndarray:
    """The features of one picture: float64 of shape (len(FEATURES),), finite for any picture (blank ones too)."""
    image = painting.image
    factor = min(1.0, SIDE / max(image.size))
    size = (max(8, round(image.width * factor)), max(8, round(image.height * factor)))
    if size != image.size:
        image = image.resize(size, Image.Resampling.BOX)
    pixels = np.asarray(image)
    rgb = pixels.astype(np.float64)
    distance = np.sqrt(((rgb - paper_colour(pixels)) ** 2).sum(axis=-1))
    paint = distance > PAINT_DISTANCE
    light = rgb @ np.array([0.299, 0.587, 0.114]) / 255
    bare = float((distance < 8).mean())
    contrast = float(light.std())
    tinted = float(((distance >= 8) & ~paint).mean())
    texture = np.abs(light - _blur(light, 1))
    restless = float(np.percentile(_blur(texture, 2), 10)) * 100
    if paint.sum() < 16:  # a sheet without paint has no hue, edge or centre: zeros, which no painting has
        return np.array([0.0] * 5 + [tinted] + [0.0] * 16 + [contrast, bare, restless])

    density = distance[paint] / 100
    depth = np.percentile(density, 95)
    slope = np.hypot(*np.gradient(distance / 100))
    inner = _erode(paint, 3)
    rim = paint & ~_erode(paint, 1)
    inside = inner if inner.any() else paint
    fine = texture[inside].mean()
    middle = np.abs(_blur(light, 1) - _blur(light, 4))[inside].mean()

    # hue and chroma on the two opponent axes: blue to yellow-orange, green to red
    warm = (rgb[..., 0] + rgb[..., 1] - 2 * rgb[..., 2])[paint] / (255 * np.sqrt(6))
    red = (rgb[..., 0] - rgb[..., 1])[paint] / (255 * np.sqrt(2))
    chroma = np.hypot(warm, red)
    hue = np.arctan2(warm, red)
    total = chroma.sum() + 1e-9
    mean_hue = (chroma * np.exp(1j * hue)).sum() / total
    hue_bins = np.bincount(((hue + np.pi) / (2 * np.pi) * 12).astype(int) % 12, weights=chroma, minlength=12)
    index = (pixels[paint] >> 5).astype(int) @ np.array([64, 8, 1])

    height, width = paint.shape
    rows, columns = np.nonzero(paint)
    y, x = (rows + 0.5) / height - 0.5, (columns + 0.5) / width - 0.5
    mass = density / density.sum()
    cy, cx = float(mass @ y), float(mass @ x)
    grid = np.bincount(((y + 0.5) * 6).astype(int) * 6 + ((x + 0.5) * 6).astype(int), weights=density, minlength=36)
    box = np.prod([max(np.ptp(np.percentile(axis, [2, 98])), 1e-3) for axis in (y, x)])

    return np.array(
        [
            np.sqrt(paint.mean()),
            density.mean(),
            depth,
            density.std(),
            (density < depth / 2).mean(),
            tinted,
            slope[rim].mean() / depth,
            density_ratio(distance, rim, inside),
            _effective(np.histogram(density, bins=16, range=(0, 4.42))[0]),
            fine * 100,
            middle * 100,
            chroma.mean() * 10,
            chroma.std() * 10,
            abs(mean_hue),
            _effective(hue_bins),
            float(np.sin(np.angle(mean_hue)) * abs(mean_hue)),
            np.log(_effective(np.bincount(index))),
            np.hypot(cx, cy) * 10,
            np.sqrt(mass @ ((x - cx) ** 2 + (y - cy) ** 2)) * 10,
            abs(mass[x < 0].sum() - 0.5) + abs(mass[y < 0].sum() - 0.5),
            _effective(grid) / 36,
            min(paint.mean() / box, 1.5),
            contrast,
            bare,
            restless,
        ]
    )


def density_ratio(distance: np.ndarray, rim: np.ndarray, inside: np.ndarray) -> float:
    return float(distance[rim].mean() / distance[inside].mean()) if rim.any() else 1.0


def _effective(weights: np.ndarray) -> float:
    """exp(entropy): how many equal bins would be as spread out. `weights` ≥ 0, any shape."""
    total = weights.sum()
    if total <= 0:
        return 1.0
    p = weights[weights > 0] / total
    return float(np.exp(-(p * np.log(p)).sum()))


def _blur(plane: np.ndarray, radius: int) -> np.ndarray:
    """Box blur of a (height, width) plane, edges repeated."""
    n = 2 * radius + 1
    for axis in (0, 1):
        pad = [(0, 0), (0, 0)]
        pad[axis] = (radius + 1, radius)
        summed = np.cumsum(np.pad(plane, pad, mode="edge"), axis=axis)
        upper = np.take(summed, range(n, summed.shape[axis]), axis=axis)
        lower = np.take(summed, range(summed.shape[axis] - n), axis=axis)
        plane = (upper - lower) / n
    return plane


def _erode(mask: np.ndarray, radius: int) -> np.ndarray:
    """Pixels whose whole (2 radius + 1)² neighbourhood is in the mask; the sheet's border counts as inside."""
    return _blur(mask.astype(np.float64), radius) > 1 - 0.5 / (2 * radius + 1) ** 2


_memory: OrderedDict[bytes, np.ndarray] = OrderedDict()
"""Features of the last pictures by the digest of their bytes: one painting meets each reference twice."""


def remembered(painting: Painting) -> np.ndarray:
    """`features`, kept for the last 1,024 pictures. Raises UsageError for a painting without a picture."""
    if painting.png is None:
        raise UsageError("A painting without a picture cannot be judged.")
    key = hashlib.sha256(painting.png).digest()
    if key not in _memory:
        _memory[key] = features(painting)
        while len(_memory) > 1024:
            _memory.popitem(last=False)
    return _memory[key]


# -- the model -----------------------------------------------------------------------------------------------------


def fit_pairs(better: np.ndarray, worse: np.ndarray, ridge: float = RIDGE) -> np.ndarray:
    """Ridge-regularised Bradley-Terry weights, shape (k,), from rows that won and rows that lost, shape (n, k) each.

    Newton's method on mean(log(1 + exp(−d·w))) + ridge/2·|w|², d = better − worse; strictly convex, so it ends.
    """
    difference = better - worse
    weights = np.zeros(difference.shape[1])
    for _ in range(30):
        lost = 1 / (1 + np.exp(np.clip(difference @ weights, -40, 40)))
        gradient = ridge * weights - difference.T @ lost / len(difference)
        curvature = (difference * (lost * (1 - lost))[:, None]).T @ difference / len(difference)
        step = np.linalg.solve(curvature + ridge * np.eye(len(weights)), gradient)
        weights = weights - step
        if np.abs(step).max() < 1e-8:
            break
    return weights


def rated_pairs(tiers: Sequence[str]) -> np.ndarray:
    """Index pairs (better, worse) of paintings in different tiers, shape (n, 2), thinned evenly to MAX_PAIRS."""
    ranks = [tier_rank(t) for t in tiers]
    order = {rank: i for i, rank in enumerate(sorted(set(ranks)))}
    level = np.array([order[r] for r in ranks])
    pairs = np.argwhere(level[:, None] < level[None])
    return pairs[:: max(1, -(-len(pairs) // MAX_PAIRS))]


@dataclass(frozen=True)
class Model:
    """A fitted preference over feature vectors (rows of shape (k,)). Higher `worth` is better liked."""

    mean: np.ndarray
    scale: np.ndarray
    weights: np.ndarray
    low: np.ndarray
    high: np.ndarray
    middle: float
    paintings: int

    @classmethod
    def fit(cls, rows: np.ndarray, tiers: Sequence[str]) -> Model:
        """`rows`: float (n, k), one a painting; `tiers`: their n tier names, at least two different ones."""
        mean, scale = rows.mean(axis=0), rows.std(axis=0)
        scale = np.where(scale < 1e-6, 1.0, scale)
        standard = (rows - mean) / scale
        clipped = np.clip(standard, -REACH, REACH)
        pairs = rated_pairs(tiers)
        weights = fit_pairs(clipped[pairs[:, 0]], clipped[pairs[:, 1]])
        worth = clipped @ weights
        # the scale's zero lies midway between the liked half and the rest, so that sigmoid(mu / 4) is ½ there
        ranks = [tier_rank(t) for t in tiers]
        best = np.array([r == min(ranks) for r in ranks])
        middle = float((np.median(worth[best]) + np.median(worth[~best])) / 2)
        return cls(
            mean, scale, weights, standard.min(axis=0) - MARGIN, standard.max(axis=0) + MARGIN, middle, len(rows)
        )

    def standard(self, row: np.ndarray) -> np.ndarray:
        return (row - self.mean) / self.scale

    def contributions(self, row: np.ndarray) -> np.ndarray:
        """Logits that each feature adds against the pool's average painting, shape (k,).

        They fade with novelty: what was learned in the pool says little about what is unlike it.
        """
        return np.clip(self.standard(row), -REACH, REACH) * self.weights / (1 + self.novelty(row))

    def novelty(self, row: np.ndarray) -> float:
        """How far the features lie outside the pool's own ranges: 0 for what belongs to it, in standard deviations."""
        standard = self.standard(row)
        beyond = np.maximum(0, np.maximum(self.low - standard, standard - self.high))
        return float(np.sqrt((beyond**2).sum()))

    def pull(self, row: np.ndarray) -> float:
        """Logits lost for being unlike anything rated, ≥ 0."""
        return PULL * float(np.log1p(self.novelty(row)))

    def worth(self, row: np.ndarray) -> float:
        """Logits: 0 midway between the best tier and the rest, minus the pull back towards what was rated."""
        return float(self.contributions(row).sum()) - self.middle - self.pull(row)


class Taste:
    """A `Comparer` and a `Scorer` in one, learned from a pool's tiers. Symmetric: p(a, b) + p(b, a) = 1."""

    name = "taste"

    def __init__(self, pool: Pool, entries: Sequence[Reference] | None = None) -> None:
        """Fit on `entries`, by default every rated painting that is not reserved. Under a second for 200 paintings.

        Raises UsageError when they are not of at least two tiers.
        """
        if entries is None:
            reserved = {e.name for e in pool.reserved}
            entries = [e for e in pool.rated if e.name not in reserved]
        tiers = [e.tier for e in entries]
        if len(set(tiers)) < 2:
            there = f"only {tiers[0]!r}" if tiers else "no rated paintings"
            raise UsageError(
                f"The embedded judge learns from what was preferred to what, but {pool.path} has {there}; "
                "rate some paintings differently or choose another judge with --judge."
            )
        table = pool_features(pool)
        self.pool = pool.name
        self.model = Model.fit(np.stack([table[e.name] for e in entries]), tiers)

    async def prefer(self, first: Painting, second: Painting, criteria: str = "") -> float:
        """Probability in (0, 1) that `first` is liked better. `criteria` is ignored: the ratings are the criteria."""
        a, b = await asyncio.to_thread(lambda: (self.worth(first), self.worth(second)))
        return float(1 / (1 + np.exp(np.clip(b - a, -40, 40))))

    async def score(self, paintings: Sequence[Painting], prompt: str = "") -> list[float]:
        """Four times the logits, so that sigmoid(mu / 4) reads as "liked": unbounded, 0 between the tiers."""
        return await asyncio.to_thread(lambda: [4 * self.worth(p) for p in paintings])

    def worth(self, painting: Painting) -> float:
        return self.model.worth(remembered(painting))

    def decided(self, painting: Painting | None = None) -> list[tuple[str, float]]:
        """What decides, largest first: the features' weights, or what each gave `painting` (logits, "novelty" too)."""
        if painting is None:
            values = list(zip(FEATURES, map(float, self.model.weights), strict=True))
        else:
            row = remembered(painting)
            values = list(zip(FEATURES, map(float, self.model.contributions(row)), strict=True))
            values.append(("novelty", -self.model.pull(row)))
        return sorted(values, key=lambda item: -abs(item[1]))


def pool_features(pool: Pool) -> dict[str, np.ndarray]:
    """Feature rows by file name, from the cache when this very pool was measured before by this very code."""
    code = Path(__file__).read_bytes()
    path = cache_folder() / f"{hashlib.sha256(pool.digest.encode() + code).hexdigest()[:32]}.npz"
    names = sorted(e.name for e in pool.entries)
    try:
        with np.load(path) as stored:
            rows = stored["rows"]
        if rows.shape == (len(names), len(FEATURES)):
            return dict(zip(names, rows, strict=True))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        pass  # not there yet, or not whole: measure again
    table = {e.name: remembered(e.painting) for e in pool.entries}
    buffer = io.BytesIO()
    np.savez(buffer, rows=np.stack([table[n] for n in names]))
    with contextlib.suppress(PaintError):  # a cache that cannot be written only costs time
        write_atomic(path, buffer.getvalue())
    return table


def cache_folder() -> Path:
    from platformdirs import user_cache_dir

    return Path(os.environ.get("PAINT_CACHE") or user_cache_dir("paint")) / "taste"


# -- how well it does ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Accuracy:
    """Share of pairs of different tiers put in the rater's order, with its 95 % interval, over `pairs` pairs."""

    value: float
    low: float
    high: float
    pairs: int
    families: int


def leave_family_out(
    pool: Pool,
    measure: Callable[[Reference], Sequence[float]] | None = None,
    entries: Sequence[Reference] | None = None,
    within: bool = False,
) -> Accuracy:
    """Fit without one family, order that family's paintings against those of other tiers; each family in turn.

    A pair counts when at least one of its two paintings is of the family left out (`within`: both are); a pair of two
    families is met twice and counts half each time. Equal worth counts ½. `measure` replaces the features, so that
    coverage or file size alone runs through the very same procedure. Interval: 2,000 bootstrap resamples of paintings
    within each tier (percentiles 2.5 and 97.5); the models are not refitted in it.
    """
    entries = list(pool.rated if entries is None else entries)
    families = sorted({e.family for e in entries})
    if len(families) < 2:
        raise UsageError(f"{pool.path} has one family of paintings only, so none can be left out.")
    if measure is None:
        table = pool_features(pool)
        rows = np.stack([table[e.name] for e in entries])
    else:
        rows = np.array([measure(e) for e in entries], dtype=np.float64)
    tiers = np.array([e.tier for e in entries])
    family = np.array([e.family for e in entries])
    n = len(entries)
    right, met = np.zeros((n, n)), np.zeros((n, n))
    for out in families:
        stay = family != out
        if len(set(tiers[stay])) < 2:
            continue
        model = Model.fit(rows[stay], list(tiers[stay]))
        worth = np.array([model.worth(row) for row in rows])
        for i, j in rated_pairs(list(tiers)):
            away = (family[i] == out, family[j] == out)
            if all(away) if within else any(away):
                right[i, j] += 0.5 + 0.5 * np.sign(worth[i] - worth[j])
                met[i, j] += 1
    if not met.any():
        raise UsageError(f"{pool.path} has no pairs of different tiers left when a family is out.")
    share = np.divide(right, met, out=np.zeros_like(right), where=met > 0)
    counted = (met > 0).astype(float)
    random = np.random.default_rng(0)
    members = [np.flatnonzero(tiers == t) for t in sorted(set(tiers))]
    draws = []
    for _ in range(2000):
        times = np.zeros(n)
        for group in members:
            times += np.bincount(random.choice(group, len(group)), minlength=n)
        total = times @ counted @ times
        if total:
            draws.append(times @ share @ times / total)
    low, high = np.percentile(draws, [2.5, 97.5])
    return Accuracy(float(share.sum() / counted.sum()), float(low), float(high), int(counted.sum()), len(families))
