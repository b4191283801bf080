"""Saved training states: whole or not counted. A state is whole when its seal names every file with its digest."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

from paintcli.errors import PaintError
from paintcli.files import write_atomic

FOLDER = "state"
SEAL = "seal.json"
KEPT = 2


def seal(state: Path) -> None:
    """Declare a state folder whole. Called when everything else in it is written."""
    files = {p.relative_to(state).as_posix(): _digest(p) for p in sorted(state.rglob("*")) if p.is_file()}
    write_atomic(state / SEAL, json.dumps(files, indent=1).encode())


def step_of(state: Path) -> int:
    """How many steps were done when it was saved."""
    return int(state.name.rpartition("-")[2])


def flaw(state: Path) -> str | None:
    """What is wrong with a state, in words; None when it is whole."""
    try:
        files = json.loads((state / SEAL).read_text("utf-8"))
    except FileNotFoundError:
        return "was being written when the run stopped"
    except ValueError:
        return "has a damaged seal"
    for name, digest in files.items():
        path = state / name
        if not path.is_file():
            return f"lacks {name}"
        if _digest(path) != digest:
            return f"has a damaged {name}"
    return None


def newest(run: Path) -> tuple[Path | None, list[str]]:
    """The newest whole state of a run folder (None: none was ever saved) and a sentence for each passed over.

    States that are not whole are deleted. Raises PaintError when states were sealed and none of them is whole.
    """
    passed: list[str] = []
    states = sorted((p for p in (run / FOLDER).glob("checkpoint-*") if p.is_dir()), key=step_of, reverse=True)
    sealed = any((s / SEAL).is_file() for s in states)
    for state in states:
        wrong = flaw(state)
        if wrong is None:
            for name in passed:
                shutil.rmtree(run / FOLDER / name.split(" ", 1)[0], ignore_errors=True)
            return state, passed
        passed.append(f"{state.name} {wrong}")
    if sealed:
        raise PaintError(f"No saved state of {run} can be used: {'; '.join(passed)}; start a new run.")
    for state in states:
        shutil.rmtree(state, ignore_errors=True)
    return None, passed


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
