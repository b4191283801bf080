"""Forecasts against outcomes: tiny GRPO runs on the CPU, each foretold from 32 samples taken before its first step.

    python -m benchmarks.forecast [--only NAME,…] [--json FILE]
    python -m benchmarks.forecast --again results/forecast/runs.json
    python -m benchmarks.forecast --curves tests/data/published/*.csv

The policy is the control task's: a random two-layer model that writes 24 digits. A "painting" is a number read off
them (the share of sevens, of climbing neighbours, of different digits, of even ones), a "reference" a level of that
number, and the judge's win share follows from the two, so that every kind of pool and judge can be made: out of reach,
beneath the policy, indifferent, tossing coins. The trainer, the mix, the draw and the forecast are the real ones.

The formula, RESPONSE and LEARNS in paintcli/forecast.py were set on the runs marked `tuning`, then the others were run
once.
Outcome: mean reward of 64 samples after the run, minus that of 64 before, over every reference that can be drawn; a
run has learned when that is 0.05 or more.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from paintcli import forecast as fc
from paintcli.gate import Violation
from paintcli.judging import Comparison
from paintcli.pool import Pool, Reference, shares_of
from paintcli.reward import Mix, combine
from paintcli.rollouts import Rollout, read_curve, stream
from paintcli.training import control, run
from paintcli.training.models import configuration
from paintcli.training.policy import load_policy
from paintcli.training.recipe import Recipe, compose
from paintcli.training.task import Group, Sample
from paintcli.training.turns import Look

PLACES = 24
SAMPLES = 32
"""What the forecast sees of the probe's 64."""

MEASURES: dict[str, Callable[[list[str]], float]] = {
    "sevens": lambda words: words.count("7") / PLACES,
    "even": lambda words: sum(w in "02468" for w in words) / PLACES,
    "climbing": lambda words: sum(a < b for a, b in pairwise(words)) / (PLACES - 1),
    "different": lambda words: len(set(words)) / 10,
}

Judge = Callable[[float, float, str], tuple[float, float]]
"""(the candidate's number, the reference's level, a key of the pair) → (forward, backward)."""


def soft(width: float) -> Judge:
    """Sure by how far the two lie apart."""

    def prefer(number: float, level: float, key: str) -> tuple[float, float]:
        share = 1 / (1 + math.exp(-max(-60.0, min((number - level) / width, 60.0))))
        return share, share

    return prefer


TENTH = soft(0.1)


def verdict(number: float, level: float, key: str) -> tuple[float, float]:
    """0 or 1, equals go to whoever is shown first."""
    return float(number >= level), float(number > level)


def first_shown(number: float, level: float, key: str) -> tuple[float, float]:
    """Saturated: whoever is shown first wins, so every share is ½."""
    return 1.0, 0.0


class Coin:
    """Tells the truth with probability `truth`, else tosses."""

    def __init__(self, truth: float = 0.0) -> None:
        self.truth, self.random = truth, random.Random(1)

    def __call__(self, number: float, level: float, key: str) -> tuple[float, float]:
        return self._one(number > level), self._one(number > level)

    def _one(self, wins: bool) -> float:
        return float(wins) if self.random.random() < self.truth else float(self.random.random() < 0.5)


def whim(number: float, level: float, key: str) -> tuple[float, float]:
    """Always the same answer to the same pair, and no rule in it: taste that is in the pair, not in the painting."""
    share = int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) / 0xFFFFFFFF
    return share, share


@dataclass(frozen=True)
class Trial:
    """One run. `levels`: lowest and highest level of the weak, okay and love references together."""

    name: str
    what: str
    measure: str = "sevens"
    levels: tuple[float, float] = (0.02, 0.5)
    judge: Judge = TENTH
    mix: str = "gate=.1,judge=.9"
    gate: Callable[[list[str]], bool] = lambda words: True
    lost: float = 0.0
    """Share of the rollouts nobody can judge."""
    seed: int = 0
    learning_rate: float = 3e-3
    steps: int = 60
    generations: int = 8
    schedule: str = "constant_with_warmup"
    tuning: bool = False


