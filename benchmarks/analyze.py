"""Seconds and peak memory of `paint analyze` on 100,000 rollouts without pictures.

    .venv/bin/python benchmarks/analyze.py [ROLLOUTS]

Rows are as a run writes them, with a sketch of about 4,000 characters and four logged comparisons each. Aim: under
5 s and 500 MB. Measured on two cores that others kept busy (load 8 to 10), warm file cache: 4.7 s of CPU for everything
(1.8 of them reading, 1.3 resampling, 0.6 parsing 300 sketches), 3.1 for --by-third; 290 MB. The clock on the wall said
8.3 and 4.4 s there; it is about the CPU time where a core is free.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np

from paintcli.rollouts import Rollout

GROUP = 8


def write(path: Path, rollouts: int) -> None:
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        for index in range(rollouts):
            step, position = divmod(index, GROUP)
            drawn = np.random.default_rng(step).choice(60, 4, replace=False)
            score = float(np.clip(rng.normal(0.4 + 0.3 * index / rollouts, 0.2), 0, 1))
            petals = "".join(
                f"  brush.vertex({x}, {index % 600}); // petal\n" for x in rng.integers(0, 600, 110).tolist()
            )
            rollout = Rollout(
                run="long",
                step=step,
                position_in_group=position,
                reward=0.3 + 0.5 * score,
                code=f"function draw() {{\n{petals}}}",
                file_name=f"images/step-{step:05d}-{position:02d}.png",
                code_chars=4000,
                n_shapes=int(rng.integers(5, 20)),
                brush_methods_used=["fill", "fillBleed", "vertex", "circle"],
                judge_weight=0.6,
                hpsv3_weight=0.3,
                gate=1.0,
                judge=score,
                hpsv3=0.6,
                length=0.4,
                coverage=float(rng.uniform(0.1, 0.4)),
                finish_reason="stop",
                references=[{"name": f"ref-{r}", "tier": "love", "hpsv3_mu": 4.0} for r in drawn.tolist()],
                comparisons=[
                    {"reference": f"ref-{r}", "tier": "love", "forward": score, "backward": score, "score": score}
                    for r in drawn.tolist()
                ],
            )
            file.write(json.dumps(asdict(rollout)) + "\n")


def main() -> None:
    rollouts = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "metadata.jsonl"
        write(path, rollouts)
        size = path.stat().st_size / 1e6
        for arguments in (["--by-third"], []):
            start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [sys.executable, "-m", "paintcli", "analyze", folder, *arguments, "--json"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds = time.perf_counter() - start
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            what = " ".join(arguments) or "everything"
            print(f"{rollouts} rollouts, {size:.0f} MB of JSON, {what}: {seconds:.1f} s ({cpu:.1f} s of CPU), ", end="")
            print(f"{after.ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
