"""The control task moves, and would not if the trainer were broken."""

import json

import pytest

pytest.importorskip("trl")

from paintcli.training import control


def rewards(paint, tmp_path, *options):
    ran = paint("train", "--mix", "control", "--json", "-o", tmp_path / "run", "--set", "save_every=30", *options)
    assert ran.code == 0, ran.err
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert lines[-1]["excluded"] == 0
    return [line["reward"] for line in lines[:-1]]


def mean(values):
    return sum(values) / len(values)


def test_the_reward_is_the_share_of_sevens():
    assert control.reward("7 7 0 7", 4) == 0.75
    assert control.reward("7 7", 4) == 0.5
    assert control.reward("77 digits", 4) == 0
    assert control.reward("", 4) == 0


@pytest.mark.timeout(600)
def test_it_learns(paint, tmp_path):
    curve = rewards(paint, tmp_path)
    assert len(curve) == 60
    assert mean(curve[:5]) <= 0.3 and mean(curve[-10:]) >= 0.9


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [1, 2])
def test_it_learns_from_other_seeds(paint, tmp_path, seed):
    curve = rewards(paint, tmp_path, "--set", f"seed={seed}")
    assert mean(curve[:5]) <= 0.3 and mean(curve[-10:]) >= 0.9


@pytest.mark.timeout(600)
def test_it_stays_flat_at_trls_default_rate(paint, tmp_path):
    curve = rewards(paint, tmp_path, "--set", "learning_rate=1e-6", "--steps", "30")
    assert abs(mean(curve[-10:]) - mean(curve[:5])) < 0.05
