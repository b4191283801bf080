"""`paint publish`: what a run leaves behind, given away in one command."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paintcli.cli import options

if TYPE_CHECKING:
    from paintcli.publishing.parcels import Order, Parcel
    from paintcli.publishing.upload import Sent
    from paintcli.settings import Settings

KEYS = ("owner", "collection", "licence", "model_licence", "public")
"""Of the table [publish] in paint.toml."""


def register(app: typer.Typer) -> None:
    app.command()(publish)


def publish(
    what: Annotated[
        str, typer.Argument(metavar="WHAT", help="pool, rollouts, adapter, gallery, env, scorer, trackio or all.")
    ],
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN", help="Runs, or the pool. Default: the newest run, the project's pool."),
    ] = None,
    repo: Annotated[
        str | None, typer.Option("--repo", metavar="[OWNER/]NAME", help="Where it goes.", show_default=False)
    ] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="NAME", help="You, or an organisation.", show_default=False)
    ] = None,
    public: Annotated[
        bool | None, typer.Option("--public", help="For everybody to see; else only for you.", show_default=False)
    ] = None,
    licence: Annotated[
        str | None,
        typer.Option("--licence", metavar="ID", help="Of the paintings: cc-by-4.0, say.", show_default=False),
    ] = None,
    model_licence: Annotated[
        str | None,
        typer.Option("--model-licence", metavar="ID", help="Of the adapter, such as apache-2.0.", show_default=False),
    ] = None,
    base_model: Annotated[
        str | None,
        typer.Option("--base-model", metavar="OWNER/NAME", help="What the adapter is for.", show_default=False),
    ] = None,
    collection: Annotated[
        str | None, typer.Option("--collection", metavar="TITLE", help="What it is put into.", show_default=False)
    ] = None,
    title: Annotated[
        str | None,
        typer.Option("--title", metavar="TEXT", help="Of the gallery. Default: the runs' names.", show_default=False),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="OWNER/SPACE", help="Duplicate this Space instead.", show_default=False),
    ] = None,
    hardware: Annotated[
        str | None, typer.Option("--hardware", metavar="FLAVOUR", help="What a Space runs on.", show_default=False)
    ] = None,
    sleep: Annotated[
        float | None,
        typer.Option("--sleep", metavar="MINUTES", help="Until an idle Space sleeps.", show_default=False),
    ] = None,
    variable: Annotated[
        list[str] | None,
        typer.Option("--variable", metavar="KEY=VALUE", help="Of a Space; everybody sees it.", show_default=False),
    ] = None,
    secret: Annotated[
        list[str] | None,
        typer.Option("--secret", metavar="NAME", help="Of a Space; its value is this machine's.", show_default=False),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Build what would go up, and stop there.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", "--out", metavar="DIR", help="Build it here and keep it.", show_default=False),
    ] = None,
    pool: options.Pool = None,
    as_json: options.Json = False,
) -> None:
    """Give away a pool, a run's paintings, an adapter, a gallery, or the Spaces that everything can run on.

    Private unless --public says otherwise. Only what changed is sent; what was interrupted goes on when you say it
    again. Every file is looked through for tokens and keys first. Spaces on paid hardware are set to sleep: the
    environment after an hour without a visitor, the scorer after fifteen minutes.

    **Examples**

    `paint publish pool --licence cc-by-4.0 --dry-run --out look-first`

    `paint publish rollouts runs/judge-led-1 --licence cc-by-4.0 --public`

    `paint publish adapter runs/judge-led-1 --model-licence apache-2.0`

    `paint publish scorer --variable PAINT_PRECISION=4bit`

    `paint publish env --from OWNER/SPACE --secret HF_TOKEN`
    """
    import tempfile

    from paintcli import settings
    from paintcli.cli import output as o
    from paintcli.errors import UsageError
    from paintcli.publishing import parcels, upload

    if what != "all" and what not in parcels.TYPES:
        raise UsageError(f"{what!r} cannot be published: it is {', '.join(parcels.TYPES)} or all.")
    hosting = {"hardware": hardware, "sleep": seconds(sleep), "variables": values(variable), "secrets": own(secret)}
    hosting = {name: value for name, value in hosting.items() if value}
    check(what, sources or [], repo, source, hosting)
    chosen = settings.load(pool=pool)
    table = own_table(chosen)
    quiet_bars()

    api = None if dry_run else upload.client()
    who = upload.account(api) if api else None
    owner = owner or (repo.rpartition("/")[0] if repo else "") or table.get("owner") or (who.name if who else "OWNER")
    kinds = tuple(parcels.TYPES) if what == "all" else (what,)
    order = parcels.Order(
        kinds, owner, repo=repo or "", title=title or "", source=source or "", base_model=base_model, hosting=hosting,
        **contents(kinds, sources or [], chosen, source),
    )  # fmt: skip
    order = licensed(order, what, licence, model_licence, table)
    with ExitStack() as stack:
        root = out or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="paint-publish-")))
        built = parcels.build(order, root, o.say)
        if api is None or who is None:
            for parcel in built:
                show(parcel, out, as_json)
            if not as_json:
                look = "" if out or order.source else "To look at it first, --out DIR; "
                o.say(f"{look}{'to' if look else 'To'} send it: the same without --dry-run.")
            return
        name = collection or table.get("collection") or f"paint: {(chosen.project or Path.cwd()).resolve().name}"
        address = parcels.publish(
            api, who, order, built, public=bool(table.get("public") if public is None else public), collection=name,
            told=o.say, done=lambda parcel, sent: said(parcel, sent, as_json),
        )  # fmt: skip
        o.say(f"All in the collection {address}")


def check(what: str, sources: list[str], repo: str | None, source: str | None, hosting: dict[str, Any]) -> None:
    """Raises UsageError for options that do not go with what is published."""
    from paintcli.errors import UsageError
    from paintcli.publishing.parcels import HOSTING

    if what == "all" and (repo or source or hosting):
        raise UsageError("With all, names and settings are the usual ones: publish one thing to choose its own.")
    if (source or hosting) and what not in HOSTING:
        raise UsageError(f"--from, --hardware, --sleep, --variable and --secret are for Spaces, and {what} is none.")
    if hosting and what == "gallery":
        raise UsageError("A gallery is a static page: it has no hardware, no sleep and no secrets.")
    if what in ("env", "scorer") and sources:
        raise UsageError(f"{what} is built from this project: it takes no {sources[0]}.")
    if what == "pool" and len(sources) > 1:
        raise UsageError("One pool at a time.")


def contents(kinds: tuple[str, ...], sources: list[str], chosen: Settings, source: str | None) -> dict[str, Any]:
    """The pool and the runs that are meant. Raises UsageError where there are none."""
    from paintcli.cli.chosen import newest_paintings, newest_run
    from paintcli.errors import UsageError
    from paintcli.pool import resolve
    from paintcli.rollouts import PAINTED, UNPAINTED

    found: dict[str, Any] = {}
    if source:
        return found
    if "pool" in kinds:
        named = sources[0] if sources and len(kinds) == 1 else chosen.pool
        found["pool"] = resolve(named, chosen.project, chosen.domain)
        if not named and not found["pool"].origin.startswith("the project's"):
            raise UsageError("You have no pool of your own here to publish: name one, or --pool.")
    if set(kinds) & {"rollouts", "adapter", "gallery", "trackio"}:
        if not sources and set(kinds) & {"rollouts", "gallery"}:
            sources = [str(newest_paintings(chosen.project))]
        found["runs"] = tuple(sources or [str(newest_run(chosen.project, PAINTED, UNPAINTED))])
    return found


def licensed(order: Order, what: str, licence: str | None, model_licence: str | None, table: dict[str, Any]) -> Order:
    """The order with the licences it needs: from a flag, paint.toml, the pool's rows, or the person."""
    from dataclasses import replace

    if order.source:
        return order
    if set(order.kinds) & {"pool", "rollouts", "gallery"}:
        recorded = {str(e.row.get("licence") or "").lower() for e in (order.pool.entries if order.pool else ())}
        kept = recorded.pop() if len(recorded) == 1 and what == "pool" else None
        given = licence or table.get("licence") or kept
        order = replace(order, licence=known(given) if given else ask("paintings and sketches", "licence", "cc-by-4.0"))
    if "adapter" in order.kinds:
        given = model_licence or (licence if what == "adapter" else None) or table.get("model_licence")
        order = replace(
            order, model_licence=known(given) if given else ask("the adapter", "model-licence", "apache-2.0")
        )
    return order


