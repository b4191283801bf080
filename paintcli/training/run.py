"""A run from its recipe to its folder: everything is checked first, then the policy is loaded, probed and trained."""

from __future__ import annotations

import math
import platform
import subprocess
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paintcli.backends.loop import Loop
from paintcli.calibration import Hope
from paintcli.errors import UsageError
from paintcli.files import write_atomic
from paintcli.rollouts import CURVE_COLUMNS, Rollout, RunFolder
from paintcli.training import state
from paintcli.training.film import film
from paintcli.training.policy import ADAPTER, device_of, eyes_of, sampler
from paintcli.training.processes import by_first, is_first, number
from paintcli.training.recipe import FILE, Recipe, resumed
from paintcli.training.task import Group, Sample, Task, complete

if TYPE_CHECKING:
    from paintcli.reward import Assessor
    from paintcli.training.exam import Exam

LIBRARIES = ("paintcli", "torch", "transformers", "trl", "peft", "accelerate", "bitsandbytes")
FILM_EVERY = 10
"""Steps between two versions of film.png."""


@dataclass(frozen=True)
class Event:
    """Something to show. `kind`: "note" (text), "group" (rows of a step), "step" (a curve row), "probe" (a result),
    "exam" (a row of exam.csv, in `curve`; `step` steps are done)."""

    kind: str
    step: int = -1
    text: str = ""
    rows: list[tuple[Rollout, bytes | None]] = field(default_factory=list)
    curve: dict[str, Any] = field(default_factory=dict)
    probe: dict[str, Any] = field(default_factory=dict)


Told = Callable[[Event], None]
Examined = tuple["Exam", Callable[[], "Assessor"]]


@dataclass(frozen=True)
class Outcome:
    """How a run ended. `excluded`: rollouts nobody could judge; `idle`: steps in which that was the whole group."""

    folder: Path
    steps: int
    rollouts: int
    excluded: int
    idle: int


def check_folder(folder: Path, resume: bool) -> None:
    """Raises UsageError for a folder that holds another run, or none where one is to be resumed. Writes nothing."""
    there = (folder / FILE).is_file()
    if resume and not there:
        raise UsageError(f"{folder} holds no run to resume.")
    if resume:
        return
    if there:
        raise UsageError(f"{folder} holds a run already: go on with it by --resume, or name another with --run-tag.")
    # a Job's inputs and its record may lie there before the run does
    if folder.is_dir() and any(p.name not in ("inputs", "job.json", ".cache") for p in folder.iterdir()):
        raise UsageError(f"{folder} is not empty and holds no run; name another folder with -o.")


def check_processes(recipe: Recipe, resume: bool) -> None:
    """Raises UsageError for what several processes cannot train together."""
    processes = number()
    if processes == 1:
        return
    if recipe.accumulation % processes:
        raise UsageError(
            f"{processes} processes cannot share {recipe.generations} replies in micro-batches of "
            f"{recipe.micro_batch}: generations must be a multiple of processes × micro_batch."
        )
    if recipe.turns > 1 or (recipe.warm_start and not resume):
        raise UsageError("A warm start, and replies of several turns, train in one process.")


def open_run(recipe: Recipe, folder: Path, resume: bool) -> tuple[Recipe, Path | None, list[str]]:
    """Make or reopen a run folder: (recipe to run, state to go on from, sentences to say).

    Raises as `check_folder`, and for a folder that was made with another recipe or whose states are all damaged.
    """
    check_folder(folder, resume)
    if not resume:
        write_atomic(folder / FILE, recipe.toml(versions=versions(), run=provenance()).encode())
        return recipe, None, []
    recipe = resumed(Recipe.read(folder), recipe)
    saved, passed = state.newest(folder)
    notes = [f"{p}; going on from the one before." if saved else f"{p}; starting over." for p in passed]
    if saved is not None:
        notes.append(f"Resuming after {state.step_of(saved)} of {recipe.steps} steps.")
    return recipe, saved, notes


class Recorder:
    """Turns assessed groups and logged steps into the run folder, as they happen."""

    def __init__(self, task: Task, loop: Loop, folder: RunFolder, recipe: Recipe, told: Told) -> None:
        self.task, self.loop, self.folder, self.recipe, self.told = task, loop, folder, recipe, told
        self.excluded = self.idle = self.rollouts = 0
        self._hope = Hope()
        self._means: dict[int, dict[str, float | None]] = {}

    def assess(self, samples: list[Sample], step: int, seconds_generate: float) -> list[float | None]:
        group: Group = self.loop.run(self.task.assess(samples, step))
        complete(group, self.folder.run, samples, seconds_generate)
        for rollout, png in group.rows:
            rollout.versions = {**rollout.versions, **versions()}
            self.folder.append(rollout, png)
        rewards = [rollout.reward for rollout, _ in group.rows]
        missing = sum(r is None for r in rewards)
        self.rollouts += len(rewards)
        self.excluded += missing
        self.idle += missing == len(rewards)
        first = group.rows[0][0]
        self._means[step] = {
            "reward": first.step_group_reward,
            "judge_mean": first.group_judge_mean,
            "length_mean": first.group_length_mean,
            "paint_fraction_mean": first.group_paint_mean,
            "quality_mean": first.group_quality_mean,
        }
        lost = self._hope.saw(c["score"] for rollout, _ in group.rows for c in rollout.comparisons)
        for warning in (*group.warnings, *([lost] if lost else [])):
            self.told(Event("note", step, warning))
        if missing:
            reasons = sorted({reason for rollout, _ in group.rows for reason in rollout.unavailable})
            what = "nothing changes" if missing == len(rewards) else f"{len(rewards) - missing} go on"
            text = (
                f"Step {step}: {missing} of {len(rewards)} rollouts could not be judged, {what}: {'; '.join(reasons)}"
            )
            self.told(Event("note", step, text))
        self.told(Event("group", step, rows=group.rows))
        return rewards

    def step(self, step: int, row: dict[str, Any]) -> None:
        means = self._means.pop(step, {})
        row = {"step": step, **row, **means}
        if means.get("reward") is None:  # TRL would write a spread of 0 for a group that has no reward at all
            row["reward_std"] = row["frac_reward_zero_std"] = None
        row = {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in row.items() if k in CURVE_COLUMNS}
        self.folder.append_curve(row)
        if (step + 1) % FILM_EVERY == 0:
            film(self.folder.folder)
        self.told(Event("step", step, curve=row))


