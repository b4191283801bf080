"""A duel: blind, fair pairs, an interval that may be stopped on, no vote lost, in a terminal and on the page."""

import json
import math
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from test_gallery import browse, until
from tmux import Terminal, needs_tmux
from washes import make_pool, read_rows, wash, write_rows

from paintcli.backends.sitting_page import PageServer
from paintcli.duel import Duel, Side, matches
from paintcli.errors import UsageError
from paintcli.judging import wilson
from paintcli.preference import MARGIN, decided, log_capital, sequential


def make_samples(folder: Path, count: int, layers: int, subjects=("a hibiscus",), seeds=None, hand="windy") -> Path:
    """A folder as `paint sample` leaves it: rows with a subject and a seed."""
    (folder / "images").mkdir(parents=True)
    found = []
    for i in range(count):
        wash(hand, layers, 2.0, i + 100 * layers, side=64).save(folder / f"images/{i:02d}.png")
        found.append(
            {"file_name": f"images/{i:02d}.png", "step": i // 8, "position_in_group": i % 8, "reward": None,
             "subject": subjects[i % len(subjects)], "seed": seeds[i] if seeds else i}
        )  # fmt: skip
    write_rows(folder, found)
    return folder


@pytest.fixture(scope="module")
def sides(tmp_path_factory):
    root = tmp_path_factory.mktemp("duel")
    return make_samples(root / "soft", 40, 14), make_samples(root / "hard", 40, 3)


def meet(sides, path, **more):
    return Duel(*(Side.read(side) for side in sides), path, "ada", **more)


# -- the interval


def paths(rate: float, ties: float, count: int, length: int, seed: int = 0) -> np.ndarray:
    """(count, length) votes with expectation `rate`, of which the share `ties` are ½."""
    random = np.random.default_rng(seed)
    win = (rate - ties / 2) / (1 - ties)
    return np.where(random.random((count, length)) < ties, 0.5, (random.random((count, length)) < win).astype(float))


def ever(votes: np.ndarray, wrong) -> float:
    """Share of paths of which `wrong` (of wins, ties and losses) holds after any vote."""
    known: dict[tuple[int, ...], bool] = {}
    counts = np.stack([np.cumsum(votes == s, axis=1) for s in (1.0, 0.5, 0.0)], axis=2)
    for state in {tuple(map(int, state)) for state in counts.reshape(-1, 3)}:
        known[state] = wrong(*state)
    return float(np.mean([any(known[tuple(map(int, state))] for state in path) for path in counts]))


def test_stopping_on_the_interval_keeps_its_promise_where_wilsons_does_not():
    """300 people of 60 votes each, looking after every vote: ever wrong at most 5 %; the usual interval far more."""
    votes = paths(0.6, 0.0, 300, 60)

    def outside(share):
        return not share.low <= 0.6 <= share.high

    assert ever(votes, lambda *state: outside(sequential(*state))) <= 0.05
    assert ever(votes, lambda wins, _, losses: outside(wilson(wins, wins + losses))) > 0.15


@pytest.mark.parametrize(("rate", "ties"), [(0.5, 0.0), (0.5, 0.4), (0.7, 0.2), (0.9, 0.0)])
def test_coverage_over_long_sessions(rate, ties):
    """1,000 people of 200 votes. That the true rate is inside is that K there is under 20: no bound need be found."""
    votes = paths(rate, ties, 1000, 200, seed=1)
    assert ever(votes, lambda *state: log_capital(rate, *state) >= math.log(20)) <= 0.05
    state = (int((votes[0] == 1).sum()), int((votes[0] == 0.5).sum()), int((votes[0] == 0).sum()))
    share = sequential(*state)
    assert log_capital(share.low, *state) == pytest.approx(math.log(20), abs=0.01)


def test_the_formula_against_numbers_integrated_otherwise():
    """Seven wins of seven: K(m) = m⁻⁷ · E q⁷ with E q⁷ = Π (k + ½)/(k + 1) under Beta(½, ½)."""
    moment = np.prod([(k + 0.5) / (k + 1) for k in range(7)])
    low = (0.05 * moment) ** (1 / 7)
    found = sequential(7, 0, 0)
    assert abs(found.low - low) < 1e-4 and found.high == 1.0 and found.value == 1.0
    turned = sequential(0, 0, 7)
    assert turned.high == pytest.approx(1 - found.low, abs=1e-4) and turned.low == 0.0


