"""The options that mean the same in every subcommand, written once. None means: not given, ask settings.py."""

from __future__ import annotations

from typing import Annotated

import typer

Renderer = Annotated[
    str | None,
    typer.Option(
        "--renderer", metavar="SPEC", help="Who paints: local, the Chromium of this machine.", show_default=False
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
    str | None, typer.Option("--pool", metavar="DIR|hub:REPO[@REV]", help="Rated references.", show_default=False)
]
Domain = Annotated[
    str | None,
    typer.Option("--domain", metavar="NAME|FILE", help="What is painted: a name or a .toml file.", show_default=False),
]
Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Fixes everything random; default 0.", show_default=False)
]
Workers = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", help="Pages at once; default one per core, at most 4.", show_default=False),
]
Deadline = Annotated[
    float | None,
    typer.Option("--deadline", metavar="S", help="Seconds a sketch may take; default 30.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object a line on stdout.")]
