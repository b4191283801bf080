"""`paint demo`: what paint does, by the commands that do it, on any machine."""

from __future__ import annotations

import shutil
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from paintcli.cli.road import then


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where everything goes.")] = Path(
        "paint-demo"
    ),
) -> None:
    """Show all of it in one to three minutes: no GPU, no account, nothing to download.

    The starter pool; sketches painted and gated, one good, one poor, one cheating; judged and scored; a policy trained
    until it has learned its task; the run analysed; a gallery. Each step is a command to type yourself.

    **Examples**

    `paint demo -o look`
    """
    from paintcli import pool as pools
    from paintcli.cli import output as o
    from paintcli.errors import UsageError

    if output.exists() and not (output / "sketches").is_dir() and any(output.iterdir()):
        raise UsageError(f"{output} holds something else: name a new folder with -o.")
    for part in ("sketches", "scored", "control", "gallery"):
        shutil.rmtree(output / part, ignore_errors=True)
    sketches = output / "sketches"
    sketches.mkdir(parents=True)
    loved = {e.family: e for e in pools.Pool.load(pools.starter()).entries if e.tier == "love"}
    for entry in list(loved.values())[:3]:  # in three hands
        (sketches / f"{Path(entry.name).stem}.js").write_text(entry.code or "", "utf-8")
    for name in ("pale.js", "cheat.js"):
        (sketches / name).write_text((files("paintcli.cli") / "demo_sketches" / name).read_text("utf-8"), "utf-8")

    step("A pool: paintings that somebody rated. This one comes with paint.", "pool", "show", "--columns", "8")
    step("Sketches are painted, and gated: the cheat is found out, whatever it calls its shapes.",
         "render", str(sketches), "-o", str(output / "painted"), *(["--show"] if o.can_show() else []))  # fmt: skip
    step("They are rewarded as training would: against rated paintings, in both orders.",
         "score", str(sketches), "-o", str(output / "scored"))  # fmt: skip
    step("Where one reward came from.", "score", str(sketches / "pale.js"), "--explain")
    if find_spec("trl") and find_spec("torch"):
        step("A tiny random policy learns to write sevens: the trainer moves, before anyone pays for a GPU.",
             "train", "--mix", "control", "-o", str(output / "control"))  # fmt: skip
        step("What did that run learn? Every figure with its interval.", "analyze", str(output / "control"))
    else:
        o.say("Training needs torch and TRL: pip install 'paintcli[train]', and the demo shows it too.\n")
    step("Every painting on one page, with its sketch, repainted in your browser.",
         "gallery", str(output / "scored"), "-o", str(output / "gallery"), "--title", "paint demo")  # fmt: skip
    o.say(f"Open {output / 'gallery' / 'index.html'}.")
    for line in more():
        o.say(line)
    then("A project of your own", "init", "mine", "--subject", "a blue iris")


def step(why: str, *words: str) -> None:
    """One command: why, the words to type, and what it does.

    A refused sketch is part of the show, and one that a busy machine could not paint is no end of it.
    """
    import shlex

    from rich.text import Text

    from paintcli.cli import output as o
    from paintcli.cli.main import app
    from paintcli.errors import PaintError

    o.err().print(Text(why, style="dim"))
    o.err().print(Text(f"$ paint {shlex.join(words)}", style="bold"))
    code = app(list(words), standalone_mode=False)
    if code not in (None, 0, 3, 4):
        raise PaintError(f"The demo stops: paint {words[0]} ended with exit code {code}.")
    o.say("")


def more() -> list[str]:
    """What more would run here with a GPU, weights or a token, and what runs already."""
    from huggingface_hub import get_token

    lines = []
    if shutil.which("nvidia-smi") is None:
        lines.append("With a GPU (an H200 for the documented recipe): paint train --mix judge-led --dry-run plans it.")
    else:
        lines.append("There is a GPU here: paint train --mix judge-led --dry-run says what fits on it.")
    if get_token() is None:
        lines.append("With a Hugging Face token (hf auth login): --judge hub, paint pool generate, train --where hub.")
    else:
        lines.append("There is a token here: paint doctor --hub says what it may do.")
    return lines