def test_what_is_decided():
    assert decided(sequential(7, 0, 0)) == "first" and decided(sequential(0, 0, 7)) == "second"
    assert decided(sequential(6, 0, 0)) == "" == decided(sequential(0, 0, 0))
    assert decided(sequential(0, 30, 0)) == "equal", "thirty ties: surely within the margin"
    rate = sequential(20, 0, 20)
    assert decided(rate) == "" and rate.low < 0.5 - MARGIN
    wide, narrow = sequential(10, 0, 10), sequential(5, 10, 5)
    assert narrow.high - narrow.low < wide.high - wide.low, "a tie is worth more than a win and a loss"


# -- pairs


def test_pairs_are_of_one_subject_and_one_seed_where_they_can(tmp_path):
    a = make_samples(tmp_path / "a", 12, 5, ("a rose", "a lily"), seeds=[*range(10), 90, 91])
    b = make_samples(tmp_path / "b", 12, 4, ("a rose", "a lily", "a rose", "a koi"), seeds=[*range(10), 80, 81])
    pairs = matches(Side.read(a), Side.read(b))
    assert all(x.subject == y.subject for x, y in pairs)
    assert len({x.path for x, _ in pairs}) == len({y.path for _, y in pairs}) == len(pairs)
    same = [x for x, y in pairs if x.seed == y.seed]
    assert {x.seed for x in same} == {s for s in range(10) if s % 4 != 3}
    assert len(pairs) == 6 + 3  # roses 6 against 6, lilies 6 against 3
    assert pairs != matches(Side.read(a), Side.read(b), seed=1)


def test_no_subject_in_common(tmp_path):
    a = make_samples(tmp_path / "a", 3, 5, ("a rose",))
    b = make_samples(tmp_path / "b", 3, 4, ("a koi",))
    with pytest.raises(UsageError, match=r"no subject in common \(a: a rose; b: a koi\)"):
        matches(Side.read(a), Side.read(b))


def test_a_run_is_what_it_paints_at_its_end(tmp_path):
    run = make_samples(tmp_path / "run", 40, 5)
    (run / "recipe.toml").write_text("")
    unpainted = [{"step": step, "position_in_group": 9, "file_name": None, "reward": 0.0} for step in (0, 3, 4)]
    (run / "unpainted.jsonl").write_text("".join(json.dumps(r) + "\n" for r in unpainted))
    side = Side.read(run, last=2)
    assert len(side.works) == 16 and side.steps == (3, 4) and side.unpainted == 2


# -- a session


def scripted(duel: Duel, first: Path, random, rate: float, ties: float) -> None:
    """A rater who prefers paintings below `first` with the planted rate, until the session ends."""
    while (pair := duel.shown()) is not None:
        left_is_first = pair[0].is_relative_to(first)
        share = float(paths(rate, ties, 1, 1, int(random.integers(1 << 31)))[0, 0])
        share = share if left_is_first else 1 - share
        duel.press({1.0: "left", 0.5: "tie", 0.0: "right"}[share])


def test_the_estimate_covers_the_planted_preference_and_stops_early(sides, tmp_path):
    random = np.random.default_rng(0)
    strong = meet(sides, tmp_path / "strong.jsonl")
    scripted(strong, sides[0], random, 0.95, 0.0)
    told = strong.result()
    assert told["verdict"] == "first" and told["votes"] < 20 < told["pairs"] == 40
    assert told["win_rate"]["low"] <= 0.95 <= told["win_rate"]["high"]
    even = meet(sides, tmp_path / "even.jsonl")
    scripted(even, sides[0], random, 0.5, 0.3)
    told = even.result()
    assert told["verdict"] is None and told["votes"] == 40
    assert told["win_rate"]["low"] <= 0.5 <= told["win_rate"]["high"]
    assert told["wins"] + told["ties"] + told["losses"] == 40 and told["ties"] > 0
    assert even.view().kind == "end" and "Every pair has met" in even.view().text