TRIALS = (
    Trial("t-good", "levels about the policy's", tuning=True),
    Trial("t-hard", "no level can be reached, verdicts", levels=(0.8, 0.98), judge=verdict, tuning=True),
    Trial("t-easy", "every level lies beneath", levels=(-0.3, -0.05), judge=verdict, tuning=True),
    Trial("t-first", "judge: the first shown wins", judge=first_shown, tuning=True),
    Trial("t-coin", "judge tosses coins", judge=Coin(), tuning=True),
    Trial("t-slow", "good pool, rate 1e-6", learning_rate=1e-6, tuning=True),
    Trial("t-slower", "good pool, rate 1e-4", learning_rate=1e-4, tuning=True),
    Trial("t-middle", "good pool, rate 3e-4", learning_rate=3e-4, tuning=True),
    Trial("t-rare", "one sample in 32 wins, verdicts", "climbing", (0.1, 0.7), verdict, seed=1, tuning=True),
    Trial("t-empty", "the first shown wins, 8 % refused", judge=first_shown, gate=bool, tuning=True),
    Trial("t-far", "levels far, a soft judge", levels=(0.6, 0.95), judge=soft(0.12), tuning=True),
    Trial("good", "levels about the policy's, verdicts", "different", (0.2, 0.8), verdict, seed=19),
    Trial("different", "another number, soft judge", "different", (0.3, 0.9), soft(0.15), seed=2),
    Trial("hard", "no level can be reached, verdicts", "climbing", (0.9, 0.99), verdict, seed=3),
    Trial("hard-2", "no level can be reached, verdicts", "even", (1.05, 1.2), verdict, seed=4),
    Trial("easy", "every level lies beneath", "even", (-0.4, -0.1), soft(0.05), seed=5),
    Trial("saturated", "everything is won by far", "different", (-2.0, -1.5), soft(0.2), seed=6),
    Trial("first", "judge: the first shown wins", "even", (0.2, 0.8), first_shown, seed=7),
    Trial("coin", "judge tosses coins", "even", (0.2, 0.8), Coin(), seed=8),
    Trial("noisy", "judge tosses every second coin", "even", (0.2, 0.8), Coin(0.5), seed=9),
    Trial("whim", "judge's taste is in the pair", "even", (0.2, 0.8), whim, seed=10),
    Trial("gated", "passes with a 3 before a 5", "even", (0.2, 0.8), soft(0.1), seed=11,
          gate=lambda words: "3" in words and "5" in words[words.index("3"):]),
    Trial("shut", "the gate lets nothing through", "even", (0.2, 0.8), soft(0.1), seed=12, gate=lambda words: False),
    Trial("outages", "half of all rollouts lost", "even", (0.2, 0.8), soft(0.1), seed=13, lost=0.5),
    Trial("score", "no judge: the number itself", "climbing", mix="gate=.1,hpsv3=.9", seed=14),
    Trial("weightless", "a judge of weight .04", "even", (0.2, 0.8), verdict, "gate=.96,judge=.04", seed=15),
    Trial("slow", "good pool, rate 5e-6", "even", (0.2, 0.8), soft(0.1), seed=16, learning_rate=5e-6),
    Trial("short", "good pool, 6 steps, linear", "even", (0.2, 0.8), soft(0.1), seed=17, steps=6, schedule="linear"),
    Trial("few", "good pool, groups of 4", "even", (0.2, 0.8), soft(0.1), seed=18, generations=4),
)  # fmt: skip


