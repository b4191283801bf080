"""Which references a policy can beat: from what a run recorded, from the judge, and what is done about it."""

import asyncio
import json

import pytest
from PIL import Image
from washes import make_pool, read_rows, wash, write_rows

from paintcli import calibration
from paintcli.errors import UsageError
from paintcli.pool import Pool
from paintcli.rollouts import Rollout, RunFolder


@pytest.fixture(scope="module")
def washes_pool(tmp_path_factory):
    return make_pool(tmp_path_factory.mktemp("pools") / "mine", per_tier=8)


def png(seed: int, layers: int = 6) -> bytes:
    import io

    buffer = io.BytesIO()
    wash("round", layers, 1.0, seed, side=120).save(buffer, "PNG")
    return buffer.getvalue()


def make_run(folder, verdicts, steps=4, group=4, judge="hub:a/judge"):
    """A run whose every painting met the references of `verdicts`: name → (tier, function of the position → share)."""
    files = RunFolder(folder)
    for step in range(steps):
        for position in range(group):
            comparisons = [
                {"reference": name, "tier": tier, "forward": share(position), "backward": share(position),
                 "score": share(position)}
                for name, (tier, share) in verdicts.items()
            ]  # fmt: skip
            rollout = Rollout(
                run="", step=step, position_in_group=position, reward=0.1 * position, code=f"// {step} {position}\n",
                gate=1.0, comparisons=comparisons, judge_backend=judge,
            )  # fmt: skip
            files.append(rollout, png(step * group + position))
        refused = Rollout(run="", step=step, position_in_group=group, reward=0.0, gate=0.0, code="// no\n")
        files.append(refused, png(900 + step))
    return folder


def lose(position):
    return 0.0


def win(position):
    return 1.0


def half(position):
    return float(position % 2)


def test_a_run_s_own_comparisons_are_counted(tmp_path, washes_pool):
    pool = Pool.load(washes_pool)
    love, okay = (pool.tiers(pool.drawable)[t] for t in ("love", "okay"))
    run = make_run(
        tmp_path / "run",
        {love[0].name: ("love", lose), okay[0].name: ("okay", half), okay[1].name: ("okay", win),
         pool.reserved[0].name: ("love", win), "elsewhere.png": ("love", win)},
    )  # fmt: skip
    found = calibration.from_record(pool, calibration.work_of(run))
    by_name = {r.reference: r for r in found.rivals}
    assert set(by_name) == {e.name for e in pool.drawable}
    lost, beaten, won = by_name[love[0].name], by_name[okay[0].name], by_name[okay[1].name]
    assert (lost.wins, lost.share.of, lost.share.value, lost.verdict) == (0, 16, 0.0, "nobody beats")
    assert (beaten.wins, beaten.share.value, beaten.verdict) == (8, 0.5, "can be beaten")
    assert (won.wins, won.verdict) == (16, "everybody beats")
    assert by_name[love[1].name].verdict == "unknown"
    # Wilson's interval of 0 of 16: 0 to z²/(n + z²)
    assert lost.share.low == 0 and lost.share.high == pytest.approx(3.8415 / (16 + 3.8415), abs=1e-4)
    assert found.strangers == 32, "a reserved and an unknown reference are not drawn from this pool"
    assert (found.judge, found.paintings, found.comparisons, found.wins) == ("hub:a/judge", 16, 48, 24)
    assert not found.hopeless
    assert [r.reference for r in found.flagged] == [love[0].name, okay[1].name]


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        ([0.0] * 7, "unknown"), ([0.0] * 8, "nobody beats"), ([1.0] * 1 + [0.0] * 7, "nobody beats"),
        ([1.0] * 2 + [0.0] * 6, "can be beaten"), ([0.5] * 8, "can be beaten"),
        ([1.0] * 6 + [0.0] * 2, "can be beaten"),
        ([1.0] * 7 + [0.0], "everybody beats"), ([], "unknown"),
    ],
)  # fmt: skip
def test_verdicts(shares, verdict):
    assert calibration.Rival("a", "love", tuple(shares)).verdict == verdict