def test_sides_are_mixed_and_blind(sides, tmp_path):
    duel = meet(sides, tmp_path / "votes.jsonl")
    left = []
    while (pair := duel.shown()) is not None:
        left.append(pair[0].is_relative_to(sides[0]))
        view = duel.view()
        words = " ".join((view.title, *view.lines, view.note, view.text, *(s.label for s in view.pictures)))
        assert "soft" not in words and "hard" not in words and "%" not in words, "who leads would sway the next vote"
        duel.press("left")
        if duel.verdict:
            break
    assert 0.2 < np.mean(left) < 0.8


def test_decided_goes_on_if_wanted_and_back_changes_a_vote(sides, tmp_path):
    duel = meet(sides, tmp_path / "votes.jsonl")

    def prefer_first():
        duel.press("left" if duel.shown()[0].is_relative_to(sides[0]) else "right")

    for _ in range(7):
        assert "m" not in {k.key for k in duel.view().keys}
        prefer_first()
    assert duel.shown() is None and "decided" in duel.view().text and "m" in {k.key for k in duel.view().keys}
    duel.press("back")
    duel.press("tie")
    assert duel.result()["ties"] == 1 and duel.verdict == "" and duel.shown()
    prefer_first()
    assert duel.verdict == "first" and duel.shown() is None
    duel.press("more")
    assert duel.shown()
    prefer_first()
    assert duel.result()["votes"] == 9
    again = meet(sides, tmp_path / "votes.jsonl")
    assert again.result() == duel.result()
    with pytest.raises(UsageError, match="votes of another duel"):
        meet(sides[::-1], tmp_path / "votes.jsonl")
    other = Duel(*(Side.read(s) for s in sides), tmp_path / "votes.jsonl", "bea")
    assert other.result()["votes"] == 0, "one person's votes"


def test_an_unreadable_picture_is_not_shown_and_said(tmp_path):
    a, b = make_samples(tmp_path / "a", 4, 5), make_samples(tmp_path / "b", 4, 4)
    for i in range(3):
        (a / f"images/{i:02d}.png").write_bytes(b"")
    duel = meet((a, b), tmp_path / "votes.jsonl")
    duel.press("tie")
    assert duel.shown() is None and "3 left out" in duel.view().warning


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_keeps_the_votes(sides, tmp_path):
    path = tmp_path / "votes.jsonl"
    duel = meet(sides, path)
    duel.press("left")
    path.rename(tmp_path / "kept")
    path.symlink_to("/dev/full")
    duel.press("left")
    duel.press("tie")
    assert "2 keys are kept in memory" in duel.view().warning and duel.result()["votes"] == 3
    path.unlink()
    (tmp_path / "kept").rename(path)
    duel.press("quit")
    assert duel.over and meet(sides, path).result() == duel.result()


# -- the command


@pytest.fixture
def voted(tmp_path, paint, monkeypatch):
    """A duel of the loved against the okay half of a pool, on which somebody has voted for the loved one."""
    monkeypatch.chdir(tmp_path)
    pool = make_pool(tmp_path / "pool", per_tier=10)
    for tier in ("love", "okay"):
        side = tmp_path / tier
        side.mkdir()
        kept = [r for r in read_rows(pool) if r["tier"] == tier]
        for row in kept:
            (side / row["file_name"]).symlink_to(pool / row["file_name"])
        write_rows(side, [{"file_name": r["file_name"], "subject": r["subject"]} for r in kept])
    duel = meet((tmp_path / "love", tmp_path / "okay"), tmp_path / "duels.jsonl")
    while duel.shown() is not None:
        duel.press("left" if duel.shown()[0].is_relative_to(tmp_path / "love") else "right")
    return duel