def train(
    recipe: Recipe,
    folder: Path,
    task: Task,
    policy: Callable[[], tuple[Any, Any]],
    *,
    saved: Path | None = None,
    told: Told = lambda event: None,
    callbacks: list[Any] | None = None,
    report_to: str = "none",
    examined: Examined | None = None,
) -> Outcome:
    """Run the recipe's steps into `folder` (opened by `open_run`). `policy()` loads (model with adapter, tokenizer).

    `saved` is the state to go on from; without one, warm start and first probe come first. What an interrupted step
    wrote is taken back and done again. `examined`: the exam sat every `recipe.exam_every` steps, and its backends.
    """
    from datasets import Dataset

    from paintcli.training.models import quiet
    from paintcli.training.trainer import BeforeStep, Curve, PaintTrainer, arguments

    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers")
    done = state.step_of(saved) if saved else 0
    files = RunFolder(folder)
    by_first(lambda: files.rewind(done))
    loop = Loop()
    recorder = Recorder(task, loop, files, recipe, told)
    examiner = None
    if examined:
        from paintcli.training.exam import Examiner

        examiner = Examiner(*examined, recipe, folder, loop, done)
    device = device_of(recipe)
    try:
        with quiet():
            model, tokenizer = policy()
            if saved is None:
                by_first(lambda: prepare(recipe, folder, task, loop, model, tokenizer, device, told))

            def examine(step: int) -> None:
                if examiner and examiner.due(step):
                    row = by_first(lambda: examiner.examine(model, tokenizer, step))
                    told(Event("exam", step, curve=row))

            trainer = PaintTrainer(
                assess=recorder.assess,
                look=lambda samples, step: loop.run(task.look(samples, step)),
                turns=recipe.turns,
                eyes=eyes_of(recipe, tokenizer),
                model=model,
                args=arguments(recipe, folder, device, report_to),
                train_dataset=Dataset.from_list([{"prompt": task.prompt}] * recipe.steps),
                processing_class=tokenizer,
                callbacks=[*([Curve(recorder.step)] if is_first() else []), BeforeStep(examine), *(callbacks or [])],
            )
            if done < recipe.steps:
                trainer.train(resume_from_checkpoint=str(saved) if saved else None)
            trainer.save_model(str(folder / ADAPTER))
            examine(recipe.steps)
            if is_first():
                film(folder)
            by_first(lambda: take_probe(recipe, folder, task, loop, model, tokenizer, "after", told))
    finally:
        loop.close()
    return Outcome(folder, recipe.steps, recorder.rollouts, recorder.excluded, recorder.idle)


def prepare(
    recipe: Recipe, folder: Path, task: Task, loop: Loop, model: Any, tokenizer: Any, device: str, told: Told
) -> None:
    """What comes before the first step: the warm start, or the one an interrupted run finished, then the probe."""
    from paintcli.training import warmstart

    if recipe.warm_start:
        kept = folder / warmstart.FOLDER
        if state.flaw(kept) is None:
            from peft import set_peft_model_state_dict
            from safetensors.torch import load_file

            set_peft_model_state_dict(model, load_file(kept / "adapter_model.safetensors"))
        else:
            told(Event("note", text=f"Warm start on {recipe.warm_start} …"))
            result = warmstart.warm_start(recipe, folder, model, tokenizer, task.prompt, device)
            text = "Warm start: {sketches:.0f} sketches, the longest {tokens:.0f} tokens, last loss {loss:.3f}."
            told(Event("note", text=text.format(**result)))
    take_probe(recipe, folder, task, loop, model, tokenizer, "before", told)


def take_probe(
    recipe: Recipe, folder: Path, task: Task, loop: Loop, model: Any, tokenizer: Any, when: str, told: Told
) -> None:
    """The frozen samples, unless the recipe wants none or they are there already."""
    from paintcli.training import probe

    if not recipe.probe or when in probe.stored(folder):
        return
    told(Event("note", text=f"Probe {when} training: {recipe.probe} samples …"))
    result = probe.sample(
        probe.writing(sampler(recipe, model, tokenizer), recipe, task, loop),
        lambda samples, step: loop.run(task.assess(samples, step)),
        folder / f"probe-{when}",
        recipe.probe,
        recipe.generations,
    )
    probe.store(folder, when, result)
    told(Event("probe", text=when, probe=result))


def versions() -> dict[str, str]:
    """Versions of Python and of every library that trains."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def provenance() -> dict[str, str]:
    """When the run began and, in a git checkout, from which commit of this project."""
    found = {"began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    here = Path(__file__).parent
    try:
        git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=here, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return found
    if git.returncode == 0:
        found["commit"] = git.stdout.strip()
    return found


def default_tag(recipe: Recipe) -> str:
    """A run's name when none was given: its mix and the moment."""
    name = "".join(c if c.isalnum() or c == "-" else "-" for c in recipe.mix)
    return f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
