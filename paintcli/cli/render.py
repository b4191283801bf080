"""`paint render`: sketches in, paintings out."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paintcli.cli import options
from paintcli.cli.options import STDIN, read_sketch
from paintcli.cli.road import then

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from paintcli.attempt import Attempt
    from paintcli.backends.protocols import Renderer
    from paintcli.domains import Domain
    from paintcli.errors import UsageError
    from paintcli.settings import Settings


def register(app: typer.Typer) -> None:
    app.command()(render)


def render(
    sketches: Annotated[
        list[str],
        typer.Argument(
            metavar="SKETCH",
            help="A .js sketch, a model's reply in .txt or .md, a folder of them, or - for standard input.",
            show_default=False,
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="PATH",
            help="A .png file, a folder, or - for stdout.",
            show_default=False,
        ),
    ] = None,
    seed: options.Seed = None,
    workers: options.Workers = None,
    deadline: options.Deadline = None,
    domain: options.Domain = None,
    renderer: options.Renderer = None,
    show: Annotated[bool, typer.Option("--show", help="Draw each painting in the terminal.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Paint again whenever a sketch is saved.")] = False,
    anyway: Annotated[bool, typer.Option("--anyway", help="Paint refused sketches too (still cut off).")] = False,
    as_json: options.Json = False,
) -> None:
    """Paint sketches and say what the gate makes of them.

    The painting of `rose.js` is `rose.png` in the current folder, or where -o says. Exit code 2 when an input could
    not be read, 3 when a sketch was refused, 4 when one could not be painted through no fault of its own; a batch
    goes on.

    **Examples**

    `paint render examples/peach-hibiscus.js --show`

    `paint render sketches/ -o paintings/ --seed 7`

    `pbpaste | paint render - -o painting.png --json`
    """
    from paintcli import domains, settings
    from paintcli.cli import output as o
    from paintcli.errors import UsageError

    chosen = settings.load(renderer=renderer, domain=domain, seed=seed, workers=workers, deadline=deadline)
    subject = domains.load(chosen.domain)
    jobs = plan(sketches, output)
    if output == STDIN and (as_json or show):
        other = "--json" if as_json else "--show"
        raise UsageError(f"-o - writes the picture where {other} would write too; drop one of the two.")
    if watch and any(name == STDIN for name, _ in jobs):
        raise UsageError("--watch needs files: standard input cannot change.")
    if show and not o.can_show():
        o.say("--show: standard output is not a terminal, so no picture is drawn.")
        show = False

    with open_renderer(chosen) as painter:
        rows, unread = paint_all(jobs, painter, subject, chosen, show=show, as_json=as_json, anyway=anyway)
        if watch:
            watch_files(jobs, painter, subject, chosen, show=show, as_json=as_json, anyway=anyway)
    if unread:
        raise unread[0]
    if any(row["unavailable"] for row in rows):
        raise typer.Exit(4)
    if any(row["passed"] is False for row in rows):
        raise typer.Exit(3)
    if not (as_json or watch or output == STDIN or STDIN in sketches):
        after(sketches, output, bool(chosen.project))


def after(sketches: list[str], output: str | None, project: bool) -> None:
    """What to do with paintings that all passed: in a project a folder of them fills its pool, else they are scored."""
    if project and output and Path(output).is_dir() and len(sketches) == 1 and Path(sketches[0]).is_dir():
        then("Into your pool", "pool", "import", output, "--sources", sketches[0])
    else:
        then("What are they worth?", "score", *sketches)


def plan(inputs: Iterable[str], output: str | None) -> list[tuple[str, str]]:
    """(sketch, picture) path pairs, "-" for the standard streams. Everything wrong with the names is said here."""
    from paintcli.errors import UsageError
    from paintcli.sketch import files_in

    found: list[tuple[str, Path]] = []  # the input and its picture, relative to the output folder
    for name in dict.fromkeys(inputs):
        path = Path(name)
        if name == STDIN:
            found.append((STDIN, Path("painting.png")))
        elif path.is_dir():
            inside = files_in(path)
            if not inside:
                raise UsageError(f"{name} holds no sketch: no .js, .txt or .md file.")
            found += [(str(p), p.relative_to(path).with_suffix(".png")) for p in inside]
        elif path.exists():
            found.append((name, Path(path.stem + ".png")))
        else:
            raise UsageError(f"{name} does not exist.")
    if not found:
        raise UsageError("No sketch was named.")

    if output == STDIN:
        if len(found) > 1:
            raise UsageError(f"-o - takes one painting, not {len(found)}.")
        return [(found[0][0], STDIN)]
    target = Path(output or ".")
    is_folder = target.is_dir() or (output or "").endswith(("/", "\\")) or (len(found) > 1 or target.suffix != ".png")
    if len(found) > 1 and target.is_file():
        raise UsageError(f"-o {output} is a file, but there are {len(found)} sketches: name a folder.")
    if not is_folder:
        return [(found[0][0], str(target))]
    taken: dict[Path, str] = {}
    for name, picture in found:
        if picture in taken:
            both = f"{taken[picture]} and {name}"
            raise UsageError(f"{both} would both become {target / picture}; paint them one at a time.")
        taken[picture] = name
    return [(name, str(target / picture)) for name, picture in found]


def open_renderer(chosen: Settings) -> Any:
    from paintcli.backends.specs import make_renderer

    return make_renderer(chosen.renderer, workers=chosen.workers, deadline=chosen.deadline)


def paint_all(
    jobs: list[tuple[str, str]],
    painter: Renderer,
    subject: Domain,
    chosen: Settings,
    *,
    show: bool,
    as_json: bool,
    anyway: bool,
) -> tuple[list[dict[str, Any]], list[UsageError]]:
    """Paint every job, many at once, each saved and told as it is done. Returns the rows of `to_json`, in order.

    What cannot be read is a usage error: raised at once where it is the only input, else among what is returned, for a
    batch goes on.
    """
    import asyncio

    from paintcli.attempt import Attempt, attempt
    from paintcli.cli import output as o
    from paintcli.errors import UsageError
    from paintcli.gate import Verdict
    from paintcli.sketch import extract

    unread: list[UsageError] = []

    async def one(index: int, limit: asyncio.Semaphore, bar: Any) -> dict[str, Any]:
        name, picture = jobs[index]
        async with limit:
            try:
                result = await attempt(
                    read_sketch(name),
                    painter,
                    subject,
                    chosen.seed,
                    anyway=anyway,
                    timeout_is_ours=chosen.timeout == "infrastructure",
                )
            except UsageError as error:
                if len(jobs) == 1:
                    raise
                unread.append(error)
                result = Attempt(extract(""), chosen.seed, Verdict(()), unavailable=str(error))
            await asyncio.to_thread(save, result, picture)
        bar.advance(bar.tasks[0].id)
        row = to_json(result, name, picture)
        if as_json:
            o.emit(row)
        return row

    async def every() -> list[dict[str, Any]]:
        what = f"painting {jobs[0][0]}" if len(jobs) == 1 else "painting"
        with o.progress(len(jobs), what) as bar:
            limit = asyncio.Semaphore(2 * chosen.workers)  # enough in line to keep every page busy, few in memory
            return await asyncio.gather(*(one(i, limit, bar) for i in range(len(jobs))))

    rows = asyncio.run(every())
    if show:
        from PIL import Image

        for row in rows:
            if row["png"]:
                o.show(Image.open(row["png"]), row["sketch"] if len(rows) > 1 else "")
    if not as_json:
        print_table(rows, o.err() if any(picture == STDIN for _, picture in jobs) else o.out())
    return rows, unread


def save(result: Attempt, picture: str) -> None:
    from paintcli.files import write_atomic

    if not result.painting or not result.painting.png:
        return
    if picture == STDIN:
        sys.stdout.buffer.write(result.painting.png)
        sys.stdout.buffer.flush()
    else:
        write_atomic(Path(picture), result.painting.png)


def to_json(result: Attempt, name: str, picture: str) -> dict[str, Any]:
    """The documented object of `render --json`. `coverage` is 0–1; what was never painted is null."""
    painting = result.painting
    seen = painting if painting and painting.png else None
    return {
        "sketch": name,
        "png": picture if seen else None,
        "passed": result.passed,
        "violations": [{"code": v.code, "line": v.line, "detail": v.detail} for v in result.verdict.violations],
        "coverage": round(seen.coverage, 6) if seen else None,
        "width": seen.width if seen else None,
        "height": seen.height if seen else None,
        "seed": result.seed,
        "seconds": round(painting.seconds, 3) if painting else None,
        "renderer": painting.renderer if painting else None,
        "finished": painting.finished if painting else None,
        "js_errors": list(painting.js_errors) if painting else [],
        "unavailable": result.unavailable,
    }


def print_table(rows: list[dict[str, Any]], console: Console) -> None:
    """The person's view: what it covers, how long it took, what the gate says."""
    from rich.table import Table

    from paintcli.cli import output as o

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("sketch", overflow="fold")
    table.add_column("coverage", justify="right")
    table.add_column("seconds", justify="right")
    table.add_column("verdict", overflow="fold")
    for row in rows:
        table.add_row(
            o.plain(row["sketch"]),
            "–" if row["coverage"] is None else f"{row['coverage']:.1%}",
            "–" if row["seconds"] is None else f"{row['seconds']:.2f}",
            verdict_text(row),
        )
    console.print(table)


