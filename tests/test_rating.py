"""A person's keys: none lost, nobody's overwritten, the same in a terminal, on the page and in the files."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from test_gallery import browse, until
from tmux import Terminal, needs_tmux
from washes import make_pool, read_rows, wash, write_rows

from paintcli import pool as pools
from paintcli.backends.sitting_page import PageServer
from paintcli.errors import PaintError, UsageError
from paintcli.painting import Painting
from paintcli.pairs import PoolPairs
from paintcli.preference import bradley_terry, next_pair
from paintcli.rating import LOG, Rating, Ratings, Recheck, Wanted, consistency


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Thirty-six unrated paintings."""
    folder = make_pool(tmp_path_factory.mktemp("rating") / "made", per_tier=18)
    write_rows(folder, [{**row, "tier": None} for row in read_rows(folder)])
    return folder


@pytest.fixture
def folder(made, tmp_path):
    """The same paintings in a folder of one's own: links to the pictures, a metadata.jsonl that may change."""
    mine = tmp_path / "mine"
    mine.mkdir()
    for path in made.iterdir():
        if path.name != "metadata.jsonl":
            (mine / path.name).symlink_to(path)
    (mine / "metadata.jsonl").write_bytes((made / "metadata.jsonl").read_bytes())
    return mine


def tiers(folder):
    return {row["file_name"]: row["tier"] for row in read_rows(folder) if row.get("tier")}


def begin(*arguments, **more):
    """A session past its contact sheet."""
    rating = Rating(*arguments, **more)
    rating.press("begin")
    return rating


def name_of(rating):
    return rating.current.name if rating.current else None


# -- the session


def test_every_key_is_in_both_files_before_the_next_painting(folder):
    rating = begin(folder, "ada")
    keyed = {}
    for tier in ("love", "no", "okay", "weak", "love"):
        keyed[name_of(rating)] = tier
        rating.press(tier)
        assert tiers(folder) == keyed
        events = [json.loads(line) for line in (folder / LOG).read_text().splitlines()]
        assert {e["file_name"]: e["tier"] for e in events} == keyed
    assert len(keyed) == 5 and rating.left == 31
    assert {e["rater"] for e in events} == {"ada"} and {e["kind"] for e in events} == {"rate"}


def test_rows_that_were_not_keyed_stay_byte_for_byte(folder):
    lines = (folder / "metadata.jsonl").read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b'", "', b'"   ,  "')  # unusual spacing, as somebody else's program may write
    lines.append(b"half a line by somebo")
    (folder / "metadata.jsonl").write_bytes(b"".join(lines))
    rating = begin(folder, "ada")
    name = name_of(rating)
    rating.press("love")
    now = (folder / "metadata.jsonl").read_bytes().splitlines(keepends=True)
    assert len(now) == len(lines)
    changed = [json.loads(new) for old, new in zip(lines, now, strict=True) if old != new]
    assert [(row["file_name"], row["tier"]) for row in changed] == [(name, "love")]


def test_back_changes_take_back_restores_and_a_new_session_goes_on(folder):
    rating = begin(folder, "ada")
    first, second, third = rating.order[:3]
    rating.press("love")
    rating.press("okay")
    rating.press("back")
    assert name_of(rating) == second and rating.view().pictures[0].label == "so far: okay"
    rating.press("no")
    assert name_of(rating) == third and tiers(folder) == {first: "love", second: "no"}
    rating.press("again")  # the change is taken back, and the tier before it stands again
    assert name_of(rating) == second and tiers(folder) == {first: "love", second: "okay"}
    rating.press("again")
    assert tiers(folder) == {first: "love"}
    rating.press("skip")
    assert name_of(rating) == third
    later = begin(folder, "ada")
    assert later.left == 35 and later.order[0] == first
    assert name_of(later) == second, "what was skipped waits again"
    later.press("back")
    assert name_of(later) == first
    later.press("back")
    assert later.note == "This is the first one."
    later.press("again")
    assert tiers(folder) == {} and name_of(later) == first


