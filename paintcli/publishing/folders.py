"""Folders that are exactly what goes up: a pool, the rollouts of runs, an adapter, a gallery, a Space.

Each builder fills an empty folder from what lies on disk and returns sentences worth saying. Equal input, equal bytes:
a second publication finds nothing changed. `paint.json` in each says what it is and which files are paint's.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paintcli import rollouts as records
from paintcli.errors import PaintError, UsageError
from paintcli.files import reason, write_atomic
from paintcli.pool import Pool, licence_problems, write_rows
from paintcli.publishing import cards

if TYPE_CHECKING:
    from paintcli.training.recipe import Recipe

SPACES = Path(__file__).parents[2] / "spaces"
"""Where the Spaces' folders lie in a checkout; nowhere when installed from a wheel."""
MANIFEST = "paint.json"
CHART = "curve.svg"
LICENCES = (
    "cc-by-4.0", "cc-by-sa-4.0", "cc0-1.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0", "apache-2.0", "mit", "openrail", "gemma",
    "other",
)  # fmt: skip
"""Names the Hub knows. cc-by-4.0 is suggested for paintings, apache-2.0 for adapters."""

FIRST_LOOK = 10 << 20
"""Bytes of metadata.jsonl from which `datasets` decides on the types of all columns."""


def seal(folder: Path, kind: str) -> None:
    """Write the manifest: {"made_by": "paint", "kind", "files": every other path}. Called when all else is there."""
    files = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file() and p.name != MANIFEST)
    text = json.dumps({"made_by": "paint", "kind": kind, "files": files}, indent=0, ensure_ascii=False)
    write_atomic(folder / MANIFEST, f"{text}\n".encode())


def start(folder: Path) -> None:
    """Make the folder, or empty one that an earlier build made. Raises UsageError for a folder with anything else."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a folder with --out.")
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / MANIFEST).is_file():
            raise UsageError(f"{folder} holds something that paint did not put there: name another folder with --out.")
        shutil.rmtree(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PaintError(f"{folder} cannot be made: {reason(error)}.") from error


def copy(source: Path, target: Path) -> None:
    """Copy one file, links followed, its folder made. Raises PaintError in one sentence."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    except OSError as error:
        raise PaintError(f"{source} cannot be copied to {target}: {reason(error)}.") from error


def inside(folder: Path, name: Any, what: str) -> Path:
    """The file `name` of a dataset folder. Raises UsageError when it is not there or points outside."""
    path = Path(str(name))
    if path.is_absolute() or ".." in path.parts or not (folder / path).is_file():
        raise UsageError(f"{folder} names {what} {name}, which is not there: nothing can be published from it.")
    return folder / path


# -- datasets ------------------------------------------------------------------------------------------------------


def pool(found: Pool, into: Path, repo: str, licence: str) -> None:
    """A pool: its rows, pictures, sketches and card. Raises UsageError for a photo without licence or attribution."""
    if problems := licence_problems(found.entries):
        more = f" (and {len(problems) - 1} more: `paint pool check` lists them)" if len(problems) > 1 else ""
        raise UsageError(f"{found.name} cannot be published: {problems[0]}".rstrip(".") + more + ".")
    for entry in found.entries:
        copy(entry.path, into / entry.name)
        if entry.source:
            copy(entry.source, into / str(entry.row["source_file"]))
    write_rows(into, [{**e.row, "licence": e.row.get("licence") or licence} for e in found.entries])
    write_atomic(into / "README.md", cards.pool(found, repo, licence).encode())


def rollouts(runs: Sequence[Path], into: Path, repo: str, licence: str) -> None:
    """The rollouts of one or several runs as one image folder: of several, each run's files lie in its own folder.

    The rows of one run are its own bytes. Raises UsageError for a run without a painting.
    """
    from paintcli.analysis import charts, report, sources
    from paintcli.analysis.gain import Options

    if len({run.resolve().name for run in runs}) < len(runs):
        raise UsageError("Two of the runs have the same name: rename one, its name is its folder's.")
    lines: dict[str, list[bytes]] = {records.PAINTED: [], records.UNPAINTED: []}
    reports, counts, recipes, drawn, pictures = [], [], [], [], []
    for run in runs:
        prefix = f"{run.resolve().name}/" if len(runs) > 1 else ""
        if not next(records.rows(run / records.PAINTED), None):
            raise UsageError(f"The run {run} has no paintings, so there is no dataset of pictures to publish.")
        for name, kept in lines.items():
            for row, line in rows_of(run, name):
                if row.get("file_name"):
                    copy(inside(run, row["file_name"], "the picture"), into / prefix / row["file_name"])
                    pictures.append(prefix + row["file_name"])
                if row.get("source_file"):
                    copy(inside(run, row["source_file"], "the sketch"), into / prefix / row["source_file"])
                if prefix:
                    moved = {k: prefix + row[k] for k in ("file_name", "source_file") if row.get(k)}
                    line = (json.dumps({**row, **moved}, ensure_ascii=False) + "\n").encode()
                kept.append(line)
        [found] = sources.load(str(run))
        recipes.append(recipe_of(run, into / prefix))
        told = report.analyse(found, Options(targets=report.own_targets(found)))
        reports.append({**told, "run": run.resolve().name})
        counts.append(count(run))
        if (run / records.CURVE).is_file():
            copy(run / records.CURVE, into / prefix / records.CURVE)
        chart = charts.curve(told)
        if chart:
            write_atomic(into / prefix / CHART, charts.standalone(chart).encode())
        drawn.append(f"{prefix}{CHART}" if chart else "")
    for name, kept in lines.items():
        if kept:
            write_atomic(into / name, b"".join(types_first(kept)))
    text = cards.rollouts(reports, counts, recipes, pictures, repo, licence, drawn)
    write_atomic(into / "README.md", text.encode())


