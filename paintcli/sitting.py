"""A sitting: one person looks at paintings, one or two at a time, and presses one key for each.

Nothing here knows a terminal or a page. Both show what `Sitting.view` describes and hand the keys to `Sitting.press`,
so the two are the same session.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from paintcli.errors import PaintError
from paintcli.files import append_json_line
from paintcli.painting import Painting
from paintcli.rollouts import mend

RETRY = 2.0
"""Seconds between two attempts to write what could not be written."""


@dataclass(frozen=True)
class Key:
    """A key of the keyboard ("l", "left", "space"), what it does, and the word shown beside it."""

    key: str
    action: str
    word: str


@dataclass(frozen=True)
class Shown:
    """A painting on the screen and the words under it. While it is shown blind, its file name is not shown either."""

    path: Path
    label: str = ""


@dataclass(frozen=True)
class View:
    """What is on the screen. `turn` changes with every key, so that a key meant for another painting is known.

    `kind`: "sheet" (many small paintings), "one", "pair", "text" (the sketch of one) or "end". `lines` say how far the
    person is, `note` what the last key did, `warning` what is wrong.
    """

    turn: int
    kind: Literal["sheet", "one", "pair", "text", "end"]
    title: str
    lines: tuple[str, ...]
    pictures: tuple[Shown, ...]
    keys: tuple[Key, ...]
    note: str = ""
    warning: str = ""
    text: str = ""


class Journal:
    """An append-only file of what was keyed, one JSON object a line, on disk before the next painting is shown.

    What cannot be written (a full disk) is kept in `waiting`, in order, and `trouble` says why.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.waiting: list[dict[str, Any]] = []
        self.trouble = ""
        self._tried = 0.0

    def add(self, event: dict[str, Any]) -> None:
        self.waiting.append({**event, "time": datetime.now(UTC).isoformat(timespec="milliseconds")})
        self.save()

    @property
    def unsaved(self) -> bool:
        return bool(self.waiting)

    def save(self) -> None:
        """Write what waits, or say in `trouble` why not."""
        self._tried = time.monotonic()
        try:
            self._write()
            self.trouble = ""
        except PaintError as error:
            self.trouble = str(error)

    def retry(self) -> bool:
        """Try again if something waits and the last attempt is a while ago; whether it was tried."""
        due = self.unsaved and time.monotonic() - self._tried >= RETRY
        if due:
            self.save()
        return due

    def _write(self) -> None:
        while self.waiting:
            mend(self.path)  # a line torn by a full disk or a kill: the next must not be glued to it
            append_json_line(self.path, self.waiting[0])
            del self.waiting[0]


class Sitting(ABC):
    """One person's session. Subclasses say what is shown and what the keys do."""

    keys: tuple[Key, ...] = ()
    title = ""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.turn = 0
        self.over = False
        self.note = ""
        self.unreadable: dict[str, str] = {}
        self.missing: dict[str, str] = {}
        self._warned = False
        self._readable: set[Path] = set()

    @abstractmethod
    def view(self) -> View:
        """What is to be shown now."""

    @abstractmethod
    def act(self, action: str) -> None:
        """Do what a key of `keys` says."""

    def take_in(self) -> bool:
        """Look for paintings that arrived; whether the view changed."""
        return False

    def press(self, action: str) -> None:
        """One key. It is saved when this returns, or the next view's warning says that it is not."""
        self.turn += 1
        self.note = ""
        if action != "quit":
            self._warned = False
            self.act(action)
        elif self.journal.unsaved and not self._warned:
            self.journal.save()
            self._warned = self.journal.unsaved
            self.over = not self._warned
            self.note = "Press q again to leave without them." if self._warned else ""
        else:
            self.over = True

    def tick(self) -> bool:
        """To be called now and then while nobody presses a key; whether the view changed."""
        tried = self.journal.retry()
        return self.take_in() or tried

    @property
    def warning(self) -> str:
        waiting = len(self.journal.waiting)
        if self.journal.trouble:
            kept = f"{waiting} key{'s are' if waiting != 1 else ' is'}" if waiting else "The last key is"
            return f"{kept} kept in memory and tried again: {self.journal.trouble}"
        left_out = {**self.missing, **self.unreadable}
        return f"{len(left_out)} left out: {next(iter(left_out.values()))}" if left_out else ""

    def readable(self, path: Path, name: str) -> bool:
        """Whether the file is a picture; one that is not is remembered in `unreadable` with the reason."""
        if path not in self._readable and name not in self.unreadable:
            try:
                Painting.from_file(path)
                self._readable.add(path)
            except PaintError as error:
                self.unreadable[name] = str(error)
        return name not in self.unreadable

    def close(self) -> None:
        """The end. Raises PaintError when keys are still not on disk."""
        if self.journal.unsaved:
            self.journal.save()
        waiting = len(self.journal.waiting)
        if waiting:
            raise PaintError(f"{waiting} key{'s' if waiting > 1 else ''} could not be saved: {self.journal.trouble}")
        if self.journal.unsaved:
            raise PaintError(
                f"Every key is kept in {self.journal.path}, and the next session sees to the rest: "
                f"{self.journal.trouble}"
            )