def test_a_key_on_the_contact_sheet_rates_nothing(folder):
    rating = Rating(folder, "ada")
    view = rating.view()
    assert view.kind == "sheet" and len(view.pictures) == 36
    rating.press("love")
    assert tiers(folder) == {} and rating.view().kind == "one"


def test_compare_source_and_sheet_show_and_change_nothing(folder):
    rating = begin(folder, "ada")
    rating.press("compare")
    assert rating.note == "Nothing else is loved yet." and rating.view().kind == "one"
    loved = rating.current.path
    rating.press("love")
    rating.press("compare")
    view = rating.view()
    assert view.kind == "pair" and view.pictures[1].path == loved and view.pictures[0].path == rating.current.path
    rating.press("compare")
    rating.press("source")
    assert rating.view().kind == "text" and rating.view().text == rating.current.code
    rating.press("source")
    assert rating.view().kind == "one" and len(tiers(folder)) == 1
    name = name_of(rating)
    rating.press("compare")
    rating.press("okay")  # rates the one on the left
    assert tiers(folder)[name] == "okay"


def test_blind_until_rated(folder):
    """No word of the view gives the painter away; the note after the key does."""
    rating = begin(folder, "ada")
    entry = rating.current
    words = json.dumps({k: v for k, v in asdict(rating.view()).items() if k != "pictures"})
    assert entry.path.stem not in words and "hand-" not in words and rating.view().pictures[0].label == ""
    rating.press("love")
    assert entry.path.name in rating.view().note and entry.row["generator_model"] in rating.view().note
    shown = begin(folder, "ada", blind=False).view().pictures[0].label
    assert "by hand-" in shown


def test_what_another_process_adds_joins_the_queue(folder):
    rating = begin(folder, "ada")
    for _ in range(36):
        rating.press("okay")
    assert rating.view().kind == "end" and not rating.tick()
    wash("windy", 9, 2.0, 77).save(folder / "new.png")
    with pools.locked(folder), (folder / "metadata.jsonl").open("a") as file:
        file.write(json.dumps({"file_name": "new.png", "tier": None, "subject": "a hibiscus"}) + "\n")
    assert rating.tick() and name_of(rating) == "new.png"
    rating.press("love")
    assert tiers(folder)["new.png"] == "love" and len(tiers(folder)) == 37


def test_an_unreadable_picture_is_left_out_and_said(folder):
    names = Rating(folder, "ada").order
    (folder / names[0]).unlink()
    (folder / names[0]).write_bytes(b"no picture")
    (folder / names[1]).unlink()
    rating = begin(folder, "ada")
    assert name_of(rating) == names[2]
    warning = rating.view().warning
    assert warning.startswith("2 left out: ") and names[1] in warning
    for _ in range(34):
        rating.press("no")
    assert rating.view().kind == "end" and len(tiers(folder)) == 34


def test_filters(folder):
    def order(**more):
        return set(begin(folder, "ada", Wanted(**more)).order)

    def those(**columns):
        return {r["file_name"] for r in read_rows(folder) if columns.items() <= r.items()}

    assert order(family="WINDY") == those(generator_model="hand-windy")
    assert len(order(subject="hibiscus")) == 36
    rating = begin(folder, "ada")
    rating.press("love")
    rating.press("okay")
    loved, okay = rating.order[:2]
    assert order(tier="love") == {loved}
    assert len(order(everything=True)) == 36
    assert begin(folder, "ada", Wanted(everything=True)).left == 36
    assert begin(folder, "bea").left == 36, "another rater rates for herself"
    assert order(unrated=True) == those() - {okay} - {loved} | {loved, okay}  # one's own stay reachable by back
    assert begin(folder, "bea", Wanted(unrated=True)).left == 34
    with pytest.raises(UsageError, match=r"No painting of .* is like that"):
        Rating(folder, "ada", Wanted(subject="rose"))