def test_only_the_last_steps_where_the_policy_is_what_it_has_become(tmp_path, washes_pool):
    pool = Pool.load(washes_pool)
    name = pool.drawable[0].name
    run = make_run(tmp_path / "run", {name: ("love", lose)}, steps=3)
    files = RunFolder(run)
    for position in range(4):
        comparison = {"reference": name, "tier": "love", "forward": 1.0, "backward": 1.0, "score": 1.0}
        files.append(
            Rollout(run="", step=3, position_in_group=position, reward=1.0, code="//", gate=1.0,
                    comparisons=[comparison]), png(50 + position),
        )  # fmt: skip
    assert calibration.work_of(run, last=1).recorded[name] == (1.0,) * 4
    assert sum(calibration.work_of(run, last=2).recorded[name]) == 4
    assert len(calibration.work_of(run).recorded[name]) == 16


def test_what_cannot_be_calibrated_is_said(tmp_path, washes_pool):
    with pytest.raises(UsageError, match="holds no pictures"):
        (tmp_path / "empty").mkdir()
        calibration.work_of(tmp_path / "empty")
    with pytest.raises(UsageError, match="is not a folder"):
        calibration.work_of(tmp_path / "absent")
    refused = RunFolder(tmp_path / "refused")
    refused.append(Rollout(run="", step=0, position_in_group=0, reward=0.0, gate=0.0, code="//"), png(1))
    with pytest.raises(UsageError, match="no painting that passed the gate"):
        calibration.work_of(tmp_path / "refused")
    with pytest.raises(UsageError, match="no run, so it has no last steps"):
        (tmp_path / "empty" / "a.png").write_bytes(png(1))
        calibration.work_of(tmp_path / "empty", last=3)


# -- the judge ------------------------------------------------------------------------------------------------------


def test_the_judge_is_asked_where_nothing_was_recorded(paint, tmp_path, washes_pool):
    """The embedded judge knows its own ratings: copies of loved paintings beat what is okay, scrawls beat nothing."""
    pool = Pool.load(washes_pool)
    for kind in ("loved", "scrawls"):
        (tmp_path / kind).mkdir()
    for i, entry in enumerate(pool.tiers(pool.reserved)["love"] + pool.tiers(pool.drawable)["love"]):
        Image.open(entry.path).save(tmp_path / "loved" / f"{i}.png")
    for i in range(9):
        wash("upright", 1, 0.0, i).save(tmp_path / "scrawls" / f"{i}.png")

    def rows(kind):
        ran = paint("pool", "calibrate", tmp_path / kind, "--pool", washes_pool, "--judge", "taste", "--json")
        assert ran.code == 0, ran.err
        return [json.loads(line) for line in ran.out.splitlines()]

    *loved, summary = rows("loved")
    okay = [r for r in loved if r["tier"] == "okay"]
    assert len(loved) == len(pool.drawable) and all(r["comparisons"] == 8 for r in loved)
    assert sum(r["wins"] for r in okay) >= 0.9 * sum(r["comparisons"] for r in okay)
    assert summary["judge"] == "taste (stand-in)" and summary["winnable"] is True
    assert summary["left_to_draw"]["okay"] < 7

    *scrawls, summary = rows("scrawls")
    assert summary["winnable"] is False and summary["wins"] == 0
    assert {r["verdict"] for r in scrawls} == {"nobody beats"}
    assert "wins nothing" in summary["proposal"] and "--rung" in summary["proposal"]


