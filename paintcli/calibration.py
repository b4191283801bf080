"""Whether a pool is a ladder for a policy: how often its paintings beat each reference, and what to do about it.

A reference that a policy always loses to, or always beats, gives every painting of a group the same verdict and so
teaches nothing. What is left to learn from are rivals that can be beaten and can be lost to.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paintcli import pool as pools
from paintcli.backends.protocols import Comparer
from paintcli.errors import Unavailable, UsageError
from paintcli.files import write_atomic
from paintcli.judging import Share, clustered, compare
from paintcli.painting import Painting
from paintcli.pool import Pool, Reference
from paintcli.rollouts import PAINTED, UNPAINTED, stream

FILE = "calibration.json"

BAND = (0.25, 0.75)
"""Win shares between which a reference can be beaten and can be lost to."""

LEAST = 8
"""Comparisons below which nothing is said of a reference: eight that were all lost but one still leave a half out of
the 95 % interval (0.02 to 0.47); of four, not even four lost ones do (0 to 0.49 against 0.02 to 0.65 with one won)."""

EACH = 16
"""Paintings that meet each reference when the judge is asked."""

RUNG = 8
"""Paintings of the policy itself that make a weaker rung: two draws of four."""

WEAK = "weak"

HOPELESS = 56
"""Comparisons lost in a row after which a run says so: as many as the published small policy had lost when its pool
was given a weaker tier. The 95 % interval of its chance to win one then ends at 0.064."""


KEPT = "can be beaten"
FLAGGED = ("nobody beats", "everybody beats")


@dataclass(frozen=True)
class Rival:
    """One reference and the win shares, 0–1, of the paintings that met it."""

    reference: str
    tier: str
    shares: tuple[float, ...] = ()

    @property
    def share(self) -> Share:
        """Mean win share; Wilson's interval on the number of comparisons."""
        return clustered(self.shares)

    @property
    def wins(self) -> int:
        return sum(s > 0.5 for s in self.shares)

    @property
    def verdict(self) -> str:
        """ "can be beaten", "nobody beats", "everybody beats", or "unknown" below LEAST comparisons."""
        if len(self.shares) < LEAST:
            return "unknown"
        low, high = BAND
        return "nobody beats" if self.share.value < low else "everybody beats" if self.share.value > high else KEPT

    def to_json(self) -> dict[str, Any]:
        return {
            "reference": self.reference,
            "tier": self.tier,
            "wins": self.wins,
            "ties": sum(s == 0.5 for s in self.shares),
            "comparisons": len(self.shares),
            "share": self.share.to_json(),
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class Calibration:
    """What one policy made of a pool's drawable references. `source` is its run or folder, `judge` who compared.

    `strangers`: recorded comparisons with references this pool does not have or does not draw.
    """

    rivals: tuple[Rival, ...]
    source: str
    judge: str
    paintings: int
    strangers: int = 0

    @property
    def comparisons(self) -> int:
        return sum(len(r.shares) for r in self.rivals)

    @property
    def wins(self) -> int:
        return sum(r.wins for r in self.rivals)

    @property
    def flagged(self) -> list[Rival]:
        return [r for r in self.rivals if r.verdict in FLAGGED]

    @property
    def hopeless(self) -> bool:
        """Whether enough is known and the policy won nothing: no comparison, against no reference."""
        return self.comparisons >= LEAST and not self.wins and not any(r.verdict == KEPT for r in self.rivals)

    def to_json(self) -> dict[str, Any]:
        """The summary; shares 0–1."""
        verdicts = [r.verdict for r in self.rivals]
        return {
            "from": self.source,
            "judge": self.judge,
            "paintings": self.paintings,
            "comparisons": self.comparisons,
            "wins": self.wins,
            "verdicts": {verdict: verdicts.count(verdict) for verdict in (KEPT, *FLAGGED, "unknown")},
            "winnable": not self.hopeless,
            "strangers": self.strangers,
            "band": list(BAND),
            "interval": "95 % Wilson, n = comparisons",
        }


# -- what a policy made of the references --------------------------------------------------------------------------


@dataclass(frozen=True)
class Work:
    """What a policy painted: pictures, best first where rewards are known, and the comparisons on record.

    `sketches[i]` is the source of picture i or None. `recorded`: reference → win shares.
    """

    name: str
    pictures: tuple[Path, ...]
    sketches: tuple[Path | None, ...]
    recorded: Mapping[str, tuple[float, ...]]
    judges: tuple[str, ...]


def work_of(folder: Path, last: int = 0) -> Work:
    """Read a run, a folder that `paint sample` wrote, or plain pictures. `last`: only the run's last steps; 0 all.

    Refused rollouts are left out: they never met a reference. Raises UsageError when there is no painting.
    """
    if (folder / PAINTED).is_file() or (folder / UNPAINTED).is_file():
        rows = [r for r in stream(folder, code=False) if r.get("file_name") and r.get("gate") != 0]
        steps = sorted({r.get("step") or 0 for r in rows})
        if last:
            rows = [r for r in rows if (r.get("step") or 0) in steps[-last:]]
        rows.sort(key=lambda r: -1.0 if r.get("reward") is None else float(r["reward"]), reverse=True)
        found = [(folder / r["file_name"], folder / r["source_file"] if r.get("source_file") else None) for r in rows]
    elif last:
        raise UsageError(f"{folder} is no run, so it has no last steps.")
    else:
        rows = []
        found = [(picture, sketch) for picture, sketch, _ in pools.rows_of_folder(folder)]
        found.sort(key=lambda pair: pools.fair_order("rung", pair[0].name))
    if not found:
        raise UsageError(f"{folder} holds no painting that passed the gate.")
    recorded: dict[str, list[float]] = defaultdict(list)
    judges: dict[str, None] = {}
    for row in rows:
        for comparison in row.get("comparisons") or ():
            recorded[comparison["reference"]].append(float(comparison["score"]))
            judges[row.get("judge_backend") or "(unnamed)"] = None
    return Work(
        folder.resolve().name,
        tuple(picture for picture, _ in found),
        tuple(sketch for _, sketch in found),
        {name: tuple(shares) for name, shares in recorded.items()},
        tuple(judges),
    )


def from_record(pool: Pool, work: Work) -> Calibration:
    """The calibration that a run's own comparisons give."""
    known = {r.name for r in pool.drawable}
    return Calibration(
        tuple(Rival(r.name, r.tier, tuple(work.recorded.get(r.name, ()))) for r in pool.drawable),
        work.name,
        ", ".join(work.judges),
        len(work.pictures),
        sum(len(shares) for name, shares in work.recorded.items() if name not in known),
    )


def meetings(pool: Pool, work: Work, each: int, seed: int = 0) -> list[tuple[Reference, Path]]:
    """Who meets whom: `each` paintings for every drawable reference, other ones for each where there are more."""
    return [
        (reference, picture)
        for reference in pool.drawable
        for picture in sorted(
            work.pictures,
            key=lambda p, r=reference: pools.fair_order(f"{seed}\0{r.name}", str(p)),  # type: ignore[misc]
        )[:each]
    ]


async def ask(
    pool: Pool,
    work: Work,
    comparer: Comparer,
    judge: str,
    criteria: str = "",
    each: int = EACH,
    seed: int = 0,
    told: Callable[[], None] = lambda: None,
) -> tuple[Calibration, list[str]]:
    """Let the judge compare, both orders each: (calibration, what could not be compared and why).

    `told` is called after every comparison. Raises Unavailable when none succeeded.
    """
    limit = asyncio.Semaphore(64)  # as many duels wait at the backend's own gate, not thousands

    async def duel(reference: Reference, picture: Path) -> float | str:
        async with limit:
            try:
                candidate = Painting.from_file(picture)  # read when it is its turn: a run holds thousands
                forward, backward = await compare(candidate, reference.painting, comparer, criteria)
            except Unavailable as outage:
                return f"{picture.name} against {reference.name}: {outage}"
            finally:
                told()
        return (forward + backward) / 2

    pairs = meetings(pool, work, each, seed)
    results = await asyncio.gather(*(duel(*pair) for pair in pairs))
    shares: dict[str, list[float]] = defaultdict(list)
    dropped: list[str] = []
    for (reference, _), result in zip(pairs, results, strict=True):
        if isinstance(result, str):
            dropped.append(result)
        else:
            shares[reference.name].append(result)
    if not shares:
        raise Unavailable(f"No comparison succeeded ({dropped[0].rstrip('.')}).")
    rivals = tuple(Rival(r.name, r.tier, tuple(shares[r.name])) for r in pool.drawable)
    return Calibration(rivals, work.name, judge, len(work.pictures)), dropped


# -- what to do about it -------------------------------------------------------------------------------------------


def left_to_draw(calibration: Calibration) -> dict[str, int]:
    """How many references of each tier are not flagged, best tier first."""
    tiers = dict.fromkeys(sorted({r.tier for r in calibration.rivals}, key=pools.tier_rank), 0)
    for rival in calibration.rivals:
        tiers[rival.tier] += rival.verdict not in FLAGGED
    return tiers


def need_room(target: Path) -> None:
    """Raise UsageError where a copy cannot begin: to be asked before comparisons are paid for, and not after."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(f"{target} is there already and not empty; name another folder with -o.")


def write_pool(pool: Pool, calibration: Calibration, target: Path, rung: Work | None = None) -> Pool:
    """Copy `pool` to `target` with the flagged references set aside, and `calibration.json` beside them.

    A reference set aside keeps its tier: a judge goes on learning from it, training does not draw it. What was
    reserved stays reserved. `rung` adds the best RUNG paintings of that work as the tier "weak". Raises UsageError
    when nothing would be left to draw, or `target` is not empty.
    """
    if not rung and not any(left_to_draw(calibration).values()):
        raise UsageError("Every reference would be set aside, so there would be nothing to draw: add a weaker rung.")
    need_room(target)
    flagged = {r.reference for r in calibration.flagged}
    reserved = {e.name for e in pool.reserved}
    folder = pools.metadata_folder(pool.path)
    try:
        shutil.copytree(
            folder,
            target,
            dirs_exist_ok=True,
            ignore=shutil.ignore_patterns("metadata.jsonl", FILE, pools.LOCK, ".*.tmp"),
        )
    except shutil.Error as error:
        raise UsageError(f"The pool {folder} cannot be copied to {target}: {error.args[0][0][2]}.") from error
    record(target, calibration)
    rows = [{**e.row, "reserved": e.name in reserved, "set_aside": e.name in flagged} for e in pool.entries]
    pools.write_rows(target, rows)  # last: a folder without it is no pool
    if rung:
        subject = pool.entries[0].subject
        known = {"tier": WEAK, "subject": subject, "generator_model": rung.name, "reserved": False, "set_aside": False}
        best = list(zip(rung.pictures, rung.sketches, strict=True))[:RUNG]
        pools.import_paintings(target, [(picture, sketch, known) for picture, sketch in best], rung.name)
    return Pool.load(target)


def record(folder: Path, calibration: Calibration) -> None:
    """Write `calibration.json` into a pool's folder."""
    told = {**calibration.to_json(), "references": [r.to_json() for r in calibration.rivals]}
    write_atomic(folder / FILE, (json.dumps(told, ensure_ascii=False, indent=1) + "\n").encode())


# -- what training says --------------------------------------------------------------------------------------------


def warning(pool: Pool) -> str | None:
    """What is known, before a run, against drawing from this pool: no drawable reference that was ever beaten."""
    path = pools.metadata_folder(pool.path) / FILE
    try:
        told = json.loads(path.read_text("utf-8"))
        verdicts = {str(r["reference"]): str(r["verdict"]) for r in told["references"]}
        judged_by = str(told["from"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is no calibration ({error}); `paint pool calibrate` writes one.") from error
    if not pool.drawable or any(verdicts.get(e.name) != "nobody beats" for e in pool.drawable):
        return None
    return (
        f"This pool gives no comparison that can be won: the paintings of {judged_by} beat none of the "
        f"{len(pool.drawable)} references it draws from. `paint pool calibrate RUN --rung -o NEWPOOL` adds a weaker "
        "rung."
    )


class Hope:
    """Watches a run's first comparisons. `saw` returns a sentence once: when HOPELESS of them were all lost."""

    def __init__(self) -> None:
        self._lost: int | None = 0

    def saw(self, shares: Iterable[float]) -> str | None:
        """`shares`: win shares, 0–1, of comparisons in the order they were made. A tie is something to learn from."""
        if self._lost is None:
            return None
        shares = list(shares)
        if any(share >= 0.5 for share in shares):
            self._lost = None
            return None
        self._lost += len(shares)
        if self._lost < HOPELESS:
            return None
        lost, self._lost = self._lost, None
        return (
            f"{lost} comparisons, and every one was lost: this pool gives the policy nothing to win. `paint pool "
            "calibrate RUN --rung -o NEWPOOL` adds a weaker rung."
        )


def nearest(rivals: Sequence[Rival], count: int = 3) -> list[Rival]:
    """The references that the policy comes closest to beating, closest first."""
    return sorted((r for r in rivals if r.shares), key=lambda r: (-r.share.value, r.reference))[:count]
