"""A run as a Job on the Hub: what it is told, what travels with it, and what it pushes while it lives."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paintcli import __version__
from paintcli.backends.hub import jobs
from paintcli.errors import PaintError, Unavailable, UsageError
from paintcli.files import write_atomic
from paintcli.training import state
from paintcli.training.recipe import Recipe, compose
from paintcli.training.survey import Survey

FLAVOR = "h200"
PUSH_EVERY = 10
"""Steps between pushes: the disk dies with the Job, and a push of 300 MB takes half a minute of a step's seventeen."""
INPUTS = "inputs"
RECORD = "job.json"
CARRIED = {"pool": "pool", "domain": "domain.toml", "warm_start": "warm-start", "model": "model"}
"""Values of a recipe that may name something on this disk → its name among the Job's inputs."""
LEFT_HERE = ("device", "memory_gb", "workers")
"""Values that describe this machine, not the Job's."""


@dataclass(frozen=True)
class Plan:
    """A Job, the arguments of the `paint train` inside it, and the local files that go with it."""

    job: jobs.Job
    arguments: tuple[str, ...]
    carried: dict[str, Path]
    repo: str


def plan(recipe: Recipe, seen: Survey, tag: str, wheel: Path | None = None) -> Plan:
    """The plan of `recipe` as a Job; `wheel` None names the one that would be built. Nothing is built or sent."""
    defaults = compose(recipe.mix)
    carried: dict[str, Path] = {}
    sets: list[str] = []
    for name, value, default in recipe.differences(defaults):
        if name in LEFT_HERE or value in (None, ""):
            continue
        if name in CARRIED:
            path, colon, condition = str(value).partition(":") if name == "warm_start" else (str(value), "", "")
            if Path(path).exists():
                carried[CARRIED[name]] = Path(path)
                value = f"{{inputs}}/{CARRIED[name]}{colon}{condition}"
        if value != default:
            sets += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    for role in ("judge", "scorer"):
        if str(getattr(recipe, role)).startswith(("gguf:", "vlm:/", "vlm:.")):
            raise UsageError(f"The {role} {getattr(recipe, role)} lies on this disk; for a Job name one the Hub has.")
    cores = "23"  # an H200 Job's; rendering runs beside the GPU
    arguments = ("--mix", recipe.mix, *sets, "--workers", cores, "--json")
    repo = f"paint-{tag}"
    file = wheel or Path(f"dist/paintcli-{__version__}-py3-none-any.whl")
    job = jobs.Job(
        script=str(Path(__file__).with_name("job.py")),
        arguments=(str(file), repo),
        dependencies=(f"paintcli[train] @ file://{jobs.MOUNT}/{file.name}", "torch==2.13.0"),
        flavor=FLAVOR,
        hours=seen.pace.timeout_hours,
    )
    return Plan(job, arguments, carried, repo)


def build_wheel(into: Path) -> Path:
    """The project's wheel, built from the checkout this code lies in. Raises PaintError when it cannot be."""
    source = Path(__file__).parents[2]
    if not (source / "pyproject.toml").is_file():
        raise PaintError("A Job carries the project's wheel, which is built from a checkout: run this from one.")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(into), str(source)]
    # one date for all that is inside: equal sources, equal bytes, and a second upload finds nothing new
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "946684800"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    wheels = sorted(into.glob("paintcli-*.whl"))
    if done.returncode or not wheels:
        raise PaintError(f"The wheel could not be built: {done.stderr.strip().splitlines()[-1:] or 'no reason given'}.")
    return wheels[-1]


def submit(recipe: Recipe, seen: Survey, tag: str, folder: Path) -> dict[str, str]:
    """Send inputs and Job; the run folder remembers both in job.json: {"job", "repo"}."""
    with tempfile.TemporaryDirectory() as scratch:
        made = plan(recipe, seen, tag, build_wheel(Path(scratch)))
        repo = jobs.repository(made.repo)
        inputs = Path(scratch) / INPUTS
        inputs.mkdir()
        for name, path in made.carried.items():
            (shutil.copytree if path.is_dir() else shutil.copyfile)(path, inputs / name)
        (inputs / "arguments.json").write_text(json.dumps(made.arguments), "utf-8")
        jobs.put(repo, str(inputs), INPUTS)
        values = {**asdict(made.job), "arguments": (made.job.arguments[0], repo)}
        record = {"job": jobs.submit(jobs.Job(**values)), "repo": repo}
    write_atomic(folder / RECORD, json.dumps(record).encode())
    return record


def record(folder: Path) -> dict[str, str] | None:
    """The Job of a run folder, None when it has none."""
    path = folder / RECORD
    return json.loads(path.read_text("utf-8")) if path.is_file() else None


def fetch(folder: Path, repo: str) -> None:
    """What the Job pushed, into the run folder."""
    jobs.get(repo, str(folder))


class Pusher:
    """Pushes a run folder every ten steps and at the end: rollouts, curve, film, adapter and the newest whole state.

    A push that fails is told and made good by the next.
    """

    def __init__(self, folder: Path, repo: str, told: Callable[[str], None]) -> None:
        self.folder, self.repo, self.told = folder, repo, told

    def callback(self) -> Any:
        from transformers import TrainerCallback

        push = self.push

        class Push(TrainerCallback):
            def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
                if state.global_step % PUSH_EVERY == 0:
                    push()

        return Push()

    def push(self) -> bool:
        newest, _ = state.newest(self.folder)
        states = [p.name for p in (self.folder / state.FOLDER).glob("checkpoint-*") if p != newest]
        ignore = [".cache/*", f"{INPUTS}/*", *(f"{state.FOLDER}/{name}/*" for name in states)]
        try:
            jobs.put(self.repo, str(self.folder), ignore=ignore, delete=[f"{state.FOLDER}/*"])
        except Unavailable as outage:
            self.told(f"{outage} The next push makes up for it.")
            return False
        return True
