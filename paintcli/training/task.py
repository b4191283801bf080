"""What a policy is trained on: a prompt, and a way from a group of replies to rollouts with rewards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from paintcli.rollouts import Rollout
from paintcli.training.turns import Look


@dataclass(frozen=True)
class Sample:
    """One reply of the policy. `finish` is "length" when it was cut off."""

    text: str
    tokens: int
    finish: Literal["stop", "length"]


@dataclass(frozen=True)
class Group:
    """The assessed replies of one step in order: (rollout, its picture as PNG or None). `warnings` are sentences."""

    rows: list[tuple[Rollout, bytes | None]]
    warnings: tuple[str, ...] = field(default=())


class Task(Protocol):
    """Prompt and reward. `prompt` is a chat, or plain text for a model without a chat template."""

    @property
    def prompt(self) -> Any: ...

    @property
    def labels(self) -> Mapping[str, str]:
        """Which backend answers for what, in words."""
        ...

    async def assess(self, samples: Sequence[Sample], step: int) -> Group:
        """A rollout for every sample; `reward` None where nobody could judge. Raises only for our own bugs."""
        ...

    async def look(self, samples: Sequence[Sample], step: int) -> list[Look | None]:
        """What each sample is shown of its own painting before its next turn; None: nobody could paint it."""
        ...


def complete(group: Group, run: str, samples: Sequence[Sample], seconds_generate: float) -> None:
    """Fill in what only the whole group knows: its means, the run's name, how the replies ended."""
    rollouts = [rollout for rollout, _ in group.rows]

    def mean(values: Sequence[float | None]) -> float | None:
        known = [v for v in values if v is not None]
        return sum(known) / len(known) if known else None

    reward = mean([r.reward for r in rollouts])
    judge, length = mean([r.judge for r in rollouts]), mean([r.length for r in rollouts])
    paint, quality = mean([r.coverage for r in rollouts]), mean([r.hpsv3 for r in rollouts])
    for rollout, sample in zip(rollouts, samples, strict=True):
        rollout.run = run
        rollout.step_group_reward = reward
        rollout.group_judge_mean, rollout.group_length_mean = judge, length
        rollout.group_paint_mean, rollout.group_quality_mean = paint, quality
        rollout.finish_reason, rollout.completion_tokens = sample.finish, sample.tokens
        rollout.seconds_generate = round(seconds_generate, 3)
