"""`paint env`: the renderer, the gate and the reward as a server."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated

import typer

from paintcli.cli import options
from paintcli.cli.road import then

group = typer.Typer(no_args_is_help=True, help="Serve the environment, or the scorer, to other machines.")

Host = Annotated[
    str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on; 0.0.0.0 is every one of this machine.")
]
Port = Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="0 takes a free one.")]


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="env")


@group.command()
def serve(
    mix: Annotated[
        str | None,
        typer.Option(
            "--mix",
            metavar="NAME|TERM=W,...",
            help="Weights of the reward; default WATERCOLOUR_…_WEIGHT where set, else judge-led.",
            show_default=False,
        ),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    sessions: Annotated[
        int, typer.Option("--sessions", metavar="N", min=1, help="Clients at once; the next is told CAPACITY_REACHED.")
    ] = 64,
    idle: Annotated[
        float,
        typer.Option("--idle", min=0, metavar="S", help="Seconds of silence after which a newcomer may take a place."),
    ] = 900,
    references: Annotated[
        int, typer.Option("--references", metavar="N", min=1, max=64, help="Where reset does not say.")
    ] = 4,
    pool: options.Pool = None,
    seed: options.Seed = None,
    domain: options.Domain = None,
    renderer: options.Renderer = None,
    scorer: options.Scorer = None,
    judge: options.Judge = None,
    workers: options.Workers = None,
    deadline: options.Deadline = None,
) -> None:
    """Serve renderer, gate and reward as an OpenEnv environment, until Ctrl-C.

    `reset` takes subject, seed, references and return_image; `step` takes {"response": reply} and answers with the
    published fields and a breakdown of the reward. GET /health says who of renderer, judge and scorer is there.

    **Examples**

    `paint env serve --mix hps-led --scorer hub:me/hpsv3 --judge hub`

    `paint env serve --host 0.0.0.0 --port 8000 --sessions 32 --workers 4`

    `curl -s localhost:8000/step -d '{"action": {"response": "function setup() {}"}, "seed": 7}'`
    """
    from paintcli import settings
    from paintcli.backends.local import require
    from paintcli.cli import output as o
    from paintcli.cli.score import Jury

    require("fastapi", "fastapi", "serve")
    require("wsproto", "wsproto", "serve")
    from paintcli.serving.environment import Easel, mix_of, watched
    from paintcli.serving.openenv import create_app
    from paintcli.serving.server import address_of, bind
    from paintcli.serving.server import serve as run

    chosen = settings.load(
        pool=pool, seed=seed, domain=domain, renderer=renderer, scorer=scorer, judge=judge, workers=workers,
        deadline=deadline,
    )  # fmt: skip
    weights = mix_of(mix)
    with bind(host, port) as listening, ExitStack() as stack:
        jury = Jury(chosen, weights, False, references, stack)
        jury.open_renderer()
        kind, _, where = chosen.scorer.partition(":")
        assessor, pulses = watched(jury.assessor, chosen.workers, where if kind == "hub" else None)
        if warm_up := getattr(jury.assessor.renderer, "warm_up", None):
            warm_up()  # a browser that does not start is told now, not to the first client
        easel = Easel(assessor, jury.pool, chosen.seed, references, pulses=pulses)
        o.say("Weights: " + ", ".join(f"{t} {w:g}" for t, w in easel.weights.items()) + f" ({weights.name}).")
        o.say(", ".join(f"{role}: {pulse.name}" for role, pulse in pulses.items()) + f"; {sessions} sessions.")
        if assessor.stand_in and "scorer" in pulses:
            o.say("taste stands in for HPSv3: quality_score stays empty; name a --scorer to fill it.")
        o.out().print(address_of(listening), markup=False)
        then("Reward a run by it", "train", "--env-url", address_of(listening))
        run(create_app(easel, sessions=sessions, idle=idle), listening)
        o.say(f"Served {easel.steps} steps.")


@group.command()
def scorer(
    host: Host = "127.0.0.1",
    port: Port = 8000,
    model: Annotated[
        str,
        typer.Option("--scorer", metavar="SPEC", help="hpsv3, or hpsv3:PATH for a checkpoint or its folder."),
    ] = "hpsv3",
) -> None:
    """Serve HPSv3 to other machines, until Ctrl-C: what `--scorer hub:…` asks.

    POST /score takes {"png_base64", "prompt"}; GET /health says whether it answers and how many wait. With
    PAINT_SCORER_TOKEN in the environment it asks its clients for that token. PAINT_PRECISION=8bit or 4bit for less
    memory.

    **Examples**

    `paint env scorer --host 0.0.0.0 --port 8000`

    `PAINT_SCORER_TOKEN=secret PAINT_PRECISION=4bit paint env scorer`
    """
    import os

    from paintcli.backends.local import require
    from paintcli.backends.specs import make_scorer
    from paintcli.cli import output as o
    from paintcli.errors import UsageError

    if model.partition(":")[0] != "hpsv3":
        raise UsageError(f"Only HPSv3 is served: --scorer hpsv3 or hpsv3:PATH, not {model!r}.")
    require("fastapi", "fastapi", "serve")
    require("wsproto", "wsproto", "serve")
    from paintcli.backends.hpsv3 import HPSv3
    from paintcli.serving.scorer import create_app
    from paintcli.serving.server import address_of, bind
    from paintcli.serving.server import serve as run

    with bind(host, port) as listening:
        found = make_scorer(model)
        assert isinstance(found, HPSv3)
        found.load()  # a checkpoint that is not there, or does not fit, is told before anybody is let in
        token = os.environ.get("PAINT_SCORER_TOKEN") or None
        o.say(f"{found.name}, {'with' if token else 'without'} a token.")
        o.out().print(address_of(listening), markup=False)
        then("Ask it", "score", "SKETCH", "--scorer", f"hub:{address_of(listening)}")
        run(create_app(found, token=token), listening)
