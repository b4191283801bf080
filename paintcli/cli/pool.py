"""`paint pool`: look at a pool, count it, check it, add to it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paintcli.cli import options
from paintcli.cli.road import after_pool, after_pool_in

if TYPE_CHECKING:
    from paintcli.pool import Reference

group = typer.Typer(no_args_is_help=True, help="Rated paintings: make, rate, look at and check them.")


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="pool")


@group.command()
def show(
    pool: options.Pool = None,
    domain: options.Domain = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="PNG", help="Write the contact sheet.", show_default=False)
    ] = None,
    tier: Annotated[
        str | None, typer.Option("--tier", metavar="NAME", help="Only this tier.", show_default=False)
    ] = None,
    columns: Annotated[
        int | None,
        typer.Option(
            "--columns",
            metavar="N",
            min=1,
            help="Paintings side by side; default 8 in a file, what is legible in the terminal.",
            show_default=False,
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Show every painting on one sheet, tier by tier: in the terminal, or in a file with -o.

    **Examples**

    `paint pool show`

    `paint pool show --pool hub:HuggingEnvs/watercolour-reference-pool -o sheet.png`
    """
    import io

    from paintcli import pool as pools
    from paintcli import settings
    from paintcli.cli import output as o
    from paintcli.cli.chosen import find_pool
    from paintcli.errors import UsageError
    from paintcli.files import write_atomic

    if output and Path(output).suffix.lower() != ".png":
        raise UsageError(f"The contact sheet is a PNG: name it like sheet.png, not {output}.")
    found = find_pool(settings.load(pool=pool, domain=domain))
    entries = [e for e in found.entries if tier is None or e.tier == tier]
    if not entries:
        raise UsageError(f"{found.name} has no paintings of tier {tier!r}; it has {', '.join(found.tiers())}.")
    if as_json:
        for entry in entries:
            o.emit(entry.row)
    if output:
        buffer = io.BytesIO()
        pools.contact_sheet(entries, columns or 8).save(buffer, "PNG")
        write_atomic(Path(output), buffer.getvalue())
        o.say(f"{number_of(entries)} on {output}.")
    elif o.can_show() and not as_json:
        show_rows(entries, columns)
    elif not as_json:
        for entry in entries:
            typer.echo("\t".join((entry.name, entry.tier, entry.family, entry.subject)))  # rich would expand the tabs
    if not as_json:
        after_pool(found)


def number_of(paintings: Sequence[Any]) -> str:
    return f"{len(paintings)} painting{'' if len(paintings) == 1 else 's'}"


LEGIBLE = 20
"""Terminal cells across at which a painting in half blocks, two pixels a cell, can still be told from the next."""


