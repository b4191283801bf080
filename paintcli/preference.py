"""What duels say: strengths of many paintings (Bradley–Terry), and the win rate of one side with an interval.

A vote is the first painting's share of a duel: 1 it wins, 0 it loses, ½ a tie.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paintcli.judging import Z95, Share

if TYPE_CHECKING:
    import numpy as np

PRIOR = 1.5
"""Standard deviation of the strengths expected before any vote: one painting in six is then over 4.5 times as strong
(e^1.5) as the middle one. It keeps a painting that won every duel at a finite place, and fades as votes come in."""


@dataclass(frozen=True)
class Strengths:
    """Bradley–Terry strengths of n paintings, natural logarithms, 0 their mean; P(i beats j) = 1/(1 + e^(sⱼ − sᵢ)).

    `covariance` is (n, n); `low` and `high` bound the 95 % interval of each.
    """

    value: np.ndarray
    covariance: np.ndarray

    @property
    def error(self) -> np.ndarray:
        return self.covariance.diagonal() ** 0.5

    @property
    def low(self) -> np.ndarray:
        return self.value - Z95 * self.error

    @property
    def high(self) -> np.ndarray:
        return self.value + Z95 * self.error


def bradley_terry(paintings: int, votes: Sequence[tuple[int, int, float]]) -> Strengths:
    """Fit strengths to votes (i, j, i's share); a tie counts as half a win for each.

    The mode of the posterior under independent normal priors of standard deviation PRIOR, by Newton's method, and the
    inverse Hessian there (Laplace's approximation). With a prior, paintings that never met, even through others, have
    strengths too; their intervals say how little is known.
    """
    import numpy as np

    first, second = (np.array([vote[k] for vote in votes], dtype=int) for k in (0, 1))
    share = np.array([vote[2] for vote in votes], dtype=float)
    value = np.zeros(paintings)
    for _ in range(50):
        chance = 1 / (1 + np.exp(value[second] - value[first]))
        gradient = -value / PRIOR**2
        np.add.at(gradient, first, share - chance)
        np.add.at(gradient, second, chance - share)
        weight = chance * (1 - chance)
        hessian = np.eye(paintings) / PRIOR**2
        np.add.at(hessian, (first, first), weight)
        np.add.at(hessian, (second, second), weight)
        np.add.at(hessian, (first, second), -weight)
        np.add.at(hessian, (second, first), -weight)
        step = np.linalg.solve(hessian, gradient)
        value = value + step
        if abs(step).max() < 1e-9:
            break
    centre = np.eye(paintings) - 1 / paintings  # only differences can be seen: the mean is put at 0
    return Strengths(centre @ value, centre @ np.linalg.inv(hessian) @ centre)


def next_pair(strengths: Strengths, asked: set[frozenset[int]]) -> tuple[int, int] | None:
    """The pair whose vote would tell most, p(1 − p) · Var(sᵢ − sⱼ), among those not asked; None when all were."""
    import numpy as np

    n = len(strengths.value)
    difference = strengths.value[:, None] - strengths.value[None]
    chance = 1 / (1 + np.exp(-difference))
    variance = strengths.covariance.diagonal()
    gain = chance * (1 - chance) * (variance[:, None] + variance[None] - 2 * strengths.covariance)
    gain[np.tril_indices(n)] = -1
    for pair in asked:
        i, j = sorted(pair)
        gain[i, j] = -1
    best = int(gain.argmax()) if n > 1 else 0
    i, j = divmod(best, n)
    return (i, j) if n > 1 and gain[i, j] > 0 else None


def proposed(low: float, high: float) -> str | None:
    """The tier of a painting whose strength's interval is (low, high): surely over the pool's middle, or under it.

    None for one that holds the middle, as every interval does after a vote or two: that is no evidence for any tier.
    """
    return "love" if low > 0 else "weak" if high < 0 else None


LEVEL = 0.05
"""1 − the coverage of `sequential`."""


def sequential(wins: int, ties: int, losses: int, level: float = LEVEL) -> Share:
    """The win rate (a tie is ½) with an interval that may be looked at after every vote, and stopped on.

    An ordinary 95 % interval covers at one number of votes chosen beforehand; who stops when it looks decisive is
    wrong far more often. This one holds for all numbers of votes at once, whatever the reason for stopping:
    P(the true rate is outside after any vote, ever) ≤ `level`, if every vote has the same expectation given those
    before it.

    For a supposed rate m, a gambler who bets a fixed share on each vote x ∈ {0, ½, 1} multiplies the stake by
    1 + λ(x − m). With λ = (q − m)/(m(1 − m)) that is q/m for a win, (1 − q)/(1 − m) for a loss, their mean for a tie.
    The capital of gamblers with every q, weighed by Beta(½, ½),

        K(m) = ∫ (q/m)^wins ((1 − q)/(1 − m))^losses (½ q/m + ½ (1 − q)/(1 − m))^ties dBeta(q)

    is a non-negative martingale from 1 if m is true, so by Ville's inequality it ever reaches 1/level with probability
    at most `level`. The interval is {m: K(m) < 1/level}. Sources: H. Robbins, "Statistical methods related to the law
    of the iterated logarithm", Ann. Math. Statist. 41 (1970), the method of mixtures; I. Waudby-Smith and A. Ramdas,
    "Estimating means of bounded random variables by betting", J. R. Stat. Soc. B 86 (2024), bets on bounded votes.
    """
    votes = wins + ties + losses
    if not votes:
        return Share(math.nan, 0.0, 1.0, 0)
    low, high = (_bound(end, wins, ties, losses, level) for end in (0.0, 1.0))
    return Share((wins + ties / 2) / votes, low, high, votes)


def log_capital(rate: float, wins: int, ties: int, losses: int) -> float:
    """log K(rate) of `sequential`, 0 < rate < 1: the evidence against a supposed win rate."""
    import numpy as np

    # the substitution q = sin² turns Beta(½, ½) into equal weights; a finite set of gamblers is as valid as a continuum
    q = np.sin((np.arange(400) + 0.5) / 400 * math.pi / 2) ** 2
    won, lost = q / rate, (1 - q) / (1 - rate)
    logarithm = wins * np.log(won) + losses * np.log(lost) + ties * np.log((won + lost) / 2)
    top = logarithm.max()
    return float(top + np.log(np.exp(logarithm - top).mean()))


def _bound(end: float, wins: int, ties: int, losses: int, level: float) -> float:
    """Where K = 1/level between the observed rate and `end`, 0 or 1; `end` where it never is.

    There is one such place: K is at most 1 at the observed rate, and convex on a logarithmic scale, as 1/m and
    1/(1 − m) are, and their sums and products.
    """
    rate = (wins + ties / 2) / (wins + ties + losses)
    inside, outside = min(max(rate, NARROW), 1 - NARROW), min(max(end, NARROW / 2), 1 - NARROW / 2)
    most = -math.log(level)
    if log_capital(outside, wins, ties, losses) < most:
        return end
    while abs(outside - inside) > NARROW:
        middle = (inside + outside) / 2
        if log_capital(middle, wins, ties, losses) < most:
            inside = middle
        else:
            outside = middle
    return outside


NARROW = 1e-5
"""How closely a bound is found; the outer end is taken."""

MARGIN = 0.1
"""Two sides whose win rate surely lies within ½ ± MARGIN are as good as each other."""


def decided(rate: Share) -> str:
    """ "first", "second" or "equal" when the interval says so, else ""."""
    if rate.low > 0.5:
        return "first"
    if rate.high < 0.5:
        return "second"
    return "equal" if rate.low > 0.5 - MARGIN and rate.high < 0.5 + MARGIN else ""
