"""What is published together: every folder built and looked through, then all sent, then collected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paintcli.errors import PaintError, UsageError
from paintcli.pool import Pool
from paintcli.publishing import folders, secrets
from paintcli.publishing.upload import Account, Hosting, Sent, collect, duplicate, full_name, send

TYPES = {
    "pool": "dataset", "rollouts": "dataset", "adapter": "model", "gallery": "space", "env": "space", "scorer": "space",
    "trackio": "space",
}  # fmt: skip
"""What can be published → the type of its repository. `all` is all of them, in this order."""

HOSTING = {
    "gallery": Hosting("static"),
    "trackio": Hosting("gradio"),
    # the published choices; an hour of idling on either costs more than many steps of training
    "env": Hosting("docker", "cpu-upgrade", 3600),
    "scorer": Hosting("docker", "a100-large", 900),
}
QUANTISED = "l4x1"
"""Hardware of the scorer in 4 bits: 24 GB and bf16 arithmetic."""

SPACES = {"env": "environment", "scorer": "hpsv3"}
"""Folders in spaces/."""

NOTES = {
    "pool": "What the judge compares with: rated paintings and their sketches.",
    "rollouts": "Everything the policy painted while it learned, with its rewards.",
    "adapter": "The trained policy.",
    "gallery": "Every painting on one page, repainted in your browser.",
    "env": "The environment: renders, gates and rewards a sketch.",
    "scorer": "HPSv3 behind an HTTP endpoint.",
    "trackio": "The training curves.",
}


@dataclass(frozen=True)
class Order:
    """What is to be published, from where. `repo` "" takes the default name; `owner` comes before every bare name."""

    kinds: tuple[str, ...]
    owner: str
    pool: Pool | None = None
    runs: tuple[str, ...] = ()
    licence: str = ""
    """Of paintings and sketches."""
    model_licence: str = ""
    base_model: str | None = None
    repo: str = ""
    title: str = ""
    source: str = ""
    """A Space to duplicate in place of building one."""
    hosting: Mapping[str, Any] = field(default_factory=dict)
    """Fields of Hosting that were asked for."""

    def __post_init__(self) -> None:
        for kind in self.kinds:
            full_name(self.name(kind), self.owner)

    def name(self, kind: str) -> str:
        """The repository of one kind, its owner left out where none was named."""
        if self.repo:
            return self.repo
        runs = "-".join(plain(Path(run).resolve().name) for run in self.runs) or "paint"
        if kind == "pool" and self.pool:
            stem = plain(self.pool.name)
            return stem if stem.endswith("pool") else f"{stem}-pool"
        return f"paint-{kind}" if kind in ("env", "scorer", "trackio") else f"{runs[:80]}-{kind}"

    def hosted(self, kind: str) -> Hosting | None:
        """How a Space of this kind runs; None for what is none."""
        if kind not in HOSTING:
            return None
        made = HOSTING[kind]
        if kind == "scorer" and self.hosting.get("variables", {}).get("PAINT_PRECISION") == "4bit":
            made = replace(made, hardware=QUANTISED)
        if kind == "env" and "scorer" in self.kinds:
            made = replace(made, variables={"PAINT_SCORER": f"hub:{full_name(self.name('scorer'), self.owner)}"})
        return replace(made, **self.hosting)


@dataclass(frozen=True)
class Parcel:
    """One thing ready to go. `folder` is exactly what goes up; None where a Space is duplicated."""

    kind: str
    repo: str
    folder: Path | None
    hosting: Hosting | None = None

    @property
    def repo_type(self) -> str:
        return TYPES[self.kind]


def plain(name: str) -> str:
    """A name as a repository may have it."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in name).strip("-.")
    while "--" in kept or ".." in kept:
        kept = kept.replace("--", "-").replace("..", ".")
    return kept or "paint"


def build(order: Order, root: Path, told: Callable[[str], None] = lambda text: None) -> list[Parcel]:
    """Build every folder under `root` (of one kind alone, in `root` itself) and look through it for secrets.

    Raises UsageError or PaintError before anything could leave.
    """
    parcels = []
    for kind in order.kinds:
        repo = full_name(order.name(kind), order.owner)
        if order.source:
            parcels.append(Parcel(kind, repo, None, order.hosted(kind)))
            continue
        folder = root / kind if len(order.kinds) > 1 else root
        folders.start(folder)
        fill(kind, order, folder, repo)
        folders.seal(folder, kind)
        secrets.refuse(folder)
        if where := secrets.find(folder, str(Path.home()).encode()):
            told(f"{where} names your home folder; it goes up like that.")
        parcels.append(Parcel(kind, repo, folder, order.hosted(kind)))
    return parcels


def fill(kind: str, order: Order, folder: Path, repo: str) -> None:
    """Build one folder."""
    runs = [Path(run) for run in order.runs]
    match kind:
        case "pool":
            assert order.pool is not None
            folders.pool(order.pool, folder, repo, order.licence)
        case "rollouts":
            folders.rollouts(runs, folder, repo, order.licence)
        case "adapter":
            if len(runs) != 1:
                raise UsageError(f"One adapter at a time: name one run, not {len(runs)}.")
            folders.adapter(str(runs[0]), folder, repo, order.model_licence, order.base_model)
        case "gallery":
            title = order.title or ", ".join(run.resolve().name for run in runs)
            folders.gallery(order.runs, folder, title, order.licence)
        case "trackio":
            folders.trackio(runs, folder)
        case _:
            folders.space(SPACES[kind], folder)


def publish(
    api: Any, who: Account, order: Order, parcels: Sequence[Parcel], *, public: bool, collection: str,
    told: Callable[[str], None], done: Callable[[Parcel, Sent], None] = lambda parcel, sent: None,
) -> str:  # fmt: skip
    """Send every parcel and put all of them into one collection; returns its address. `done` hears of each.

    Raises UsageError or PaintError; with several parcels it says which of them are up.
    """
    if order.owner not in who.owners:
        raise UsageError(f"Your token publishes under {', '.join(who.owners)}, not under {order.owner}.")
    up: list[tuple[Sent, str, str]] = []
    for parcel in parcels:
        try:
            if parcel.folder is None:
                assert parcel.hosting is not None
                sent = duplicate(api, order.source, parcel.repo, parcel.hosting, public)
            else:
                sent = send(
                    api, parcel.folder, parcel.repo, parcel.repo_type, public=public, hosting=parcel.hosting, told=told
                )
        except PaintError as error:
            if not up:
                raise
            names = ", ".join(s.repo for s, _, _ in up)
            left = ", ".join(p.repo for p in parcels[len(up) :])
            raise type(error)(f"{error} Up and complete: {names}. Not yet: {left}.") from error
        up.append((sent, parcel.repo_type, NOTES[parcel.kind]))
        done(parcel, sent)
    return collect(api, collection, order.owner, up, public)
