"""The exam: a frozen test that training cannot touch, one number of which every run, step and model can be told.

A fixed number of samples is written to a fixed prompt with fixed seeds and meets references that no training ever
draws (`Pool.reserved`), each in both orders. The score is the mean win share over samples and references; a sample
that the gate refuses wins nothing, one that nobody could judge is left out and counted. No mix has a part in it.

What comes out is kept under a hash of everything that went in, so nothing is written, painted or judged twice.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paintcli import __version__, rollouts
from paintcli.backends.policy import saved_adapter
from paintcli.backends.protocols import Comparer
from paintcli.domains import Domain
from paintcli.errors import UsageError
from paintcli.files import append_json_line, mend, write_atomic
from paintcli.painting import Painting
from paintcli.pool import REFUSED_TIER, SMALLEST_SPLIT, Draw, Pool, Reference, fair_order, locked, shares_of
from paintcli.reward import Assessor, Mix
from paintcli.rollouts import EXAM, EXAM_COLUMNS
from paintcli.sketch import files_in
from paintcli.training import probe, sampling
from paintcli.training.recipe import EXAM_REFERENCES, Recipe
from paintcli.training.studio import Studio, open_studio
from paintcli.training.task import Group, Sample

if TYPE_CHECKING:
    import numpy as np

    from paintcli.analysis.statistics import Estimate
    from paintcli.backends.loop import Loop

SAMPLES = 32
"""Unless told otherwise."""
LEAST_SAMPLES = 8
LEAST_REFERENCES = 4
GROUP = 8
"""Samples written in one batch: of the exam, not of the run, as the batch decides what a seed writes."""
FIRST = 950_000
"""Seed of the first batch, beyond every step of a run and every probe."""
MIX = "judge=1"

FOLDER = "exams"
"""Of a run: its results, one JSON file each."""


@dataclass(frozen=True)
class Exam:
    """What everybody sits. `judge` is a spec; `references` are reserved ones of `pool`."""

    domain: Domain
    pool: Pool
    judge: str
    references: tuple[Reference, ...]
    samples: int = SAMPLES

    @classmethod
    def of(cls, domain: Domain, pool: Pool, judge: str, samples: int = SAMPLES) -> Exam:
        """Raises UsageError for too few samples, and for a pool that reserves too few references."""
        if samples < LEAST_SAMPLES:
            raise UsageError(
                f"An exam takes at least {LEAST_SAMPLES} samples, not {samples}: fewer tell nothing apart."
            )
        kept = [r for r in pool.reserved if r.tier != REFUSED_TIER]
        if len(kept) < LEAST_REFERENCES:
            raise UsageError(
                f"An exam needs {LEAST_REFERENCES} references that training never draws, and {pool.path} reserves "
                f"{len(kept)} of its {len(pool.rated)} paintings (a fifth of each tier of {SMALLEST_SPLIT} or more): "
                "rate more, or mark some with the column reserved."
            )
        if len(kept) > EXAM_REFERENCES:
            kept = list(pool.draw(shares_of(EXAM_REFERENCES), entries=kept).references)
        return cls(domain, pool, judge, tuple(sorted(kept, key=lambda r: r.name)), samples)

    @property
    def strata(self) -> list[str]:
        return [r.tier for r in self.references]

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What decides the number, beside who sits it."""
        return {
            "version": __version__,
            "domain": json.loads(json.dumps(asdict(self.domain), default=sorted)),
            "judge": self.judge,
            # the embedded judge is what it learned from
            "judge_pool": self.pool.digest if self.judge == "taste" else None,
            "references": {r.name: [r.tier, hashlib.sha256(r.path.read_bytes()).hexdigest()] for r in self.references},
            "samples": self.samples,
            "seeds": [FIRST, GROUP],
        }

    @cached_property
    def digest(self) -> str:
        return _hash(self.facts)


@dataclass(frozen=True)
class Entrant:
    """Who sits an exam. `digest` is a hash of everything that decides what it writes; `run` keeps its results.

    `open(hall, loop)` gives the `write(count, seed)` of `probe.sample`; a model is read only then. `seeded`: the same
    seeds drive it as every other policy, so samples pair; not so a folder of finished sketches.
    """

    name: str
    digest: str
    open: Callable[[Hall, Loop], Callable[[int, int], list[Sample]]]
    step: int | None = None
    run: Path | None = None
    recipe: Recipe | None = None
    seeded: bool = True
    most: int | None = None
    """Samples there are; None: as many as are asked for."""

    def check(self, exam: Exam) -> None:
        """Raises UsageError when there are fewer samples than the exam takes."""
        if self.most is not None and self.most < LEAST_SAMPLES:
            raise UsageError(
                f"{self.name} has {self.most} of the {LEAST_SAMPLES} sketches that an exam takes at least: add some."
            )
        if self.most is not None and self.most < exam.samples:
            raise UsageError(
                f"{self.name} holds {self.most} sketches and this exam takes {exam.samples}: name fewer with -n."
            )