def test_a_pool_that_came_rated_asks_only_for_the_rest(tmp_path):
    folder = make_pool(tmp_path / "rated", per_tier=2)
    write_rows(folder, [{**row, "tier": row["tier"] if i else None} for i, row in enumerate(read_rows(folder))])
    assert begin(folder, "ada").left == 1
    rating = begin(folder, "ada", Wanted(everything=True))
    was, name = rating.current.tier, name_of(rating)
    rating.press("weak")
    rating.press("again")
    assert (tiers(folder).get(name) or "") == was, "what it came with stands again"


# -- two raters, kills, full disks


def test_the_middle_of_two_raters_and_neither_overwrites(folder):
    ada, bea = begin(folder, "ada"), begin(folder, "bea")
    names = ada.order[:4]
    given = {"ada": ("love", "love", "okay", "no"), "bea": ("love", "okay", "no", "love")}
    for rating in (ada, bea):
        for name, tier in zip(names, given[rating.rater], strict=True):
            rating.at = rating.order.index(name)
            rating.press(tier)
    assert [tiers(folder)[n] for n in names] == ["love", "okay", "no", "no"]
    bea.press("again")
    assert tiers(folder)[names[3]] == "no" == ada.ratings.own("ada", names[3])
    cid = begin(folder, "cid")
    cid.at = cid.order.index(names[1])
    cid.press("love")
    assert tiers(folder)[names[1]] == "love"
    log = Ratings.read(folder / LOG)
    assert [log.own("ada", n) for n in names] == list(given["ada"])
    assert [log.own("bea", n) for n in names] == [*given["bea"][:3], None]


RATER = """
import sys
from pathlib import Path
from paintcli.rating import Rating
rating = Rating(Path(sys.argv[1]), sys.argv[2])
rating.press("begin")
while rating.current:
    name, tier = rating.current.name, ("love", "okay", "no")[len(rating.current.name + str(rating.at)) % 3]
    rating.press(tier)
    print(name, tier, flush=True)
"""


def test_raters_and_a_generator_at_once_lose_nothing(folder):
    """Two raters in processes of their own while rows are appended: every key and every row is there."""
    raters = [
        subprocess.Popen([sys.executable, "-c", RATER, str(folder), name], stdout=subprocess.DEVNULL)
        for name in ("ada", "bea")
    ]
    added = []
    while any(rater.poll() is None for rater in raters):
        added.append(f"new-{len(added)}.png")
        Image.new("RGB", (8, 8)).save(folder / added[-1])
        with pools.locked(folder), (folder / "metadata.jsonl").open("a") as file:
            file.write(json.dumps({"file_name": added[-1], "tier": None}) + "\n")
        time.sleep(0.02)
    assert [rater.returncode for rater in raters] == [0, 0]
    log = Ratings.read(folder / LOG)
    assert all(len(set(log.history[name])) == len(log.history[name]) >= 36 for name in ("ada", "bea"))
    names = [row["file_name"] for row in read_rows(folder)]
    assert len(names) == len(set(names)) == 36 + len(added) > 36
    assert tiers(folder) == {name: tier for name in names if (tier := log.tier(name))}


def test_kills_at_any_moment_lose_nothing_that_was_keyed(folder):
    """A rater killed again and again, mid-write as it comes: every key that was taken is in the log and the pool."""
    random = np.random.default_rng(0)
    taken: dict[str, str] = {}
    for _ in range(6):
        rater = subprocess.Popen([sys.executable, "-c", RATER, str(folder), "ada"], stdout=subprocess.PIPE, text=True)
        line = rater.stdout.readline()  # it has begun
        time.sleep(float(random.uniform(0, 0.03)))
        rater.kill()
        told = [line, *rater.communicate()[0].splitlines()]
        taken |= dict(words for said in told if len(words := said.split()) == 2)
    log = Ratings.read(folder / LOG)
    assert taken and taken.items() <= {n: log.own("ada", n) for n in log.history["ada"]}.items()
    assert len(log.history["ada"]) == len(set(log.history["ada"])), "nobody was asked twice"
    Rating(folder, "ada")
    assert tiers(folder) == {n: log.own("ada", n) for n in log.history["ada"]}


