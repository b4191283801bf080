"""Two bodies of work, blind: which one paints better, by one person's votes and an interval that may be stopped on.

Paintings meet only others of the same subject, and of the same seed where one is known. Each is shown at most once:
a vote then is a draw from what each side paints, and the win rate is that of the sides, not of these pictures.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Any

from paintcli import pool as pools
from paintcli.backends.protocols import Comparer, Scorer
from paintcli.errors import Unavailable, UsageError
from paintcli.judging import Share, compare, wilson
from paintcli.painting import Painting
from paintcli.pairs import Pairing
from paintcli.pool import fair_order
from paintcli.preference import decided, sequential
from paintcli.rollouts import PAINTED, UNPAINTED, rows
from paintcli.sitting import Journal, Key, View

LAST = 10
"""Steps at the end of a training run that stand for it: what it paints now, not what it painted while it learned."""

RECIPE, ADAPTER = "recipe.toml", "adapter_config.json"
"""Files by which a training run and an adapter are known."""


@dataclass(frozen=True)
class Work:
    """A painting of one side. `seed` is what it was painted with, None where that is not known."""

    path: Path
    subject: str
    seed: int | None


@dataclass(frozen=True)
class Side:
    """One side of a duel. `unpainted`: sketches of the same steps that painted nothing and so cannot be shown."""

    name: str
    folder: Path
    works: tuple[Work, ...]
    unpainted: int = 0
    steps: tuple[int, int] | None = None

    @classmethod
    def read(cls, folder: Path, last: int = LAST) -> Side:
        """A run (its last steps), a folder of samples, a pool, or plain pictures. Raises UsageError in one sentence."""
        name = folder.resolve().name
        first = f"let it paint first: paint sample {quote(str(folder))} -n 32 -o {quote(f'{name}-samples')}"
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder: a duel is between runs, folders of paintings, or pools.")
        if (folder / ADAPTER).is_file():
            raise UsageError(f"{folder} is an adapter; {first}")
        with contextlib.suppress(UsageError):  # a dataset from the Hub has its split's folder in between
            folder = pools.metadata_folder(folder)
        painted, unpainted = (list(rows(folder / file, code=False)) for file in (PAINTED, UNPAINTED))
        steps = None
        if (folder / RECIPE).is_file():
            if not painted:
                raise UsageError(f"The run {folder} has no paintings yet; {first}")
            end = max(int(row["step"]) for row in painted)
            steps = (max(0, end - last + 1), end)
            painted, unpainted = ([r for r in part if int(r["step"]) >= steps[0]] for part in (painted, unpainted))
        works = [
            Work(folder / str(row["file_name"]), str(row.get("subject") or ""), row.get("seed"))
            for row in painted
            if row.get("file_name") and not {"..", "/"} & set(Path(str(row["file_name"])).parts)
        ]
        if not painted:
            pictures = sorted(p for p in folder.iterdir() if p.suffix.lower() in pools.IMAGE_SUFFIXES)
            works = [Work(path, "", None) for path in pictures]
        if not works:
            raise UsageError(f"{folder} holds no paintings.")
        return cls(name, folder, tuple(works), len(unpainted), steps)


def matches(first: Side, second: Side, seed: int = 0) -> list[tuple[Work, Work]]:
    """Pairs of one subject, in random order, no painting twice; those of one seed before any others.

    Raises UsageError when the sides have no subject in common.
    """
    common = {w.subject for w in first.works} & {w.subject for w in second.works}
    if not common:
        raise UsageError(
            f"{first.folder} and {second.folder} have no subject in common ({_subjects(first)}; {_subjects(second)})."
        )

    def shuffled(side: Side, which: int) -> list[Work]:
        works = [w for w in side.works if w.subject in common]
        return sorted(works, key=lambda w: fair_order(f"duel {seed} {which}", str(w.path.relative_to(side.folder))))

    left, right = shuffled(first, 1), shuffled(second, 2)
    found: list[tuple[Work, Work]] = []
    for alike in (_seed, _subject):
        waiting: dict[Any, list[Work]] = {}
        for work in right:
            waiting.setdefault(alike(work), []).append(work)
        rest = []
        for work in left:
            partners = waiting.get(alike(work), []) if alike(work) is not None else []
            if partners:
                found.append((work, partners.pop(0)))
            else:
                rest.append(work)
        left, right = rest, [work for works in waiting.values() for work in works]
    return sorted(found, key=lambda pair: fair_order(f"order {seed}", f"{pair[0].path.name}\n{pair[1].path.name}"))


def _seed(work: Work) -> Any:
    return None if work.seed is None else (work.subject, work.seed)


def _subject(work: Work) -> Any:
    return work.subject


def _subjects(side: Side) -> str:
    names = sorted({w.subject or "no subject said" for w in side.works})
    return f"{side.name}: {', '.join(names[:3])}" + (f" and {len(names) - 3} more" if len(names) > 3 else "")


class Duel(Pairing):
    """The votes of one person on two sides. `path` keeps them, a line a vote; a duel of the same two goes on there.

    A line is {"first", "second" (the paintings), "share" (of the first side), "rater", "time"}; the top line names
    the sides. It ends by itself once the interval decides (`preference.decided`); who leads is not shown before.
    """

    keys = (*Pairing.keys[:-1], Key("m", "more", "go on"), Pairing.keys[-1])
    title = "which one is better painted?"

    def __init__(self, first: Side, second: Side, path: Path, rater: str, seed: int = 0) -> None:
        """Raises UsageError when the sides cannot meet, or when `path` holds another duel."""
        super().__init__(Journal(path))
        self.first, self.second, self.rater = first, second, rater
        self.pairs = matches(first, second, seed)
        self.seed = seed
        self.votes: dict[tuple[str, str], float] = {}
        self.went_on = self.looking_back = False
        self.skipped: set[tuple[str, str]] = set()
        self.before: list[int] = []
        self.sides = {"first": str(first.folder.resolve()), "second": str(second.folder.resolve())}
        lines = list(rows(path))
        self._named = bool(lines)
        if lines and lines[0].get("duel") != self.sides:
            raise UsageError(f"{path} holds the votes of another duel; name another file with -o.")
        for line in lines[1:]:
            if line["rater"] == rater:
                self.votes[line["first"], line["second"]] = line["share"]
        self.at = 0
        self._go_on()

    def key(self, index: int) -> tuple[str, str]:
        """The names of a pair, relative to their sides."""
        a, b = self.pairs[index]
        return str(a.path.relative_to(self.first.folder)), str(b.path.relative_to(self.second.folder))

    def _go_on(self) -> None:
        for index, pair in enumerate(self.pairs):
            if self.key(index) in self.votes or self.key(index) in self.skipped:
                continue
            if all(self.readable(work.path, str(work.path)) for work in pair):
                self.at = index
                return
        self.at = len(self.pairs)

    @property
    def left_is_first(self) -> bool:
        return fair_order(f"side {self.seed}", "\n".join(self.key(self.at))) < "8"

    @property
    def rate(self) -> Share:
        """The first side's win rate with its interval."""
        return sequential(*(sum(share == s for s in self.votes.values()) for share in (1.0, 0.5, 0.0)))

    @property
    def verdict(self) -> str:
        return decided(self.rate)

    def shown(self) -> tuple[Path, Path] | None:
        if self.at >= len(self.pairs) or (self.verdict and not self.went_on and not self.looking_back):
            return None
        a, b = (work.path for work in self.pairs[self.at])
        return (a, b) if self.left_is_first else (b, a)

    def vote(self, share: float) -> None:
        first, second = self.key(self.at)
        mine = share if self.left_is_first else 1 - share
        if not self._named:
            self.journal.add({"duel": self.sides})
            self._named = True
        self.journal.add({"first": first, "second": second, "share": mine, "rater": self.rater})
        self.votes[first, second] = mine
        self.before.append(self.at)
        self.looking_back = False
        self._go_on()

    def skip(self) -> None:
        self.skipped.add(self.key(self.at))
        self._go_on()

    def back(self) -> None:
        if self.before:
            self.at = self.before.pop()
            self.looking_back = True
        else:
            self.note = "There is no vote before this one."

    def act(self, action: str) -> None:
        if action == "more":
            self.went_on = True
        else:
            super().act(action)

    def view(self) -> View:
        view = super().view()
        stopped = view.kind == "end" and self.at < len(self.pairs)
        return replace(view, keys=tuple(k for k in view.keys if stopped or k.action != "more"))

    def lines(self) -> tuple[str, ...]:
        return (f"{len(self.votes)} votes, {len(self.pairs)} pairs",)

    def ending(self) -> str:
        if self.at < len(self.pairs):
            return "That is decided. q shows the result; m goes on all the same."
        return "Every pair has met. q shows the result."

    def result(self) -> dict[str, Any]:
        """What came of it, JSON-able."""
        rate = self.rate
        return {
            "first": str(self.first.folder),
            "second": str(self.second.folder),
            "votes": len(self.votes),
            "pairs": len(self.pairs),
            "wins": sum(s == 1 for s in self.votes.values()),
            "ties": sum(s == 0.5 for s in self.votes.values()),
            "losses": sum(s == 0 for s in self.votes.values()),
            "win_rate": rate.to_json(),
            "interval": "95 % at every number of votes (betting martingale, Robbins' mixture)",
            "verdict": self.verdict or None,
        }

    def voted(self) -> list[tuple[Painting, Painting, float]]:
        """(first, second, the first one's share) of every vote whose paintings are there, in the order of the pairs."""
        return [
            (Painting.from_file(a.path), Painting.from_file(b.path), self.votes[self.key(i)])
            for i, (a, b) in enumerate(self.pairs)
            if self.key(i) in self.votes and all(self.readable(w.path, str(w.path)) for w in (a, b))
        ]