def ask(what: str, option: str, suggested: str) -> str:
    """The person's choice of licence. Raises UsageError where nobody can be asked."""
    import sys

    from paintcli.errors import UsageError

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"No licence is chosen for {what}: say --{option}; {suggested} is suggested.")
    return known(typer.prompt(f"Licence of {what}", default=suggested, err=True))


def known(licence: str) -> str:
    """The Hub's name of a licence. Raises UsageError for one it has not."""
    from difflib import get_close_matches

    from paintcli.errors import UsageError
    from paintcli.publishing.folders import LICENCES

    if licence.lower() in LICENCES:
        return licence.lower()
    near = get_close_matches(licence.lower(), LICENCES, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(LICENCES)}."
    raise UsageError(f"The Hub knows no licence {licence!r}: {hint}")


def own_table(chosen: Settings) -> dict[str, Any]:
    """The table [publish] of paint.toml. Raises UsageError for a key it has not."""
    from paintcli.errors import UsageError

    table = chosen.tables.get("publish", {})
    for key, value in table.items():
        if key not in KEYS:
            raise UsageError(f"[publish] in paint.toml has no {key!r}; it has {', '.join(KEYS)}.")
        if not isinstance(value, bool if key == "public" else str):
            raise UsageError(f"{key} of [publish] in paint.toml is {'true or false' if key == 'public' else 'text'}.")
    return table


