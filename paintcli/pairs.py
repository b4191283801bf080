"""Two paintings, which one: the keys of every duel, and the duels within one pool."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any

from paintcli.errors import UsageError
from paintcli.pool import fair_order
from paintcli.preference import Strengths, bradley_terry, next_pair, proposed
from paintcli.rating import PoolSitting, Wanted
from paintcli.sitting import Key, Shown, Sitting, View

SHARES = {"left": 1.0, "right": 0.0, "tie": 0.5}
"""Action → the left one's share of the duel."""


class Pairing(Sitting):
    """The keys of a duel. Subclasses hold the pair that is shown, left first, and record the left one's share."""

    keys: tuple[Key, ...] = (
        Key("left", "left", "the left one"),
        Key("right", "right", "the right one"),
        Key("t", "tie", "neither"),
        Key("s", "skip", "skip"),
        Key("b", "back", "back"),
        Key("f", "full", "full size"),
        Key("q", "quit", "quit"),
    )

    @abstractmethod
    def shown(self) -> tuple[Path, Path] | None:
        """The pair on the screen, None at the end."""

    @abstractmethod
    def vote(self, share: float) -> None:
        """Record the left one's share and go on."""

    @abstractmethod
    def skip(self) -> None:
        """Go on without a vote."""

    @abstractmethod
    def back(self) -> None:
        """Show the pair before, to vote again."""

    @abstractmethod
    def lines(self) -> tuple[str, ...]:
        """How far the person is; never who leads, which would sway the next vote."""

    @abstractmethod
    def ending(self) -> str:
        """What is said when there is no pair left."""

    def act(self, action: str) -> None:
        if action == "back":
            self.back()
        elif self.shown() is None:
            self.note = "There is no pair left."
        elif action == "skip":
            self.skip()
        elif action in SHARES:
            self.vote(SHARES[action])

    def view(self) -> View:
        pair = self.shown()
        pictures = tuple(Shown(path) for path in pair) if pair else ()
        text = "" if pair else self.ending()
        kind: Any = "pair" if pair else "end"
        return View(self.turn, kind, self.title, self.lines(), pictures, self.keys, self.note, self.warning, text)


class PoolPairs(Pairing, PoolSitting):
    """Duels within a pool. The next pair is the one whose answer would tell most; strengths are Bradley–Terry's."""

    def __init__(self, folder: Path, rater: str, wanted: Wanted | None = None, seed: int = 0) -> None:
        super().__init__(folder, rater, wanted or Wanted(), seed)
        matching = [e for e in self.entries.values() if self.wanted.matches(e) and self.readable(e.path, e.name)]
        self.names = sorted((e.name for e in matching), key=lambda name: fair_order(seed, name))
        if len(self.names) < 2:
            raise UsageError(f"A duel needs two paintings; {folder} has {len(self.names)} that can be shown.")
        self.before: list[tuple[str, str]] = []
        self.skipped: set[frozenset[str]] = set()
        self._choose()

    def votes(self) -> list[tuple[str, str, float]]:
        """(painting, other, the first one's share): this rater's latest of each pair."""
        here = set(self.names)
        return [v for v in self.ratings.votes.get(self.rater, {}).values() if {v[0], v[1]} <= here]

    def strengths(self) -> Strengths:
        """Of `names`, from this rater's votes."""
        index = {name: i for i, name in enumerate(self.names)}
        return bradley_terry(len(self.names), [(index[a], index[b], share) for a, b, share in self.votes()])

    def _choose(self) -> None:
        index = {name: i for i, name in enumerate(self.names)}
        asked = {frozenset(index[n] for n in pair) for pair in self.skipped}
        asked |= {frozenset((index[a], index[b])) for a, b, _ in self.votes()}
        chosen = next_pair(self.strengths(), asked)
        self.pair: tuple[str, str] | None = None
        if chosen:
            a, b = (self.names[i] for i in chosen)
            turned = fair_order(f"side {self.seed}", f"{a}\n{b}") < "8"
            self.pair = (b, a) if turned else (a, b)

    def shown(self) -> tuple[Path, Path] | None:
        return (self.entries[self.pair[0]].path, self.entries[self.pair[1]].path) if self.pair else None

    def vote(self, share: float) -> None:
        assert self.pair is not None
        left, right = self.pair
        self.say("pair", left, other=right, share=share)
        self.before.append(self.pair)
        self._choose()

    def skip(self) -> None:
        assert self.pair is not None
        self.skipped.add(frozenset(self.pair))
        self._choose()

    def back(self) -> None:
        if self.before:
            self.pair = self.before.pop()
        else:
            self.note = "There is no vote before this one."

    def lines(self) -> tuple[str, ...]:
        return (f"{len(self.votes())} votes on {len(self.names)} paintings",)

    def ending(self) -> str:
        return "Every pair has met. q quits and shows what follows from your votes."

    def table(self) -> list[dict[str, Any]]:
        """Every painting, strongest first: its strength with a 95 % interval, its tier and the one proposed.

        Where the interval decides nothing, what this rater or the pool said stays, and okay where nobody said anything.
        """
        found = self.strengths()
        votes = self.votes()
        told = [
            {
                "file_name": name,
                "strength": round(float(found.value[i]), 4),
                "low": round(float(found.low[i]), 4),
                "high": round(float(found.high[i]), 4),
                "votes": sum(name in vote[:2] for vote in votes),
                "tier": self.ratings.tier(name) or self.entries[name].tier or None,
                "proposed": proposed(float(found.low[i]), float(found.high[i])) or self._said(name) or "okay",
            }
            for i, name in enumerate(self.names)
        ]
        return sorted(told, key=lambda row: -row["strength"])

    def _said(self, name: str) -> str | None:
        """The tier of a painting: this rater's own, else the pool's."""
        return self.ratings.own(self.rater, name) or self.ratings.tier(name) or self.entries[name].tier or None

    def accept(self) -> int:
        """Give every painting that was voted on its proposed tier, as if keyed; how many changed."""
        changed = 0
        for row in self.table():
            if row["votes"] and row["proposed"] != self._said(row["file_name"]):
                self.say("rate", row["file_name"], tier=row["proposed"], previous=row["tier"])
                changed += 1
        return changed
