"""The definitions of a duel, a tie, a score, and of how far a judge can be trusted."""

import asyncio
import math
import random

import pytest
from washes import make_pool, read_rows

from paintcli import judging
from paintcli.errors import Unavailable, UsageError
from paintcli.judging import Comparison, wilson
from paintcli.pool import Pool


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    return Pool.load(make_pool(tmp_path_factory.mktemp("pools") / "p", per_tier=15))


class ByCoverage:
    """Prefers more paint; answers 0/1. `lean` is added for whoever is shown first, `noise` turns answers at random."""

    def __init__(self, lean=0.0, noise=0.0, broken=()):
        self.lean, self.noise, self.broken = lean, noise, broken
        self.random = random.Random(4)
        self.asked = []

    async def prefer(self, first, second, criteria):
        self.asked.append((first.png, second.png, criteria))
        if first.png in self.broken or second.png in self.broken:
            raise Unavailable("the judge is down")
        verdict = float(first.coverage + self.lean > second.coverage)
        return 1 - verdict if self.random.random() < self.noise else verdict


def test_forward_is_shown_first_and_backward_second(pool):
    """A comparer that always says "the first": the candidate wins forward, loses backward, the duel is a tie at ½."""
    candidate, references = pool.entries[0].painting, pool.entries[1:3]
    judge = ByCoverage(lean=2)
    result = asyncio.run(judging.judge(candidate, references, judge, "as washes go"))
    assert [(c.forward, c.backward, c.score, c.tie) for c in result.comparisons] == [(1, 0, 0.5, True)] * 2
    assert (result.score, result.ties) == (0.5, 2)
    assert len(judge.asked) == 4
    assert judge.asked[0] == (candidate.png, references[0].painting.png, "as washes go")
    assert judge.asked[1] == (references[0].painting.png, candidate.png, "as washes go")


def test_a_win_counts_the_same_against_every_tier():
    duels = (
        Comparison("a", "love", 1, 1),
        Comparison("b", "okay", 1, 0),
        Comparison("c", "okay", 0, 0),
        Comparison("d", "love", 0.8, 0.6),
    )
    result = judging.Judgement(duels)
    assert result.score == pytest.approx((1 + 0.5 + 0 + 0.7) / 4)
    assert result.ties == 1


def test_an_undecided_probability_is_a_tie():
    assert Comparison("a", "love", 0.5, 0.5).tie
    assert not Comparison("a", "love", 0.51, 0.52).tie
    assert Comparison("a", "love", 0.51, 0.49).tie


def test_a_failed_comparison_is_dropped_not_scored(pool):
    candidate, references = pool.entries[0].painting, pool.entries[1:5]
    judge = ByCoverage(broken={references[1].painting.png})
    result = asyncio.run(judging.judge(candidate, references, judge))
    assert [c.reference for c in result.comparisons] == [references[i].name for i in (0, 2, 3)]
    assert result.dropped == (f"{references[1].name}: the judge is down",)
    full = asyncio.run(judging.judge(candidate, [references[i] for i in (0, 2, 3)], ByCoverage()))
    assert result.score == full.score


def test_when_every_comparison_fails_there_is_no_number(pool):
    references = pool.entries[1:3]
    judge = ByCoverage(broken={e.painting.png for e in references})
    with pytest.raises(Unavailable, match="the judge is down"):
        asyncio.run(judging.judge(pool.entries[0].painting, references, judge))


def test_an_error_that_is_not_an_outage_is_not_swallowed(pool):
    class Wrong:
        async def prefer(self, first, second, criteria):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(judging.judge(pool.entries[0].painting, pool.entries[1:3], Wrong()))


def test_wilson_against_known_values():
    """Newcombe (1998), table I: 81/263 → 0.2553–0.3662; 0/20 → 0–0.1611; 15/148 → 0.0624–0.1605."""
    for hits, of, low, high in ((81, 263, 0.2553, 0.3662), (0, 20, 0.0, 0.1611), (15, 148, 0.0624, 0.1605)):
        share = wilson(hits, of)
        assert (share.low, share.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
    assert math.isnan(wilson(0, 0).value)
    assert wilson(0, 0).to_json() == {"value": None, "low": 0.0, "high": 1.0, "of": 0}


def rounds(pool, judge, repeats=4):
    async def run():
        result = []
        for _ in range(repeats):
            duels = []
            for candidate in pool.entries[::3]:
                judgement = await judging.judge(candidate.painting, pool.entries[1:5], judge)
                duels += judgement.comparisons
            result.append(duels)
        return result

    names = [e.name for e in pool.entries[::3] for _ in range(4)]
    return judging.trust(asyncio.run(run()), names)


def test_a_steady_unbiased_judge(pool):
    told = rounds(pool, ByCoverage())
    assert told.retest.value == 1
    # the candidates are references too: against itself a judge of strict order always ties
    assert told.first.value == pytest.approx(0.5, abs=0.05)
    assert told.retest.of == 40


def test_position_bias_shows(pool):
    told = rounds(pool, ByCoverage(lean=2))
    assert (told.first.value, told.ties.value, told.retest.value) == (1, 1, 1)
    assert told.first.low > 0.85


def test_a_coin_does_not_agree_with_itself(pool):
    told = rounds(pool, ByCoverage(noise=0.5))
    assert told.retest.low < 0.5 < told.retest.high
    assert told.first.low < 0.5 < told.first.high
    assert told.ties.low < 0.5 < told.ties.high


def test_one_round_is_no_retest():
    with pytest.raises(UsageError, match="--repeat 2"):
        judging.trust([[Comparison("a", "love", 1, 1)]])


def test_held_out_agreement(pool):
    """The made pool's rater loves more paint: a judge by coverage agrees, its mirror image does not."""
    told = asyncio.run(judging.held_out(pool, ByCoverage()))
    assert told.paintings == 6
    loved, okay = (members for members in pool.tiers(pool.reserved).values())
    pairs = [float(a.painting.coverage > b.painting.coverage) for a in loved for b in okay]
    assert told.agreement.of == len(pairs) == 9
    assert told.agreement.value == pytest.approx(sum(pairs) / 9)
    assert told.agreement.low < told.agreement.value <= told.agreement.high
    assert told.rater is None

    class Contrary(ByCoverage):
        async def prefer(self, first, second, criteria):
            return 1 - await super().prefer(first, second, criteria)

    assert asyncio.run(judging.held_out(pool, Contrary())).agreement.value == pytest.approx(1 - sum(pairs) / 9)


def test_held_out_beside_the_raters_own_consistency(pool):
    rows = read_rows(pool.path)
    for row in rows[:10]:
        row["recheck_tier"] = row["tier"]
    told = asyncio.run(judging.held_out(pool.with_rows(rows), ByCoverage()))
    assert told.rater == {"rechecked": 10, "same": 1.0}


def test_held_out_needs_two_tiers(tmp_path):
    small = Pool.load(make_pool(tmp_path / "p", per_tier=3))
    with pytest.raises(UsageError, match=r"no two tiers to tell apart.*a fifth of each tier of 5 or more"):
        asyncio.run(judging.held_out(small, ByCoverage()))
