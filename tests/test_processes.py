"""Two processes, one run: each writes half of the group, and the whole of it is assessed and written down once."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("trl")

from paintcli.errors import UsageError
from paintcli.rollouts import stream
from paintcli.training.recipe import Recipe
from paintcli.training.run import check_processes


def train(folder, *options, processes=2):
    launch = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}", "-m", "paintcli"]
    return subprocess.run(
        [sys.executable, *launch, "train", "--mix", "control", "--json", "-o", str(folder), *options],
        capture_output=True, text=True, timeout=900,
        env={**os.environ, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("recipe", "sentence"),
    [
        (Recipe(generations=8, micro_batch=8), "generations must be a multiple of processes × micro_batch"),
        (Recipe(turns=2), "train in one process"),
        (Recipe(warm_start="pool"), "train in one process"),
    ],
)
def test_what_several_processes_cannot_share_is_refused(monkeypatch, recipe, sentence):
    check_processes(recipe, False)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UsageError, match=sentence):
        check_processes(recipe, False)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_processes_learn_and_every_group_is_assessed_once(tmp_path):
    run = tmp_path / "run"
    ran = train(run, "--set", "micro_batch=4", "--set", "save_every=30", "--steps", "30")
    assert ran.returncode == 0, ran.stderr
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    curve = [line["reward"] for line in lines[:-1]]
    assert (len(curve), lines[-1]["rollouts"]) == (30, 240)
    rollouts = list(stream(run))
    assert [(r["step"], r["position_in_group"]) for r in rollouts] == [(s, i) for s in range(30) for i in range(8)]
    assert len({r["code"] for r in rollouts if r["step"] == 0}) > 4  # the processes do not write the same
    assert (run / "state" / "checkpoint-30" / "generation-1.pt").is_file()  # there were two
    assert sum(curve[-5:]) / 5 > sum(curve[:5]) / 5 + 0.1

    longer = train(run, "--resume", "--steps", "34", "--set", "micro_batch=4")
    assert longer.returncode == 0, longer.stderr
    assert len(list(stream(run))) == 34 * 8
    alone = train(run, "--resume", "--steps", "36", "--set", "micro_batch=4", processes=1)
    assert alone.returncode != 0
    assert "This run trained in 2 processes: resume it in as many, not in 1." in alone.stderr
