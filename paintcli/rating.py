"""Rating a pool: a queue of paintings, a key each, and what was keyed kept so that nothing and nobody is overwritten.

`ratings.jsonl` in the pool is the truth: every key of every rater, appended. The column `tier` of metadata.jsonl is
its current reading: the middle of the raters' latest tiers on love, okay, weak, no; of an even number the lower of the
two in the middle, so that two people must both love what is loved. A tier a painting came with counts until somebody
keys one here. Writers hold the pool's lock, and only the rows that were keyed change.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from shlex import quote
from typing import Any

from paintcli import pool as pools
from paintcli.errors import UsageError
from paintcli.judging import Share, wilson
from paintcli.pool import KNOWN_TIERS, REFUSED_TIER, Reference, fair_order, locked, tier_rank
from paintcli.rollouts import rows
from paintcli.sitting import Journal, Key, Shown, Sitting, View

LOG = "ratings.jsonl"
TIERS = (*KNOWN_TIERS, REFUSED_TIER)
"""What can be keyed, best first."""

SHEET = 60
"""Paintings on the contact sheet at most, a fair sample: enough to see the range, few enough to look at."""


@dataclass
class Ratings:
    """What `ratings.jsonl` says, replayed.

    A line is {"rater", "kind", "file_name", "tier", "previous", "time"}; kinds: "rate" (`previous`: the column's
    tier before it), "undo" (the rater's last one is taken back; `tier` is what remains of theirs), "skip", "recheck"
    and "pair" (with "other" and "share", `file_name`'s share of the duel).
    """

    before: dict[str, str | None] = field(default_factory=dict)
    """Painting → the tier it had before anybody keyed one here."""
    tiers: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """Rater → painting → tiers not taken back, oldest first."""
    history: dict[str, list[str]] = field(default_factory=dict)
    """Rater → painting of every "rate" not taken back, oldest first."""
    rechecks: dict[str, dict[str, str]] = field(default_factory=dict)
    """Rater → painting → the tier given again, blind."""
    votes: dict[str, dict[frozenset[str], tuple[str, str, float]]] = field(default_factory=dict)
    """Rater → pair → (painting, other, the first one's share), the latest of each pair."""

    @classmethod
    def read(cls, path: Path, later: Iterable[dict[str, Any]] = ()) -> Ratings:
        """Replay a log (absent: empty) and then `later`. Raises PaintError naming a line that is not JSON."""
        ratings = cls()
        for event in (*rows(path), *later):
            ratings.take(event)
        return ratings

    def take(self, event: dict[str, Any]) -> None:
        rater, name, kind = event["rater"], event["file_name"], event["kind"]
        if kind == "rate":
            self.before.setdefault(name, event["previous"])
            self.tiers.setdefault(rater, {}).setdefault(name, []).append(event["tier"])
            self.history.setdefault(rater, []).append(name)
        elif kind == "undo" and self.history.get(rater):
            last = self.history[rater].pop()
            self.tiers[rater][last].pop()
        elif kind == "recheck":
            self.rechecks.setdefault(rater, {})[name] = event["tier"]
        elif kind == "pair":
            other = event["other"]
            self.votes.setdefault(rater, {})[frozenset((name, other))] = (name, other, event["share"])

    def own(self, rater: str, name: str) -> str | None:
        """The rater's latest tier of a painting."""
        given = self.tiers.get(rater, {}).get(name)
        return given[-1] if given else None

    def tier(self, name: str) -> str | None:
        """What the column `tier` is to be: see the module."""
        given = sorted((t for rater in self.tiers if (t := self.own(rater, name))), key=tier_rank)
        return given[len(given) // 2] if given else self.before.get(name)

    def columns(self, name: str) -> dict[str, Any]:
        """The columns of metadata.jsonl that follow from the log."""
        found: dict[str, Any] = {"tier": self.tier(name)} if name in self.before else {}
        for rechecked in self.rechecks.values():
            if name in rechecked:
                found["recheck_tier"] = rechecked[name]
        return found


class PoolJournal(Journal):
    """The log of a pool folder; metadata.jsonl follows it, under the pool's lock. `ratings` is the log as it stands."""

    def __init__(self, folder: Path) -> None:
        """Raises PaintError when the pool cannot be written to or the log is broken."""
        super().__init__(folder / LOG)
        self.folder = folder
        with locked(folder):
            self.ratings = Ratings.read(self.path)
        self._stale: set[str] = set()

    def follow(self, entries: Iterable[Reference]) -> int:
        """Let metadata.jsonl agree with the log again, as after a kill between the two; how many rows did not."""
        for entry in entries:
            told = self.ratings.columns(entry.name)
            if any((entry.row.get(column) or None) != value for column, value in told.items()):
                self._stale.add(entry.name)
        count = len(self._stale)
        if count:
            self.save()
        return count

    @property
    def unsaved(self) -> bool:
        return bool(self.waiting or self._stale)

    def save(self) -> None:
        super().save()
        self.ratings = Ratings.read(self.path, self.waiting)

    def _write(self) -> None:
        with locked(self.folder):
            self._stale |= {
                event["file_name"] for event in self.waiting if event["kind"] in ("rate", "undo", "recheck")
            }
            super()._write()
            if self._stale:
                now = Ratings.read(self.path)  # another rater may have keyed the same painting
                pools.update_rows(self.folder, {name: now.columns(name) for name in self._stale})
                self._stale.clear()


@dataclass(frozen=True)
class Wanted:
    """Which paintings are shown. By default those the rater has not keyed, unless they came with a tier.

    `everything` shows rated ones as well, and those the gate refused; `unrated` only what nobody has rated, so that two
    people share the work.
    """

    tier: str = ""
    family: str = ""
    subject: str = ""
    everything: bool = False
    unrated: bool = False

    def matches(self, entry: Reference) -> bool:
        """The words given: the whole tier, a part of the family or generator, of the subject; case does not count."""
        if entry.row.get("gate_errors") and not self.everything and not self.tier:
            return False  # refused: who paints like that earns nothing, however fine it looks
        families = f"{entry.family}\n{entry.row.get('generator_model') or ''}".lower()
        return (
            self.tier.lower() in ("", entry.tier)
            and self.family.lower() in families
            and self.subject.lower() in entry.subject.lower()
        )


def own_folder(path: Path) -> Path:
    """The folder with `metadata.jsonl` of a pool that may be changed. Raises UsageError for a packaged one."""
    folder = pools.metadata_folder(path)
    pools.refuse_packaged(folder)
    if not os.access(folder, os.W_OK):
        raise UsageError(
            f"The pool {folder} is read-only; copy it first: paint pool import {quote(str(folder))} "
            "--pool mine, then name it with --pool mine."
        )
    return folder


def said_of(entry: Reference) -> str:
    """What is hidden until a painting is rated."""
    row = entry.row
    parts = [entry.path.name]
    parts += [f"by {row['generator_model']}"] if row.get("generator_model") else []
    parts += [f"HPSv3 {row['hpsv3_mu']:.1f}"] if isinstance(row.get("hpsv3_mu"), int | float) else []
    parts += [f"covers {row['paint_coverage']:.0%}"] if isinstance(row.get("paint_coverage"), int | float) else []
    return ", ".join(parts)


class PoolSitting(Sitting):
    """What every session over a pool folder shares: its entries, arrivals, one rater, one journal."""

    journal: PoolJournal

    def __init__(self, folder: Path, rater: str, wanted: Wanted, seed: int = 0) -> None:
        """Raises UsageError or PaintError in one sentence when the pool cannot be rated or nothing matches."""
        self.folder, self.rater, self.wanted, self.seed = own_folder(folder), rater, wanted, seed
        super().__init__(PoolJournal(self.folder))
        self.title = pools.name_of(self.folder)
        self.entries: dict[str, Reference] = {}
        self._stamp: tuple[int, int] | None = None
        self._read()
        if not self.entries:
            raise UsageError(f"The pool {folder} holds no painting that can be shown: `paint pool check` says why.")
        if self.journal.follow(self.entries.values()):
            self._read()
            self.note = "Some tiers in metadata.jsonl were not what was keyed last; they are now."
        if not any(map(wanted.matches, self.entries.values())):
            raise UsageError(f"No painting of {folder} is like that; `paint pool stats` counts what there is.")

    def _read(self) -> bool:
        """Read metadata.jsonl if it changed; whether it did."""
        status = (self.folder / "metadata.jsonl").stat()
        stamp = (status.st_mtime_ns, status.st_size)
        if stamp == self._stamp:
            return False
        self._stamp = stamp
        entries, problems = pools.read(self.folder)
        self.entries = {e.name: e for e in entries}
        self.missing = {
            p.file: str(p) for p in problems if p.file != "metadata.jsonl"
        }  # a line being written is no news
        return True

    @property
    def ratings(self) -> Ratings:
        return self.journal.ratings

    def tally(self) -> dict[str, int]:
        """Paintings by tier, as keyed so far, best tier first; love and okay always."""
        names = [self.ratings.tier(e.name) or e.tier for e in self.entries.values()]
        given = sorted({"love", "okay", *filter(None, names)}, key=tier_rank)
        return {tier: names.count(tier) for tier in given}

    def counts(self) -> str:
        return "  ".join(f"{tier} {count}" for tier, count in self.tally().items())

    def say(self, kind: str, name: str, **more: Any) -> None:
        self.journal.add({"rater": self.rater, "kind": kind, "file_name": name, **more})


class Rating(PoolSitting):
    """One painting at a time, blind: who painted it and what it scored are said once it is rated.

    Begins with a contact sheet, so that the first key already knows the range. Paintings that another process adds
    join the end of the queue.
    """

    keys: tuple[Key, ...] = (
        Key("l", "love", "love"),
        Key("o", "okay", "okay"),
        Key("w", "weak", "weak"),
        Key("n", "no", "no"),
        Key("s", "skip", "skip"),
        Key("b", "back", "back"),
        Key("r", "again", "take back"),
        Key("c", "compare", "compare"),
        Key("v", "source", "its sketch"),
        Key("g", "sheet", "all at once"),
        Key("f", "full", "full size"),
        Key("q", "quit", "quit"),
    )
    sheet_keys = (Key("space", "more", "more"), Key("enter", "begin", "begin"), Key("q", "quit", "quit"))

    def __init__(
        self, folder: Path, rater: str, wanted: Wanted | None = None, seed: int = 0, blind: bool = True
    ) -> None:
        super().__init__(folder, rater, wanted or Wanted(), seed)
        self.blind = blind
        self.answered: set[str] = set()
        self.order: list[str] = []
        self.mode = "sheet"
        self.fill()
        self.at = len(self.order)
        self.advance()

    def fill(self) -> None:
        """The queue: what this rater has keyed, in that order, so that one can go back, then what is to be keyed."""
        if not self.wanted.everything and not self.wanted.tier:
            keyed = dict.fromkeys(reversed(self.ratings.history.get(self.rater, [])))
            self.order = [n for n in reversed(keyed) if n in self.entries and self.wanted.matches(self.entries[n])]
            self.answered = set(self.order)
        self.order += self.queued()

    def queued(self) -> list[str]:
        """What is to be keyed and not in the queue yet; each rater's order is another, so that no two start alike."""
        there = set(self.order)
        names = [e.name for e in self.entries.values() if e.name not in there and self.is_due(e)]
        return sorted(names, key=lambda name: fair_order(f"{self.seed} {self.rater}", name))

    def is_due(self, entry: Reference) -> bool:
        if not self.wanted.matches(entry):
            return False
        if self.wanted.everything or self.wanted.tier:
            return True
        if self.wanted.unrated:
            return not entry.tier
        return not self.ratings.own(self.rater, entry.name) and (not entry.tier or entry.name in self.ratings.before)

    def take_in(self) -> bool:
        before = self.counts()
        if not self._read():
            return False
        new = self.queued()
        self.order += new
        if new and self.at >= len(self.order) - len(new):
            self.advance()
            self.turn += 1
        return bool(new) or self.counts() != before

    @property
    def current(self) -> Reference | None:
        return self.entries.get(self.order[self.at]) if self.at < len(self.order) else None

    def advance(self) -> None:
        """On to the first painting that waits; one that cannot be shown is left out, one that is gone too."""
        for index, name in enumerate(self.order):
            if name in self.answered or name not in self.entries:
                continue
            if self.wanted.unrated and self.ratings.tier(name):  # somebody else was quicker
                continue
            if self.readable(self.entries[name].path, name):
                self.at = index
                return
        self.at = len(self.order)

    @property
    def left(self) -> int:
        return sum(n not in self.answered and n not in self.unreadable and n in self.entries for n in self.order)

    def act(self, action: str) -> None:
        if self.mode == "sheet":  # a key on the sheet is meant for no painting
            self.mode = self.mode if action == "more" else "one"
            return
        was, self.mode = self.mode, "one"
        entry = self.current
        if action == "back":
            self.back()
        elif action == "again":
            self.take_back()
        elif action == "sheet":
            self.mode = "sheet"
        elif entry is None:
            self.note = "There is nothing to rate here just now."
        elif action in TIERS:
            self.rate(entry, action)
            self.answered.add(entry.name)
            self.advance()
        elif action == "skip":
            self.say("skip", entry.name)
            self.answered.add(entry.name)
            self.advance()
            self.note = "Skipped; it comes again next time."
        elif action == "compare" and was != "pair":
            self.mode = "pair" if self.last_loved() else "one"
            self.note = "" if self.last_loved() else "Nothing else is loved yet."
        elif action == "source" and was != "text":
            self.mode = "text" if entry.source else "one"
            self.note = "" if entry.source else "This painting came without its sketch."

    def rate(self, entry: Reference, tier: str) -> None:
        self.say("rate", entry.name, tier=tier, previous=self.ratings.tier(entry.name) or entry.tier or None)
        self.note = f"{tier}: {said_of(entry)}"

    def back(self) -> None:
        there = [i for i, n in enumerate(self.order[: self.at]) if n in self.entries and n not in self.unreadable]
        self.at = there[-1] if there else self.at
        self.note = "" if there else "This is the first one."

    def take_back(self) -> None:
        """The last tier this rater keyed is as if it had not been, and its painting is on the screen again."""
        history = self.ratings.history.get(self.rater)
        if not history:
            self.note = "There is no key to take back."
            return
        name, tier = history[-1], self.ratings.own(self.rater, history[-1])
        rest = self.ratings.tiers[self.rater][name][:-1]
        self.say("undo", name, tier=rest[-1] if rest else None, previous=tier)
        self.answered.discard(name)
        if name not in self.order:
            self.order.insert(self.at, name)
        self.at = self.order.index(name)
        self.note = f"Taken back: {tier}."

    def last_loved(self) -> Reference | None:
        """The painting this rater loved last, else any loved one; never the one on the screen."""
        here = self.current
        keyed = [
            n for n in reversed(self.ratings.history.get(self.rater, [])) if self.ratings.own(self.rater, n) == "love"
        ]
        came = [e.name for e in self.entries.values() if e.tier == "love"]
        for name in (*keyed, *sorted(came, key=lambda n: fair_order(self.seed, n))):
            if (
                name in self.entries
                and (here is None or name != here.name)
                and self.readable(self.entries[name].path, name)
            ):
                return self.entries[name]
        return None

    def sheet(self) -> tuple[Shown, ...]:
        """A fair sample of everything that matches; under each, the tier this rater gave it."""
        chosen = sorted(
            (e for e in self.entries.values() if self.wanted.matches(e)), key=lambda e: fair_order("sheet", e.name)
        )
        chosen = [e for e in chosen[: SHEET + len(self.unreadable)] if self.readable(e.path, e.name)][:SHEET]
        return tuple(Shown(e.path, self.label(e)) for e in chosen)

    def label(self, entry: Reference) -> str:
        """The words under a painting: what this rater said of it, and more where nothing is hidden."""
        own = self.ratings.own(self.rater, entry.name) or ""
        return own if self.blind else ", ".join(filter(None, (own, said_of(entry))))

    def view(self) -> View:
        entry = self.current
        kind: Any = self.mode if entry is not None or self.mode == "sheet" else "end"
        lines = (self.counts(), f"{self.left} to rate" if self.left else "all rated")
        pictures: tuple[Shown, ...] = ()
        text = ""
        if kind == "sheet":
            pictures = self.sheet()
        elif kind == "end":
            text = self.ending()
        elif entry is not None:
            own = self.label(entry)
            pictures = (Shown(entry.path, f"so far: {own}" if own and self.blind else own),)
            loved = self.last_loved()
            if kind == "pair" and loved:
                pictures = (Shown(entry.path, "this one"), Shown(loved.path, "the last you loved"))
            text = entry.code or "" if kind == "text" else ""
        keys = self.sheet_keys if kind == "sheet" else self.keys
        return View(self.turn, kind, self.title, lines, pictures, keys, self.note, self.warning, text)

    def ending(self) -> str:
        return "Everything here is rated. New paintings appear as they arrive; b goes back, q quits."


class Recheck(Rating):
    """Paintings that were rated already, shown again blind: how far the rater agrees with the rater."""

    keys = tuple(k for k in Rating.keys if k.action not in ("again", "compare", "sheet"))

    def __init__(self, folder: Path, rater: str, count: int, wanted: Wanted | None = None, seed: int = 0) -> None:
        self.count = count
        super().__init__(folder, rater, wanted, seed)
        self.mode = "one"

    def fill(self) -> None:
        done = self.ratings.rechecks.get(self.rater, {})
        rated = [e for e in self.entries.values() if self.first_tier(e) and self.wanted.matches(e)]
        if not rated:
            raise UsageError(
                f"Nothing in {self.folder} was rated by {self.rater} yet: there is nothing to check again."
            )
        fresh = [e.name for e in rated if e.name not in done] or [e.name for e in rated]
        self.order = sorted(fresh, key=lambda name: fair_order(f"recheck {self.seed}", name))[: self.count]

    def first_tier(self, entry: Reference) -> str:
        """What this rater said the first time; of a pool rated before there was a log, its tier."""
        return self.ratings.own(self.rater, entry.name) or ("" if entry.name in self.ratings.before else entry.tier)

    def queued(self) -> list[str]:
        return []

    def label(self, entry: Reference) -> str:
        return ""

    def rate(self, entry: Reference, tier: str) -> None:
        self.say("recheck", entry.name, tier=tier, previous=self.first_tier(entry))
        self.note = ""  # saying what it was before would teach the next answer

    def ending(self) -> str:
        return "That was the last of them; b goes back, q quits and says how often you agreed with yourself."

    def pairs(self) -> list[tuple[str, str]]:
        """(first tier, tier given again) of every painting this rater was shown twice."""
        again = self.ratings.rechecks.get(self.rater, {})
        return [(self.first_tier(e), again[e.name]) for e in self.entries.values() if e.name in again]


def consistency(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    """How far a rater agrees with the rater, from (first tier, second tier) of the same paintings.

    `same`: share given the same tier again, with its Wilson interval. `order`: of the pairs of paintings told apart
    the first time, the share put in the same order the second time, a tie counting ½; the interval resamples
    paintings (2,000 bootstrap draws). A judge that agrees with the first ratings more often than that is learning
    their noise.
    """
    import numpy as np

    ranks = np.array([[tier_rank(tier)[0] for tier in pair] for pair in pairs])

    def order(chosen: Any) -> float | None:
        shares = [
            0.5 if a[1] == b[1] else float((a[0] < b[0]) == (a[1] < b[1]))
            for a, b in combinations(ranks[chosen], 2)
            if a[0] != b[0]
        ]
        return sum(shares) / len(shares) if shares else None

    same = wilson(sum(a == b for a, b in pairs), len(pairs))
    told: dict[str, Any] = {"rechecked": len(pairs), "same": same.to_json(), "order": None}
    value = order(np.arange(len(pairs))) if len(pairs) > 1 else None
    if value is not None:
        random = np.random.default_rng(0)
        draws = [d for _ in range(2000) if (d := order(random.integers(0, len(pairs), len(pairs)))) is not None]
        low, high = np.percentile(draws, [2.5, 97.5])
        told["order"] = Share(value, float(low), float(high), len(pairs)).to_json()
    return told