def test_a_judge_that_fails_now_and_then_loses_only_those_comparisons(tmp_path, washes_pool):
    from paintcli.errors import Unavailable

    class Moody:
        asked = 0

        async def prefer(self, first, second, criteria=""):
            self.asked += 1
            if self.asked % 10 == 0:
                raise Unavailable("the judge is busy.")
            return 1.0

    pool = Pool.load(washes_pool)
    work = calibration.work_of(make_run(tmp_path / "run", {}))
    advanced = []
    found, dropped = asyncio.run(calibration.ask(pool, work, Moody(), "moody", each=4, told=lambda: advanced.append(1)))
    assert len(advanced) == 4 * len(pool.drawable) == found.comparisons + len(dropped)
    assert dropped and "the judge is busy" in dropped[0]
    assert all(s == 0.5 for r in found.rivals for s in r.shares), "whoever is shown first wins: a tie"


def test_every_reference_meets_other_paintings(tmp_path, washes_pool):
    pool = Pool.load(washes_pool)
    work = calibration.work_of(make_run(tmp_path / "run", {}, steps=8))
    met = calibration.meetings(pool, work, each=5)
    assert met == calibration.meetings(pool, work, each=5) != calibration.meetings(pool, work, each=5, seed=1)
    assert len({p for r, p in met if r is pool.drawable[0]}) == 5
    assert len({p for _, p in met}) > 20, "32 paintings and 14 references"


# -- what is done about it ------------------------------------------------------------------------------------------


def verdicts_for(pool, love, okay):
    return {e.name: (e.tier, {"love": love, "okay": okay}[e.tier]) for e in pool.drawable}


def test_a_copy_draws_only_what_can_be_beaten_and_the_pool_stays_as_it_was(paint, tmp_path, washes_pool):
    before = {p: p.read_bytes() for p in washes_pool.rglob("*") if p.is_file()}
    pool = Pool.load(washes_pool)
    run = make_run(tmp_path / "run", verdicts_for(pool, lose, half))
    target = tmp_path / "new"
    ran = paint("pool", "calibrate", run, "--pool", washes_pool, "-o", target)
    assert ran.code == 0, ran.err
    assert "7 can be beaten, 7 nobody beats" in ran.out and "not flagged: love 0, okay 7" in ran.out
    assert {p: p.read_bytes() for p in washes_pool.rglob("*") if p.is_file()} == before
    assert "draws from 7 of its 16 paintings" in ran.err and "Nothing of love is left in the draw" in ran.err
    new = Pool.load(target)
    assert {e.tier for e in new.drawable} == {"okay"}
    assert {e.name for e in new.reserved} == {e.name for e in pool.reserved}
    assert [(e.name, e.tier) for e in new.entries] == [(e.name, e.tier) for e in pool.entries], "ratings are kept"
    draw = new.draw(seed=3)
    assert {r.tier for r in draw.references} == {"okay"} and "2 too few 'love'" in draw.warnings[0]
    again = paint("pool", "calibrate", run, "--pool", washes_pool, "-o", target, "--judge", "taste")
    assert again.code == 2 and again.err.startswith("paint: ") and "not empty" in again.err, "before the judge is asked"


def test_a_policy_that_wins_nothing_gets_a_rung_of_its_own(paint, tmp_path, washes_pool):
    pool = Pool.load(washes_pool)
    run = make_run(tmp_path / "small", verdicts_for(pool, lose, lose))
    ran = paint("pool", "calibrate", run, "--pool", washes_pool)
    assert ran.code == 0 and "wins nothing here" in ran.err and "--rung" in ran.err
    ran = paint("pool", "calibrate", run, "--pool", washes_pool, "-o", tmp_path / "none")
    assert ran.code == 2 and "nothing to draw" in ran.err and not (tmp_path / "none").exists()
    ran = paint("pool", "calibrate", run, "--pool", washes_pool, "--rung", "-o", tmp_path / "new")
    assert ran.code == 0, ran.err
    new = Pool.load(tmp_path / "new")
    weak = new.tiers()["weak"]
    assert {e.name for e in new.drawable} == {e.name for e in weak} and len(weak) == calibration.RUNG
    assert all(e.source.read_text().startswith("// ") for e in weak), "with their sketches"
    # the best by reward are those of positions 3 and 2 of every step
    assert {e.row["imported_name"][-6:] for e in weak} == {"03.png", "02.png"}
    assert calibration.warning(new) is None
    assert paint("pool", "calibrate", run, "--rung").code == 2


