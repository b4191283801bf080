"""What is known of a run before it: memory, pace, objections. Nothing is loaded for it."""

import json

import pytest

pytest.importorskip("peft")

from paintcli.errors import PaintError
from paintcli.training import memory, recipe
from paintcli.training.survey import survey


def test_the_published_run_fits_an_h200_with_room_for_a_judge():
    seen = survey(recipe.compose("judge-led"), "hub")
    sizes = {p.name: p.size / memory.GB for p in seen.memory.parts}
    assert sizes["policy weights"] == pytest.approx(34.66 * 2, abs=0.01)
    assert sizes["adapter"] == pytest.approx(22_477_440 * 16 / 1e9)
    assert seen.memory.fits and not seen.objections
    assert seen.memory.capacity - seen.memory.total > 22 * memory.GB  # a 4-bit Qwen3-VL-30B-A3B takes about 20


def test_a_judge_of_thirty_billion_in_16_bits_does_not_fit_beside_it():
    seen = survey(recipe.compose("judge-led", None, {"judge": "vlm:Qwen/Qwen3-VL-30B-A3B-Instruct"}), "hub")
    assert not seen.memory.fits
    with pytest.raises(PaintError, match=r"needs about 16\d GB, most of it for policy weights \(69 GB\), but an H200"):
        seen.check()


def test_routed_experts_cost_what_they_cost():
    base, routed = (
        survey(recipe.compose("judge-led", None, {"experts": e}), "hub").memory.total for e in (0 > 1, True)
    )
    assert routed - base == pytest.approx(922_746_880 * 16 * 1.06, rel=1e-6)


def test_the_time_limit_is_sized_from_the_plan():
    short, long = (survey(recipe.compose("judge-led", None, {"steps": n}), "hub").pace for n in (20, 400))
    assert long.run == pytest.approx(20 * short.run)
    assert long.timeout_hours * 3600 > 1.4 * long.run + 1800
    names = {p.name: p.size for p in short.phases}
    # outside the environment the published steps took 20–30 % of 15–18 minutes
    assert 0.2 * 900 < names["writing"] + names["learning"] < 0.3 * 1080


def test_no_gpu_for_the_35b(paint):
    ran = paint("train", "--mix", "judge-led", "--set", "device=cpu", "--set", "memory_gb=24")
    assert ran.code == 1
    assert ran.err.strip() == (
        "paint: This run needs about 93 GB, most of it for policy weights (69 GB), but this machine, without a GPU, "
        "has 24 GB: run it with --where hub, or choose a smaller model (--preset 4b) or another --judge or --scorer."
    )


def test_an_asked_for_gpu_that_is_not_there(paint):
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    ran = paint("train", "--mix", "judge-led", "--set", "device=cuda")
    assert ran.code == 1 and "torch sees no GPU on this machine" in ran.err


def test_a_model_that_is_nowhere(paint, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    ran = paint("train", "--mix", "hps-only", "--model", tmp_path)
    assert ran.code == 1
    assert ran.err.strip() == f"paint: The model {tmp_path} cannot be used: that folder holds no model."


def test_a_dry_run_shows_objections_and_makes_nothing(paint, tmp_path):
    ran = paint("train", "--mix", "judge-led", "--judge", "taste", "--dry-run", "--json", "-o", tmp_path / "run")
    plan = json.loads(ran.out)
    assert ran.code == 0 and not (tmp_path / "run").exists()
    assert "taste only stands in for it" in plan["objections"][0]
    assert plan["trainable"] == 22_477_440 and plan["memory_total"] > 90
    words = paint("train", "--mix", "judge-led", "--judge", "taste", "--dry-run", "-o", tmp_path / "run")
    assert "linear attention" in words.out and "30 of 30 layers" in words.out
    assert "Would be refused: The mix judge-led" in words.out
