"""What can be analysed, read into columns: run folders, published rollouts (folder, JSONL, Parquet, CSV, Hub), curves.

Pictures and sketches stay where they are and are fetched by row when something needs them.
"""

from __future__ import annotations

import csv
import io
import math
import operator
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from paintcli import rollouts
from paintcli.errors import PaintError, UsageError

if TYPE_CHECKING:
    from PIL.Image import Image

NUMBERS = (
    "step", "position_in_group", "reward", "judge_weight", "hpsv3_weight", "gate_weight", "length_weight",
    "pigment_weight", "code_chars", "n_shapes", "n_vertices", "n_circles", "n_fill_calls", "step_group_reward",
    "group_judge_mean", "group_length_mean", "group_paint_mean", "group_quality_mean", "gate", "length", "judge",
    "hpsv3", "pigment", "hpsv3_mu", "coverage", "seed", "completion_tokens", "seconds_generate", "seconds_paint",
    "seconds_score", "seconds_judge", "executed_shapes",
)  # fmt: skip
"""The columns kept as float64, NaN where the data has none."""

TABLES = ("*.jsonl", "*.parquet", "*.csv")
PICTURES = ("*.png", "*.jpg", "*.jpeg", "*.webp")
"""What is fetched of a dataset on the Hub: always, and when pictures are asked for."""

_ALL_NUMBERS = operator.itemgetter(*NUMBERS)

HUB_ID = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")


@dataclass(frozen=True)
class Comparisons:
    """Every logged comparison, in three arrays of the same length."""

    row: np.ndarray
    """int64: which rollout."""
    reference: np.ndarray
    """int64: which reference, an index into `names`."""
    score: np.ndarray
    """float64: the rollout's share of the win, 0–1."""
    names: list[str]


@dataclass
class Run:
    """One run in columns; row i is rollout i, in the order of (step, position_in_group).

    A curve has no rollouts: `curve` alone is filled, and `numbers` holds its step and reward, a row a step.
    """

    name: str
    path: str
    is_curve: bool
    numbers: dict[str, np.ndarray]
    """float64 of shape (rollouts,), every name of `NUMBERS`."""
    labels: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """violations, unavailable: (row, label), once per row and label."""
    comparisons: Comparisons | None = None
    references: dict[int, list[tuple[str, float]]] = field(default_factory=dict)
    """step → (reference, its HPSv3 mu or NaN)."""
    cut_off: np.ndarray | None = None
    """float64 (rollouts,): 1 where the reply was cut off; None when the data does not say."""
    code_keys: np.ndarray | None = None
    """int64 (rollouts,): equal for equal sketches, 0 where there is none."""
    painted: np.ndarray | None = None
    """bool (rollouts,): whether a picture is named."""
    has_pictures: bool = True
    """False when what is named was not downloaded."""
    renderer: list[str] = field(default_factory=list)
    """Every renderer, raster and set of versions that the rows name."""
    curve: dict[str, np.ndarray] = field(default_factory=dict)
    """Columns of curve.csv, float64 of shape (steps,), sorted by step."""
    missing: list[str] = field(default_factory=list)
    """Columns that the data does not have and the analysis could have used."""
    notes: list[str] = field(default_factory=list)
    """What was odd about the data, one sentence each."""
    folder: Path | None = None
    """The run folder on this disk; None for a curve, a table, or a folder of several runs."""
    _code: Callable[[Sequence[int]], list[str]] = field(default=lambda rows: ["" for _ in rows], repr=False)
    _pictures: Callable[[Sequence[int]], Iterator[bytes | None]] = field(
        default=lambda rows: iter([None] * len(rows)), repr=False
    )

    def __len__(self) -> int:
        return len(self.numbers["step"])

    def column(self, name: str) -> np.ndarray | None:
        """The column, or None when it holds no number at all."""
        values = self.numbers.get(name)
        return values if values is not None and np.isfinite(values).any() else None

    def forget_absent_pictures(self) -> None:
        """When the first picture is not here, nor are the others: none is looked for, and a note says so."""
        rows = np.flatnonzero(self.painted) if self.painted is not None else np.array([], int)
        if len(rows) and next(self.pictures(rows[:1].tolist())) is None:
            self.has_pictures = False
            self.notes.append("The pictures were not downloaded: --images does that.")

    def code(self, rows: Sequence[int]) -> list[str]:
        """The sketches of these rows, "" where there is none."""
        return self._code(rows)

    def pictures(self, rows: Sequence[int]) -> Iterator[Image | None]:
        """The pictures of these rows, one at a time and loaded; None where there is none or it is not readable."""
        from PIL import Image

        for data in self._pictures(rows):
            picture = None
            if data:
                try:
                    picture = Image.open(io.BytesIO(data))
                    picture.load()
                except Exception:  # Pillow raises many types for a corrupt file; the caller counts the None
                    picture = None
            yield picture


