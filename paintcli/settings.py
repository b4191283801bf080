"""Where a setting comes from: flag, then environment, then paint.toml, then the default. Nothing else decides."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from paintcli.errors import UsageError

FILE = "paint.toml"

DEFAULTS: dict[str, Any] = {
    "renderer": "local",
    "scorer": "taste",
    "judge": "taste",
    "generator": None,
    "pool": None,  # pool.py finds one: the project's own, the published one, the starter pool
    "domain": "hibiscus",
    "seed": 0,
    "workers": None,  # one per core, at most four: more never painted faster on the machines measured
    "deadline": 30.0,  # seconds; an honest painting takes about one
    "timeout": "sketch",  # "infrastructure": every time-out is nobody's fault (the published rule)
}
CLUSTER_WORKERS = 512
"""Sketches under way at once on a cluster, two a core for 256 cores: each has its picture in this machine's memory."""


TABLES = {"train", "publish", "generate"}
"""Tables of paint.toml that belong to one command; that command checks their keys."""


class Workers(int):
    """How many sketches are painted at once, and where.

    `cluster`: the address of the Ray cluster that paints them, "" for the one this machine knows; None: this machine.
    """

    cluster: str | None = None

    @classmethod
    def read(cls, value: Any) -> Workers:
        """A number, "ray" or "ray:ADDRESS". Raises UsageError in one sentence."""
        kind, colon, address = str(value).partition(":")
        if kind == "ray" and bool(colon) == bool(address):
            workers = cls(CLUSTER_WORKERS)
            workers.cluster = address
            return workers
        try:
            return cls(value)
        except (TypeError, ValueError, OverflowError):
            raise UsageError(f"workers must be a number, ray or ray:ADDRESS, not {value!r}.") from None

    def __str__(self) -> str:
        return super().__repr__() if self.cluster is None else f"ray:{self.cluster}".rstrip(":")


def cluster_of(workers: int) -> str | None:
    """The address of the Ray cluster that works, None for this machine and for every plain number."""
    return workers.cluster if isinstance(workers, Workers) else None


@dataclass(frozen=True)
class Settings:
    """Every shared setting, resolved. `project` is the folder of paint.toml, None outside one."""

    project: Path | None
    renderer: str
    scorer: str
    judge: str
    generator: str | None
    pool: str | None
    domain: str
    seed: int
    workers: Workers
    deadline: float
    timeout: str
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)


def find_project(start: Path | None = None) -> Path | None:
    """The nearest folder at or above `start` (default: here) that holds paint.toml."""
    here = (start or Path.cwd()).resolve()
    return next((folder for folder in (here, *here.parents) if (folder / FILE).is_file()), None)


def load(start: Path | None = None, defaults: Mapping[str, Any] | None = None, **flags: Any) -> Settings:
    """Resolve all shared settings; a flag that is None was not given. `defaults` replaces some of DEFAULTS.

    Raises UsageError in one sentence.
    """
    project = find_project(start)
    config = _read(project / FILE) if project else {}
    values: dict[str, Any] = {}
    for name, default in {**DEFAULTS, **(defaults or {})}.items():
        environment = os.environ.get(f"PAINT_{name.upper()}") or None
        value = next((v for v in (flags.get(name), environment, config.get(name)) if v is not None), default)
        if name in ("seed", "workers", "deadline"):
            value = _number(name, value)
        elif value is not None and not isinstance(value, str):  # only paint.toml can hold anything else
            raise UsageError(f"{name} must be text in quotes, not {value!r}.")
        values[name] = value
    if values["timeout"] not in ("sketch", "infrastructure"):
        raise UsageError(f'timeout is "sketch" or "infrastructure", not {values["timeout"]!r}.')
    values["workers"] = values["workers"] or Workers(min(os.cpu_count() or 1, 4))
    # a relative path in paint.toml is relative to paint.toml, wherever the command runs
    for name in ("pool", "domain"):
        value = values[name]
        if project and value and flags.get(name) is None and value == config.get(name):
            beside = project / value
            values[name] = str(beside) if beside.exists() else value
    return Settings(project=project, tables={t: config[t] for t in TABLES if t in config}, **values)


def _number(name: str, value: Any) -> Any:
    if value is None:
        return None
    kind: Any = {"deadline": float, "workers": Workers.read}.get(name, int)
    try:
        number = kind(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name} must be a number, not {value!r}.") from None
    lowest = {"seed": 0, "workers": 1, "deadline": 0.1}[name]
    if not number >= lowest or number == float("inf"):
        raise UsageError(f"{name} must be at least {lowest}, not {value}.")
    if name == "seed" and number >= 2**32:
        raise UsageError(f"seed must be below 2^32, not {value}.")
    return number


def _read(path: Path) -> dict[str, Any]:
    try:
        config = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}.") from error
    for key in config:
        if key not in DEFAULTS and key not in TABLES:
            near = get_close_matches(key, [*DEFAULTS, *TABLES], n=1)
            hint = f"; did you mean {near[0]!r}?" if near else "."
            raise UsageError(f"{path} has the unknown key {key!r}{hint}")
    return config
