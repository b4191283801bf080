"""What `paint --help` costs over a bare interpreter, run alternately so that a noisy machine disturbs both alike.

    python benchmarks/startup.py [--rounds 20]

Prints a table and one JSON line: the median seconds of each and the median of the paired differences.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "paint --version": [sys.executable, "-m", "paintcli", "--version"],
    "paint --help": [sys.executable, "-m", "paintcli", "--help"],
    "paint render --help": [sys.executable, "-m", "paintcli", "render", "--help"],
}


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    for command in COMMANDS.values():
        seconds(command)  # bytecode and disk cache warm for everybody
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(rounds):
        for name, command in COMMANDS.items():
            times[name].append(seconds(command))
    bare = times["python -c pass"]
    report = {}
    print(f"{'command':22} {'median s':>9} {'over python':>12}")
    for name, took in times.items():
        over = statistics.median(t - b for t, b in zip(took, bare, strict=True))
        report[name] = {"median_s": round(statistics.median(took), 4), "over_python_s": round(over, 4)}
        print(f"{name:22} {statistics.median(took):9.3f} {over:12.3f}")
    print(json.dumps({"benchmark": "startup", "rounds": rounds, **report}))


if __name__ == "__main__":
    main()