def load(spec: str, pictures: bool = True) -> list[Run]:
    """The runs behind a path or Hub id, in order of name. Raises UsageError or PaintError in one sentence.

    Without `pictures` those of a dataset on the Hub are not downloaded (what lies in a Parquet file comes with it).
    """
    path = Path(spec)
    if spec.startswith("hub:") or (not path.exists() and HUB_ID.fullmatch(spec)):
        from paintcli.backends.hub.dataset import dataset

        runs = load(str(dataset(spec, TABLES + PICTURES if pictures else TABLES)))
        for run in () if pictures else runs:
            run.forget_absent_pictures()
        return runs
    if not path.exists():
        raise UsageError(f"{spec} does not exist, and is no dataset id (OWNER/NAME) either.")
    if path.is_file():
        return _load_file(path)
    return _load_folder(path)


def _load_folder(path: Path) -> list[Run]:
    folders = _rollout_folders(path)
    if folders:
        runs = []
        for folder in folders:
            gather = _Gather(folder.name)
            for name in (rollouts.PAINTED, rollouts.UNPAINTED):
                if (folder / name).is_file():
                    gather.json_lines(folder / name)
            if (folder / "metadata.csv").is_file():
                gather.table_csv(folder / "metadata.csv")
            found = gather.runs()
            curve = folder / rollouts.CURVE
            if len(found) == 1:
                found[0].folder = folder
                if curve.is_file():
                    found[0].curve = _curve_columns(curve)
            runs += found
        return runs
    tables = sorted(path.rglob("*.parquet"))
    if tables:
        gather = _Gather(path.name)
        for table in tables:
            gather.parquet(table)
        return gather.runs()
    curves = sorted(path.glob("*curve*.csv"))
    if curves:
        return [_load_curve(curve) for curve in curves]
    raise UsageError(f"{path} holds no rollouts: no metadata.jsonl, no metadata.csv, no .parquet, no curve CSV.")


def _rollout_folders(path: Path) -> list[Path]:
    """The folder itself, else those up to two levels below, that hold rollouts."""
    names = (rollouts.PAINTED, rollouts.UNPAINTED, "metadata.csv")
    for pattern in ("", "*/", "*/*/"):
        found = {hit.parent for name in names for hit in path.glob(pattern + name)}
        if found:
            return sorted(found)
    return []


def _load_file(path: Path) -> list[Run]:
    gather = _Gather(path.stem if path.stem != "metadata" else path.parent.name)
    if path.suffix in (".jsonl", ".ndjson", ".json"):
        gather.json_lines(path)
    elif path.suffix == ".parquet":
        gather.parquet(path)
    elif path.suffix == ".csv":
        header = _csv_header(path)
        if not {"position_in_group", "code", "code_chars", "n_shapes", "file_name"} & set(header):
            return [_load_curve(path)]
        gather.table_csv(path)
    else:
        raise UsageError(f"{path} is none of .jsonl, .parquet, .csv or a folder of rollouts.")
    return gather.runs()