class Contest:
    """A `Task`: replies are measured, gated and held against the pool's levels."""

    prompt = control.PROMPT
    labels: Mapping[str, str] = MappingProxyType({"judge": "embedded"})

    def __init__(self, trial: Trial, recipe: Recipe) -> None:
        self.trial, self.recipe, self.mix = trial, recipe, Mix.parse(trial.mix)
        self.random, self.judge = random.Random(trial.seed), deepcopy(trial.judge)  # a fresh coin
        low, high = trial.levels
        rows = [
            {"file_name": f"{tier}-{i}", "level": low + (high - low) * (10 * rank + i) / 29, "reserved": False}
            for rank, tier in enumerate(("weak", "okay", "love"))
            for i in range(10)
        ]
        entries = (Reference(Path(str(r["file_name"])), None, str(r["file_name"])[:4], "", "", r) for r in rows)
        self.pool = Pool(trial.name, Path(trial.name), tuple(entries))

    def draw(self, step: int) -> tuple[Reference, ...]:
        return self.pool.draw(shares_of(4), self.recipe.group_seed(step)).references

    def rollout(self, text: str, references: Sequence[Reference], lost: bool = False) -> Rollout:
        words = text.split()
        number = MEASURES[self.trial.measure](words)
        violations = () if self.trial.gate(words) else (Violation("refused", None, ""),)
        duels = [
            Comparison(r.name, r.tier, *self.judge(number, r.row["level"], f"{text}\0{r.name}"))
            for r in (() if violations or not self.mix.wants("judge") else references)
        ]
        judge = sum(d.score for d in duels) / len(duels) if duels else None
        terms = {"gate": None if lost else float(not violations), "length": len(words) / PLACES, "hpsv3": number}
        reward = combine(self.mix, {**terms, "judge": judge}, violations=() if lost else violations)
        return Rollout(
            run="", step=0, position_in_group=0, reward=reward.value, code=text, code_chars=len(text), **terms,
            judge=judge, comparisons=[d.to_json() for d in duels], judge_weight=self.mix.weights["judge"],
        )  # fmt: skip

    async def assess(self, samples: Sequence[Sample], step: int) -> Group:
        references = self.draw(step)
        rows = []
        for position, sample in enumerate(samples):
            rollout = self.rollout(sample.text, references, self.random.random() < self.trial.lost)
            rollout.step, rollout.position_in_group = step, position
            rows.append((rollout, None))
        return Group(rows)

    async def look(self, samples: Sequence[Sample], step: int) -> list[Look | None]:
        raise NotImplementedError("one turn")


def recipe_of(trial: Trial) -> Recipe:
    values = {name: getattr(trial, name) for name in ("seed", "learning_rate", "steps", "generations", "schedule")}
    return compose(
        "control", None, {**values, "micro_batch": trial.generations, "probe": 2 * SAMPLES, "save_every": 999}
    )


def foretell(trial: Trial, texts: Sequence[str]) -> fc.Forecast:
    """The forecast of a trial from replies of its untrained policy: what `paint forecast` does."""
    recipe = recipe_of(trial)
    contest = Contest(trial, recipe)
    rows = [asdict(contest.rollout(t, contest.pool.drawable, contest.random.random() < trial.lost)) for t in texts]
    table = fc.Table.of(rows)
    draws = [[r.name for r in contest.draw(step)] for step in range(trial.steps)]
    plan = fc.plan_of(recipe, control.policy(recipe)[0].config)
    return fc.forecast(table, contest.mix, plan, fc.meetings(table, draws))


def kept(told: fc.Forecast) -> dict[str, Any]:
    """What of a forecast the tables show."""
    told_json = told.to_json()
    return {name: told_json[name] for name in ("verdict", "predicted_gain", "reward", "groups", "variance")}


def replies(folder: Path, when: str) -> list[str]:
    rows = sorted(stream(folder / f"probe-{when}"), key=lambda r: (r["step"], r["position_in_group"]))
    return [row["code"] for row in rows]


def level(contest: Contest, texts: Sequence[str]) -> float:
    """Mean reward against everything that can be drawn, nothing lost."""
    rewards = [contest.rollout(text, contest.pool.drawable).reward for text in texts]
    known = [r for r in rewards if r is not None]
    return sum(known) / len(known)


def attempt(trial: Trial, folder: Path) -> dict[str, Any]:
    """Forecast, run, outcome."""
    recipe = recipe_of(trial)
    contest = Contest(trial, recipe)
    started = time.process_time()
    run.train(recipe, folder, contest, lambda: load_policy(recipe))
    before, after = replies(folder, "before"), replies(folder, "after")
    told = foretell(trial, before[:SAMPLES])
    start, end = level(contest, before), level(contest, after)
    return {
        "name": trial.name, "what": trial.what, "tuning": trial.tuning, "texts": before[:SAMPLES],
        "before": start, "after": end, "gain": end - start, "learned": end - start >= fc.LEARNS,
        "forecast": kept(told), "cpu_seconds": time.process_time() - started,
    }  # fmt: skip