def verdict_text(row: dict[str, Any]) -> Text:
    from rich.text import Text

    from paintcli.cli.output import printable

    if row["unavailable"]:
        return Text(printable(f"unavailable: {row['unavailable']}"), style="yellow")
    text = Text()
    for violation in row["violations"]:
        where = f"line {violation['line']}: " if violation["line"] else ""
        text.append("\n" if text else "")
        text.append(violation["code"], style="bold red").append(printable(f"  {where}{violation['detail']}"))
    if row["passed"]:
        text.append("passed", style="green")
        if row["png"] != STDIN:
            text.append(f"  {row['png']}", style="dim")
        if row["js_errors"]:
            text.append(f"\n{printable(row['js_errors'][0])}", style="yellow")
    return text


def watch_files(jobs: list[tuple[str, str]], painter: Renderer, subject: Domain, chosen: Settings, **how: Any) -> None:
    """Paint a sketch again each time its file changes, until Ctrl-C. The browser stays warm in between."""
    import time

    from paintcli.cli import output as o
    from paintcli.errors import PaintError

    def stamp(name: str) -> int:
        try:
            return Path(name).stat().st_mtime_ns
        except OSError:  # an editor that saves by renaming: gone for a moment
            return 0

    o.say("Watching; Ctrl-C ends.")
    seen = {name: stamp(name) for name, _ in jobs}
    try:
        while True:
            time.sleep(0.1)
            changed = [job for job in jobs if stamp(job[0]) not in (seen[job[0]], 0)]
            if not changed:
                continue
            seen.update({name: stamp(name) for name, _ in changed})
            try:
                paint_all(changed, painter, subject, chosen, **how)
            except PaintError as error:  # half-saved or emptied: the next save may be whole
                o.say(f"paint: {error}")
    except KeyboardInterrupt:
        o.say("")