def _csv_header(path: Path) -> list[str]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return next(csv.reader(file), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise PaintError(f"{path} is not a CSV file ({error}).") from error


def _curve_columns(path: Path) -> dict[str, np.ndarray]:
    rows = rollouts.read_curve(path)
    if not rows:
        raise PaintError(f"{path} holds no steps.")
    columns = {name: np.array([_number(row[name]) for row in rows]) for name in rows[0] if name}
    if not np.isfinite(columns["step"]).all():
        raise PaintError(f"{path} has a row without a step number.")
    order = np.argsort(columns["step"], kind="stable")
    columns = {name: values[order] for name, values in columns.items()}
    if (np.diff(columns["step"]) == 0).any():
        raise PaintError(f"{path} has a step twice: it mixes several runs, and nothing tells them apart.")
    return columns


def _load_curve(path: Path) -> Run:
    curve = _curve_columns(path)
    missing = np.full(len(curve["step"]), np.nan)
    numbers = dict.fromkeys(NUMBERS, missing) | {"step": curve["step"], "reward": curve["reward"]}
    run = Run(path.stem, str(path), True, numbers, curve=curve)
    if not np.isfinite(curve["reward"]).any():
        raise PaintError(f"{path} has no number in its column reward.")
    if bad := int((~np.isfinite(curve["reward"])).sum()):
        run.notes.append(f"{bad} steps have no reward.")
    return run


def _number(value: Any) -> float:
    """A cell as a float; NaN for what is none. "" and None are simply missing, anything else odd is NaN too."""
    if type(value) is float or type(value) is int:
        return value
    if value is None or value == "":
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


class _Gather:
    """Collects rows from any source into one set of columns per run."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.runs_by_name: dict[str, _Columns] = {}
        self.path = ""

    def _columns(self, row: dict[str, Any]) -> _Columns:
        name = row.get("run")
        name = str(name) if name is not None and name != "" else self.name
        if name not in self.runs_by_name:
            self.runs_by_name[name] = _Columns()
        return self.runs_by_name[name]

    def json_lines(self, path: Path) -> None:
        self.path = self.path or str(path)
        source = _JsonLines(path)
        with path.open("rb") as file:  # a file of another kind has no line that is short
            if b"\0" in file.read(4096):
                raise PaintError(f"{path} is not a JSON-lines file.")
        for row in rollouts.rows(path, code=False):
            self._columns(row).add(row, source, row.get("code_span"))

    def table_csv(self, path: Path) -> None:
        self.path = self.path or str(path)
        source = _Source(path)
        try:
            csv.field_size_limit(1 << 27)  # a sketch is one cell, beyond the module's default of 128 KiB
            with path.open(newline="", encoding="utf-8-sig") as file:
                for row in csv.DictReader(file):
                    self._columns(row).add(row, source, None)
        except (UnicodeDecodeError, csv.Error) as error:
            raise PaintError(f"{path} is not a CSV file ({error}).") from error

    def parquet(self, path: Path) -> None:
        self.path = self.path or str(path)
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise PaintError("Reading Parquet needs pyarrow: pip install 'paintcli[parquet]'.") from None
        try:
            file = pyarrow.parquet.ParquetFile(path)
        except (pyarrow.ArrowInvalid, OSError) as error:
            raise PaintError(f"{path} is not a Parquet file ({str(error).splitlines()[0]}).") from error
        source = _Parquet(path)
        names = [name for name in file.schema_arrow.names if name != "image"]
        position = 0
        for batch in file.iter_batches(batch_size=2000, columns=names):
            for row in batch.to_pylist():
                has_picture = "image" in file.schema_arrow.names
                self._columns(row).add(row, source, (position, 0), has_picture)
                position += 1

    def runs(self) -> list[Run]:
        if not self.runs_by_name:
            raise PaintError(f"{self.path or self.name} holds no rollouts.")
        return [columns.run(name, self.path) for name, columns in sorted(self.runs_by_name.items())]


BLOCK = 50
"""Rows turned into columns at once: few enough that they are still in the processor's cache (200 take a fifth more)."""


class _Columns:
    """The columns of one run while they grow."""

    def __init__(self) -> None:
        self.pending: list[dict[str, Any]] = []
        self.blocks: list[np.ndarray] = []
        self.seen: set[str] = set()
        self.labels: dict[str, list[tuple[int, str]]] = {"violations": [], "unavailable": []}
        self.compared = (array("q"), array("q"), array("d"))
        self.reference_number: dict[str, int] = {}
        self.references: dict[int, list[tuple[str, float]]] = {}
        self.cut_off = array("d")
        self.keys = array("q")
        self.painted = array("b")
        self.sources: list[_Source] = []
        self.source_of = array("h")
        self.place = array("q")
        self.extent = array("q")
        self.renderers: Counter[str] = Counter()
        self.names: dict[str, str] = {}
        self.pictures: list[str | None] = []

    def _intern(self, text: str) -> str:
        """One string object for each distinct text: a pool has hundreds of references, a run a million mentions."""
        return self.names.setdefault(text, text)

    def add(
        self, row: dict[str, Any], source: _Source, span: tuple[int, int] | None, has_picture: bool = False
    ) -> None:
        code = row.get("code")
        self.keys.append(row.get("code_key") or (hash(code) if code else 0))
        if not self.sources or self.sources[-1] is not source:
            self.sources.append(source)
        self.source_of.append(len(self.sources) - 1)
        self.place.append(span[0] if span else -1)
        self.extent.append(span[1] if span else source.keep(code))
        self.pictures.append(row.get("file_name"))
        self.painted.append(bool(has_picture or row.get("file_name")))
        self.pending.append(row)
        if len(self.pending) == BLOCK:
            self._settle()

    def _settle(self) -> None:
        """Turn the pending rows into columns: a block at a time, for one row at a time takes four times as long."""
        rows, first = self.pending, len(self.place) - len(self.pending)
        self.pending = []
        self.seen.update(*rows)
        try:
            block = np.array([_ALL_NUMBERS(row) for row in rows], dtype=float)  # None becomes NaN
        except (KeyError, TypeError, ValueError):  # columns are missing, or there is text among them
            block = np.array([[_number(row.get(name)) for name in NUMBERS] for row in rows])
        if rows:
            self.blocks.append(block)
        reasons = [row.get("finish_reason") for row in rows]
        self.cut_off.extend([math.nan if reason is None else float(reason == "length") for reason in reasons])
        for name, label in (("violations", "code"), ("unavailable", "")):
            for index, row in enumerate(rows, first):
                if value := row.get(name):
                    found = _items(value)
                    texts = {str(x.get(label)) if isinstance(x, dict) else str(x).partition(":")[0] for x in found}
                    self.labels[name] += [(index, self._intern(text)) for text in sorted(texts)]
        if "comparisons" in self.seen:
            met = [
                (index, comparison.get("reference"), score)
                for index, row in enumerate(rows, first)
                for comparison in _objects(row.get("comparisons"))
                if (score := comparison.get("score")) is not None
            ]
            numbers = self.reference_number
            self.compared[0].extend([index for index, _, _ in met])
            self.compared[1].extend([numbers.setdefault(str(name), len(numbers)) for _, name, _ in met])
            self.compared[2].extend([_number(score) for _, _, score in met])
        if "references" in self.seen:
            for row in rows:
                step = _number(row.get("step"))
                if step == step and int(step) not in self.references and (references := row.get("references")):
                    self.references[int(step)] = [
                        (self._intern(str(r.get("name"))), _number(r.get("hpsv3_mu"))) for r in _objects(references)
                    ]
        if {"renderer", "raster", "versions"} & self.seen:
            self._name_renderers(rows)

    def _name_renderers(self, rows: list[dict[str, Any]]) -> None:
        previous, name = None, ""
        for row in rows:
            mark = (row.get("renderer"), row.get("raster"), row.get("versions"))
            if mark != previous:
                previous = mark
                name = " ".join(str(part) for part in mark[:2] if part)
                if mark[2]:
                    listed = mark[2].items() if isinstance(mark[2], dict) else [("", mark[2])]
                    name += f" ({', '.join(f'{k} {v}'.strip() for k, v in listed)})"
            if name:
                self.renderers[name] += 1

    def run(self, name: str, path: str) -> Run:
        self._settle()
        numbers = dict(zip(NUMBERS, np.concatenate(self.blocks).T, strict=True))
        notes: list[str] = []
        if not {"step", "reward"} & self.seen:
            raise PaintError(f"{path} is not a file of rollouts: it has neither a column step nor reward.")
        if "step" not in self.seen:
            numbers["step"] = np.zeros(len(self.place))
            notes.append("There is no column step: nothing can be said about change.")
        keep = np.isfinite(numbers["step"])
        if dropped := int((~keep).sum()):
            notes.append(f"{_count(dropped, 'rollout')} without a step number left out.")
        if not keep.any():
            raise PaintError(f"{path} has no number in its column step.")
        if "position_in_group" in self.seen:
            keep &= self._first_of_each(numbers, path, notes)
        order = np.lexsort((np.nan_to_num(numbers["position_in_group"]), numbers["step"]))
        order = order[keep[order]]
        back = np.full(len(keep), -1)
        back[order] = np.arange(len(order))
        if "reward" not in self.seen:
            notes.append("There is no column reward: nothing can be said about reward.")
        cut_off = np.frombuffer(self.cut_off, dtype=float)[order]
        wanted = [column for column in (*rollouts.PUBLISHED_COLUMNS, *_OURS) if column not in self.seen]
        place, extent = np.frombuffer(self.place, dtype=np.int64), np.frombuffer(self.extent, dtype=np.int64)

        def code(rows: Sequence[int]) -> list[str]:
            return self._fetch(order[np.asarray(rows, int)], place, extent, "code")

        def pictures(rows: Sequence[int]) -> Iterator[bytes | None]:
            for row in order[np.asarray(rows, int)]:
                yield self.sources[self.source_of[row]].picture(self.pictures[row], int(place[row]))

        return Run(
            name=name,
            path=path,
            is_curve=False,
            numbers={key: values[order] for key, values in numbers.items()},
            labels={
                key: [(int(back[row]), text) for row, text in pairs if back[row] >= 0]
                for key, pairs in self.labels.items()
            },
            comparisons=self._comparisons(back),
            references=self.references,
            cut_off=cut_off if np.isfinite(cut_off).any() else None,
            code_keys=np.frombuffer(self.keys, dtype=np.int64)[order],
            painted=np.frombuffer(self.painted, dtype=np.int8)[order].astype(bool),
            renderer=[text for text, _ in self.renderers.most_common()],
            missing=wanted,
            notes=notes,
            _code=code,
            _pictures=pictures,
        )

    def _comparisons(self, back: np.ndarray) -> Comparisons | None:
        if not self.reference_number:
            return None
        row = back[np.frombuffer(self.compared[0], dtype=np.int64)]
        kept = row >= 0
        reference = np.frombuffer(self.compared[1], dtype=np.int64)[kept]
        score = np.frombuffer(self.compared[2], dtype=float)[kept]
        return Comparisons(row[kept], reference, score, list(self.reference_number))

    def _first_of_each(self, numbers: dict[str, np.ndarray], path: str, notes: list[str]) -> np.ndarray:
        """Which rows are the first of their (step, position). Doubles are a flaw; without a run column, a mixture."""
        pairs = np.stack([numbers["step"], numbers["position_in_group"]], axis=1)
        known = np.isfinite(pairs).all(axis=1)
        _, first, counts = np.unique(pairs[known], axis=0, return_index=True, return_counts=True)
        keep = ~known
        keep[np.flatnonzero(known)[first]] = True
        doubles = int((counts - 1).sum())
        if doubles and "run" not in self.seen:
            step, position = pairs[known][first[counts.argmax()]]
            raise PaintError(
                f"{path} mixes several runs (step {step:g}, position {position:g} is there {counts.max()} times) "
                "and has no column run to tell them apart."
            )
        if doubles:
            notes.append(f"{_count(doubles, 'rollout')} with a step and position seen before left out.")
        return keep

    def _fetch(self, rows: np.ndarray, place: np.ndarray, extent: np.ndarray, what: str) -> list[str]:
        found = [""] * len(rows)
        for number, source in enumerate(self.sources):
            at = [i for i, row in enumerate(rows) if self.source_of[row] == number]
            texts = source.codes([(int(place[rows[i]]), int(extent[rows[i]])) for i in at]) if at else []
            for i, text in zip(at, texts, strict=True):
                found[i] = text
        return found


_OURS = ("gate", "length", "judge", "hpsv3", "coverage", "violations", "unavailable", "comparisons", "finish_reason")


def _objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list cell; [] for what is no list (a CSV cell holds text)."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _items(value: Any) -> Iterable[Any]:
    """A list cell, however it was stored: a list, or text with commas, blanks or semicolons between."""
    if isinstance(value, str):
        return [part for part in re.split(r"[,;\s\[\]'\"]+", value) if part]
    return list(value)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


class _Source:
    """Where rows came from: how to get at their sketches and pictures again."""

    def __init__(self, path: Path) -> None:
        self.path, self.folder = path, path.parent
        self.kept: list[str] = []

    def keep(self, code: str | None) -> int:
        """Hold a sketch that has no place of its own in a file; returns where."""
        self.kept.append(code or "")
        return len(self.kept) - 1

    def codes(self, spans: list[tuple[int, int]]) -> list[str]:
        """The sketches at (place, extent); place −1: kept, under extent."""
        return [self.kept[index] for _, index in spans]

    def picture(self, name: str | None, place: int) -> bytes | None:
        # A row may name any path; only what lies below the dataset's own folder is its picture. Links are followed: the
        # Hub's cache is a folder of links.
        if not name or Path(name).is_absolute() or ".." in Path(name).parts or not (self.folder / name).is_file():
            return None
        return (self.folder / name).read_bytes()


class _JsonLines(_Source):
    def codes(self, spans: list[tuple[int, int]]) -> list[str]:
        return [
            rollouts.code_at(self.path, [(place, extent)])[0] if place >= 0 else self.kept[extent]
            for place, extent in spans
        ]


class _Parquet(_Source):
    """Rows by number; a picture or sketch is read with its own column only."""

    def _column(self, name: str, numbers: set[int]) -> dict[int, Any]:
        import pyarrow.parquet

        file = pyarrow.parquet.ParquetFile(self.path)
        if name not in file.schema_arrow.names:
            return {}
        found: dict[int, Any] = {}
        start = 0
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            wanted = [number for number in numbers if start <= number < start + size]
            if wanted:
                column = file.read_row_group(group, columns=[name]).column(name)
                found |= {number: column[number - start].as_py() for number in wanted}
            start += size
        return found

    def codes(self, spans: list[tuple[int, int]]) -> list[str]:
        texts = self._column("code", {place for place, _ in spans})
        return [texts.get(place) or "" for place, _ in spans]

    def picture(self, name: str | None, place: int) -> bytes | None:
        cell = self._column("image", {place}).get(place)
        if isinstance(cell, dict):
            return cell.get("bytes")
        return cell if isinstance(cell, bytes) else super().picture(name, place)