def test_a_kill_between_the_two_files_is_mended_at_the_next_start(folder):
    rating = begin(folder, "ada")
    name, before = name_of(rating), (folder / "metadata.jsonl").read_bytes()
    rating.press("love")
    (folder / "metadata.jsonl").write_bytes(before)
    with (folder / LOG).open("a") as file:
        file.write('{"rater": "ada", "file_')  # torn by the kill
    later = Rating(folder, "ada")
    assert tiers(folder) == {name: "love"} and "they are now" in later.note
    later.press("begin")
    later.press("okay")
    assert len(Ratings.read(folder / LOG).history["ada"]) == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_said_the_keys_kept_and_tried_again(folder):
    rating = begin(folder, "ada")
    first, second = rating.order[:2]
    (folder / LOG).symlink_to("/dev/full")
    rating.press("love")
    rating.press("okay")
    assert tiers(folder) == {} and name_of(rating) == rating.order[2]
    assert "2 keys are kept in memory and tried again" in rating.view().warning
    assert "the disk is full" in rating.view().warning
    rating.press("back")
    assert rating.view().pictures[0].label == "so far: okay", "what waits counts on the screen"
    rating.press("quit")
    assert not rating.over and "q again" in rating.view().note
    with pytest.raises(PaintError, match=r"2 keys could not be saved: .*the disk is full"):
        rating.close()
    (folder / LOG).unlink()
    rating.press("love")
    assert tiers(folder) == {first: "love", second: "love"} and rating.view().warning == ""
    rating.press("quit")
    assert rating.over


def test_keys_that_only_the_metadata_does_not_follow_yet_are_said_to_be_kept(folder, monkeypatch):
    rating = begin(folder, "ada")
    first = rating.order[0]

    def full(path, changes):
        raise PaintError("metadata.jsonl cannot be written: the disk is full, free some space.")

    with monkeypatch.context() as patched:
        patched.setattr(pools, "update_rows", full)
        rating.press("love")
        assert "The last key is kept" in rating.view().warning
        with pytest.raises(PaintError, match=r"^Every key is kept in .*ratings\.jsonl, and the next session"):
            rating.close()
    assert tiers(folder) == {}
    begin(folder, "ada").close()
    assert tiers(folder) == {first: "love"}


# -- again, and in pairs


def test_recheck_is_blind_writes_its_column_and_says_how_often(folder):
    rating = begin(folder, "ada")
    first = {}
    for index in range(12):
        first[name_of(rating)] = tier = ("love", "okay", "no")[index % 3]
        rating.press(tier)
    again = Recheck(folder, "ada", 10)
    assert again.left == 10 and set(again.order) <= set(first)
    turned = 0
    while again.current:
        view = again.view()
        assert view.pictures[0].label == "" and view.kind == "one"
        name = name_of(again)
        turned += (change := first[name] == "love" and not turned)
        again.press("okay" if change else first[name])
        assert "love" not in again.note
    rows = {r["file_name"]: r for r in read_rows(folder)}
    assert sum("recheck_tier" in r for r in rows.values()) == 10 and tiers(folder) == first
    told = consistency(again.pairs())
    assert told["rechecked"] == 10 and told["same"]["value"] == 0.9
    assert told["same"]["low"] < 0.9 < told["same"]["high"]
    assert 0.5 < told["order"]["low"] <= told["order"]["value"] <= told["order"]["high"] <= 1
    assert len(pools.Pool.load(folder).rechecked) == 10
    assert Recheck(folder, "ada", 10).left == 2, "those not shown again yet"
    with pytest.raises(UsageError, match="rated by bea yet"):
        Recheck(folder, "bea", 10)


def test_consistency_by_hand():
    told = consistency([("love", "love"), ("okay", "love"), ("no", "okay"), ("no", "no")])
    # five pairs were told apart: the order stays in four, one is now a tie
    assert told["same"]["value"] == 0.5 and told["order"]["value"] == (4 + 0.5) / 5
    assert consistency([("love", "love")])["order"] is None


