"""The rollout record: what is written down about every sketch a run sampled, its writer and its streaming reader.

A run folder holds `metadata.jsonl` (rollouts with a picture), `unpainted.jsonl` (the same columns for those
without), `curve.csv` (one row a step), `images/`, `sources/`. It loads with Hugging Face `datasets` as an image
folder, and the column names are those of the published rollouts datasets, so either kind is read by the same code.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import orjson

from paintcli.errors import PaintError
from paintcli.files import append, reason, write_atomic
from paintcli.files import mend as mend

PAINTED = "metadata.jsonl"
UNPAINTED = "unpainted.jsonl"
CURVE = "curve.csv"

CURVE_COLUMNS = (
    "step", "reward", "reward_std", "frac_reward_zero_std", "entropy", "loss", "grad_norm", "learning_rate",
    "step_time", "completions/mean_length", "clipped_ratio", "judge_mean", "length_mean", "paint_fraction_mean",
    "quality_mean",
)  # fmt: skip
"""The published columns of curve.csv. `reward` is the mean over the step's rollouts that have one, terms are 0–1."""

EXAM = "exam.csv"
EXAM_COLUMNS = ("step", "score", "low", "high", "samples", "passed", "unavailable", "exam", "key")
"""Of exam.csv: steps done, the score with its 95 % interval, how many samples it rests on, the share of them that
passed the gate, how many nobody could judge, and the hashes of the exam and of its result, exams/KEY.json."""


@dataclass(kw_only=True)
class Rollout:
    """One sampled sketch and everything known about it. Published columns first, in their published order.

    Shares and terms are 0–1; a term is None when it was not asked for or could not be answered, never 0 in its
    place. `reward` is None for a rollout that nobody could judge (`unavailable` says why).
    """

    file_name: str | None = None
    """Picture, relative to the run folder; None when nothing was painted."""
    source_file: str | None = None
    """The sketch, relative to the run folder."""
    run: str
    judge_weight: float = 0.0
    hpsv3_weight: float = 0.0
    step: int
    position_in_group: int
    reward: float | None
    code: str = ""
    """The extracted sketch; the whole reply when no sketch could be found in it."""
    code_chars: int = 0
    n_shapes: int | None = None
    """Call sites in the source, as published (also the next three)."""
    n_vertices: int | None = None
    n_circles: int | None = None
    n_fill_calls: int | None = None
    brush_methods_used: list[str] = field(default_factory=list)
    step_group_reward: float | None = None
    """Mean reward of the step's rollouts that have one."""
    group_judge_mean: float | None = None
    group_length_mean: float | None = None
    group_paint_mean: float | None = None
    """Mean coverage of the step's rollouts."""
    group_quality_mean: float | None = None
    """Mean HPSv3 term of the step's rollouts."""

    # ours from here on
    gate_weight: float = 0.0
    length_weight: float = 0.0
    pigment_weight: float = 0.0
    taste_weight: float = 0.0
    """Of the embedded scorer in HPSv3's place; hpsv3_weight is then 0."""
    gate: float | None = None
    """1 passed, 0 refused, None unknown. The terms are unweighted."""
    length: float | None = None
    judge: float | None = None
    hpsv3: float | None = None
    pigment: float | None = None
    taste: float | None = None
    """The embedded scorer's term: never written into hpsv3."""
    hpsv3_mu: float | None = None
    """HPSv3's unbounded score, before sigmoid(mu/4)."""
    coverage: float | None = None
    violations: list[dict[str, Any]] = field(default_factory=list)
    """[{"code", "line", "detail"}], as in `render --json`."""
    unavailable: list[str] = field(default_factory=list)
    """What could not be answered and why, one sentence each, beginning with the term or phase: "judge: …"."""
    references: list[dict[str, Any]] = field(default_factory=list)
    """[{"name", "tier", "hpsv3_mu"}] drawn for the step."""
    comparisons: list[dict[str, Any]] = field(default_factory=list)
    """[{"reference", "tier", "forward", "backward", "score"}], as in `judge --json`."""
    seed: int = 0
    """What the sketch was painted with; the same for the whole group."""
    reference_seed: int = 0
    """What the references were drawn with: the step."""
    finish_reason: str | None = None
    """"stop", or "length" when the reply was cut off."""
    completion_tokens: int | None = None
    seconds_generate: float | None = None
    """Wall-clock seconds per phase; generation is the group's, shared by all of it."""
    seconds_paint: float | None = None
    seconds_score: float | None = None
    seconds_judge: float | None = None
    executed_shapes: int | None = None
    """Calls that really ran in the page, where the n_ columns count call sites."""
    executed_vertices: int | None = None
    executed_circles: int | None = None
    executed_fill_calls: int | None = None
    js_errors: list[str] = field(default_factory=list)
    subject: str = ""
    renderer: str = ""
    raster: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    """Library versions: p5, p5.brush, browser, and those that trained."""
    scorer: str = ""
    """Backend specs; a stand-in's name says that it is one."""
    judge_backend: str = ""