def rows_of(run: Path, name: str) -> Iterator[tuple[dict[str, Any], bytes]]:
    """(row, its line as bytes) of a JSON-lines file of a run; nothing when it is absent."""
    path = run / name
    if path.is_file():
        found = (line + b"\n" for line in path.read_bytes().split(b"\n") if line.strip())
        yield from zip(records.rows(path), found, strict=False)  # a torn last line is no row


def types_first(lines: list[bytes]) -> list[bytes]:
    """The lines in order, unless there are more bytes than `datasets` looks at for the types of the columns.

    Then those few that first show a value where all before them are null or empty come first: else a column whose
    first value comes late has the type null, and loading fails at that value.
    """
    if sum(map(len, lines)) <= FIRST_LOOK:
        return lines
    seen: set[tuple[str, ...]] = set()
    first: list[bytes] = []
    later: list[bytes] = []
    for line in lines:
        new = set(paths(json.loads(line))) - seen
        (first if new else later).append(line)
        seen |= new
    return first + later


def paths(value: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every path in a JSON value that leads to something with a type."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from paths(part, (*at, key))
    elif isinstance(value, list):
        for part in value:
            yield from paths(part, (*at, "[]"))
    elif value is not None:
        yield at


def count(run: Path) -> dict[str, Any]:
    """What a card says beside the analysis: {"painted", "unpainted", "refused", "violations", "stand_ins"}."""
    painted = unpainted = refused = 0
    violations: Counter[str] = Counter()
    stand_ins: set[str] = set()
    for row in records.stream(run, code=False):
        painted += bool(row.get("file_name"))
        unpainted += not row.get("file_name")
        refused += row.get("gate") == 0
        violations.update({v["code"] for v in row.get("violations") or []})
        for column, role in (("scorer", "scorer"), ("judge_backend", "judge")):
            if str(row.get(column) or "").startswith("taste"):
                stand_ins.add(f"the {role} was `{row[column]}`")
    return {
        "painted": painted, "unpainted": unpainted, "refused": refused, "violations": dict(violations.most_common()),
        "stand_ins": sorted(stand_ins),
    }  # fmt: skip


def recipe_of(run: Path, into: Path) -> Recipe | None:
    """The run's recipe, None where it has none; copied to `into` without the folders of this machine."""
    from paintcli.training.recipe import FILE, Recipe

    if not (run / FILE).is_file():
        return None
    recipe = Recipe.read(run)
    write_atomic(into / FILE, cards.named((run / FILE).read_text("utf-8")).encode())
    return recipe


# -- adapters ------------------------------------------------------------------------------------------------------


def adapter(spec: str, into: Path, repo: str, licence: str, base: str | None) -> None:
    """A run's final adapter (else its newest whole state's), or an adapter folder: tensors, prompt, recipe and card.

    `base` names the model on the Hub where it was trained from a folder. Raises UsageError when nobody can tell.
    """
    from paintcli import domains
    from paintcli.analysis import charts, report, sources
    from paintcli.analysis.gain import Options
    from paintcli.backends import policy
    from paintcli.training import probe, sampling

    found = sampling.find(spec)
    names = list(policy.adapter_names(found.adapter))
    config = policy.adapter_config(found.adapter)
    base = base or found.recipe.model
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", base) or Path(base).exists():
        raise UsageError(f"The adapter's base {base} is a folder of this machine: say --base-model OWNER/NAME.")
    copy(found.adapter / policy.ADAPTER_FILE, into / policy.ADAPTER_FILE)
    config = {**config, "base_model_name_or_path": base}
    write_atomic(into / "adapter_config.json", (json.dumps(config, indent=2, sort_keys=True) + "\n").encode())
    recipe = replace(found.recipe, model=base)
    domain = domains.load(recipe.domain)
    prompt = domain.messages(recipe.subject or domain.subject)
    write_atomic(into / "prompt.json", (json.dumps(prompt, indent=1, ensure_ascii=False) + "\n").encode())

    run, told, chart, exam = Path(spec), None, "", ""
    if found.step is not None:
        recipe_of(run, into)
        if (run / records.CURVE).is_file():
            copy(run / records.CURVE, into / records.CURVE)
        if (run / records.PAINTED).is_file() or (run / records.UNPAINTED).is_file():
            [columns] = sources.load(str(run), pictures=False)
            told = report.analyse(columns, Options(targets=report.own_targets(columns)))
            chart = charts.curve(told)
            if chart:
                write_atomic(into / CHART, charts.standalone(chart).encode())
        exam = exam_of(run, into)
    text = cards.adapter(
        recipe, base, repo, licence, step=found.step, multimodal=policy.was_multimodal(names), tensors=len(names),
        report=told, chart=CHART if chart else "", probe=probe.stored(run) if found.step is not None else {}, exam=exam,
    )  # fmt: skip
    write_atomic(into / "README.md", text.encode())


def exam_of(run: Path, into: Path) -> str:
    """A run's exams as Markdown, exam.csv copied; "" when it has sat none."""
    from paintcli.training import exam

    held = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((run / exam.FOLDER).glob("*.json"))}
    curve = records.read_exams(run / records.EXAM)
    if curve:
        copy(run / records.EXAM, into / records.EXAM)
        facts = [held[row["key"]]["facts"] for row in curve if row["key"] in held]
        return cards.exams(curve, facts[-1] if facts else None)
    rows = []
    for key, stored in held.items():
        tiers = [tier for tier, _ in stored["facts"]["references"].values()]
        sat = exam.Result(run.name, None, "", key, True, tiers, stored["table"], stored["passed"])
        rows.append(sat.to_json())
    return cards.exams(rows, list(held.values())[-1]["facts"]) if rows else ""


