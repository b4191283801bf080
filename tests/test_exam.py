"""The exam: what it rests on is never drawn, its interval covers, it ranks, it is paid once and says what is wrong."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import tiny_policy
from loopback_hub import HubServer
from test_pool import listed
from test_studio import REFUSED, Down, renderer, wash  # noqa: F401  (a fixture)
from washes import make_pool, read_rows, write_rows

from paintcli import domains, rollouts
from paintcli.analysis.statistics import crossed, crossed_difference
from paintcli.backends.loop import Loop
from paintcli.backends.taste import Taste
from paintcli.errors import UsageError
from paintcli.pool import Pool, starter
from paintcli.reward import Assessor, Mix
from paintcli.training import exam, recipe, warmstart
from paintcli.training.exam import Exam, Examiner, Result
from paintcli.training.studio import Studio
from paintcli.training.task import Sample

COMMAND = [sys.executable, "-W", "ignore", "-m", "paintcli"]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PAINT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "exam"


def sketches(folder: Path, replies) -> Path:
    folder.mkdir(parents=True)
    for number, reply in enumerate(replies):
        (folder / f"{number:02d}.txt").write_text(reply)
    return folder


# -- nobody draws it


@pytest.mark.parametrize("tiers", [(5, 5, 0), (16, 23, 0), (7, 9, 6), (40, 5, 31), (4, 12, 3)])
@pytest.mark.parametrize("marked", [False, True])
def test_reserved_references_never_appear_in_any_draw(tmp_path, tiers, marked):
    """Every draw of training: any seed, either schedule, every step; and where a pool marks its own."""
    pool = listed(tmp_path, [t for t, n in zip(("love", "okay", "weak"), tiers, strict=True) for _ in range(n)])
    if marked:
        chance = np.random.default_rng(sum(tiers))
        write_rows(pool.path, [{**row, "reserved": bool(chance.random() < 0.3)} for row in read_rows(pool.path)])
        pool = Pool.load(pool.path)
    reserved = {r.name for r in pool.reserved}
    assert reserved
    nobody = Assessor(Mix.parse("judge=1"), domains.load(), comparer=object())
    for schedule in ("fixed", "easy-to-hard"):
        for seed in range(12):
            chosen = recipe.Recipe(references_schedule=schedule, seed=seed, steps=25, references=1 + seed % 7)
            studio = Studio(chosen, domains.load(), nobody, pool)
            for step in range(chosen.steps):
                drawn = {r.name for r in studio.draw(step).references}
                assert drawn and not drawn & reserved


def test_neither_warm_start_nor_the_embedded_judge_learns_from_it(tmp_path):
    pool = Pool.load(make_pool(tmp_path / "pool", per_tier=10))
    reserved = {r.name for r in pool.reserved}
    texts = warmstart.Source.parse(str(pool.path)).sketches()
    assert len(texts) == len(pool) - len(reserved)
    assert not [name for name in reserved if any(Path(name).stem in text for text in texts)]
    before = Taste(pool).model
    for reference in pool.reserved:  # their pictures become another tier's, and the judge does not notice
        other = next(r for r in pool.drawable if r.tier != reference.tier)
        shutil.copyfile(other.path, reference.path)
    assert (Taste(Pool.load(pool.path)).model.weights == before.weights).all()


def test_the_exam_meets_nothing_else(tmp_path):
    pool = Pool.load(make_pool(tmp_path / "pool", per_tier=40))
    found = Exam.of(domains.load(), pool, "taste")
    assert len(found.references) == 12 and sorted(set(found.strata)) == ["love", "okay"]
    assert not {r.name for r in found.references} & {r.name for r in pool.drawable}
    assert found.digest == Exam.of(domains.load(), Pool.load(pool.path), "taste").digest
    assert found.digest != Exam.of(domains.load(), pool, "hub").digest
    rows = read_rows(pool.path)
    kept = {r.name for r in pool.reserved}
    # what the other paintings are is the embedded judge's business, and no other's
    for changed, same in ((next(r for r in rows if r["file_name"] not in kept), True), (rows[0], None)):
        other = [{**r, "tier": "weak"} if r is changed else r for r in rows]
        write_rows(pool.path, [{**r, "reserved": r["file_name"] in kept} for r in other])
        again = Pool.load(pool.path)
        assert Exam.of(domains.load(), again, "taste").digest != found.digest
        if same:
            assert Exam.of(domains.load(), again, "hub").digest == Exam.of(domains.load(), pool, "hub").digest


# -- the interval


def table(chance, references, quality, samples=32, passing=0.9):
    """A planted policy: each sample has a worth of its own, each pair a taste of its own, some fail the gate."""
    worth = quality + chance.normal(0, 1, (samples, 1))
    logits = 1.5 * (worth - references + chance.normal(0, 0.5, (samples, len(references))))
    verdicts = [chance.random(logits.shape) < 1 / (1 + np.exp(-logits)) for _ in range(2)]
    shares = (verdicts[0].astype(float) + verdicts[1]) / 2
    shares[chance.random(samples) >= passing] = 0
    return shares


STRATA = np.repeat(["love", "okay"], 4)


def panel(chance, strata=STRATA):
    """References of the two tiers: half a unit harder, half a unit easier, and each with a hardness of its own."""
    return chance.normal(0, 1, len(strata)) + np.where(strata == "love", 0.5, -0.5)


def truth(quality, passing):
    chance = np.random.default_rng(99)
    many = np.repeat(["love", "okay"], 200)
    return np.mean([table(chance, panel(chance, many), quality, 300, passing).mean() for _ in range(60)])


@pytest.mark.parametrize(("quality", "passing"), [(-1.5, 0.3), (-1, 0.9), (0, 0.95), (1.5, 1.0)])
def test_the_interval_covers_planted_truth(quality, passing):
    """Of 400 exams by new samples and new references 95 % should cover; between 92 % and 99 % do."""
    chance, really = np.random.default_rng(1), truth(quality, passing)
    found = [crossed(table(chance, panel(chance), quality, 32, passing), STRATA) for _ in range(400)]
    assert 0.92 <= np.mean([e.low <= really <= e.high for e in found]) <= 0.99
    assert abs(np.mean([e.value for e in found]) - really) < 0.015


@pytest.mark.parametrize("same", [True, False])
def test_the_interval_of_a_difference_covers_and_is_narrower(same):
    """Two policies against the same references; `same`: the second one's samples are the first one's, a bit better."""
    chance, really = np.random.default_rng(2), truth(0.4, 0.9) - truth(0, 0.9)
    covered, widths, apart = [], [], []
    for _ in range(200):
        references = panel(chance)
        seed = int(chance.integers(2**31))
        first = table(np.random.default_rng(seed), references, 0.4, passing=0.9)
        second = table(np.random.default_rng(seed if same else seed + 1), references, 0, passing=0.9)
        found = crossed_difference(first, second, STRATA, paired=same)
        covered.append(found.low <= really <= found.high)
        widths.append(found.high - found.low)
        apart.append(np.hypot(*(np.ptp(crossed(t, STRATA)[1:]) for t in (first, second))))
    assert 0.91 <= np.mean(covered) <= 0.995
    assert np.mean(widths) < (0.5 if same else 0.9) * np.mean(apart)


def test_an_interval_at_the_ends_is_not_empty():
    nothing = np.zeros((32, 8))
    low, high = crossed(nothing, STRATA)[1:]
    assert low == 0 and 0.08 < high < 0.15  # Wilson's for none of 32, with t for z
    assert crossed(nothing + 1, STRATA).high == 1
    zero = crossed_difference(nothing, nothing, STRATA, paired=True)
    assert zero.value == 0 and zero.low < -0.08 and zero.high > 0.08
    assert np.isnan(crossed(nothing[:1], STRATA).low)
    assert np.isnan(crossed(nothing[:, :2], np.array(["love", "okay"])).low)


def test_scores_of_two_exams_are_not_compared():
    rows = [[0.5] * 8] * 8
    one, other = (Result(name, None, name, "k", True, list(STRATA), rows, [True] * 8) for name in "ab")
    with pytest.raises(UsageError, match="a and b sat different exams"):
        one.minus(other)


# -- paid once


def test_replies_are_written_once_and_torn_ones_again(tmp_path):
    asked = []

    def write(count, seed):
        asked.append(seed)
        return [Sample(f"{seed}-{i}", 1, "stop") for i in range(count)]

    path = tmp_path / "replies.jsonl"
    first = exam.kept(lambda: write, path)
    assert first(2, 7) == first(2, 7) and first(2, 8)[1].text == "8-1" and asked == [7, 8]
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])  # killed while it wrote the second batch
    again = exam.kept(lambda: write, path)
    assert again(2, 7)[0].text == "7-0" and asked == [7, 8]
    assert again(2, 8)[1].text == "8-1" and asked == [7, 8, 8] and path.read_bytes() == whole


@pytest.mark.browser
def test_what_could_not_be_judged_is_asked_again_and_nothing_else(tmp_path, cache, renderer):  # noqa: F811
    pool = Pool.load(starter())
    test = Exam.of(domains.load(), pool, "taste", 8)
    folder = sketches(tmp_path / "discs", [wash(250 + 10 * i, 200) for i in range(7)] + [REFUSED])
    asked = []

    class Counted(Down):
        async def prefer(self, first, second, criteria):
            asked.append(1)
            return await super().prefer(first, second, criteria)

    loop = Loop()
    # the first fourteen answers are outages: of one sample or several, never more than fourteen
    judge = Counted(Taste(pool), until=14)
    assessor = Assessor(Mix.parse("judge=1"), domains.load(), renderer, judge, labels={"judge": "a judge"})
    first = exam.take(test, exam.entrant(str(folder)), lambda: assessor, loop)
    assert 1 <= first.unavailable <= 7 and first.passed.count(False) == 1
    assert [row for row in first.table if row is not None and sum(row) == 0] == [[0.0] * 7]
    assert not list(cache.glob("*.json"))  # no result yet
    answered = len(asked) - 14
    asked.clear()
    second = exam.take(test, exam.entrant(str(folder)), lambda: assessor, loop)
    assert second.unavailable == 0 and len(asked) == 7 * 7 * 2 - answered
    for before, after in zip(first.table, second.table, strict=True):
        assert before is None or before == after
    asked.clear()

    def nobody():
        raise AssertionError("the result is known")

    third = exam.take(test, exam.entrant(str(folder)), nobody, loop)
    assert third.table == second.table and third.score == second.score
    # the texts are what counts, wherever they lie
    shutil.copytree(folder, tmp_path / "elsewhere")
    assert exam.take(test, exam.entrant(str(tmp_path / "elsewhere")), nobody, loop).key == third.key
    loop.close()


@pytest.mark.browser
@pytest.mark.timeout(1500)
def test_a_killed_exam_goes_on(tmp_path, cache, paint):
    folder = sketches(tmp_path / "discs", [wash(200 + 10 * i, 200) for i in range(12)])
    command = [
        *COMMAND,
        "exam",
        str(folder),
        "-n",
        "12",
        "--judge",
        "taste",
        "--pool",
        str(starter()),
        "--deadline",
        "240",
    ]
    process = subprocess.Popen(command, cwd=tmp_path, start_new_session=True, stderr=subprocess.PIPE)
    while not any(p.read_bytes().count(b"\n") >= 8 for p in cache.glob("*/metadata.jsonl")):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stderr.close()
    (there,) = cache.glob("*/")
    done = {p: p.stat().st_mtime_ns for p in there.glob("images/*950000-*.png")}
    assert len(done) == 8 and not list(cache.glob("*.json"))
    rest = paint("exam", folder, "-n", "12", "--judge", "taste", "--pool", starter(), "--deadline", "240", "--json")
    assert rest.code == 0, rest.err
    (row,) = map(json.loads, rest.out.splitlines())
    assert row["samples"] == 12 and all(p.stat().st_mtime_ns == at for p, at in done.items())
    rows = list(rollouts.stream(there))
    assert len({(r["step"], r["position_in_group"]) for r in rows}) == len(rows) == 12


# -- who is better


@pytest.mark.browser
@pytest.mark.timeout(1500)
def test_it_ranks_planted_policies(tmp_path, cache, paint):
    """Sketches that the rater loved, the same ones half refused, flat discs: judged by the embedded taste."""
    pool = Pool.load(starter())
    loved = [r.code for r in pool.drawable if r.tier == "love"][:8]
    sketches(tmp_path / "loved", loved)
    sketches(tmp_path / "half", [*loved[:4], *[REFUSED.replace("300, 300", f"300, {i}") for i in range(4)]])
    sketches(tmp_path / "flat", [wash(220 + 20 * i, 200) for i in range(8)])
    names = [tmp_path / name for name in ("flat", "half", "loved")]
    ran = paint("exam", *names, "-n", "8", "--judge", "taste", "--pool", starter(), "--deadline", "240", "--json")
    assert ran.code == 0, ran.err
    *ranked, one, two, three = map(json.loads, ran.out.splitlines())
    assert [Path(r["name"]).name for r in ranked] == ["loved", "half", "flat"]
    assert [r["rank"] for r in ranked] == [1, 2, 3] and [r["passed"] for r in ranked] == [1.0, 0.5, 1.0]
    assert all(r["low"] < r["score"] < r["high"] for r in ranked)
    assert (one["first"], two["second"]) == (str(names[2]), str(names[0])) and two["low"] > 0
    assert not any(pair["paired"] for pair in (one, two, three))
    assert {r["judge"] for r in ranked} == {"taste (stand-in)"} and {r["references"] for r in ranked} == {7}
    told = paint("exam", *names, "-n", "8", "--judge", "taste", "--pool", starter())
    assert told.code == 0 and "behind the first" in told.out and "unpaired" in told.out


# -- what is wrong


def run_folder(path: Path, model: Path, **values) -> Path:
    """A run with an adapter of one layer, as a training leaves it."""
    import torch
    from safetensors.torch import save_file

    (path / "adapter").mkdir(parents=True)
    chosen = recipe.Recipe(**{"mix": "gate=0.5,judge=0.5", "judge": "taste", "model": str(model), **values})
    (path / "recipe.toml").write_text(chosen.toml())
    save_file({"a.lora_B.weight": torch.ones(2, 2)}, path / "adapter" / "adapter_model.safetensors")
    config = {"base_model_name_or_path": str(model), "r": 2, "lora_alpha": 4}
    (path / "adapter" / "adapter_config.json").write_text(json.dumps(config))
    return path


def test_bad_inputs_are_told_in_one_sentence(tmp_path, cache, paint, monkeypatch):
    monkeypatch.chdir(tmp_path)
    few = sketches(tmp_path / "few", [wash(300, 200)])
    some = sketches(tmp_path / "some", [wash(300, 200)] * 8)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text('{"model_type": "qwen3"}')
    a = run_folder(tmp_path / "a", tmp_path / "model")
    b = run_folder(tmp_path / "b", tmp_path / "model", judge="hub")
    c = run_folder(tmp_path / "c", tmp_path / "model", domain="koi")
    lost = run_folder(tmp_path / "lost", tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    small = make_pool(tmp_path / "small", per_tier=6)
    for arguments, code, words in (
        ((few, "-n", "4"), 2, "at least 8 samples, not 4"),
        ((few, "-n", "8"), 2, "has 1 of the 8 sketches that an exam takes at least: add some"),
        ((some, "-n", "9"), 2, "holds 8 sketches and this exam takes 9: name fewer with -n"),
        ((few, "--pool", small), 2, "needs 4 references that training never draws"),
        ((few, "--domain", "koi"), 2, "reserves 2 of its 16 paintings"),
        ((a, b), 2, "different judges (hub, taste), so no exam is theirs alike: name one with --judge"),
        ((a, c), 2, "different domains (hibiscus, koi)"),
        ((a, "-n", "8"), 1, "holds nothing that can be loaded here"),
        ((lost, "-n", "8"), 1, "There is no model folder"),
        ((tmp_path / "empty",), 2, "is no run and no adapter, and holds no sketch either"),
        ((tmp_path / "none",), 2, "is neither a run"),
        ((), 2, "There is no run under"),
    ):
        ran = paint("exam", *arguments)
        assert ran.code == code and words in ran.err, (arguments, ran.err)
        assert len([line for line in ran.err.splitlines() if not line.startswith("References from")]) == 1
    refused = paint("train", "--mix", "control", "--exam-every", "2", "-o", tmp_path / "never")
    assert refused.code == 2 and "no exam" in refused.err and not (tmp_path / "never").exists()


# -- who writes


def test_what_makes_a_policy_another_one(tmp_path):
    """Neither the seed nor any value of training does; weights and sampling do. In memory and on disk is the same."""
    from peft import get_peft_model_state_dict

    from paintcli.backends.policy import saved_adapter
    from paintcli.training.policy import load_policy

    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")

    def digest(model, **values):
        chosen = recipe.Recipe(model=str(tmp_path / "model"), **values)
        return exam.policy_digest(chosen, get_peft_model_state_dict(model), model.peft_config["default"].to_dict())

    fresh, other = (load_policy(recipe.compose("control", None, {"seed": seed}))[0] for seed in (0, 1))
    assert digest(fresh) == digest(other)  # an adapter that changes nothing is its base
    assert digest(fresh, seed=3, learning_rate=1e-3, mix="hps-only", references=2) == digest(fresh)
    assert digest(fresh, temperature=0.7) != digest(fresh)
    for name, weights in fresh.named_parameters():
        if "lora_B" in name:
            weights.data.fill_(0.01)
    assert digest(fresh) != digest(other)
    fresh.save_pretrained(tmp_path / "adapter")
    here = recipe.Recipe(model=str(tmp_path / "model"))
    assert exam.policy_digest(here, *saved_adapter(tmp_path / "adapter")) == digest(fresh)


def test_rows_beyond_what_was_done_are_forgotten(tmp_path):
    pool = Pool.load(starter())
    test = Exam.of(domains.load(), pool, "taste", 8)
    row = {"score": 0.5, "low": None, "high": 0.75, "samples": 8, "passed": 1.0, "unavailable": 0, "key": "k"}
    rows = [{"step": step, "exam": test.digest, **row} for step in (0, 10, 20)]
    rollouts.write_exams(tmp_path / rollouts.EXAM, [*rows, {"step": 5, "exam": "another", **row}])
    chosen = recipe.Recipe(exam_every=10, steps=25)
    examiner = Examiner(test, lambda: None, chosen, tmp_path, None, done=14)
    assert examiner.rows == rows[:2]
    assert [step for step in range(26) if examiner.due(step)] == [20, 25]


def test_an_adapter_on_the_hub_is_found_and_loaded(tmp_path, paint, monkeypatch):
    """Fetched by the real client from a Hub on this machine; examined, it is the adapter of the same bytes."""
    from huggingface_hub import constants

    from paintcli.backends import local
    from paintcli.training import sampling
    from paintcli.training.policy import load_policy

    monkeypatch.chdir(tmp_path)
    tiny_policy.save(tmp_path / "model", steps=1)
    adapted, _ = load_policy(
        recipe.compose("hps-only", None, {"model": "./model", "precision": "fp32", "device": "cpu"})
    )
    for name, weights in adapted.named_parameters():
        if "lora_B" in name:
            weights.data.fill_(0.01)
    adapted.save_pretrained(tmp_path / "alone")
    files = {p.name: p.read_bytes() for p in (tmp_path / "alone").iterdir()}
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    local.hub_answers.cache_clear()
    with HubServer() as hub:
        hub.connect(monkeypatch)
        hub.repo("models", "me/painter", files)
        hub.repo("models", "me/base", {"config.json": b"{}"})
        assert exam.entrant("me/painter").digest == exam.entrant("alone").digest
        found = sampling.find("me/painter")
        assert found.name == "me--painter" and found.recipe.model == "./model"
        policy = sampling.load(found)
        assert any("lora_B" in name and weights.any() for name, weights in policy.model.named_parameters())
        for repo, words in (("me/nobody", "There is no model me/nobody on the Hub"), ("me/base", "holds no adapter_")):
            for command in ("sample", "exam"):
                refused = paint(command, repo)
                assert refused.code == 1 and words in refused.err and len(refused.err.splitlines()) == 1
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")  # nobody listens there
    local.hub_answers.cache_clear()
    offline = paint("sample", "me/elsewhere")
    local.hub_answers.cache_clear()
    assert offline.code == 1 and "the Hub cannot be reached" in offline.err


# -- in a run


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    tiny_policy.save(folder / "model", steps=90)
    (folder / "flower.toml").write_text(tiny_policy.DOMAIN)
    (folder / "paint.toml").write_text(
        f'domain = "flower.toml"\npool = {json.dumps(str(starter()))}\nworkers = 2\n[train]\n'
        'mix = "gate=0.5,judge=0.5"\n'
        'model = "./model"\nprecision = "fp32"\ngradient_checkpointing = false\ngenerations = 4\nmicro_batch = 4\n'
        "max_completion = 96\nprobe = 0\ntop_p = 1.0\ntop_k = 0\ndevice = 'cpu'\njudge = 'taste'\nsteps = 2\n"
        "exam_samples = 8\ndeadline = 240\n"
    )
    return folder


def train(project, tag, *arguments, cache="cache"):
    command = [*COMMAND, "train", "--run-tag", tag, "--json", *arguments]
    environment = {**os.environ, "PAINT_CACHE": str(project / cache), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return project / "runs" / tag, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.timeout(1500)
def test_a_run_is_examined_as_it_goes_and_again_for_nothing(project, paint, monkeypatch):
    run, lines = train(project, "first", "--exam-every", "2")
    rows = rollouts.read_exams(run / rollouts.EXAM)
    assert [r["step"] for r in rows] == [0, 2] and [line["exam"] for line in lines if "exam" in line] == rows
    assert all(r["low"] <= r["score"] <= r["high"] and r["samples"] == 8 for r in rows)
    assert len({r["key"] for r in rows}) == 2 and len({r["exam"] for r in rows}) == 1
    assert all((run / "exams" / f"{r['key']}.json").is_file() for r in rows)
    monkeypatch.chdir(project)
    report = json.loads(paint("analyze", run, "--json", "--html", project / "report.html").out)
    series, change = report["exam"]["series"], report["exam"]["change"]
    assert [row["score"] for row in series] == [row["score"] for row in rows]
    assert change["value"] == pytest.approx(rows[1]["score"] - rows[0]["score"], abs=1e-5)
    assert change["low"] <= change["value"] <= change["high"] and "In the exam it " in report["verdict"][1]
    assert "Exam by steps done" in (project / "report.html").read_text()
    monkeypatch.setenv("PAINT_CACHE", str(project / "another"))  # the run keeps its own results
    again = paint("exam", "-n", "8", "--json")
    assert again.code == 0, again.err
    told = json.loads(again.out)
    assert {name: told[name] for name in rows[1]} == rows[1] and not list((project / "another").glob("exam/*/"))


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.timeout(3600)
def test_the_exam_sees_no_training_seed_and_training_sees_no_exam(project, paint, monkeypatch):
    """Step 0 is the same for every seed, written anew each time; a policy's exam is bit-equal whoever trained it; and
    a run with exams samples what it samples without."""
    plain, _ = train(project, "plain", "--steps", "4")
    examined, _ = train(project, "examined", "--steps", "4", "--exam-every", "1", cache="one")
    codes = [[(r["step"], r["position_in_group"], r["code"], r["reward"]) for r in rollouts.stream(f)]
             for f in (plain, examined)]  # fmt: skip
    assert codes[0] == codes[1]
    other, _ = train(project, "other", "--seed", "5", "--exam-every", "2", cache="two")
    first, second = (rollouts.read_exams(f / rollouts.EXAM) for f in (examined, other))
    assert [r["step"] for r in first] == [0, 1, 2, 3, 4] and first[0] == second[0] and first[2] != second[1]
    stored = [json.loads((f / "exams" / f"{first[0]['key']}.json").read_text()) for f in (examined, other)]
    assert stored[0] == stored[1]
    # the very adapter, loaded from disk under a recipe with another training seed, mix and rate
    shutil.copytree(other, project / "runs" / "disguised")
    shutil.rmtree(project / "runs" / "disguised" / "exams")
    text = (other / "recipe.toml").read_text()
    text = text.replace("\nseed = 5", "\nseed = 77").replace("gate=0.5,judge=0.5", "gate=0.9,judge=0.1")
    (project / "runs" / "disguised" / "recipe.toml").write_text(text)
    monkeypatch.chdir(project)
    monkeypatch.setenv("PAINT_CACHE", str(project / "three"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    ran = paint("exam", "runs/disguised", "-n", "8", "--json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert {name: told[name] for name in second[-1]} == second[-1]
    both = paint("exam", "runs/examined", "runs/other", "runs/other/state/checkpoint-1", "-n", "8", "--json")
    assert both.code == 0, both.err
    pairs = [json.loads(line) for line in both.out.splitlines()][3:]
    assert len(pairs) == 3 and all(pair["paired"] for pair in pairs)