COLUMNS = tuple(f.name for f in fields(Rollout))
PUBLISHED_COLUMNS = COLUMNS[: COLUMNS.index("gate_weight")]


class RunFolder:
    """Writes a run: pictures and sources whole or absent, then the row, appended and fsynced.

    Opening repairs a last line torn by a kill and learns which (step, position_in_group) are there already;
    one that is there is never written again. One writer at a time.
    """

    def __init__(self, folder: Path, run: str | None = None) -> None:
        """Raises PaintError when the folder cannot be made or read."""
        self.folder = folder
        self.run = run or folder.name
        try:
            for part in (folder, folder / "images", folder / "sources"):
                part.mkdir(parents=True, exist_ok=True)
            for name in (PAINTED, UNPAINTED, CURVE):
                mend(folder / name)
        except OSError as error:
            raise PaintError(f"The run folder {folder} cannot be used: {reason(error)}.") from error
        self._written = {
            (row["step"], row["position_in_group"])
            for name in (PAINTED, UNPAINTED)
            for row in rows(folder / name, code=False)
        }
        self._curve = {int(float(row["step"])) for row in read_curve(folder / CURVE)}

    def __contains__(self, key: tuple[int, int]) -> bool:
        """Whether (step, position_in_group) is written."""
        return key in self._written

    @property
    def next_step(self) -> int:
        """The step after the last one that has a rollout; 0 in an empty run."""
        return max((step for step, _ in self._written), default=-1) + 1

    def append(self, rollout: Rollout, png: bytes | None = None) -> bool:
        """Write one rollout and its picture. Returns False, and writes nothing, when it is there already."""
        key = (rollout.step, rollout.position_in_group)
        if key in self._written:
            return False
        stem = f"step-{rollout.step:05d}-{rollout.position_in_group:02d}"
        rollout.file_name = f"images/{stem}.png" if png else None
        rollout.source_file = f"sources/{stem}.js" if rollout.code else None
        if png:
            write_atomic(self.folder / f"images/{stem}.png", png)
        if rollout.source_file:
            write_atomic(self.folder / rollout.source_file, rollout.code.encode())
        append(self.folder / (PAINTED if png else UNPAINTED), json.dumps(asdict(rollout), ensure_ascii=False) + "\n")
        self._written.add(key)
        return True

    def append_curve(self, row: Mapping[str, Any]) -> bool:
        """Write one step's row of curve.csv: `CURVE_COLUMNS`, blank where `row` lacks one or holds None.

        Returns False when that step is there already. Raises ValueError for a column that curve.csv has not.
        """
        if unknown := set(row) - set(CURVE_COLUMNS):
            raise ValueError(f"curve.csv has no column {', '.join(sorted(unknown))}")
        if int(row["step"]) in self._curve:
            return False
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, CURVE_COLUMNS)  # CRLF line ends, as published
        if not self._curve:
            writer.writeheader()
        writer.writerow({name: "" if row.get(name) is None else row[name] for name in CURVE_COLUMNS})
        append(self.folder / CURVE, text.getvalue())
        self._curve.add(int(row["step"]))
        return True

    def rewind(self, step: int) -> int:
        """Forget every rollout and curve row of `step` and later: what a resumed run is about to do again.

        Returns how many rollouts went. Their pictures are overwritten when the step is written anew.
        """
        gone = {key for key in self._written if key[0] >= step}
        if gone:
            for name in (PAINTED, UNPAINTED):
                kept = [line for _, line in _lines(self.folder / name) if json.loads(line)["step"] < step]
                write_atomic(self.folder / name, b"".join(kept))
            self._written -= gone
        if any(done >= step for done in self._curve):
            earlier = [row for row in read_curve(self.folder / CURVE) if float(row["step"]) < step]
            write_atomic(self.folder / CURVE, b"")
            self._curve = set()
            for row in earlier:
                self.append_curve({name: row.get(name) for name in CURVE_COLUMNS})
        return len(gone)