class Hall(Studio):
    """The studio of an exam: nothing but the judge counts, and every group meets the same references."""

    def __init__(self, exam: Exam, assessor: Assessor, recipe: Recipe | None) -> None:
        plain = replace(recipe or Recipe(), mix=MIX, pigment=0.0, subject=exam.domain.subject, seed=0)
        super().__init__(plain, exam.domain, assessor, exam.pool)
        self.references = exam.references

    def draw(self, step: int) -> Draw:
        return Draw(self.references)


@dataclass(frozen=True)
class Result:
    """What one entrant made of an exam. `table`: a row of win shares (0–1, one a reference) for each sample, None for
    one that nobody could judge; `passed`: the gate's verdict on each."""

    name: str
    step: int | None
    exam: str
    key: str
    seeded: bool
    strata: list[str]
    table: list[list[float] | None]
    passed: list[bool | None]

    @property
    def judged(self) -> list[int]:
        return [i for i, row in enumerate(self.table) if row is not None]

    @property
    def unavailable(self) -> int:
        return len(self.table) - len(self.judged)

    def rows(self, indices: Sequence[int] | None = None) -> np.ndarray:
        """The shares of these samples (default: all that were judged), shape (samples, references)."""
        import numpy as np

        chosen = self.judged if indices is None else indices
        return np.array([self.table[i] for i in chosen], dtype=float).reshape(len(chosen), len(self.strata))

    @property
    def score(self) -> Estimate:
        """The mean share with its interval over samples and references (`statistics.crossed`)."""
        import numpy as np

        from paintcli.analysis.statistics import crossed

        return crossed(self.rows(), np.array(self.strata))

    def minus(self, other: Result) -> tuple[Estimate, bool]:
        """The difference to another's score, and whether sample was paired with sample. Raises UsageError when the two
        sat different exams."""
        import numpy as np

        from paintcli.analysis.statistics import crossed_difference

        if self.exam != other.exam:
            raise UsageError(f"{self.name} and {other.name} sat different exams, so their scores do not compare.")
        paired = self.seeded and other.seeded
        both = sorted(set(self.judged) & set(other.judged)) if paired else None
        found = crossed_difference(self.rows(both), other.rows(both), np.array(self.strata), paired)
        return found, paired

    def to_json(self) -> dict[str, Any]:
        score, known = self.score, [p for i, p in enumerate(self.passed) if self.table[i] is not None]
        return {
            "name": self.name, "step": self.step, "score": number(score.value), "low": number(score.low),
            "high": number(score.high), "samples": len(known),
            "passed": number(sum(map(bool, known)) / len(known)) if known else None,
            "unavailable": self.unavailable, "exam": self.exam, "key": self.key,
        }  # fmt: skip


def number(value: float) -> float | None:
    """For JSON and CSV: six digits, None for what is not known."""
    return None if math.isnan(value) else round(value, 6)


# -- sitting it ----------------------------------------------------------------------------------------------------


def take(
    exam: Exam,
    entrant: Entrant,
    assessor: Callable[[], Assessor],
    loop: Loop,
    told: Callable[[Group, int], None] = lambda group, done: None,
) -> Result:
    """The result of `entrant`: found again where it is known, else earned; one that was killed goes on where it was.

    `assessor()` opens the backends and is not called for a known result. Raises PaintError when the policy cannot be
    loaded.
    """
    key = _hash([exam.digest, entrant.digest])
    at_home = cache_folder() / f"{key}.json"
    beside = [entrant.run / FOLDER / f"{key}.json"] if entrant.run else []
    stored = next((json.loads(p.read_text("utf-8")) for p in (*beside, at_home) if p.is_file()), None)
    if stored is None:
        folder = cache_folder() / key
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder):  # two runs over one model begin with the same exam
            hall = Hall(exam, remembering(assessor(), folder / "answers.jsonl"), entrant.recipe)
            probe.sample(
                kept(cache(lambda: entrant.open(hall, loop)), folder / "replies.jsonl"),
                lambda samples, step: loop.run(hall.assess(samples, step)),
                folder,
                exam.samples,
                GROUP,
                told,
                first=FIRST,
                resume=True,
            )
        stored = {"facts": exam.facts, **read(folder, exam)}
    result = Result(
        entrant.name, entrant.step, exam.digest, key, entrant.seeded, exam.strata, stored["table"], stored["passed"]
    )
    if not result.unavailable:  # else the next time asks again for what is missing
        for path in (*beside, at_home):
            if not path.is_file():
                write_atomic(path, (json.dumps(stored, ensure_ascii=False) + "\n").encode())
    return result