def show_rows(entries: Sequence[Reference], columns: int | None) -> None:
    """Tier by tier and row by row in the terminal; the names as text, which half blocks could not spell."""
    from paintcli import pool as pools
    from paintcli.cli import output as o

    columns = columns or max(1, o.out().width // LEGIBLE)
    cells = max(4, o.out().width // columns)
    for tier, members in pools.tiers_of(entries).items():
        o.out().print(o.plain(f"{tier or 'unrated'}: {len(members)}"), style="bold")
        for start in range(0, len(members), columns):
            row = members[start : start + columns]
            names = "".join(f"{entry.path.stem[: cells - 1]:<{cells}}" for entry in row)
            o.show(pools.contact_sheet(row, columns, captions=False), names.rstrip(), cells * len(row))


@group.command()
def stats(pool: options.Pool = None, domain: options.Domain = None, as_json: options.Json = False) -> None:
    """Count tiers, families and subjects; coverage by tier; how varied the pool is, and where it is thin.

    A pool of one picture trains one picture: paintings that are nearly one are named, and so is what one tier has and
    another has not, which a judge takes for taste.

    **Examples**

    `paint pool stats`

    `paint pool stats --pool mine --json`
    """
    from rich.table import Table

    from paintcli import pool as pools
    from paintcli import settings
    from paintcli.cli import output as o
    from paintcli.cli.chosen import find_pool
    from paintcli.diversity import diversity, in_words

    found = find_pool(settings.load(pool=pool, domain=domain))
    told = {**pools.stats(found), "diversity": diversity(found)}
    if as_json:
        o.emit(told)
        return
    console = o.out()
    console.print(
        o.plain(
            f"{found.name}: {number_of(found.entries)}, {told['unrated']} unrated, {told['reserved']} reserved"
            + (f", {told['set_aside']} set aside" if told["set_aside"] else "")
        )
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("tier", "paintings", "coverage, least", "median", "most"):
        table.add_column(heading, justify="left" if heading == "tier" else "right")
    for name, count in told["tiers"].items():
        least, _, median, _, most = told["coverage"][name]
        table.add_row(o.plain(name), str(count), f"{least:.1%}", f"{median:.1%}", f"{most:.1%}")
    if told["tiers"]:
        console.print(table)
    seen = {**told, **told["diversity"]}
    for words in ("families", "subjects", "hues"):
        console.print(o.plain(f"{words}: " + ", ".join(f"{k} {n}" for k, n in seen[words].items())))
    for sentence in in_words(told["diversity"], told["paintings"]):
        console.print(o.plain(sentence))
    if told["consistency"]:
        console.print(o.plain(f"the rater agrees with the rater: {told['consistency']['same']:.0%}"))
    after_pool(found)


@group.command()
def check(
    pool: options.Pool = None,
    domain: options.Domain = None,
    seed: options.Seed = None,
    renderer: options.Renderer = None,
    workers: options.Workers = None,
    deadline: options.Deadline = None,
    render: Annotated[bool, typer.Option("--render/--no-render", help="Paint and gate every source again.")] = True,
    as_json: options.Json = False,
) -> None:
    """Look for what is wrong: missing files, refused sketches, near-duplicates, missing licences.

    Every source is painted and gated again; a repainting that covers far less or more than its picture is told. Exit
    code 3 when a source is refused, 4 when one could not be painted, 1 for any other finding.

    **Examples**

    `paint pool check --pool mine`

    `paint pool check --no-render --json`
    """
    import asyncio

    from paintcli import pool as pools
    from paintcli import settings
    from paintcli.cli import output as o
    from paintcli.cli.chosen import find_pool
    from paintcli.errors import PaintError, UsageError
    from paintcli.painting import Painting
    from paintcli.pool import Pool

    chosen = settings.load(pool=pool, domain=domain, seed=seed, renderer=renderer, workers=workers, deadline=deadline)
    folder = chosen.pool
    if folder and not folder.startswith("hub:"):
        entries, problems = pools.read(Path(folder))
        found = Pool(pools.name_of(Path(folder)), Path(folder), tuple(entries), str(folder))
    else:
        found, problems = find_pool(chosen), []
    if not found.entries and not problems:
        raise UsageError(f"{found.path} holds no paintings.")

    findings: list[tuple[str, str, str]] = [("file", p.file, p.detail) for p in problems]
    readable = []
    for entry in found.entries:
        try:
            Painting.from_file(entry.path)  # a file may be there and not be a picture
            readable.append(entry)
        except PaintError as error:
            findings.append(("file", entry.name, str(error)))
    alike = pools.groups((a.name, b.name) for a, b, _ in pools.near_duplicates(readable))
    findings += [("near-duplicate", first, f"is nearly {', '.join(rest)}.") for first, *rest in alike]
    findings += [("licence", p.file, p.detail) for p in pools.licence_problems(found.entries)]
    if render:
        findings += asyncio.run(repaint(readable, chosen))
    for kind, name, detail in findings:
        if as_json:
            o.emit({"kind": kind, "file": name, "detail": detail})
        else:
            o.out().print(o.plain(f"{kind}: {name} {detail}"))
    if not as_json:
        what = "painted again" if render else "looked at"
        o.say(f"{number_of(found.entries)} {what}, {len(findings) or 'no'} finding{'s' if len(findings) != 1 else ''}.")
    kinds = {kind for kind, _, _ in findings}
    if not as_json:
        for kind in (k for k in REMEDIES if k in kinds):
            o.say(f"{kind}: {REMEDIES[kind]}")
        if not kinds:
            after_pool(found)
    if kinds:
        raise typer.Exit(4 if "unavailable" in kinds else 3 if "refused" in kinds else 1)


REMEDIES = {
    "file": "put the file back, or take its line out of metadata.jsonl.",
    "refused": "mend its sketch (`paint render` names the line), or rate it no: `paint pool rate --all`.",
    "repainted": "`paint render sources/NAME.js` paints it as it is now; import that picture, or keep this one.",
    "unavailable": "the same command tries again.",
    "near-duplicate": "take the lines of all but one out of metadata.jsonl.",
    "licence": "fill in reference_photo_licence and reference_photo_attribution in metadata.jsonl, or publish nothing.",
}
"""What to do about each kind of finding."""


async def repaint(entries: list[Any], chosen: Any) -> list[tuple[str, str, str]]:
    """Gate and paint every source; what the gate refuses, what could not be painted, what came out otherwise."""
    import asyncio

    from paintcli import domains, sketch
    from paintcli.attempt import attempt
    from paintcli.backends.specs import make_renderer
    from paintcli.cli import output as o
    from paintcli.errors import PaintError

    subject = domains.load(chosen.domain)
    limit = asyncio.Semaphore(2 * chosen.workers)
    with ExitStack() as stack:
        opened: Any = make_renderer(chosen.renderer, workers=chosen.workers, deadline=chosen.deadline)
        painter = stack.enter_context(opened)
        bar = stack.enter_context(o.progress(len(entries), "painting"))

        async def one(entry: Any) -> tuple[str, str, str] | None:
            if entry.source is None:
                return None
            try:
                written = sketch.read(entry.source.read_bytes(), entry.source.name)
            except PaintError as error:
                return "file", entry.name, str(error)
            async with limit:
                result = await attempt(written, painter, subject, chosen.seed)
            bar.advance(bar.tasks[0].id)
            if result.unavailable:
                return "unavailable", entry.name, result.unavailable
            if not result.passed:
                said = "; ".join(f"{v.code}: {v.detail}" for v in result.verdict.violations)
                return "refused", entry.name, said
            if result.painting is None:
                return None
            now, then = result.painting.coverage, entry.painting.coverage
            if abs(now - then) > 0.25 * max(then, 1e-9):
                return "repainted", entry.name, f"covers {now:.1%} when painted again, {then:.1%} in its picture."
            return None

        return [finding for finding in await asyncio.gather(*map(one, entries)) if finding]


@group.command("import")
def import_(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="A folder of pictures, a run, a pool, or hub:REPO[@REV].", show_default=False
        ),
    ],
    pool: options.OwnPool = None,
    best: Annotated[int, typer.Option("--best", metavar="N", min=0, help="Only the N of highest reward (a run).")] = 0,
    sample: Annotated[int, typer.Option("--sample", metavar="N", min=0, help="Only N at random.")] = 0,
    tier: Annotated[
        str | None, typer.Option("--tier", metavar="NAME", help="Rate them all so.", show_default=False)
    ] = None,
    subject: Annotated[
        str | None,
        typer.Option(
            "--subject", metavar="TEXT", help="What they show. Default in a project: its domain's.", show_default=False
        ),
    ] = None,
    domain: options.Domain = None,
    sources: Annotated[
        Path | None,
        typer.Option(
            "--sources", metavar="DIR", help="Where the sketches lie, NAME.js for NAME.png.", show_default=False
        ),
    ] = None,
    seed: options.Seed = None,
    as_json: options.Json = False,
) -> None:
    """Add pictures, with their sketches and all that is known about them, to a pool of your own.

    The pool is --pool, else the project's pool/ (./pool outside a project), made when missing. Pictures come in
    unrated unless they were rated or --tier says so; nothing that is there is changed.

    **Examples**

    `paint pool import paintings/`

    `paint render sketches/ -o paintings/ && paint pool import paintings/ --sources sketches/`

    `paint pool import runs/first --best 20`

    `paint pool import hub:HuggingEnvs/watercolour-reference-pool --pool mine`
    """
    from paintcli import domains, settings
    from paintcli import pool as pools
    from paintcli.cli import output as o
    from paintcli.cli.chosen import pool_to_fill
    from paintcli.errors import UsageError

    chosen = settings.load(pool=pool, domain=domain, seed=seed)
    target = pool_to_fill(chosen)
    if source.startswith("hub:"):
        from paintcli.backends.hub.dataset import dataset

        folder = dataset(source)
    else:
        folder = Path(source)
    if folder.resolve() == target.resolve():
        raise UsageError(f"{source} is the pool itself.")
    rows = pools.rows_of_folder(folder, best=best, sample=sample, seed=chosen.seed, sources=sources)
    given = {k: v for k, v in (("tier", tier), ("subject", subject)) if v}
    # in a project, or where a domain is named, pictures show what is painted there unless they say otherwise
    usual = domains.load(chosen.domain).subject if chosen.project or domain else None
    origin = source if source.startswith("hub:") else str(folder.resolve().name)
    known = [(p, s, {**row, **given}) for p, s, row in rows]
    for *_, row in known:
        if usual and not row.get("subject"):
            row["subject"] = usual
    added, left_out = pools.import_paintings(target, known, origin)
    if as_json:
        o.emit({"pool": str(target), "added": added, "left_out": [{"file": p.file, "why": p.detail} for p in left_out]})
        return
    for problem in left_out:
        o.say(f"left out: {problem}")
    o.out().print(o.plain(f"{number_of(added)} added to {target}."))
    if added:
        after_pool_in(target)
