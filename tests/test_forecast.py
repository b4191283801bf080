"""The forecast: its numbers against planted ones, its verdicts against runs it was not tuned on, its command."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from paintcli import forecast as fc
from paintcli.errors import UsageError
from paintcli.reward import Mix
from paintcli.rollouts import Rollout, RunFolder

MIX = Mix.parse("gate=.1,judge=.9")
PLAN = fc.Plan(generations=8, steps=60, rates=0.17, alpha=32, gain=1.6)
RESULTS = Path(__file__).parent.parent / "results" / "forecast" / "runs.json"


def row(shares, gate=1.0, **more):
    tier = {name: "love" if i % 2 else "okay" for i, name in enumerate(shares)}
    comparisons = [{"reference": n, "tier": tier[n], "score": s} for n, s in shares.items()] if gate else []
    return {"gate": gate, "length": 0.5, "step": 0, "comparisons": comparisons, **more}


def draws(columns, steps=60, size=4):
    random = np.random.default_rng(5)
    return [[f"r{j}" for j in random.choice(columns, size, replace=False)] for _ in range(steps)]


def prospect(matrix, mix=MIX, generations=8, **more):
    rows = [row({f"r{j}": float(s) for j, s in enumerate(line)}) for line in matrix]
    table = fc.Table.of(rows)
    return fc.Prospect(table, mix, fc.meetings(table, draws(matrix.shape[1])), generations, **more)


@pytest.mark.parametrize(("own", "rest"), [(0.1, 0.02), (0.04, 0.12), (0.0, 0.2)])
def test_the_policy_s_own_variance_is_told_from_noise(own, rest):
    """Shares = sample + reference + rest, each planted; 400 samples, so that the estimate may be held to a tenth."""
    random = np.random.default_rng(2)
    matrix = 0.5 + random.normal(0, own, (400, 1)) + random.normal(0, 0.15, (1, 24)) + random.normal(0, rest, (400, 24))
    found = prospect(matrix).signal
    assert found.within == pytest.approx(0.81 * (own**2 + rest**2 / 4), rel=0.12)
    assert 0.75 * 0.81 * own**2 - 1e-4 <= found.heritable <= 1.1 * 0.81 * own**2 + 1e-4


def test_what_references_differ_by_is_the_draw_s_and_nobody_s_gradient():
    matrix = np.tile(np.linspace(0.1, 0.9, 12), (16, 1))
    found = prospect(matrix).signal
    assert found.within == found.heritable == found.sd == 0 and found.dead.value == 1
    assert found.draw_share == pytest.approx(1.0, abs=0.01)
    assert prospect(matrix).gain(PLAN).value == 0


def test_groups_without_a_gradient_are_as_many_as_there_should_be():
    """12 of 40 win everything: a group of 4 is all alike with the hypergeometric chance of that."""
    matrix = np.zeros((40, 8))
    matrix[:12] = 1.0
    dead = prospect(matrix, generations=4).signal.dead
    expected = (math.comb(12, 4) + math.comb(28, 4)) / math.comb(40, 4)
    assert dead.value == pytest.approx(expected, abs=0.03) and dead.low <= expected <= dead.high


def test_sixteen_equal_samples_do_not_prove_that_no_group_ever_learns():
    dead = prospect(np.zeros((16, 8))).signal.dead
    assert dead.value == dead.high == 1 and 0.1 < dead.low < 0.3


def test_a_refusal_is_a_zero_and_a_loss_is_nothing():
    shares = {f"r{j}": 0.5 for j in range(6)}
    refused = [row(shares) for _ in range(8)] + [row(shares, gate=0.0) for _ in range(8)]
    lost = [row(shares) for _ in range(8)] + [row(shares, gate=None) for _ in range(8)]
    seen = {}
    for name, rows in (("refused", refused), ("lost", lost)):
        table = fc.Table.of(rows)
        seen[name] = fc.forecast(table, MIX, PLAN, fc.meetings(table, draws(6)))
    assert seen["refused"].signal.mean == pytest.approx(0.275) and seen["refused"].signal.members == 8
    assert seen["refused"].passed.value == 0.5 and seen["refused"].gain.learns
    assert seen["lost"].signal.mean == pytest.approx(0.55) and 3.5 < seen["lost"].signal.members < 4.5
    assert seen["lost"].passed.of == 8 and not seen["lost"].gain.learns


def test_the_gain_is_the_formula_s():
    """Nothing but the judge varies: the even shift in log-odds by its own standard deviation · κ / m(1 − m)."""
    shares = np.linspace(0.2, 0.6, 9)
    found = prospect(np.tile(shares[:, None], (1, 6)))
    assert found.signal.heritable == pytest.approx(0.81 * np.var(shares, ddof=1)) and found.signal.live == 1
    small = replace(PLAN, rates=0.002)
    kappa = fc.RESPONSE * 32 * 0.002 / (math.sqrt(3) * 1.6) * math.sqrt(8)
    odds = math.log(0.4 / 0.6) + np.std(shares, ddof=1) / 0.24 * kappa
    assert found.gain(small).value == pytest.approx(0.9 * (1 / (1 + math.exp(-odds)) - 0.4), rel=0.01)
    assert found.gain(replace(PLAN, rates=1e6)).value == pytest.approx(0.9 * 0.6, rel=0.01)  # nothing goes past 1


def test_every_lever_pulls_the_right_way():
    random = np.random.default_rng(0)
    found = prospect(np.clip(0.3 + random.normal(0, 0.1, (32, 1)) + random.normal(0, 0.15, (32, 12)), 0, 1))
    weak = replace(PLAN, rates=0.004)
    here = found.gain(weak)
    assert here.low < here.value < here.high
    for stronger in (replace(weak, rates=0.012), replace(weak, generations=16)):
        assert found.gain(stronger).value > here.value


def test_an_easier_rung_and_another_split_are_levers_where_the_references_win_everything():
    random = np.random.default_rng(0)
    skill = np.clip(random.normal(0.4, 0.1, 16), 0, 1)
    rows = [
        row({f"r{j}": 0.0 for j in range(6)} | {f"e{j}": float(s) for j in range(6)}, hpsv3=float(s)) for s in skill
    ]
    table = fc.Table.of(rows)
    easier = fc.meetings(table, [["e0", "e1", "e2", "e3"]] * 20)
    told = fc.forecast(table, MIX, PLAN, fc.meetings(table, draws(6)), {"an easier rung (weak)": easier})
    assert told.verdict == "likely flat"
    levers = {lever.name: lever for lever in told.levers}
    assert told.levers[0].gain is None or told.levers[0].gain.learns
    assert levers["an easier rung (weak)"].gain.learns and levers["another split"].gain.learns
    assert not levers["more generations"].gain.learns and not levers["higher learning rate"].gain.learns


def test_learning_rates_add_up_by_their_schedule():
    from types import SimpleNamespace

    text = SimpleNamespace(num_hidden_layers=40, hidden_size=2048, initializer_range=0.02)
    config = SimpleNamespace(get_text_config=lambda: text)
    recipe = SimpleNamespace(
        steps=100, warmup_steps=10, schedule="constant_with_warmup", learning_rate=1e-4, generations=8, alpha=32
    )
    assert fc.plan_of(recipe, config).rates == pytest.approx(1e-4 * 95)
    recipe.schedule = "linear"
    assert fc.plan_of(recipe, config).rates == pytest.approx(1e-4 * 50)
    recipe.schedule = "constant"
    assert fc.plan_of(recipe, config).rates == pytest.approx(1e-4 * 100)


def test_the_rater_bounds_the_judge():
    assert fc.rater_bound([("love", "love"), ("okay", "okay"), ("weak", "weak")]).value == 1
    assert fc.rater_bound([("love", "okay"), ("okay", "okay")]).value == 0.5
    assert fc.rater_bound([("love", "okay"), ("okay", "love")]).value == 0
    assert fc.rater_bound([("love", "love")]) is None and fc.rater_bound([]) is None


def test_what_it_costs():
    spent = fc.cost(36.0, 200, 12_800, per_hour=5.0, per_comparison=0.001)
    assert (spent.hours, spent.machine, spent.judge, spent.total) == pytest.approx((2.0, 10.0, 12.8, 22.8))
    assert fc.cost(36.0, 200, 0).total is None


def test_too_few_samples_and_samples_without_a_gate():
    with pytest.raises(UsageError, match="5 samples are too few to forecast groups of 8"):
        prospect(np.zeros((5, 6)))
    with pytest.raises(UsageError, match="None of these samples says whether it passed the gate"):
        fc.Table.of([{"reward": 0.4}])


def test_a_term_that_nobody_answered():
    table = fc.Table.of([row({}) for _ in range(16)])
    with pytest.raises(
        UsageError, match=r"The mix judge-led weighs judge and hpsv3, which no sample has an answer of\."
    ):
        fc.forecast(table, Mix.parse("judge-led"), PLAN, fc.meetings(table, [[]]))
    refused = fc.Table.of([row({}, gate=0.0) for _ in range(16)])
    told = fc.forecast(refused, Mix.parse("judge-led"), PLAN, fc.meetings(refused, [[]]))
    assert told.verdict == "likely flat" and told.why == "Only 0% of the samples pass the gate."
    assert told.levers[0].name == "warm start"


# -- runs it was not tuned on --------------------------------------------------------------------------------------


def trials():
    from benchmarks import forecast as bench

    return {trial.name: trial for trial in bench.TRIALS}


def stored():
    return json.loads(RESULTS.read_text())


def test_the_forecast_separates_learning_from_flat_on_runs_it_was_not_tuned_on():
    """The stored replies of each untrained policy, forecast anew, against what came of the run."""
    pytest.importorskip("torch")
    from benchmarks import forecast as bench

    known = trials()
    outcomes = {"likely to learn": 0, "likely flat": 0}
    wrong = []
    for result in stored():
        if not result["tuning"]:
            told = bench.foretell(known[result["name"]], result["texts"])
            assert told.to_json()["predicted_gain"] == result["forecast"]["predicted_gain"]
            outcomes[told.verdict] += 1
            if (told.verdict == "likely to learn") != result["learned"]:
                wrong.append(result["name"])
    assert min(outcomes.values()) >= 6
    assert wrong == ["short"]  # six steps were enough: +0.13 where +0.02 was foretold


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", ["good", "different", "gated", "hard", "easy", "coin", "slow"])
def test_a_run_ends_as_it_was_foretold(name, tmp_path):
    pytest.importorskip("trl")
    from benchmarks import forecast as bench

    result = bench.attempt(trials()[name], tmp_path)
    assert (result["forecast"]["verdict"] == "likely to learn") == result["learned"], result["gain"]


# -- the command ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Four steps of eight as a run writes them, without pictures."""
    folder = tmp_path_factory.mktemp("runs") / "first"
    random = np.random.default_rng(4)
    files = RunFolder(folder)
    for step in range(4):
        names = random.choice(10, 4, replace=False)
        for position in range(8):
            skill = random.normal(0.4, 0.1)
            shares = np.clip(skill + random.normal(0, 0.05, 4), 0, 1)
            files.append(
                Rollout(
                    run="first", step=step, position_in_group=position, reward=0.1 + 0.9 * float(shares.mean()),
                    gate=1.0, length=0.4, judge=float(shares.mean()), code="function setup() {}",
                    completion_tokens=1000, comparisons=[
                        {"reference": f"r{n}", "tier": "love" if n < 5 else "okay", "score": float(s)}
                        for n, s in zip(names, shares, strict=True)
                    ],
                )
            )  # fmt: skip
    return folder