def read(folder: Path, exam: Exam) -> dict[str, Any]:
    """{"table", "passed"} of the rollouts in `folder`, in the order of their samples."""
    table: list[list[float] | None] = []
    passed: list[bool | None] = []
    for row in sorted(rollouts.stream(folder, code=False), key=lambda r: (r["step"], r["position_in_group"])):
        passed.append(None if row["gate"] is None else bool(row["gate"]))
        if row["gate"] == 0:
            table.append([0.0] * len(exam.references))
        elif row["unavailable"]:
            table.append(None)
        else:
            share = {c["reference"]: c["score"] for c in row["comparisons"]}
            table.append([share[r.name] for r in exam.references])
    return {"table": table, "passed": passed}


def kept(opened: Callable[[], Callable[[int, int], list[Sample]]], path: Path) -> Callable[[int, int], list[Sample]]:
    """A `write` that puts every batch of replies down in `path` before it hands it on, and writes none twice."""
    mend(path)
    known: dict[int, list[dict[str, Any]]] = {row["seed"]: row["replies"] for row in rollouts.rows(path)}

    def write(count: int, seed: int) -> list[Sample]:
        if seed not in known:
            known[seed] = [asdict(sample) for sample in opened()(count, seed)]
            append_json_line(path, {"seed": seed, "replies": known[seed]})
        return [Sample(**reply) for reply in known[seed]]

    return write


class Remembering:
    """A `Comparer` that asks nothing twice: answers by the bytes of the two pictures, put down as they come."""

    def __init__(self, comparer: Comparer, path: Path) -> None:
        self.comparer, self.path = comparer, path
        mend(path)
        self.known: dict[str, float] = {row["pictures"]: row["first"] for row in rollouts.rows(path)}

    async def prefer(self, first: Painting, second: Painting, criteria: str) -> float:
        key = " ".join(hashlib.sha256(p.png or b"").hexdigest()[:32] for p in (first, second))
        if key not in self.known:
            self.known[key] = await self.comparer.prefer(first, second, criteria)
            append_json_line(self.path, {"pictures": key, "first": self.known[key]})
        return self.known[key]


def remembering(assessor: Assessor, path: Path) -> Assessor:
    """The assessor of an exam: the judge alone, its answers remembered (the embedded one's cost nothing)."""
    assert assessor.comparer is not None
    free = assessor.labels.get("judge", "").startswith("taste")
    comparer = assessor.comparer if free else Remembering(assessor.comparer, path)
    return replace(assessor, mix=Mix.parse(MIX), comparer=comparer, scorer=None, timeout_is_ours=False)


def open_assessor(exam: Exam, recipe: Recipe, stack: ExitStack) -> Assessor:
    """Renderer (the recipe's) and judge (the exam's), closed with `stack`. Raises PaintError for what cannot be had."""
    return open_studio(replace(recipe, mix=MIX, pigment=0.0, judge=exam.judge), exam.domain, exam.pool, stack).assessor


def cache_folder() -> Path:
    from platformdirs import user_cache_dir

    return Path(os.environ.get("PAINT_CACHE") or user_cache_dir("paint")) / "exam"


# -- who sits it ---------------------------------------------------------------------------------------------------


def entrant(spec: str) -> Entrant:
    """What `paint exam` is given: a run, an adapter (a folder or owner/name on the Hub), or a folder of sketches.

    Raises UsageError or PaintError in one sentence.
    """
    folder = Path(spec)
    if folder.is_dir() and not sampling.is_trained(folder):
        return sketches(folder)
    trained = sampling.find(spec)

    def open_policy(hall: Hall, loop: Loop) -> Callable[[int, int], list[Sample]]:
        from paintcli.training.probe import writing

        return writing(sampling.load(trained), trained.recipe, hall, loop)

    digest = policy_digest(trained.recipe, *saved_adapter(trained.adapter))
    return Entrant(spec, digest, open_policy, trained.step, trained.run, trained.recipe)


