"""`paint doctor`: what is here, what is missing, what to do."""

from __future__ import annotations

from typing import Annotated

import typer

from paintcli.cli import options


def register(app: typer.Typer) -> None:
    app.command()(doctor)


def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Fetch what can be fetched: npm packages, a browser.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say only what is missing.")] = False,
    renderer: options.Renderer = None,
    scorer: options.Scorer = None,
    judge: options.Judge = None,
    as_json: options.Json = False,
) -> None:
    """Look at everything paint needs and say what to do about each gap.

    Exit code 1 when something is missing without which nothing can be painted.

    **Examples**

    `paint doctor`

    `paint doctor --fix`
    """
    from dataclasses import asdict

    from rich.table import Table
    from rich.text import Text

    from paintcli import doctor as checks
    from paintcli import settings
    from paintcli.cli import output as o
    from paintcli.errors import PaintError

    chosen = settings.load(renderer=renderer, scorer=scorer, judge=judge)
    if fix:
        from paintcli.backends.chromium import install

        for repair in (install.libraries, install.browser):
            try:
                for line in repair():
                    o.say(line)
            except PaintError as error:  # one repair that fails does not keep the others from being tried
                o.say(str(error))

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    colours = {"ok": "green", "gap": "bold red", "optional": "yellow"}
    marks = {"ok": "✓", "gap": "✗", "optional": "–"}
    missing = 0
    for finding in checks.examine(chosen):
        missing += finding.state == "gap"
        if as_json:
            o.emit(asdict(finding))
        elif not quiet or finding.state == "gap":
            detail = Text(finding.detail)
            if finding.remedy:
                detail.append(f"\n{finding.remedy}", style="dim")
            table.add_row(Text(marks[finding.state], style=colours[finding.state]), finding.what, detail)
    if table.row_count:
        o.out().print(table)
    raise typer.Exit(1 if missing else 0)