def test_bradley_terry_finds_planted_strengths_and_its_intervals_cover():
    """Forty pools of 12 paintings with strengths from the prior; 95 % intervals of 480 strengths."""
    random = np.random.default_rng(1)
    covered, correlation = [], []
    for _ in range(40):
        true = random.normal(0, 1.5, 12)
        true -= true.mean()
        votes = []
        asked = set()
        for _ in range(40):
            i, j = next_pair(bradley_terry(12, votes), asked)
            assert frozenset((i, j)) not in asked
            asked.add(frozenset((i, j)))
            votes.append((i, j, float(random.random() < 1 / (1 + np.exp(true[j] - true[i])))))
        found = bradley_terry(12, votes)
        covered += list((found.low <= true) & (true <= found.high))
        correlation.append(np.corrcoef(found.value, true)[0, 1])
    assert 0.92 <= np.mean(covered) <= 0.98, np.mean(covered)
    assert np.mean(correlation) > 0.85


def test_pairs_ask_each_once_and_propose_tiers(tmp_path, paint):
    folder = make_pool(tmp_path / "mine", per_tier=5)
    write_rows(folder, [{**row, "tier": None} for row in read_rows(folder)])
    rank = {name: i for i, name in enumerate(sorted(r["file_name"] for r in read_rows(folder)))}
    pairs = PoolPairs(folder, "ada")
    seen = set()
    while pairs.shown():
        left, right = (path.name for path in pairs.shown())
        assert frozenset((left, right)) not in seen
        seen.add(frozenset((left, right)))
        pairs.press("left" if rank[left] < rank[right] else "right")
    assert len(seen) == 45 and pairs.view().kind == "end"
    pairs.press("back")
    assert pairs.shown() and len(pairs.votes()) == 45, "a vote given again takes the place of the first"
    pairs.press("skip")
    table = PoolPairs(folder, "ada").table()
    assert [row["file_name"] for row in table] == sorted(rank)
    assert table[0]["proposed"] == "love" and table[-1]["proposed"] == "weak" and table[5]["proposed"] == "okay"
    assert tiers(folder) == {}, "a proposal is only a proposal"
    ran = paint("pool", "rate", "--pool", folder, "--rater", "ada", "--pairs", "--accept", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["changed"] == 10
    assert tiers(folder) == {row["file_name"]: row["proposed"] for row in table}


def test_a_vote_or_two_is_no_evidence_against_a_tier(folder):
    """Accepted at once, they give okay to what had no tier, and take love from nothing."""
    before = PoolPairs(folder, "ada")
    loved, unrated = before.pair
    rows = read_rows(folder)
    write_rows(folder, [{**row, "tier": "love" if row["file_name"] == loved else None} for row in rows])
    pairs = PoolPairs(folder, "ada")
    assert {path.name for path in pairs.shown()} == {loved, unrated}
    pairs.press("left" if pairs.shown()[0].name == unrated else "right")
    assert pairs.accept() == 1
    assert tiers(folder) == {loved: "love", unrated: "okay"}


# -- the command


def test_bad_calls_are_one_sentence(folder, tmp_path, paint, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    starter = str(pools.starter())
    for arguments, said in (
        (("--pool", folder), "stdin is none; --browser shows a local page"),
        (("--pool", tmp_path / "empty"), "holds no metadata.jsonl"),
        (("--pool", starter), "is not yours to change; copy it first: paint pool import"),
        (("--pool", "hub:a/b"), "copied before it is rated: paint pool import hub:a/b"),
        ((), "Which pool?"),
        (("--pool", folder, "--pairs", "--recheck", "3"), "choose one"),
        (("--pool", folder, "--accept"), "give both"),
        (("--pool", folder, "--all", "--unrated"), "exclude each other"),
        (("--pool", folder, "--recheck", "3"), "nothing to check again"),
    ):
        ran = paint("pool", "rate", *arguments)
        assert (ran.code, ran.out) == (2, "") and said in ran.err, (arguments, ran.err)
        assert len(ran.err.splitlines()) == 1


def test_a_rated_pool_is_used_by_the_judge_at_once(folder, paint):
    ran = paint("judge", folder / "love-00.png", "--pool", folder)
    assert ran.code == 2 and "no rated painting" in ran.err
    rating = begin(folder, "ada")
    while rating.current:
        rating.press("love" if name_of(rating).startswith("love") else "okay")
    better, worse = (
        json.loads(paint("judge", folder / f"{name}.png", "--pool", folder, "--json").out)["score"]
        for name in ("love-07", "okay-07")
    )
    assert better > worse


# -- in a real terminal


def showing(pixels: np.ndarray, folder: Path) -> str:
    """Which painting the half blocks on the left of the screen show: the one that looks most like them."""
    width = int((pixels != 0).any(axis=(0, 2)).nonzero()[0][-1]) + 1
    height = int((pixels != 0).any(axis=(1, 2)).nonzero()[0][-1]) + 1
    seen = pixels[:height, :width].astype(float)

    def distance(path: Path) -> float:
        small = Painting.from_file(path).image.resize((width, height), Image.Resampling.BICUBIC)
        return float(((np.asarray(small, float) - seen) ** 2).mean())

    return min(sorted(folder.glob("*.png")), key=distance).name


KEYS = {"l": "love", "o": "okay", "w": "weak", "n": "no"}


@needs_tmux
def test_thirty_keys_in_a_terminal(folder, tmp_path):
    """Keys, back, change, quit, resume, kill -9: the metadata is what was keyed, the screen shows what is rated."""
    order = begin(folder, "ada").order
    keyed = {}
    left = 36
    arguments = ("pool", "rate", "--pool", str(folder), "--rater", "ada")
    with Terminal(tmp_path, *arguments) as terminal:
        terminal.wait("look at them all")
        assert len(np.unique(terminal.pixels().reshape(-1, 3), axis=0)) > 200
        terminal.press("Enter")

        def rate(key):
            nonlocal left
            terminal.wait(f"{left} to rate.*q quit")
            name = order[36 - left]
            if left % 6 == 0:
                assert showing(terminal.pixels(), folder) == name
            terminal.press(key)
            left -= 1
            keyed[name] = KEYS[key]

        for key in "lonwlonwlo":
            rate(key)
        terminal.wait(f"{left} to rate")
        assert tiers(folder) == keyed
        terminal.press("b")
        terminal.wait("so far: okay")
        terminal.press("n")
        terminal.wait(r"no: \w+-\d\d\.png, by hand-")
        keyed[order[9]] = "no"
        assert tiers(folder) == keyed
        terminal.press("q")
        terminal.wait("26 to rate Go on with: paint pool rate --pool \\S+ code 0")

        terminal.run(*arguments)
        terminal.wait("look at them all")
        terminal.press("x")
        for key in "olnwolnwol":
            rate(key)
        terminal.wait(f"{left} to rate")
        os.kill(terminal.pid(), signal.SIGKILL)
        assert tiers(folder) == keyed

        terminal.run(*arguments)
        terminal.wait("look at them all")
        terminal.press("Enter")
        for key in "wnolwnolwn":
            rate(key)
        terminal.wait(f"{left} to rate")
        terminal.press("r")
        del keyed[order[29]]
        terminal.wait("Taken back: no")
        terminal.press("C-c")
        terminal.wait("7 to rate .* code 0")
    assert tiers(folder) == keyed and len(keyed) == 29
    log = Ratings.read(folder / LOG)
    assert {n: log.own("ada", n) for n in order if log.own("ada", n)} == keyed


@needs_tmux
def test_a_small_terminal_a_resize_and_the_viewer(folder, tmp_path):
    """At 80 × 24 all keys and the painting fit; after a resize it is drawn anew; f opens a copy under no name."""
    (tmp_path / "bin").mkdir()
    viewer = tmp_path / "bin" / "xdg-open"
    viewer.write_text(f'#!/bin/sh\ncp "$1" {tmp_path}/opened.png; echo "$1" > {tmp_path}/opened\n')
    viewer.chmod(0o755)
    (folder / LOG).write_text("")
    first = begin(folder, "ada").order[0]
    with Terminal(
        tmp_path, "pool", "rate", "--pool", str(folder), "--rater", "ada", path=str(tmp_path / "bin")
    ) as terminal:
        terminal.wait("look at them all")
        terminal.press("Enter")
        words = terminal.wait("36 to rate.*q quit")
        for word in ("l love", "o okay", "w weak", "n no", "s skip", "b back", "c compare", "v its sketch", "q quit"):
            assert word in words
        assert all(len(line) <= 80 for line in terminal.text().splitlines())
        small = terminal.pixels()
        assert (small[:44, :44] != 0).all(), "the painting takes the full height"
        terminal.resize(120, 40)
        for _ in range(1000):
            if (terminal.pixels()[:70, :70] != 0).all():
                break
            time.sleep(0.1)
        assert showing(terminal.pixels(), folder) == first
        terminal.resize(30, 9)
        terminal.wait("Too small")
        terminal.resize(80, 24)
        terminal.wait("36 to rate")
        terminal.press("f")
        if sys.platform == "linux":
            terminal.wait("Opened in the viewer")
            for _ in range(1000):
                if (tmp_path / "opened").exists():
                    break
                time.sleep(0.1)
            assert first.split(".")[0] not in (tmp_path / "opened").read_text()
            assert (tmp_path / "opened.png").read_bytes() == (folder / first).read_bytes()
        terminal.press("v")
        terminal.wait("function setup")
        terminal.press("v")
        terminal.wait("^mine")
        terminal.press("q")
        terminal.wait("code 0")


@needs_tmux
def test_the_terminal_is_left_as_it_was_found(folder, tmp_path):
    """By Ctrl-C, which is a quit with its summary, and when the process is told to end; Ctrl-Z leaves nothing half."""
    with Terminal(tmp_path, "pool", "rate", "--pool", str(folder), "--rater", "ada") as terminal:

        def state():
            return terminal._tmux("display", "-p", "-t", "t", "#{alternate_on} #{cursor_flag}").strip()

        terminal.wait("look at them all")
        assert state() == "1 0"
        terminal.press("C-z")
        terminal.press("Enter")
        terminal.wait("36 to rate.*q quit")
        os.kill(terminal.pid(), signal.SIGTERM)
        terminal.wait("code 143")
        assert state() == "0 1"
        terminal.run("pool", "rate", "--pool", str(folder), "--rater", "ada")
        terminal.wait("look at them all")
        terminal.press("C-c")
        assert "36 to rate Go on with" in terminal.wait("code 0")
        assert state() == "0 1"


# -- on the page


@pytest.mark.browser
def test_the_page_is_the_same_session(folder):
    """The very keys of the terminal in a real Chromium; a reload goes on; nothing on it gives the painter away."""
    order = begin(folder, "ada").order
    keys = "lonwlonwlo"
    with PageServer(Rating(folder, "ada")) as server:

        async def visit(page):
            turns = 0

            async def turn():
                nonlocal turns
                turns += 1
                await until(page, f"document.getElementById('easel').dataset.turn == {turns}")

            await page.goto(server.address)
            await until(page, "document.querySelectorAll('main.sheet img').length == 36")
            await page.keyboard.press("Enter")
            await turn()
            for index, key in enumerate(keys):
                assert await page.evaluate("() => document.querySelectorAll('main.one img').length") == 1
                html = await page.content()
                assert order[index] not in html
                await page.keyboard.press(key)
                await turn()
            assert order[9] in await page.evaluate("() => document.getElementById('note').textContent")
            await page.keyboard.press("b")
            await turn()
            assert await page.evaluate("() => document.querySelector('figcaption').textContent") == "so far: okay"
            await page.keyboard.press("n")
            await turn()
            await page.reload()
            await until(page, f"document.getElementById('easel').dataset.turn == {turns}")
            await page.keyboard.press("f")
            await until(page, "document.querySelector('#full[open] img').naturalWidth == 200")
            await page.keyboard.press("Escape")
            await page.click("#keys button:nth-child(8)")  # compare, by the mouse
            await turn()
            pair = await page.evaluate("() => document.querySelectorAll('main.pair img').length")
            await page.keyboard.press("q")
            await until(page, "document.getElementById('easel').textContent.includes('close this page')")
            return pair

        pair, log = browse(visit)
        assert server.done.wait(5)
    assert log == [] and pair == 2
    keyed = {name: KEYS[key] for name, key in zip(order, keys, strict=False)}
    keyed[order[9]] = "no"
    assert tiers(folder) == keyed


def test_the_page_answers_its_person_alone(folder):
    rating = Rating(folder, "ada")
    with PageServer(rating) as server:

        def ask(path="state", host=None, origin=None, body=None, secret=None):
            url = f"http://127.0.0.1:{server.port}/{secret or server.secret}/{path}"
            headers = {k: v for k, v in (("Host", host), ("Origin", origin)) if v}
            data = json.dumps(body).encode() if body is not None else None
            try:
                with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=120) as answer:
                    return answer.status, answer.read()
            except urllib.error.HTTPError as error:
                return error.code, error.read()

        status, body = ask()
        assert status == 200 and "love-00" not in body.decode() and str(folder) not in body.decode()
        picture = json.loads(body)["pictures"][0]["id"]
        assert ask(f"picture/{picture}")[0] == 200
        assert ask("picture/../metadata.jsonl")[0] == ask("picture/love-00.png")[0] == 404
        assert ask(secret="guess")[0] == 404
        assert ask(host="evil.example")[0] == 403, "a name elsewhere that points here"
        key = {"turn": 0, "action": "begin"}
        assert ask("key", origin="http://evil.example", body=key)[0] == 403
        assert ask("key", body={"turn": 0})[0] == ask("key", body=[1])[0] == 400
        assert json.loads(ask("key", body={"turn": 0, "action": ["love"]})[1])["turn"] == 0
        assert rating.turn == 0
        assert json.loads(ask("key", origin=f"http://127.0.0.1:{server.port}", body=key)[1])["turn"] == 1
        assert json.loads(ask("key", body={"turn": 0, "action": "love"})[1])["turn"] == 1, "meant for another view"
        assert json.loads(ask("key", body={"turn": 1, "action": "erase"})[1])["turn"] == 1
        assert tiers(folder) == {}
        assert socket.create_connection(("127.0.0.1", server.port)).close() is None
        with pytest.raises(UsageError, match=f"Port {server.port} cannot be used"):
            PageServer(rating, server.port)
    assert server.address.startswith("http://127.0.0.1:")


def test_the_page_says_when_not_everything_is_saved(folder):
    rating = begin(folder, "ada")
    (folder / LOG).symlink_to("/dev/full")
    with PageServer(rating) as server:
        for action in ("love", "quit"):
            state = server.press(rating.turn, action)
        assert not state["over"] and "q again" in state["note"]
        state = server.press(rating.turn, "quit")
    assert state["over"] and state["text"].startswith("Not everything is saved")
    (folder / LOG).unlink()
    rating.close()
    assert server.state()["text"] == "Everything is saved."


def test_a_page_closed_before_its_pictures_came_is_no_news(folder, capfd):
    with PageServer(Rating(folder, "ada")) as server:
        with server.lock:
            picture = server.state()["pictures"][0]["id"]
        ask = f"GET /{server.secret}/picture/{picture} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
        for _ in range(8):
            closed = socket.create_connection(("127.0.0.1", server.port))
            closed.sendall(ask.encode())
            closed.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset, as by a browser
            closed.close()
        url = server.address + "picture/" + picture
        assert urllib.request.urlopen(url, timeout=120).status == 200
        time.sleep(0.5)
    assert capfd.readouterr().err == ""
