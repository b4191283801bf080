"""The pool: rated paintings that references are drawn from. A plain folder, one `metadata.jsonl` row a picture.

The columns are the published ones (`COLUMNS`); any others are kept as they came. Four optional columns mean
something here: `family` (the hand or style a painting belongs to), `reserved` (never drawn in training),
`set_aside` (not drawn either: a calibration found it no rival) and `recheck_tier` (the tier the same rater gave when
shown the painting again, blind).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from paintcli.errors import PaintError, Unavailable, UsageError
from paintcli.files import reason, write_atomic
from paintcli.painting import Painting

if TYPE_CHECKING:
    from PIL.Image import Image

COLUMNS = (
    "file_name", "source_file", "tier", "subject", "generator_model", "refinement_round", "hpsv3_mu",
    "paint_coverage", "gate_errors", "reference_photo", "reference_photo_licence", "reference_photo_attribution",
    "reference_photo_url",
)  # fmt: skip
"""The published metadata columns, in their published order."""

PUBLISHED = "hub:HuggingEnvs/watercolour-reference-pool@50da8bb183aa472bdf6538852b652778f539a2af"
"""The published 178 paintings at the revision the published runs were pinned to."""

IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff"})

REFUSED_TIER = "no"
"""Looked at and not wanted as a reference: never drawn, but a judge may learn from it."""

KNOWN_TIERS = ("love", "okay", "weak")
"""Best first. Unknown names rank after these, alphabetically; `no` is last."""

RESERVED_SHARE = 0.2
"""Share of each tier kept out of every training draw, for exams and `--held-out`."""

SMALLEST_SPLIT = 5
"""Tiers smaller than this are not split: a fifth of four paintings is none."""


def tier_rank(tier: str) -> tuple[int, str]:
    """Sort key, best tier first."""
    if tier in KNOWN_TIERS:
        return KNOWN_TIERS.index(tier), ""
    return (len(KNOWN_TIERS) + 1, "") if tier == REFUSED_TIER else (len(KNOWN_TIERS), tier)


def fair_order(seed: int | str, name: str) -> str:
    """A sort key that shuffles names: the same on every machine, process and Python version."""
    return hashlib.sha256(f"{seed}\0{name}".encode()).hexdigest()


@dataclass(frozen=True)
class Reference:
    """One painting of a pool. `row` is its metadata row as it was read, unknown columns included."""

    path: Path
    source: Path | None
    tier: str
    subject: str
    family: str
    row: dict[str, Any] = field(repr=False)

    @property
    def name(self) -> str:
        return str(self.row["file_name"])

    @property
    def drawn(self) -> dict[str, Any]:
        """How a rollout names it among its `references`."""
        return {"name": self.name, "tier": self.tier, "hpsv3_mu": self.row.get("hpsv3_mu")}

    @cached_property
    def painting(self) -> Painting:
        """The picture. Raises PaintError when the file is not a readable one."""
        return Painting.from_file(self.path)

    @property
    def code(self) -> str | None:
        """The sketch's JavaScript, None for a painting that came without."""
        return self.source.read_text("utf-8") if self.source else None


def tiers_of(entries: Iterable[Reference]) -> dict[str, list[Reference]]:
    """Entries by tier, best tier first."""
    by_tier: dict[str, list[Reference]] = {}
    for entry in sorted(entries, key=lambda e: tier_rank(e.tier)):
        by_tier.setdefault(entry.tier, []).append(entry)
    return by_tier


