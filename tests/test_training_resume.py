"""A run killed at any moment and resumed is the run that was never killed."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("trl")

from paintcli.errors import PaintError
from paintcli.rollouts import read_curve, stream
from paintcli.training import state

COMMAND = [sys.executable, "-W", "ignore", "-m", "paintcli"]
ALONE = {**os.environ, "OMP_NUM_THREADS": "1"}  # a model this small only waits for a second core
CLOCK = {"step_time"}
TIMED = {"seconds_generate", "seconds_paint", "seconds_judge", "seconds_score", "run"}


def start(folder, steps, resume=False):
    arguments = ["train", "--mix", "control", "--steps", str(steps), "-o", str(folder), *(["--resume"] * resume)]
    return subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=ALONE,
    )


def rows(folder):
    """(step, position) → the rollout, each there exactly once."""
    found = {}
    for row in stream(folder):
        key = (row["step"], row["position_in_group"])
        assert key not in found, f"{key} is there twice"
        found[key] = {k: v for k, v in row.items() if k not in TIMED}
    return found


def curve(folder):
    return [{k: v for k, v in row.items() if k not in CLOCK} for row in read_curve(folder / "curve.csv")]


def done(folder):
    return len(read_curve(folder / "curve.csv"))


def killed_and_resumed(folder, steps, kills, seed):
    """Kill -9 the run at `kills` moments, each a random while after a random step was done; then let it end."""
    chance = random.Random(seed)
    moments = sorted(chance.sample(range(1, steps), kills))
    process, resume = start(folder, steps), False
    for moment in moments:
        if resume:
            process = start(folder, steps, resume=True)
        while done(folder) < moment:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        time.sleep(chance.random() * 0.4)  # a step takes about this long: writing, learning or saving is hit
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        resume = True
    process = start(folder, steps, resume=True)
    _, said = process.communicate(timeout=240)
    assert process.returncode == 0, said


def train(folder, steps):
    """A run that nobody interrupts."""
    process = start(folder, steps)
    _, said = process.communicate(timeout=240)
    assert process.returncode == 0, said
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Eight steps; for reading only."""
    return train(tmp_path_factory.mktemp("runs") / "whole", 8)


def compare(whole, broken, kills, seed):
    steps = done(whole)
    killed_and_resumed(broken, steps, kills, seed)
    assert set(rows(whole)) == {(s, p) for s in range(steps) for p in range(8)}
    assert rows(broken) == rows(whole)
    assert curve(broken) == curve(whole)
    adapters = [(f / "adapter" / "adapter_model.safetensors").read_bytes() for f in (whole, broken)]
    assert adapters[0] == adapters[1]


def test_killed_twice(tmp_path, whole):
    compare(whole, tmp_path / "broken", kills=2, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_killed_at_ten_random_moments_of_thirty_steps(tmp_path):
    compare(train(tmp_path / "whole", 30), tmp_path / "broken", kills=10, seed=7)


def make_state(run, step):
    folder = run / state.FOLDER / f"checkpoint-{step}"
    folder.mkdir(parents=True)
    (folder / "weights").write_bytes(bytes([step]) * 1000)
    state.seal(folder)
    return folder


def test_a_half_written_state_is_passed_over(tmp_path):
    make_state(tmp_path, 4)
    half = make_state(tmp_path, 5)
    (half / state.SEAL).unlink()
    newest, passed = state.newest(tmp_path)
    assert newest == tmp_path / "state" / "checkpoint-4"
    assert passed == ["checkpoint-5 was being written when the run stopped"]
    assert not half.exists()


def test_a_damaged_state_is_passed_over_and_none_left_is_an_error(tmp_path):
    older, newer = make_state(tmp_path, 9), make_state(tmp_path, 10)
    data = bytearray((newer / "weights").read_bytes())
    data[500] ^= 1
    (newer / "weights").write_bytes(data)
    newest, passed = state.newest(tmp_path)
    assert newest == older and passed == ["checkpoint-10 has a damaged weights"]
    (older / "weights").unlink()
    with pytest.raises(PaintError, match=r"No saved state of .* can be used: checkpoint-9 lacks weights"):
        state.newest(tmp_path)


def test_a_run_is_not_begun_twice_and_not_resumed_as_another(tmp_path, whole, paint):
    again = paint("train", "--mix", "control", "-o", whole)
    assert again.code == 2 and "holds a run already" in again.err
    other = paint("train", "--resume", "-o", whole, "--set", "learning_rate=1e-6")
    assert other.code == 2
    assert "was made with learning_rate = 0.003, not 1e-06" in other.err
    assert "Traceback" not in other.err
    nothing = paint("train", "--resume", "-o", tmp_path / "nowhere")
    assert nothing.code == 2 and "is not a run" in nothing.err


def test_the_run_folder_says_how_it_was_made(whole):
    import tomllib

    recipe = tomllib.loads((whole / "recipe.toml").read_text())
    assert recipe["mix"] == "control" and recipe["steps"] == 8 and recipe["learning_rate"] == 0.003
    assert recipe["versions"]["trl"] and recipe["run"]["began"]
    states = sorted(p.name for p in (whole / "state").iterdir())
    assert states == ["checkpoint-7", "checkpoint-8"]
    assert json.loads((whole / "unpainted.jsonl").read_text().splitlines()[0])["subject"] == "digits"


def test_asked_to_stop_it_says_how_to_go_on_and_does(tmp_path):
    folder = tmp_path / "run"
    for asked, step in ((signal.SIGINT, 2), (signal.SIGTERM, 4)):
        process = start(folder, 8, resume=step > 2)
        while done(folder) < step:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        process.send_signal(asked)
        _, said = process.communicate(timeout=240)
        assert process.returncode == 130 and f"Go on with: paint train --resume -o {folder}" in said
        assert "Traceback" not in said
    assert start(folder, 8, resume=True).wait(timeout=240) == 0
    assert set(rows(folder)) == {(s, p) for s in range(8) for p in range(8)}