# -- Spaces --------------------------------------------------------------------------------------------------------


def gallery(runs: Sequence[str], into: Path, title: str, licence: str) -> None:
    """The page of `paint gallery` with the card that makes it a static Space."""
    from paintcli.analysis import sources
    from paintcli.publishing import gallery as page

    page.build([run for name in runs for run in sources.load(name)], into, title)
    head = cards.front(
        title=title[:60], emoji="🌺", colorFrom="pink", colorTo="yellow", sdk="static", app_file="index.html",
        pinned=False, license=licence, tags=cards.TAGS, short_description="Every painting of a run, with its sketch",
    )  # fmt: skip
    about = cards.licence_line(licence, "Paintings and sketches")
    body = f"# {title}\n\nOne page, whole in itself: open `index.html`.\n\n{about} Libraries: see `LICENCES.txt`.\n"
    write_atomic(into / "README.md", f"{head}\n{body}".encode())


def space(name: str, into: Path) -> None:
    """The Space `spaces/NAME` of this project with the project's wheel. Raises PaintError outside a checkout."""
    from paintcli.training.hub import build_wheel

    source = SPACES / name
    if not (source / "README.md").is_file():
        raise PaintError(f"The Space {name} is built from a checkout of paint (spaces/{name}): run this from one.")
    shutil.copytree(source, into, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.pyc", ".*"))
    build_wheel(into)


def trackio(runs: Sequence[Path], into: Path) -> None:
    """A Space that shows the curves of runs in trackio. Raises UsageError for a run without one."""
    from importlib.metadata import PackageNotFoundError, version

    for run in runs:
        if not (run / records.CURVE).is_file():
            raise UsageError(f"The run {run} has no {records.CURVE}, so trackio has nothing to show.")
        copy(run / records.CURVE, into / "curves" / f"{run.resolve().name}.csv")
    try:
        needs = f"trackio=={version('trackio')}\n"
    except PackageNotFoundError:
        needs = "trackio\n"
    head = cards.front(
        title="paint: curves", emoji="📈", colorFrom="blue", colorTo="green", sdk="gradio", app_file="app.py",
        pinned=False, tags=["trackio", *cards.TAGS], short_description="Training curves of paint runs",
    )  # fmt: skip
    names = ", ".join(run.resolve().name for run in runs)
    write_atomic(into / "README.md", f"{head}\n# Curves\n\nThe curves of {names}, step by step.\n".encode())
    write_atomic(into / "requirements.txt", needs.encode())
    write_atomic(into / "app.py", TRACKIO.encode())


TRACKIO = '''"""Shows the curves in curves/ in trackio."""

from pathlib import Path

import trackio

for curve in sorted(Path(__file__).with_name("curves").glob("*.csv")):
    trackio.import_csv(str(curve), project=curve.stem, name=curve.stem, force=True)
trackio.show()
'''