@dataclass(frozen=True)
class Witness:
    """What a judge or scorer said of the very pairs a person voted on.

    `agreement`: share of the votes that were no tie in which it names the same winner (½ where it names none), with a
    Wilson interval. `win_rate`: the first side's share by it, on all pairs. `dropped`: pairs it could not answer.
    """

    agreement: Share
    win_rate: float
    dropped: int

    def to_json(self) -> dict[str, Any]:
        return {
            "agreement": self.agreement.to_json(),
            "win_rate": round(self.win_rate, 4),
            "dropped": self.dropped,
        }


def _witness(shares: Sequence[tuple[float, float]], dropped: int) -> Witness:
    """From (the person's share, the witness's share) of each pair."""
    if not shares:
        raise Unavailable("none of the pairs could be answered")
    clear = [(mine, theirs) for mine, theirs in shares if mine != 0.5]
    same = sum(0.5 if theirs == 0.5 else float(theirs == mine) for mine, theirs in clear)
    return Witness(wilson(same, len(clear)), sum(theirs for _, theirs in shares) / len(shares), dropped)


async def judged(votes: Sequence[tuple[Painting, Painting, float]], comparer: Comparer, criteria: str = "") -> Witness:
    """Ask a judge the same pairs in both orders; a verdict that turns with the order is no verdict.

    Raises Unavailable when it answered none.
    """
    shares, dropped = [], 0
    for first, second, mine in votes:
        try:
            forward, backward = await compare(first, second, comparer, criteria)
        except Unavailable:
            dropped += 1
            continue
        split = (forward - 0.5) * (backward - 0.5) <= 0
        shares.append((mine, 0.5 if split else float(forward > 0.5)))
    return _witness(shares, dropped)


async def scored(votes: Sequence[tuple[Painting, Painting, float]], scorer: Scorer, prompt: str) -> Witness:
    """Score the same paintings one by one; the higher score wins. Raises Unavailable when it answered none."""
    shares, dropped = [], 0
    for first, second, mine in votes:
        try:
            a, b = await scorer.score([first, second], prompt)
        except Unavailable:
            dropped += 1
            continue
        shares.append((mine, 0.5 if a == b else float(a > b)))
    return _witness(shares, dropped)
