"""The command `paint`: gathers the subcommands and turns what the library raises into one sentence and an exit code."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated

import typer

from paintcli import __version__
from paintcli.errors import PaintError

app = typer.Typer(
    name="paint",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Teach a code-writing language model your taste in painting, on your own machine.",
    epilog="Exit codes: 0 fine, 1 our own error, 2 usage, 3 a sketch was refused, 4 something could not be judged.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"paint {__version__}")
        raise typer.Exit


@app.callback()
def paint(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


# each module adds its command to the app; none of them imports anything heavy at its top
for name in (
    "render",
    "score",
    "judge",
    "pool",
    "generate",
    "rate",
    "calibrate",
    "train",
    "sample",
    "exam",
    "forecast",
    "duel",
    "analyze",
    "gallery",
    "publish",
    "env",
    "doctor",
    "init",
    "demo",
):
    import_module(f"paintcli.cli.{name}").register(app)


def run() -> None:
    """Entry point of `paint`. Never a traceback for a person, unless PAINT_DEBUG=1 asks for one."""
    _listen()
    try:
        app()
    except PaintError as error:
        _fail(str(error), error.exit_code, error)
    except BrokenPipeError:  # `paint … | head`: the reader has what it wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        _fail("Interrupted.", 130, None)
    except OSError as error:
        from paintcli.files import reason

        where = f"{error.filename}: " if error.filename else ""
        _fail(f"{where}{reason(error)}.", 1, error)
    except Exception as error:
        _fail(f"Unexpected {type(error).__name__}: {error} (PAINT_DEBUG=1 shows where).", 1, error)


def _listen() -> None:
    """What the library warns of while it works (a Space that has to wake) is told on stderr."""
    from logging import Handler, LogRecord, getLogger

    class Talk(Handler):
        def emit(self, record: LogRecord) -> None:
            from paintcli.cli import output as o

            o.say(record.getMessage())

    getLogger("paintcli").handlers = [Talk()]


def _fail(sentence: str, code: int, error: BaseException | None) -> None:
    if error and os.environ.get("PAINT_DEBUG"):
        raise error
    words = "".join(c if c.isprintable() else " " for c in sentence)  # a server's may drive the terminal
    print(f"paint: {' '.join(words.split())}", file=sys.stderr)
    sys.exit(code)