def sketches(folder: Path) -> Entrant:
    """A policy's samples, known by their texts: every .js, .txt and .md below `folder`, in a fixed shuffled order.

    Raises UsageError when there are none.
    """
    files = files_in(folder)
    if not files:
        raise UsageError(f"{folder} is no run and no adapter, and holds no sketch either: no .js, .txt or .md file.")
    files.sort(key=lambda p: fair_order("exam", p.relative_to(folder).as_posix()))
    texts = [p.read_text("utf-8", errors="replace") for p in files]

    def open_folder(hall: Hall, loop: Loop) -> Callable[[int, int], list[Sample]]:
        def write(count: int, seed: int) -> list[Sample]:
            first = (seed - FIRST) * GROUP
            return [Sample(text, len(text) // 4, "stop") for text in texts[first : first + count]]

        return write

    return Entrant(str(folder), _hash(texts), open_folder, seeded=False, most=len(texts))


def policy_digest(recipe: Recipe, tensors: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """Of everything that decides what a policy writes: base model, adapter and how it samples; no value of training.

    `tensors` by their names in the saved file, `config` as in adapter_config.json. An adapter that changes nothing,
    one not yet trained, counts as none: its random half differs from run to run, what it writes does not.
    """
    import torch

    digest = hashlib.sha256()
    if any("lora_A" not in name and tensor.any() for name, tensor in tensors.items()):
        digest.update(repr([config.get(k) for k in ("r", "lora_alpha", "use_rslora")]).encode())
        for name in sorted(tensors):
            tensor = tensors[name].detach().to("cpu").contiguous()
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
            digest.update(tensor.view(torch.uint8).numpy().tobytes())
    how = ("precision", "multimodal", "max_completion", "temperature", "top_p", "top_k", "thinking", "turns")
    return _hash([model_digest(recipe.model), digest.hexdigest(), [getattr(recipe, name) for name in how]])


@cache
def model_digest(model: str) -> str:
    """A local model folder by its bytes, one of the Hub by its name and the revision this machine has."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        digest = hashlib.sha256()
        for path in sorted(p for p in folder.iterdir() if p.suffix in (".json", ".safetensors", ".bin", ".jinja")):
            digest.update(path.name.encode())
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()
    from paintcli.backends.local import fetch
    from paintcli.backends.policy import check_folder

    check_folder(model)
    return f"{model}@{fetch(model, 'config.json').parent.name}"  # the cache names a snapshot's folder by its revision


def _hash(facts: Any) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:32]


# -- in a run ------------------------------------------------------------------------------------------------------


class Examiner:
    """Examines a run as it goes: a row of exam.csv every `recipe.exam_every` steps, before the first and at the end.

    Training does not notice: the random numbers it will draw are the same as without.
    """

    def __init__(
        self, exam: Exam, assessor: Callable[[], Assessor], recipe: Recipe, folder: Path, loop: Loop, done: int
    ) -> None:
        """`done`: steps that are kept of an interrupted run; rows beyond them, or of another exam, are forgotten."""
        self.exam, self.assessor, self.recipe, self.folder, self.loop = exam, assessor, recipe, folder, loop
        there = rollouts.read_exams(folder / EXAM)
        self.rows = [r for r in there if r["step"] <= done and r["exam"] == exam.digest]

    def due(self, step: int) -> bool:
        """`step` steps are done."""
        wanted = step % self.recipe.exam_every == 0 or step == self.recipe.steps
        return wanted and all(r["step"] != step for r in self.rows)

    def examine(self, model: Any, tokenizer: Any, step: int) -> dict[str, Any]:
        """Sit the exam with the policy as it is now; returns the row that was added to exam.csv."""
        from peft import get_peft_model_state_dict

        from paintcli.training.policy import sampler
        from paintcli.training.probe import writing

        recipe = self.recipe

        def open_policy(hall: Hall, loop: Loop) -> Callable[[int, int], list[Sample]]:
            return writing(sampler(recipe, model, tokenizer), recipe, hall, loop)

        digest = policy_digest(recipe, get_peft_model_state_dict(model), model.peft_config["default"].to_dict())
        with undisturbed():
            result = take(
                self.exam,
                Entrant(self.folder.name, digest, open_policy, step, self.folder, recipe),
                self.assessor,
                self.loop,
            )
        row = {name: result.to_json()[name] for name in EXAM_COLUMNS}
        self.rows.append(row)
        rollouts.write_exams(self.folder / EXAM, self.rows)
        return row


@contextmanager
def undisturbed() -> Iterator[None]:
    """Whatever random numbers are drawn inside, those drawn after it are the same (torch on all devices, numpy,
    Python)."""
    import random

    import numpy as np
    import torch

    python, numbers = random.getstate(), np.random.get_state()
    with torch.random.fork_rng():
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numbers)