# -- what training says ---------------------------------------------------------------------------------------------


def test_train_warns_by_a_calibration_on_record(paint, tmp_path, washes_pool):
    pytest.importorskip("transformers")
    folder = make_pool(tmp_path / "pool", per_tier=5)
    pool = Pool.load(folder)
    arguments = (
        "train",
        "--mix",
        "judge=1",
        "--judge",
        "taste",
        "--pool",
        folder,
        "--dry-run",
        "--model",
        tiny(tmp_path),
    )
    assert calibration.warning(pool) is None and "no comparison that can be won" not in paint(*arguments).out
    run = make_run(tmp_path / "small", verdicts_for(pool, lose, lose))
    assert paint("pool", "calibrate", run, "--pool", folder, "--record").code == 0
    assert json.loads((folder / "calibration.json").read_text())["winnable"] is False
    assert "the paintings of small beat none of the 8 references" in calibration.warning(Pool.load(folder))
    told = paint(*arguments)
    assert told.code == 0 and "no comparison that can be won" in told.out
    (row,) = [json.loads(line) for line in paint(*arguments, "--json").out.splitlines()]
    assert "no comparison that can be won" in row["warnings"][0]
    # one new reference nobody has met, and there is hope again
    rows = read_rows(folder)
    Image.open(folder / rows[0]["file_name"]).save(folder / "new.png")
    write_rows(folder, [*rows, {**rows[0], "file_name": "new.png"}])
    assert calibration.warning(Pool.load(folder)) is None
    (folder / "calibration.json").write_text("[]")
    with pytest.raises(UsageError, match="is no calibration"):
        calibration.warning(Pool.load(folder))


def tiny(tmp_path):
    """A model of which only the configuration is there: all that a dry run reads."""
    from transformers import Qwen3Config

    Qwen3Config(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, head_dim=16,
    ).save_pretrained(tmp_path / "model")  # fmt: skip
    return tmp_path / "model"


def test_a_run_says_once_that_it_wins_nothing():
    hope = calibration.Hope()
    said = [hope.saw([0.0] * 16) for _ in range(6)]
    assert [bool(s) for s in said] == [False, False, False, True, False, False]
    assert "64 comparisons, and every one was lost" in said[3]
    lucky = calibration.Hope()
    assert not any(lucky.saw(shares) for shares in ([0.0] * 40, [0.0, 0.5], *[[0.0] * 32] * 5))
    assert calibration.Hope().saw([]) is None


def test_the_run_itself_says_it(tmp_path):
    """A task whose every comparison is lost: the recorder of a run tells it as a note, at the step where it is sure."""
    from paintcli.backends.loop import Loop
    from paintcli.training.recipe import compose
    from paintcli.training.run import Recorder
    from paintcli.training.task import Group, Sample

    class Losing:
        async def assess(self, samples, step):
            lost = [
                {"reference": f"r{i}", "tier": "love", "forward": 0.0, "backward": 0.0, "score": 0.0} for i in range(4)
            ]
            rows = [
                (Rollout(run="", step=step, position_in_group=i, reward=0.1, gate=1.0, comparisons=lost), None)
                for i in range(len(samples))
            ]
            return Group(rows)

    events, loop = [], Loop()
    recorder = Recorder(Losing(), loop, RunFolder(tmp_path / "run"), compose("judge=1"), events.append)
    for step in range(4):
        recorder.assess([Sample("a reply", 9, "stop") for _ in range(8)], step, 0.0)
    loop.close()
    notes = [(e.step, e.text) for e in events if e.kind == "note"]
    assert len(notes) == 1 and notes[0][0] == 1 and notes[0][1].startswith("64 comparisons, and every one was lost")
