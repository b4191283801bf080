"""`paint train` and `paint sample` whole: a tiny language model, the real browser, gate and embedded judge."""

import json

import pytest

pytest.importorskip("trl")

import tiny_policy
from test_studio import rated, renderer  # noqa: F401  (fixtures)

from paintcli import pool, rollouts
from paintcli.training import warmstart

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def here(tmp_path_factory, rated):  # noqa: F811
    folder = tmp_path_factory.mktemp("project")
    tiny_policy.save(folder / "model", steps=90)
    (folder / "flower.toml").write_text(tiny_policy.DOMAIN)
    (folder / "paint.toml").write_text(
        f'domain = "flower.toml"\npool = {json.dumps(str(rated.path))}\nworkers = 2\n[train]\n'
        'mix = "gate=0.2,judge=0.5,hpsv3=0.3"\nmodel = "./model"\nprecision = "fp32"\ngradient_checkpointing = false\n'
        "generations = 4\nmicro_batch = 4\nmax_completion = 96\nprobe = 4\ntop_p = 1.0\ntop_k = 0\ndevice = 'cpu'\n"
        "judge = 'taste'\nscorer = 'taste'\n"
    )
    return folder


@pytest.fixture(scope="module")
def ran(here):
    """One run of two steps through the real command, shared by the tests that look at what it left."""
    import subprocess
    import sys

    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "paintcli",
        "train",
        "--run-tag",
        "first",
        "--steps",
        "2",
        "--json",
    ]
    return subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=300)


def test_a_run_from_end_to_end(here, ran):
    assert ran.returncode == 0, ran.stderr
    *steps, last = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [s["step"] for s in steps] == [0, 1] and set(last["probe"]) == {"before", "after"}
    run = here / "runs" / "first"
    rows = list(rollouts.stream(run))
    assert sorted((r["step"], r["position_in_group"]) for r in rows) == [(s, p) for s in (0, 1) for p in range(4)]
    painted = [r for r in rows if r["gate"] == 1]
    assert painted, "the tiny policy knows sketches that pass"
    for row in painted:
        assert row["reward"] == pytest.approx(0.2 + 0.5 * row["judge"] + 0.3 * row["taste"])
        assert (run / row["file_name"]).is_file() and row["finish_reason"] == "stop"
        assert row["versions"]["p5.brush"] and row["versions"]["trl"] and row["raster"]
    curve = rollouts.read_curve(run / "curve.csv")
    assert list(curve[0]) == list(rollouts.CURVE_COLUMNS)
    for row in curve:
        group = [r["reward"] for r in rows if r["step"] == int(row["step"])]
        assert float(row["reward"]) == pytest.approx(sum(group) / 4) and row["quality_mean"] == ""
    for name in ("recipe.toml", "probe.json", "film.png", "adapter/adapter_model.safetensors"):
        assert (run / name).is_file(), name
    assert len(list(rollouts.stream(run / "probe-before"))) == 4


def test_sampling_the_run(here, ran, paint, monkeypatch):
    monkeypatch.chdir(here)
    sampled = paint("sample", "runs/first", "-n", "3", "-o", here / "samples", "--json")
    assert sampled.code in (0, 3), sampled.err
    lines = [json.loads(line) for line in sampled.out.splitlines()]
    assert len(lines) == 3 and all(line["unavailable"] == [] for line in lines)
    assert (here / "samples" / "sheet.png").is_file()
    again = paint("sample", "-n", "3", "-o", here / "again", "--json")  # the newest run; same seed, same sketches
    codes = [[r["code"] for r in rollouts.stream(here / where)] for where in ("samples", "again")]
    assert again.code == sampled.code and codes[0] == codes[1]