def rows(path: Path, code: bool = True) -> Iterator[dict[str, Any]]:
    """Every row of a JSON-lines file, one at a time; nothing for an absent file.

    Without `code`, the sketch is not parsed and the row has, in its place, "code_span" = (byte offset, length)
    of the JSON string in the file, for `code_at`, and "code_key", equal for equal sketches within one process: most
    of a file of rollouts is sketches. A torn last line is skipped. Raises PaintError naming the line that is not a
    JSON object.
    """
    for number, (offset, line) in enumerate(_lines(path), 1):
        span = None
        if not code and (span := _code_span(line)):
            key = hash(line[slice(*span)])
            line = line[: span[0]] + b"null" + line[span[1] :]
        try:
            row = _parsed(line)
        except ValueError:
            if not line.endswith(b"\n"):
                return
            raise PaintError(f"Line {number} of {path} is not JSON.") from None
        if not isinstance(row, dict):
            raise PaintError(f"Line {number} of {path} is not a JSON object.")
        if span:
            row["code_span"] = (offset + span[0], span[1] - span[0])
            row["code_key"] = key
        yield row


def code_at(path: Path, spans: Iterable[tuple[int, int]]) -> list[str]:
    """The sketches at the "code_span"s that `rows(path, code=False)` gave."""
    found = []
    with path.open("rb") as file:
        for offset, length in spans:
            file.seek(offset)
            found.append(json.loads(file.read(length)))
    return found


def stream(folder: Path, code: bool = True) -> Iterator[dict[str, Any]]:
    """Every rollout of a run folder, painted ones first, one at a time and without its picture."""
    yield from rows(folder / PAINTED, code)
    yield from rows(folder / UNPAINTED, code)


def read_curve(path: Path) -> list[dict[str, str]]:
    """The rows of a curve CSV as text; [] for an absent file. Raises PaintError when it is no such file."""
    if not path.is_file():
        return []
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            found = list(csv.DictReader(file))
    except (UnicodeDecodeError, csv.Error) as error:
        raise PaintError(f"{path} is not a CSV file ({error}).") from error
    if found and not {"step", "reward"} <= found[0].keys():
        raise PaintError(f"{path} is not a curve: it has no column step and reward.")
    return found


def read_exams(path: Path) -> list[dict[str, Any]]:
    """The rows of an exam.csv, numbers as numbers and None for what was not known; [] for an absent file."""
    if not path.is_file():
        return []
    whole, words = {"step", "samples", "unavailable"}, {"exam", "key"}
    with path.open(newline="", encoding="utf-8") as file:
        return [
            {k: v if k in words else None if v == "" else int(v) if k in whole else float(v) for k, v in row.items()}
            for row in csv.DictReader(file)
        ]


def write_exams(path: Path, exams: Iterable[Mapping[str, Any]]) -> None:
    """Write an exam.csv whole, `EXAM_COLUMNS` of each row."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, EXAM_COLUMNS, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(exams)  # None is written as nothing
    write_atomic(path, text.getvalue().encode())


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """(byte offset, line) pairs, blank lines left out; nothing for an absent file."""
    if not path.is_file():
        return
    offset = 0
    try:
        with path.open("rb", buffering=1 << 20) as file:
            for line in file:
                if not line.isspace():
                    yield offset, line
                offset += len(line)
    except OSError as error:
        raise PaintError(f"{path} cannot be read: {reason(error)}.") from error


def _parsed(line: bytes) -> Any:
    try:
        return orjson.loads(line)  # three times as fast as json
    except ValueError:
        return json.loads(line)  # takes the NaN that Python writes, which is no JSON


SHORT = 64
"""A "code" of fewer bytes is a violation's, or a sketch not worth skipping."""


def _code_span(line: bytes) -> tuple[int, int] | None:
    """Where the JSON string of the key "code" begins and ends (quotes included); None when there is no long one."""
    # inside a string every quote is escaped, so these bytes can only be a key: the sketch's or a violation's
    key = line.find(b'"code":')
    if key < 0 or (start := line.find(b'"', key + 7)) < 0 or line[key + 7 : start].strip():
        return None
    end = start
    while (end := line.find(b'"', end + 1)) > 0:
        before = end - 1
        while line[before] == 0x5C:  # a quote after an odd number of backslashes is part of the string
            before -= 1
        if (end - before) % 2:
            return (start, end + 1) if end - start > SHORT else None
    return None
