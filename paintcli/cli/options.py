"""The options and names that mean the same in every subcommand, written once.

An option that is None was not given: ask settings.py.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from paintcli.sketch import Sketch

STDIN = "-"
"""The name of standard input, and of standard output where something is written."""

Renderer = Annotated[
    str | None,
    typer.Option(
        "--renderer", metavar="SPEC", help="Who paints: local (a Chromium here), hub:SPACE.", show_default=False
    ),
]
Scorer = Annotated[
    str | None,
    typer.Option("--scorer", metavar="SPEC", help="Who scores: taste, hpsv3, hub:SPACE.", show_default=False),
]
Judge = Annotated[
    str | None,
    typer.Option(
        "--judge", metavar="SPEC", help="Who compares: taste, vlm:MODEL, gguf:MODEL+MMPROJ, hub.", show_default=False
    ),
]
Generator = Annotated[
    str | None,
    typer.Option("--generator", metavar="SPEC", help="Who writes: hub:MODEL.", show_default=False),
]
Pool = Annotated[
    str | None,
    typer.Option(
        "--pool",
        metavar="DIR|hub:REPO[@REV]",
        help="Rated references. Default: the project's, else the published or a starter pool.",
        show_default=False,
    ),
]
OwnPool = Annotated[
    str | None,
    typer.Option("--pool", metavar="DIR", help="A pool of your own. Default: the project's.", show_default=False),
]
Domain = Annotated[
    str | None,
    typer.Option("--domain", metavar="NAME|FILE", help="What is painted: a name or a .toml file.", show_default=False),
]
Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Fixes everything random; default 0.", show_default=False)
]
Workers = Annotated[
    str | None,
    typer.Option(
        "--workers",
        metavar="N|ray[:ADDRESS]",
        help="Pages at once; default one per core, at most 4. ray: every core of a Ray cluster.",
        show_default=False,
    ),
]
Deadline = Annotated[
    float | None,
    typer.Option("--deadline", metavar="S", help="Seconds a sketch may take; default 30.", show_default=False),
]
References = Annotated[
    int, typer.Option("--references", metavar="N", min=1, help="How many of the pool to compare with.")
]
Where = Annotated[str, typer.Option("--where", metavar="local|hub", help="On this machine or as a Job.")]
Preset = Annotated[
    str | None, typer.Option("--preset", metavar="4b|4b-4bit", help="A smaller policy.", show_default=False)
]
Model = Annotated[
    str | None, typer.Option("--model", metavar="ID|DIR", help="The policy's base model.", show_default=False)
]
Steps = Annotated[int | None, typer.Option("--steps", metavar="N", help="Steps to train.", show_default=False)]
StandIns = Annotated[bool, typer.Option("--stand-ins", help="Let taste stand in for HPSv3 and the judge.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any value of the recipe.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line on stdout.")]


def is_sketch(name: str | Path) -> bool:
    """Whether an input is a sketch or a reply, by its name."""
    from paintcli.sketch import named

    return name == STDIN or named(name)


def read_sketch(name: str) -> Sketch:
    """The sketch behind an input name. Raises UsageError in one sentence for what cannot be a sketch."""
    from paintcli import sketch
    from paintcli.errors import UsageError
    from paintcli.files import reason

    try:
        data = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {reason(error)}.") from error
    return sketch.read(data, "standard input" if name == STDIN else name)