def test_sampling_bad_inputs(here, ran, paint, monkeypatch, tmp_path):
    monkeypatch.chdir(here)
    neither = paint("sample", tmp_path)
    assert neither.code == 2 and "is neither a run (no recipe.toml) nor an adapter" in neither.err
    state = here / "runs" / "first" / "adapter" / "adapter_model.safetensors"
    whole = state.read_bytes()
    state.write_bytes(whole[: len(whole) // 2])
    damaged = paint("sample", "runs/first", "-n", "1", "-o", tmp_path / "o")
    state.write_bytes(whole)
    assert damaged.code == 1 and "adapter_model.safetensors is damaged" in damaged.err
    assert "Traceback" not in damaged.err


def test_a_published_mix_refuses_the_stand_in_before_anything_is_loaded(here, paint, monkeypatch):
    monkeypatch.chdir(here)
    refused = paint("train", "--mix", "judge-led", "--run-tag", "never")
    assert refused.code == 2 and "taste only stands in for it" in refused.err
    assert not (here / "runs" / "never").exists()


def test_a_judge_without_a_pool(here, paint, monkeypatch, tmp_path):
    monkeypatch.chdir(here)
    (tmp_path / "empty").mkdir()
    for where in (tmp_path / "empty", tmp_path / "nowhere"):
        refused = paint("train", "--pool", where, "--run-tag", "never")
        assert refused.code == 2 and len(refused.err.strip().splitlines()) == 1
        assert str(where) in refused.err and not (here / "runs" / "never").exists()


def test_the_warm_start_lowers_the_loss_on_whole_sketches(here, tmp_path):
    """Only the completion counts and none is cut: the longest example is longer than TRL's default would keep."""
    import torch
    from transformers import AutoTokenizer

    from paintcli.backends.policy import load_base
    from paintcli.training import coverage, recipe

    source = tmp_path / "pool"
    (source / "sources").mkdir(parents=True)
    long = "function setup() { " + "brush.circle(1, 2, 3); " * 150 + "}"
    rows = []
    for i, sketch in enumerate([long, *tiny_policy.sketches()]):
        (source / f"{i}.png").write_bytes((here / "runs/first/film.png").read_bytes())
        (source / "sources" / f"{i}.js").write_text(sketch)
        rows.append({"file_name": f"{i}.png", "source_file": f"sources/{i}.js", "tier": "love" if i < 3 else "no"})
    (source / "metadata.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    assert len(pool.Pool.load(source)) == 9

    chosen = recipe.compose(
        "hps-only", None,
        {"warm_start": str(source), "precision": "fp32", "gradient_checkpointing": False, "warm_start_epochs": 6,
         "warm_start_learning_rate": 1e-3},
    )  # fmt: skip
    model, words = load_base(str(here / "model"), "fp32", "cpu")
    model = coverage.with_adapter(model, chosen)
    ids = torch.tensor(
        [
            words.apply_chat_template([*tiny_policy.PROMPT, {"role": "assistant", "content": tiny_policy.reply(long)}])[
                "input_ids"
            ]
        ]
    )

    def loss():
        with torch.no_grad():
            return float(model(ids, labels=ids).loss)

    before = loss()
    result = warmstart.warm_start(chosen, tmp_path, model, words, tiny_policy.PROMPT, "cpu")
    assert result["sketches"] == 3  # love only: what was rated "no" is not learned
    assert result["tokens"] > 1024
    assert loss() < 0.7 * before
    assert isinstance(AutoTokenizer.from_pretrained(here / "model").eos_token_id, int)


def test_what_a_warm_start_takes(here, ran, tmp_path):
    run = here / "runs" / "first"
    everything = warmstart.Source.parse(str(run)).sketches()
    best = warmstart.Source.parse(f"{run}:reward>0.3,gate=1").sketches()
    assert set(best) <= set(everything) and best
    from paintcli.errors import UsageError

    for text, words in (
        (f"{run}:reward", "'reward' is no condition"),
        (f"{run}:beauty>1", "has no column 'beauty' to select by"),
        (f"{run}:reward>high", "reward is a number, and 'high' is none"),
        (f"{run}:reward>2", "has no painting reward>2 to start from"),
        (str(tmp_path / "nowhere"), "is no folder"),
    ):
        with pytest.raises(UsageError, match=words):
            warmstart.Source.parse(text).sketches()


def test_a_model_without_weights_leaves_no_run_behind(here, paint, monkeypatch, tmp_path):
    import shutil

    monkeypatch.chdir(here)
    shutil.copytree(here / "model", tmp_path / "half")
    (tmp_path / "half" / "model.safetensors").unlink()
    refused = paint("train", "--model", tmp_path / "half", "--run-tag", "never")
    assert refused.code == 1 and len(refused.err.strip().splitlines()) == 1
    assert "nothing that can be loaded" in refused.err
    assert not (here / "runs" / "never").exists()


def test_an_adapter_that_leaves_most_layers_out_stops_the_run(here, paint, monkeypatch):
    monkeypatch.chdir(here)
    refused = paint("train", "--set", "targets=gate_proj,up_proj", "--run-tag", "never")
    assert refused.code == 2 and "on the token mixers of 0 of 2 layers only" in refused.err


def test_no_state_that_is_whole(here, ran, paint, monkeypatch):
    import shutil

    monkeypatch.chdir(here)
    shutil.copytree(here / "runs" / "first", here / "runs" / "broken")
    for state in (here / "runs" / "broken" / "state").iterdir():
        (state / "optimizer.pt").write_bytes(b"half")
    refused = paint("train", "--resume", "--run-tag", "broken")
    assert refused.code == 1 and "has a damaged optimizer.pt" in refused.err and "start a new run" in refused.err
    assert len(refused.err.strip().splitlines()) == 1
    shutil.rmtree(here / "runs" / "broken")