def test_the_judge_and_the_scorer_on_the_very_same_pairs(voted, paint):
    arguments = ("duel", "love", "okay", "-o", "duels.jsonl", "--rater", "ada", "--report", "--pool", "pool")
    ran = paint(*arguments, "--judge", "taste", "--scorer", "taste", "--json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert told["votes"] == 7 and told["verdict"] == "first"
    for role in ("judge", "scorer"):
        said = told["witnesses"][role]
        assert said["backend"] == "taste (stand-in)" and said["dropped"] == 0
        assert said["agreement"]["of"] == 7 and said["agreement"]["value"] >= 6 / 7 and said["win_rate"] >= 6 / 7
    ran = paint(*arguments, "--judge", "taste")
    assert "love is better" not in ran.err and "love is better" in ran.out and "agrees with you" in ran.out


def test_bad_calls_are_one_sentence(voted, tmp_path, paint):
    (tmp_path / "empty").mkdir()
    (tmp_path / "adapter").mkdir()
    (tmp_path / "adapter/adapter_config.json").write_text("{}")
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun/recipe.toml").write_text("")
    for arguments, said in (
        (("love", "okay"), "stdin is none; --browser"),
        (("love", "love"), "cannot meet itself"),
        (("love", "nowhere"), "nowhere is not a folder"),
        (("love", "empty"), "empty holds no paintings"),
        (("adapter", "love"), "is an adapter; let it paint first: paint sample adapter -n 32 -o adapter-samples"),
        (("begun", "love"), "has no paintings yet; let it paint first: paint sample begun"),
        (("love", "okay", "--report"), "There are no votes of"),
        (("okay", "love", "-o", "duels.jsonl"), "votes of another duel"),
    ):
        ran = paint("duel", *arguments)
        assert (ran.code, ran.out) == (2, "") and said in ran.err, (arguments, ran.err)
        assert len(ran.err.splitlines()) == 1


# -- in a real terminal and on the page


@needs_tmux
def test_in_a_terminal_a_kill_loses_no_vote(sides, tmp_path):
    path = tmp_path / "votes.jsonl"
    arguments = ("duel", *map(str, sides), "-o", str(path), "--rater", "ada")
    keys = {"Left": 0, "t": 0, "Right": 0}
    with Terminal(tmp_path, *arguments) as terminal:
        for index, key in enumerate(("t", "Left", "Right", "t", "t", "Right")):
            words = terminal.wait(f"{index} votes, 40 pairs.*q quit")
            assert "the left one" in words and "soft" not in words
            if index == 1:
                pixels = terminal.pixels()
                assert (pixels[4:36, :30] != 0).all() and (pixels[4:36, 45:74] != 0).all(), "two pictures, side by side"
            terminal.press(key)
            keys[key] += 1
        terminal.wait("6 votes")
        os.kill(terminal.pid(), signal.SIGKILL)
        votes = [json.loads(line) for line in path.read_text().splitlines()][1:]
        assert len(votes) == 6 and sum(v["share"] == 0.5 for v in votes) == keys["t"]
        terminal.run(*arguments)
        terminal.wait("6 votes, 40 pairs.*q quit")
        shown = meet(sides, path).shown()
        assert {v["first"] for v in votes}.isdisjoint({str(p.relative_to(s)) for p in shown for s in sides[:1]
                                                      if p.is_relative_to(s)})  # fmt: skip
        # now somebody who prefers the first side: it ends by itself
        for index in range(6, 40):
            duel = meet(sides, path)
            if duel.shown() is None:
                break
            terminal.wait(f"{index} votes.*q quit")
            terminal.press("Left" if duel.shown()[0].is_relative_to(sides[0]) else "Right")
            end = time.monotonic() + 30
            while len(path.read_text().splitlines()) < index + 2 and time.monotonic() < end:
                time.sleep(0.05)
        assert index < 39, "it stopped early"
        terminal.wait("That is decided")
        terminal.press("q")
        words = terminal.wait("code 0")
        assert "soft is better" in words and "win rate" in words


@pytest.mark.browser
def test_on_the_page_the_same_votes(sides, tmp_path):
    duel, twin = meet(sides, tmp_path / "page.jsonl"), meet(sides, tmp_path / "twin.jsonl")
    with PageServer(duel) as server:

        async def visit(page):
            await page.goto(server.address)
            for turn, (key, action) in enumerate(
                (("ArrowLeft", "left"), ("t", "tie"), ("ArrowRight", "right"), ("b", "back"), ("ArrowLeft", "left"))
            ):
                await until(page, f"document.getElementById('easel').dataset.turn == {turn}")
                assert await page.evaluate("() => document.querySelectorAll('main.pair img').length") == 2
                assert "soft" not in await page.content()
                await page.keyboard.press(key)
                twin.press(action)
            await until(page, "document.getElementById('easel').dataset.turn == 5")
            await page.keyboard.press("q")
            await until(page, "document.getElementById('easel').textContent.includes('close this page')")

        _, log = browse(visit)
    assert log == [] and duel.over
    assert duel.result() == twin.result() and duel.result()["votes"] == 3
