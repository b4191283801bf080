"""The probe: a fixed number of samples with frozen seeds, before and after training. The run's own yardstick.

A step's reward moves with its draw of references; the probe's draws and seeds are the same both times, so its
difference is the policy's.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paintcli.files import write_atomic
from paintcli.rollouts import RunFolder, stream
from paintcli.training.policy import eyes_of
from paintcli.training.task import Group, Sample, complete
from paintcli.training.turns import Dialogue, Eyes, Look, converse

if TYPE_CHECKING:
    from paintcli.backends.loop import Loop
    from paintcli.backends.policy import Policy
    from paintcli.training.recipe import Recipe
    from paintcli.training.task import Task

FILE = "probe.json"
FIRST = 900_000
"""The probe's groups count as steps from here on, where no run ever trains: its draws are nobody else's."""


def sample(
    write: Callable[[int, int], list[Sample]],
    assess: Callable[[list[Sample], int], Group],
    folder: Path,
    count: int,
    group: int,
    told: Callable[[Group, int], None] = lambda group, done: None,
    first: int = FIRST,
    resume: bool = False,
) -> dict[str, Any]:
    """`count` samples in groups of `group`, assessed and written to `folder` as a run; returns `summary(folder)`.

    `write(count, seed)` and `assess(samples, step)` are the policy and the task. With `resume` the groups before the
    first that is not whole stay: whole is one whose every sample is there and was answered.
    """
    files = RunFolder(folder)
    whole = answered(folder, count, group, first) if resume else 0
    files.rewind(first + whole if whole else 0)
    for index in range(whole, math.ceil(count / group)):
        samples = write(min(group, count - index * group), first + index)
        assessed = assess(samples, first + index)
        complete(assessed, folder.name, samples, 0.0)
        for rollout, png in assessed.rows:
            files.append(rollout, png)
        told(assessed, index * group + len(samples))
    return summary(folder)


def answered(folder: Path, count: int, group: int, first: int) -> int:
    """How many groups from the first on are there with nothing unanswered."""
    there = {(r["step"] - first) * group + r["position_in_group"] for r in stream(folder, code=False)
             if not r["unavailable"]}  # fmt: skip
    sizes = [min(group, count - start) for start in range(0, count, group)]
    for index, size in enumerate(sizes):
        if not there.issuperset(range(index * group, index * group + size)):
            return index
    return len(sizes)


def summary(folder: Path) -> dict[str, Any]:
    """Counts, means over the rollouts that have a number, and the quartiles of the reward; all shares 0–1.

    `passed` counts refusals as failures and leaves out what nobody could judge.
    """
    rows = list(stream(folder, code=False))
    rewards = sorted(r["reward"] for r in rows if r["reward"] is not None)

    def mean(name: str) -> float | None:
        known = [r[name] for r in rows if r.get(name) is not None]
        return round(sum(known) / len(known), 6) if known else None

    def quantile(share: float) -> float | None:
        if not rewards:
            return None
        place = share * (len(rewards) - 1)
        low = math.floor(place)
        high = min(low + 1, len(rewards) - 1)
        return round(rewards[low] + (place - low) * (rewards[high] - rewards[low]), 6)

    codes: dict[str, int] = {}
    for row in rows:
        for code in {v["code"] for v in row["violations"]}:
            codes[code] = codes.get(code, 0) + 1
    return {
        "samples": len(rows),
        "unavailable": sum(r["reward"] is None for r in rows),
        "passed": mean("gate"),
        "reward": mean("reward"),
        "reward_quartiles": [quantile(0.25), quantile(0.5), quantile(0.75)],
        "length": mean("length"),
        "judge": mean("judge"),
        "hpsv3": mean("hpsv3"),
        "taste": mean("taste"),
        "coverage": mean("coverage"),
        "tokens": mean("completion_tokens"),
        "violations": dict(sorted(codes.items(), key=lambda item: -item[1])),
    }


def stored(run: Path) -> dict[str, Any]:
    """What is known of a run's probes: {"before": …, "after": …}, either may be missing."""
    path = run / FILE
    found: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found


def store(run: Path, when: str, result: dict[str, Any]) -> None:
    write_atomic(run / FILE, (json.dumps({**stored(run), when: result}, indent=1) + "\n").encode())


def writer(
    policy: Policy,
    prompt: Any,
    turns: int = 1,
    look: Callable[[list[Sample], int], list[Look | None]] | None = None,
    eyes: Eyes | None = None,
) -> Callable[[int, int], list[Sample]]:
    """The `write` of `sample`: a policy's replies to one prompt, after as many turns as in training.

    Equal seed and count, equal replies, on one machine.
    """
    from transformers import set_seed

    def write(count: int, seed: int) -> list[Sample]:
        set_seed(seed)
        asked = [policy.encode(prompt)] * count
        dialogues = [
            Dialogue.begin(p, reply, policy.decode(reply), policy.stops)
            for p, reply in zip(asked, policy.continued(asked), strict=True)
        ]

        def seen(those: Sequence[Dialogue]) -> list[Look | None]:
            assert look is not None
            return look([_sample(d) for d in those], seed)

        converse(dialogues, turns, seen, policy.continued, policy.tokenizer, policy.stops, eyes, policy.thinking)
        return [_sample(d) for d in dialogues]

    return write


def writing(policy: Policy, recipe: Recipe, task: Task, loop: Loop) -> Callable[[int, int], list[Sample]]:
    """The `write` of `sample`: the policy answers the task's prompt, in as many turns as the recipe has."""
    return writer(
        policy,
        task.prompt,
        recipe.turns,
        lambda samples, step: loop.run(task.look(samples, step)),
        eyes_of(recipe, policy.tokenizer),
    )


def _sample(dialogue: Dialogue) -> Sample:
    return Sample(dialogue.text, sum(dialogue.own), "stop" if dialogue.ended else "length")