ASK = ("--mix", "gate=.1,judge=.9", "--judge", "taste", "--preset", "4b")


@pytest.fixture
def trained():
    pytest.importorskip("peft")


def test_a_run_s_first_steps_as_they_were_logged(run, paint, trained):
    told = paint("forecast", run, *ASK, "--as-logged", "--first", "3", "--price-per-hour", "2", "--json")
    assert told.code == 0, told.err
    found = json.loads(told.out)
    assert found["samples"] == 24 and found["verdict"] == "likely to learn"
    assert found["groups"] == {"size": 8, "rewarded": 8.0, "dead": found["groups"]["dead"]}
    assert {r["tier"] for r in found["references"]} == {"love", "okay"}
    assert found["cost"]["machine"] == pytest.approx(2 * found["cost"]["run_hours"], abs=0.02)
    assert found["cost"]["comparisons"] == 0  # the embedded judge is free
    words = paint("forecast", run, *ASK, "--as-logged")
    assert words.code == 0 and words.out.startswith("likely to learn (")
    assert "Levers, strongest first" in words.out and "the draw" in words.out


def test_a_paid_judge_is_counted(run, paint, trained):
    told = paint(
        "forecast", run, "--mix", "gate=.1,judge=.9", "--preset", "4b", "--as-logged", "--json",
        "--price-per-comparison", "0.001", "--steps", "10",
    )  # fmt: skip
    spent = json.loads(told.out)["cost"]
    assert spent["comparisons"] == 10 * 8 * 4 * 2 and spent["judge"] == pytest.approx(0.64)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere"], "nowhere is no folder of samples."),
        (["--mix", "control"], "The control task has no pool and no gate to forecast from"),
        (["--as-logged"], "--as-logged reads what a run wrote: name the run."),
        (["--set", "env_url=me/space"], "A forecast paints and judges on this machine"),
        (["--where", "moon"], "--where is local or hub, not 'moon'."),
        (["-n", "4", "--stand-ins"], "4 samples are too few for a group of 8; 32 say enough."),
        (["--mix", "gate=.5,beauty=.5"], "The mix names the unknown term 'beauty'"),
    ],
)
def test_bad_input_is_one_sentence(paint, monkeypatch, tmp_path, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    refused = paint("forecast", *arguments)
    assert refused.code == 2 and sentence in refused.err and len(refused.err.strip().splitlines()) == 1


def test_too_few_samples_in_a_folder(paint, tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.js").write_text("function setup() {}")
    refused = paint("forecast", tmp_path, *ASK)
    assert refused.code == 2 and "3 samples are too few for a group of 8" in refused.err
    (tmp_path / "empty").mkdir()
    assert "holds neither rollouts nor sketches" in paint("forecast", tmp_path / "empty", *ASK).err


def test_a_stand_in_must_be_said(run, paint, trained):
    refused = paint("forecast", run, "--mix", "judge-led", "--judge", "taste", "--preset", "4b")
    assert refused.code == 2 and "taste only stands in for it" in refused.err


def test_a_model_that_cannot_load(run, paint, tmp_path, monkeypatch, trained):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    refused = paint("forecast", run, "--mix", "gate=.1,judge=.9", "--judge", "taste", "--model", tmp_path)
    assert refused.code == 1 and refused.err.strip().endswith(f"{tmp_path} cannot be used: that folder holds no model.")


def test_a_judge_without_a_pool_and_a_pool_without_tiers(run, paint, tmp_path, trained):
    import washes

    refused = paint("forecast", run, *ASK, "--pool", tmp_path / "nowhere")
    assert refused.code == 2 and "nowhere" in refused.err and len(refused.err.strip().splitlines()) == 1
    pool = washes.make_pool(tmp_path / "pool", per_tier=4)
    washes.write_rows(pool, [{**r, "tier": "no"} for r in washes.read_rows(pool)])
    refused = paint("forecast", run, *ASK, "--pool", pool)
    assert refused.code == 2 and "has only 'no'; rate some paintings differently" in refused.err


@pytest.mark.browser
def test_pictures_meet_the_pool(paint, tmp_path, trained):
    """What `paint sample` wrote is judged against the pool's references; nothing is painted a second time."""
    import io

    import tiny_policy
    import washes

    pool = washes.make_pool(tmp_path / "pool", per_tier=8)
    files = RunFolder(tmp_path / "samples")
    for i in range(8):
        buffer = io.BytesIO()
        washes.wash("round", 2 + 2 * i, 1.0 + i / 2, i).save(buffer, "PNG")
        refused = i == 0
        files.append(
            Rollout(run="samples", step=i // 4, position_in_group=i % 4, reward=0.0 if refused else 0.5,
                    gate=float(not refused), code=tiny_policy.sketches()[i]),
            buffer.getvalue(),
        )  # fmt: skip
    (tmp_path / "flower.toml").write_text(tiny_policy.DOMAIN)
    told = paint(
        "forecast", tmp_path / "samples", *ASK, "--pool", pool, "--domain", tmp_path / "flower.toml", "--json",
        "--set", "generations=4",
    )  # fmt: skip
    assert told.code == 0, told.err
    found = json.loads(told.out)
    assert found["passed"]["value"] == pytest.approx(7 / 8)
    assert len(found["references"]) == 14  # eight of each tier, one of each reserved
    assert found["agreement"]["agreement"]["value"] is not None or found["agreement_unknown"]
    assert found["judge"] == "taste (stand-in)" and found["levers"]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.timeout(900)
def test_the_recipe_s_model_writes_the_samples(paint, tmp_path, monkeypatch, trained):
    import tiny_policy
    import washes

    monkeypatch.chdir(tmp_path)
    tiny_policy.save(tmp_path / "model", steps=90)
    pool = washes.make_pool(tmp_path / "pool", per_tier=8)
    (tmp_path / "flower.toml").write_text(tiny_policy.DOMAIN)
    values = {"precision": "fp32", "max_completion": 96, "generations": 4, "device": "cpu", "top_p": 1, "top_k": 0}
    ask = ["--mix", "gate=.2,judge=.8", "--judge", "taste", "--model", "./model", "--pool", pool, "--json"]
    ask += ["--domain", "flower.toml", *(word for k, v in values.items() for word in ("--set", f"{k}={v}"))]
    told = paint("forecast", *ask, "-n", "8", "-o", "samples")
    assert told.code == 0, told.err
    again = paint("forecast", tmp_path / "samples" / "probe-before", *ask)
    first, second = (json.loads(ran.out) for ran in (told, again))
    assert first["samples"] == 8 and 0 < first["passed"]["value"] <= 1
    assert second == first  # nothing was written or painted again
    refused = paint("forecast", *ask, "-n", "8", "-o", "samples")
    assert refused.code == 2 and "samples is not empty" in refused.err