def table(results: Sequence[Mapping[str, Any]]) -> str:
    """Markdown: one line a run."""
    lines = [
        "| run | what it is | reward before → after | gain | predicted (80 %) | chance | spread | own | live "
        "| forecast | outcome | |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for r in results:
        f = r["forecast"]
        g = f["predicted_gain"]
        right = (f["verdict"] == "likely to learn") == r["learned"]
        lines.append(
            f"| {r['name']} | {r['what']} | {r['before']:.2f} → {r['after']:.2f} | {r['gain']:+.2f} | "
            f"{g['value']:+.2f} ({g['low']:+.2f} to {g['high']:+.2f}) | {g['chance']:.0%} | "
            f"{f['reward']['within_sd']:.3f} | {f['variance']['confirmed']:.0%} | "
            f"{1 - f['groups']['dead']['value']:.0%} | {f['verdict']} | "
            f"{'learned' if r['learned'] else 'flat'} | {'✓' if right else '✗'} |"
        )
    return "\n".join(lines)


def rows_of(results: Sequence[Mapping[str, Any]]) -> str:
    """JSON, a line a run."""
    return "[\n" + ",\n".join(json.dumps(r, ensure_ascii=False) for r in results) + "\n]\n"


def of_curve(path: Path) -> str:
    """A published run foretold from its first ten steps' mean and spread of reward, a line of Markdown.

    Its recipe is ours by default. How much of the spread is the policy's own is not in a curve: all and half of it.
    """
    rows = read_curve(path)
    level = sum(float(r["reward"]) for r in rows[:10]) / 10
    variance = sum(float(r["reward_std"]) ** 2 for r in rows[:10]) / 10
    last = [float(r["reward"]) for r in rows[-(len(rows) // 3) :]]
    recipe = compose("judge-led", None, {"steps": len(rows)})
    plan = fc.plan_of(recipe, configuration(recipe.model))
    predicted = []
    for own in (0.5, 1.0):
        moments = fc.Moments(*(np.array(x) for x in ([[1.0]], [1.0], [[level]], [[variance * own]], [variance])))
        predicted.append(float(moments.gained(fc.RESPONSE * plan.reach * math.sqrt(plan.generations))[0]))
    return (
        f"| {path.stem} | {len(rows)} | {plan.reach:.3f} | {level:.3f} | {math.sqrt(variance):.3f} | "
        f"{predicted[0]:+.2f} to {predicted[1]:+.2f} | {sum(last) / len(last) - level:+.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names of runs, joined by commas")
    parser.add_argument("--again", type=Path, help="no runs: forecast anew from the replies in this file")
    parser.add_argument("--json", type=Path, help="write every result here too")
    parser.add_argument("--curves", type=Path, nargs="+", help="no runs: published curves against their forecasts")
    asked = parser.parse_args()
    if asked.curves:
        print("| run | steps | reach | reward, first ten steps | spread | predicted gain | gain, last third |")
        print("|---|---|---|---|---|---|---|")
        print("\n".join(map(of_curve, asked.curves)))
        return
    wanted = [t for t in TRIALS if not asked.only or t.name in asked.only.split(",")]
    results = []
    if asked.again:
        known = {t.name: t for t in wanted}
        results = [r for r in json.loads(asked.again.read_text()) if r["name"] in known]
        for result in results:
            result["forecast"] = kept(foretell(known[result["name"]], result["texts"]))
        wanted = []
        if asked.json:
            asked.json.write_text(rows_of(results))
    with tempfile.TemporaryDirectory() as folder:
        for trial in wanted:
            results.append(attempt(trial, Path(folder) / trial.name))
            print(table(results[-1:]).splitlines()[-1], flush=True)
            if asked.json:
                asked.json.write_text(rows_of(results))
    for tuning, title in ((True, "Tuning"), (False, "Trial")):
        print(f"\n{title}\n\n{table([r for r in results if r['tuning'] is tuning])}")


if __name__ == "__main__":
    main()