def seconds(minutes: float | None) -> int | None:
    from paintcli.errors import UsageError

    if minutes is not None and not 1 <= minutes <= 60 * 24 * 7:
        raise UsageError(f"--sleep is 1 minute to a week, not {minutes:g} minutes.")
    return None if minutes is None else round(minutes * 60)


def values(texts: list[str] | None) -> dict[str, str]:
    from paintcli.errors import UsageError

    found = {}
    for text in texts or []:
        key, equals, value = text.partition("=")
        if not (equals and key):
            raise UsageError(f"--variable takes KEY=VALUE, not {text!r}.")
        found[key] = value
    return found


def own(names: list[str] | None) -> dict[str, str]:
    """Secrets by name with their values on this machine; HF_TOKEN is the token you are logged in with."""
    import os

    from huggingface_hub import get_token

    from paintcli.errors import UsageError

    found = {}
    for name in names or []:
        value = get_token() if name == "HF_TOKEN" else os.environ.get(name)
        if not value:
            raise UsageError(f"This machine has no {name} to give to a Space: --secret takes a variable's name.")
        found[name] = value
    return found


def quiet_bars() -> None:
    """The Hub's client draws its progress where nobody looks; on a terminal it may."""
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    from paintcli.cli import output as o

    if not o.err().is_terminal:
        disable_progress_bars()


def show(parcel: Parcel, out: Path | None, as_json: bool) -> None:
    """What would go up."""
    from paintcli.cli import output as o

    folder = parcel.folder
    if folder is None:
        o.say(f"{parcel.repo} would be a duplicate.")
        return
    files = {p.relative_to(folder).as_posix(): p.stat().st_size for p in sorted(folder.rglob("*")) if p.is_file()}
    if as_json:
        row = {"kind": parcel.kind, "repo": parcel.repo, "type": parcel.repo_type, "files": files}
        o.emit({**row, "folder": str(folder) if out else None})
        return
    total = sum(files.values())
    where = f" in {folder}" if out else ""
    o.out().print(f"{parcel.kind}: {len(files)} files, {total / 1e6:.1f} MB{where}, for {parcel.repo}", markup=False)


def said(parcel: Parcel, sent: Sent, as_json: bool) -> None:
    """What went up."""
    from dataclasses import asdict

    from paintcli.backends.hub.spaces import duration
    from paintcli.cli import output as o

    if as_json:
        o.emit({"kind": parcel.kind, "type": parcel.repo_type, **asdict(sent)})
    else:
        news = f"{len(sent.sent)} sent, {sent.unchanged} as they were" + (
            f", {len(sent.deleted)} deleted" if sent.deleted else ""
        )
        o.out().print(f"{sent.url}  {news if parcel.folder else 'duplicated'}", markup=False)
    if parcel.hosting and parcel.hosting.sleep:
        idle = duration(parcel.hosting.sleep)
        o.say(f"It runs on {parcel.hosting.hardware}, billed while awake, and sleeps after {idle} idle.")