@dataclass(frozen=True)
class Draw:
    """The references of one group, best tier first, and what was odd about the draw (sentences for a person)."""

    references: tuple[Reference, ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problem:
    """One finding about a pool folder: which painting (empty: the folder itself) and a sentence."""

    file: str
    detail: str

    def __str__(self) -> str:
        return f"{self.file}: {self.detail}" if self.file else self.detail


def shares_of(references: int) -> dict[str, int]:
    """How many of each tier for `references` in all: half love, half okay, the odd one love (published: 2 + 2)."""
    if references < 1:
        raise UsageError(f"At least one reference is needed, not {references}.")
    return {tier: n for tier, n in (("love", references - references // 2), ("okay", references // 2)) if n}


@dataclass(frozen=True)
class Pool:
    """A pool folder in memory. `origin` says where it came from, in words; pictures are read when first used."""

    name: str
    path: Path
    entries: tuple[Reference, ...]
    origin: str = ""

    @classmethod
    def load(cls, path: Path, origin: str = "") -> Pool:
        """Read a pool folder. Raises UsageError, in one sentence, at the first thing that is wrong with it."""
        entries, problems = read(path)
        if problems:
            more = f" (and {len(problems) - 1} more: `paint pool check` lists them)" if len(problems) > 1 else ""
            raise UsageError(f"The pool {path} is not usable: {str(problems[0]).rstrip('.')}{more}.")
        return cls(name=name_of(path), path=path, entries=tuple(entries), origin=origin or f"the pool {path}")

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def rated(self) -> tuple[Reference, ...]:
        return tuple(e for e in self.entries if e.tier)

    def tiers(self, entries: Iterable[Reference] | None = None) -> dict[str, list[Reference]]:
        """The rated entries (or `entries`) by tier, best tier first."""
        return tiers_of(self.rated if entries is None else entries)

    @cached_property
    def reserved(self) -> tuple[Reference, ...]:
        """The part that training never draws.

        Where any row has the column `reserved`, exactly the rows where it is true; else a fifth of each tier of
        five or more, picked by a hash of the file name.
        """
        if any("reserved" in e.row for e in self.entries):
            return tuple(e for e in self.rated if e.row.get("reserved"))
        kept: list[Reference] = []
        for members in self.tiers().values():
            if len(members) >= SMALLEST_SPLIT:
                members = sorted(members, key=lambda e: fair_order("reserve", e.name))
                kept += members[: math.floor(len(members) * RESERVED_SHARE)]
        return tuple(kept)

    @cached_property
    def drawable(self) -> tuple[Reference, ...]:
        """What training may draw: rated, not refused, not reserved, not set aside."""
        out = {e.name for e in self.reserved} | {e.name for e in self.rated if e.row.get("set_aside")}
        return tuple(e for e in self.rated if e.tier != REFUSED_TIER and e.name not in out)

    def draw(
        self, shares: Mapping[str, int] | None = None, seed: int = 0, entries: Sequence[Reference] | None = None
    ) -> Draw:
        """References for one group: exactly `shares[tier]` of each tier, uniform within it, none twice.

        Equal seed, equal draw, on any machine. `shares` is 2 love + 2 okay unless given; `entries` is `drawable`
        unless given (an exam passes `reserved`). A tier that has too few gives what it has and the nearest tiers
        fill the gap, with a warning. Raises UsageError when there is nothing to draw at all.
        """
        shares = shares_of(4) if shares is None else shares
        candidates = self.drawable if entries is None else entries
        if not candidates:
            raise UsageError(f"{self.origin or self.path} has no rated painting to compare with.")
        left = {
            tier: sorted(members, key=lambda e: fair_order(seed, e.name))
            for tier, members in self.tiers(candidates).items()
        }
        drawn: list[Reference] = []
        warnings: list[str] = []
        short: list[tuple[str, int]] = []
        for tier in sorted(shares, key=tier_rank):
            members = left.get(tier, [])
            take, left[tier] = members[: shares[tier]], members[shares[tier] :]
            drawn += take
            if len(take) < shares[tier]:
                short.append((tier, shares[tier] - len(take)))
        for tier, missing in short:
            near = sorted(left, key=lambda other: (abs(tier_rank(other)[0] - tier_rank(tier)[0]), tier_rank(other)))
            fill = [e for other in near for e in left[other]][:missing]
            for entry in fill:
                left[entry.tier].remove(entry)
            drawn += fill
            instead = "none could take its place"
            if fill:
                instead = f"{len(fill)} from {', '.join(dict.fromkeys(e.tier for e in fill))} instead"
            warnings.append(f"The pool has {missing} too few {tier!r} paintings for this draw: {instead}.")
        return Draw(tuple(sorted(drawn, key=lambda e: tier_rank(e.tier))), tuple(warnings))

    def scheduled(self, references: int, progress: float) -> dict[str, int]:
        """Shares that go from the easiest tier (`progress` 0) to love alone (from 0.8 on), for `Pool.draw`.

        The mean rung falls linearly; between two rungs the draw holds some of each.
        """
        ladder = list(self.tiers(self.drawable))  # hardest first
        height = max(0.0, 1 - progress / 0.8) * (len(ladder) - 1)
        rung = min(math.floor(height), max(len(ladder) - 2, 0))
        easier = round((height - rung) * references)
        shares = {ladder[rung]: references - easier}
        if easier:
            shares[ladder[rung + 1]] = easier
        return {tier: n for tier, n in shares.items() if n}

    @cached_property
    def digest(self) -> str:
        """Hex digest of names, tiers, families, reserved marks and picture bytes: what a fitted judge depends on."""
        digest = hashlib.sha256()
        reserved = {e.name for e in self.reserved}
        for entry in sorted(self.entries, key=lambda e: e.name):
            picture = hashlib.sha256(entry.path.read_bytes()).hexdigest()
            digest.update(repr((entry.name, entry.tier, entry.family, entry.name in reserved, picture)).encode())
        return digest.hexdigest()

    @property
    def rechecked(self) -> list[tuple[str, str]]:
        """(tier, tier given again blind) of every painting that was rated twice."""
        return [(e.tier, str(e.row["recheck_tier"])) for e in self.rated if e.row.get("recheck_tier")]

    def with_rows(self, rows: Sequence[dict[str, Any]]) -> Pool:
        """The same folder described by other rows; nothing is written."""
        return replace(self, entries=tuple(_reference(self.path, row) for row in rows))

    def save(self) -> None:
        """Write `metadata.jsonl`, atomically."""
        write_rows(self.path, [e.row for e in self.entries])


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write the rows of the pool folder `path`: published columns first, then the others, atomically."""
    lines = []
    for row in rows:
        ordered = {c: row.get(c) for c in COLUMNS} | {k: v for k, v in row.items() if k not in COLUMNS}
        lines.append(json.dumps(ordered, ensure_ascii=False) + "\n")
    write_atomic(path / "metadata.jsonl", "".join(lines).encode("utf-8", "replace"))


LOCK = ".lock"
"""Whoever writes to a pool's metadata.jsonl holds the lock of this file: raters and a generator share a pool."""


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the pool folder `path` alone, for reading `metadata.jsonl` anew and writing it; waits for its turn.

    The lock goes with the process, also with one that is killed. It is not reentrant. Raises PaintError when the
    folder cannot be written to.
    """
    import fcntl

    try:
        handle = (path / LOCK).open("a")
    except OSError as error:
        raise PaintError(f"The pool {path} cannot be written to: {reason(error)}.") from error
    with handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def update_rows(path: Path, changes: Mapping[str, Mapping[str, Any]]) -> None:
    """Change columns of some rows of the pool folder `path`: {file_name: {column: value}}. To be called under `locked`.

    Every other line of metadata.jsonl stays as it is, byte for byte. Raises PaintError when it cannot be written.
    """
    lines = (path / "metadata.jsonl").read_bytes().splitlines(keepends=True)
    for index, line in enumerate(lines):
        with contextlib.suppress(ValueError):  # a line that is no JSON is somebody else's to mend
            row = json.loads(line)
            change = changes.get(str(row.get("file_name"))) if isinstance(row, dict) else None
            if change and any(row.get(column) != value for column, value in change.items()):
                lines[index] = (json.dumps({**row, **change}, ensure_ascii=False) + "\n").encode("utf-8", "replace")
    write_atomic(path / "metadata.jsonl", b"".join(lines))


def _reference(folder: Path, row: dict[str, Any]) -> Reference:
    source = row.get("source_file")
    return Reference(
        path=folder / str(row["file_name"]),
        source=folder / str(source) if source else None,
        tier=str(row.get("tier") or "").strip().lower(),
        subject=str(row.get("subject") or ""),
        family=str(row.get("family") or row.get("generator_model") or ""),
        row=row,
    )


def metadata_folder(path: Path) -> Path:
    """The folder that holds `metadata.jsonl`: `path`, or the one folder below it that does (a split's)."""
    if (path / "metadata.jsonl").is_file():
        return path
    below = sorted(path.glob("*/metadata.jsonl")) if path.is_dir() else []
    if len(below) == 1:
        return below[0].parent
    if not path.is_dir():
        raise UsageError(f"The pool {path} is not a folder.")
    raise UsageError(f"{path} holds no metadata.jsonl, so it is not a pool; `paint pool import` makes one of pictures.")


def read(path: Path) -> tuple[list[Reference], list[Problem]]:
    """Every usable entry of a pool folder and every problem with the rest. Raises UsageError if it is no pool."""
    folder = metadata_folder(path)
    entries: list[Reference] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    try:
        lines = (folder / "metadata.jsonl").read_text("utf-8").split("\n")  # not splitlines: U+2028 is text
    except UnicodeDecodeError:
        raise UsageError(f"{folder / 'metadata.jsonl'} is not UTF-8 text.") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            problems.append(Problem("metadata.jsonl", f"line {number} is not JSON ({error.msg})."))
            continue
        name = row.get("file_name") if isinstance(row, dict) else None
        if not isinstance(name, str) or not name:
            problems.append(Problem("metadata.jsonl", f"line {number} names no picture (file_name)."))
            continue
        if name in seen:
            problems.append(Problem(name, f"is named twice in metadata.jsonl (again on line {number})."))
            continue
        seen.add(name)
        for column in ("file_name", "source_file"):
            value = row.get(column)
            # links are followed: the Hub's cache is a folder of links
            if value and (Path(str(value)).is_absolute() or ".." in Path(str(value)).parts):
                problems.append(Problem(name, f"{column} points outside the pool ({value})."))
                break
            if value and not (folder / str(value)).is_file():
                problems.append(Problem(name, f"metadata.jsonl names {column} {value}, which does not exist."))
                break
        else:
            entries.append(_reference(folder, row))
    if not entries and not problems:
        problems.append(Problem("", "its metadata.jsonl has no rows."))
    return entries, problems


def starter(domain: str = "hibiscus") -> Path:
    """The packaged starter pool of a domain. Raises UsageError naming those there are."""
    root = Path(str(files("paintcli.pools")))
    if (root / domain / "metadata.jsonl").is_file():
        return root / domain
    there = ", ".join(sorted(p.parent.name for p in root.glob("*/metadata.jsonl"))) or "none"
    raise UsageError(f"There is no starter pool for {domain!r} (packaged: {there}); give one with --pool.")


def name_of(path: Path) -> str:
    """What a pool is called: its folder, or where that is merely `pool` the project around it."""
    whole = path.resolve()
    return (whole.parent.name or whole.name) if whole.name == "pool" else whole.name


def refuse_packaged(path: Path) -> None:
    """Raise UsageError for a folder that came with paint: a pool there is everybody's, and gone with an upgrade."""
    packaged = Path(str(files("paintcli.pools"))).resolve()
    if packaged in path.resolve().parents:
        raise UsageError(
            f"The packaged pool {path.name} is not yours to change; copy it first: "
            f"paint pool import {quote(str(path))} --pool mine, then name it with --pool mine."
        )


def resolve(spec: str | None, project: Path | None = None, domain: str = "hibiscus", hub: bool = False) -> Pool:
    """The pool a command works with; its `origin` says which one that is.

    `spec` is a folder or "hub:REPO[@REVISION]". Without one: the project's own (`pool/`, or its only folder below
    `pools/`); else, for the hibiscus and where a Hub token is configured (`hub`), the published pool; else the
    packaged starter pool.
    """
    if spec and spec.startswith("hub:"):
        from paintcli.backends.hub.dataset import dataset

        return Pool.load(dataset(spec), origin=spec)
    if spec:
        return Pool.load(Path(spec))
    if project is not None:
        own = [project / "pool", *sorted((project / "pools").glob("*"))]
        own = [p for p in own if (p / "metadata.jsonl").is_file()]
        if len(own) > 1:
            raise UsageError(f"The project has several pools ({', '.join(p.name for p in own)}); name one with --pool.")
        if own:
            return Pool.load(own[0], origin=f"the project's pool {own[0]}")
        if domain.endswith(".toml"):  # no starter pool paints what this project does
            raise UsageError(
                "This project's pool is empty: `paint pool generate` or `paint pool import` fills it, or name another "
                "with --pool."
            )
    if hub and domain == "hibiscus":
        try:
            return replace(resolve(PUBLISHED), origin="the published pool (no pool of your own was found)")
        except Unavailable as outage:  # falling back would change everybody's references on a bad network day
            raise Unavailable(f"{outage} Name another pool with --pool, such as {starter(domain)}.") from outage
    return Pool.load(starter(domain), origin=f"the packaged {domain} starter pool (no pool of your own was found)")


# -- what a person wants to know about a pool ---------------------------------------------------------------------


def signature(painting: Painting, side: int = 16) -> Any:
    """A small, blurred, contrast-keeping version for near-duplicate search: float32 (side · side · 3,), 0–1."""
    import numpy as np
    from PIL import Image

    small = painting.image.resize((side, side), Image.Resampling.BOX)
    return (np.asarray(small, dtype=np.float32) / 255).ravel()


NEAR_DUPLICATE = 0.02
"""Root-mean-square difference of two 16 × 16 signatures (0–1) below which two paintings are near-duplicates."""


def distances(entries: Sequence[Reference]) -> Any:
    """Root-mean-square differences of the signatures: float32 (n, n), 0–1."""
    import numpy as np

    vectors = np.stack([signature(e.painting) for e in entries])
    squares = (vectors**2).sum(axis=1)
    gram = squares[:, None] + squares[None] - 2 * vectors @ vectors.T
    return np.sqrt(np.maximum(gram, 0) / vectors.shape[1])


def near_duplicates(entries: Sequence[Reference]) -> list[tuple[Reference, Reference, float]]:
    """Pairs of paintings closer than NEAR_DUPLICATE, closest first, with their distance."""
    if len(entries) < 2:
        return []
    matrix = distances(entries)
    pairs = [
        (entries[i], entries[j], float(matrix[i, j]))
        for i in range(len(entries))
        for j in range(i + 1, len(entries))
        if matrix[i, j] < NEAR_DUPLICATE
    ]
    return sorted(pairs, key=lambda pair: pair[2])


def groups(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Names that pairs join, directly or through others: a painting made ten times is one group, not 45 pairs."""
    found: list[list[str]] = []
    for pair in pairs:
        touched = [group for group in found if not set(pair).isdisjoint(group)]
        found = [group for group in found if group not in touched]
        found.append(list(dict.fromkeys([*(name for group in touched for name in group), *pair])))
    return found


def licence_problems(entries: Iterable[Reference]) -> list[Problem]:
    """A reference photo without its licence or attribution: such a pool must not be published."""
    problems = []
    for entry in entries:
        if not (entry.row.get("reference_photo") or entry.row.get("reference_photo_url")):
            continue
        licence = str(entry.row.get("reference_photo_licence") or "")
        if not licence:
            problems.append(Problem(entry.name, "its reference photo has no licence."))
        elif licence.lower() != "cc0" and not entry.row.get("reference_photo_attribution"):
            problems.append(Problem(entry.name, f"its reference photo is {licence} but names nobody to attribute."))
    return problems


def stats(pool: Pool) -> dict[str, Any]:
    """Counts by tier, family and subject, coverage by tier, the rater's consistency, as one JSON-able object."""
    import numpy as np

    tiers = pool.tiers()
    coverage = {e.name: e.painting.coverage for e in pool.entries}
    return {
        "pool": pool.name,
        "origin": pool.origin,
        "paintings": len(pool),
        "unrated": len(pool) - len(pool.rated),
        "reserved": len(pool.reserved),
        "set_aside": sum(bool(e.row.get("set_aside")) for e in pool.entries),
        "tiers": {tier: len(members) for tier, members in tiers.items()},
        "families": counts(e.family or "(unnamed)" for e in pool.entries),
        "subjects": counts(e.subject or "(unnamed)" for e in pool.entries),
        "coverage": {
            tier: [round(float(q), 4) for q in np.percentile([coverage[e.name] for e in members], [0, 25, 50, 75, 100])]
            for tier, members in tiers.items()
        },
        "consistency": consistency(pool),
    }


def counts(values: Iterable[str]) -> dict[str, int]:
    """How often each value is there, most frequent first."""
    found: dict[str, int] = {}
    for value in values:
        found[value] = found.get(value, 0) + 1
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def consistency(pool: Pool) -> dict[str, Any] | None:
    """How often the rater gave a rechecked painting the same tier again; None if nothing was rechecked."""
    pairs = pool.rechecked
    if not pairs:
        return None
    return {"rechecked": len(pairs), "same": sum(a == b for a, b in pairs) / len(pairs)}


def contact_sheet(entries: Sequence[Reference], columns: int = 8, side: int = 180, *, captions: bool = True) -> Image:
    """All paintings on one sheet, tier by tier with a coloured bar and the file's name under each; `side` in pixels."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(11)
    colours = {"love": (196, 60, 90), "okay": (90, 130, 180), "weak": (150, 150, 120), REFUSED_TIER: (120, 120, 120)}
    ordered = sorted(entries, key=lambda e: (tier_rank(e.tier) if e.tier else (99, ""), e.name))
    columns = max(1, min(columns, len(ordered)))
    rows = -(-len(ordered) // columns)
    gap, caption = 6, 22 if captions else 4
    sheet = Image.new("RGB", (columns * (side + gap) + gap, rows * (side + caption + gap) + gap), "white")
    draw = ImageDraw.Draw(sheet)
    for i, entry in enumerate(ordered):
        x, y = gap + i % columns * (side + gap), gap + i // columns * (side + caption + gap)
        small = entry.painting.image
        small.thumbnail((side, side))
        sheet.paste(small, (x + (side - small.width) // 2, y + (side - small.height) // 2))
        draw.rectangle((x, y + side + 1, x + side, y + side + 4), fill=colours.get(entry.tier, (200, 200, 200)))
        if captions:
            words = f"{entry.tier or 'unrated'}  {entry.path.stem}"
            while font.getlength(words) > side:
                words = words.rstrip("…")[:-1] + "…"
            draw.text((x, y + side + 7), words, fill=(70, 70, 70), font=font)
    return sheet


# -- import --------------------------------------------------------------------------------------------------------


def import_paintings(
    pool_path: Path, rows: Iterable[tuple[Path, Path | None, Mapping[str, Any]]], imported_from: str
) -> tuple[list[str], list[Problem]]:
    """Add pictures to the pool folder `pool_path`, made when missing. Returns the new file names and what was left out.

    Each item is (picture, sketch or None, what is known about it). The known columns are kept whole and the origin is
    written to `imported_from`, the old name to `imported_name`. A picture whose bytes the pool already holds is not
    added again; a name that is taken gets a number. Unreadable pictures are reported, the others go in. Raises
    UsageError for a packaged pool.
    """
    refuse_packaged(pool_path)
    old: list[dict[str, Any]] = []
    if (pool_path / "metadata.jsonl").exists():
        old = [e.row for e in Pool.load(pool_path).entries]
    there = {hashlib.sha256((pool_path / r["file_name"]).read_bytes()).hexdigest() for r in old}
    names = {str(r["file_name"]) for r in old}
    added: list[dict[str, Any]] = []
    left_out: list[Problem] = []
    for picture, sketch, known in rows:
        try:
            painting = Painting.from_file(picture)
        except PaintError as error:
            left_out.append(Problem(picture.name, str(error)))
            continue
        data = picture.read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        if digest in there:
            left_out.append(Problem(picture.name, "is already in the pool."))
            continue
        there.add(digest)
        stem, suffix, number = picture.stem, picture.suffix.lower(), 1
        while f"{stem}{suffix}" in names:
            number += 1
            stem = f"{picture.stem}-{number}"
        name = f"{stem}{suffix}"
        names.add(name)
        row = {k: v for k, v in known.items() if k not in ("file_name", "source_file")}
        row |= {
            "file_name": name,
            "source_file": f"sources/{stem}.js" if sketch else None,
            "tier": known.get("tier"),
            "paint_coverage": known.get("paint_coverage", round(painting.coverage, 4)),
            "imported_from": known.get("imported_from") or imported_from,
            "imported_name": known.get("imported_name") or str(known.get("file_name") or picture.name),
        }
        write_atomic(pool_path / name, data)
        if sketch:
            write_atomic(pool_path / "sources" / f"{stem}.js", sketch.read_bytes())
        added.append(row)
    # last: a kill before this line leaves files, never a row without its file
    pool_path.mkdir(parents=True, exist_ok=True)
    with locked(pool_path):
        if (pool_path / "metadata.jsonl").exists():  # read anew: somebody may have rated meanwhile
            old = [e.row for e in Pool.load(pool_path).entries]
        write_rows(pool_path, [*old, *added])
    return [str(r["file_name"]) for r in added], left_out


def sketch_beside(picture: Path, *folders: Path) -> Path | None:
    """The sketch that made a picture: STEM.js in one of `folders`, beside it, in sources/ or in ../sources/."""
    for folder in (*folders, picture.parent, picture.parent / "sources", picture.parent.parent / "sources"):
        candidate = folder / f"{picture.stem}.js"
        if candidate.is_file():
            return candidate
    return None


def rows_of_folder(
    folder: Path, best: int = 0, sample: int = 0, seed: int = 0, sources: Path | None = None
) -> list[tuple[Path, Path | None, dict[str, Any]]]:
    """What `import_paintings` takes, from a folder: a pool or a run (with `metadata.jsonl`) or plain pictures.

    `best` keeps the N rows of highest reward, `sample` N at random (seeded); 0 keeps all. Sketches of plain pictures
    are looked for beside them, and in `sources` first.
    """
    if sources is not None and not sources.is_dir():
        raise UsageError(f"{sources} is not a folder.")
    rows: list[tuple[Path, Path | None, dict[str, Any]]]
    metadata: Path | None = None
    with contextlib.suppress(UsageError):
        metadata = metadata_folder(folder)
    if metadata is not None:
        rows = [(e.path, e.source, dict(e.row)) for e in Pool.load(folder).entries]
    elif folder.is_dir():
        pictures = [p for p in sorted(folder.iterdir()) if p.suffix.lower() in IMAGE_SUFFIXES]
        rows = [(p, sketch_beside(p, *([sources] if sources else [])), {}) for p in pictures]
    else:
        raise UsageError(f"{folder} is not a folder.")
    if not rows:
        raise UsageError(f"{folder} holds no pictures.")
    if best:
        scored = [r for r in rows if isinstance(r[2].get("reward"), int | float)]
        if not scored:
            raise UsageError(f"{folder} has no rewards to take the best of: it is not a run.")
        rows = sorted(scored, key=lambda r: (-r[2]["reward"], str(r[0])))[:best]
    if sample:
        rows = sorted(rows, key=lambda r: fair_order(seed, r[0].name))[:sample]
    return rows
