"""`paint pool generate`: language models write, the browser paints, a critic says what to change; the pool fills."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paintcli.cli import options
from paintcli.cli.pool import group
from paintcli.cli.road import after_pool_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paintcli.generation import Event, Generation, Prices, Spend
    from paintcli.photos import Photo
    from paintcli.settings import Settings


def register(app: typer.Typer) -> None:
    group.command()(generate)


def generate(
    pool: options.OwnPool = None,
    domain: options.Domain = None,
    generator: Annotated[
        list[str] | None,
        typer.Option(
            "--generator",
            metavar="SPEC",
            help="Who writes: hub:MODEL, hf:MODEL, gguf:FILE; give it several times. Default: the published four.",
            show_default=False,
        ),
    ] = None,
    count: Annotated[int, typer.Option("-n", "--count", metavar="N", min=1, help="Paintings of each generator.")] = 16,
    rounds: Annotated[
        int, typer.Option("--rounds", metavar="N", min=1, help="The first sketch and its revisions.")
    ] = 3,
    critic: Annotated[
        str | None,
        typer.Option(
            "--critic",
            metavar="SPEC",
            help="Who looks: hub, hub:MODEL. Default: what can be measured.",
            show_default=False,
        ),
    ] = None,
    photos: Annotated[
        str | None,
        typer.Option(
            "--photos",
            metavar="DIR|inaturalist:TAXON",
            help="Photographs to paint after: a folder with its licences, or of a taxon.",
            show_default=False,
        ),
    ] = None,
    unlicensed: Annotated[
        bool, typer.Option("--unlicensed", help="Take photos without a licence; the pool stays private then.")
    ] = False,
    scorer: Annotated[
        str | None,
        typer.Option(
            "--scorer", metavar="SPEC", help="Fill hpsv3_mu: hpsv3, hub:SPACE. Default: nobody.", show_default=False
        ),
    ] = None,
    check: Annotated[
        int,
        typer.Option(
            "--check", metavar="N", min=0, help="First sketches that must all be valid; 0 trusts every generator."
        ),
    ] = 3,
    tokens: Annotated[int, typer.Option("--tokens", metavar="N", min=1, help="The most a reply may have.")] = 8192,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, metavar="S", help="Seconds a server has for one reply.")
    ] = 600.0,
    concurrent: Annotated[
        int, typer.Option("--concurrent", metavar="N", min=1, help="Paintings under way at once for each generator.")
    ] = 4,
    price: Annotated[
        list[str] | None,
        typer.Option(
            "--price",
            metavar="MODEL=IN,OUT",
            help="US dollars for a million tokens read and written.",
            show_default=False,
        ),
    ] = None,
    renderer: options.Renderer = None,
    seed: options.Seed = None,
    workers: options.Workers = None,
    deadline: options.Deadline = None,
    as_json: options.Json = False,
) -> None:
    """Fill a pool with candidates to rate: sketches written, painted, gated and revised in up to three rounds.

    Candidates appear in the pool as they finish, so `paint pool rate` can begin at once. Stop it whenever you like:
    the same command goes on where it was, and no answered call is paid for again. A refused sketch that painted
    something is kept and marked in the column gate_errors. A generator that fails costs only its own candidates.

    The pool is --pool, else the project's pool/ (./pool outside a project). Prices may also stand in paint.toml, as
    prices = {"GLM-5.2" = [0.6, 2.2]} under [generate].

    Exit code 3 when a generator's first sketches were not valid, 4 when something could not be asked or painted: the
    same command tries again.

    **Examples**

    `paint pool generate -n 20 --critic hub --photos inaturalist:Hibiscus`

    `paint pool generate --generator hub:zai-org/GLM-5.2 --price GLM-5.2=0.6,2.2`

    `paint pool generate --generator gguf:model.gguf --generator hub:http://127.0.0.1:8000/v1#my-model --photos photos/`
    """
    import asyncio

    from paintcli import domains, generation, settings
    from paintcli.backends.hub.provider import JUDGE
    from paintcli.backends.specs import make_critic, make_generator, make_renderer
    from paintcli.cli import output as o
    from paintcli.cli.chosen import opened, pool_to_fill
    from paintcli.errors import PaintError, Unavailable, UsageError
    from paintcli.pool import refuse_packaged

    chosen = settings.load(
        pool=pool, domain=domain, seed=seed, renderer=renderer, workers=workers, deadline=deadline, scorer=scorer,
        generator=",".join(generator or []) or None,
    )  # fmt: skip
    if scorer == "taste":
        raise UsageError("taste is no HPSv3 and fills no column of its name; choose hpsv3 or hub:SPACE, or nobody.")
    target = pool_to_fill(chosen)
    refuse_packaged(target)
    prices = prices_of(price or [], chosen)
    subject = domains.load(chosen.domain)
    specs = [s.strip() for s in (chosen.generator or "").split(",") if s.strip()] or list(generation.PUBLISHED)

    with ExitStack() as stack:
        writers = {spec: make_generator(spec, tokens=tokens, timeout=timeout) for spec in specs}
        eyes = make_critic(critic, timeout=timeout) if critic else None
        looks = generation.model_name(f"hub:{JUDGE}" if critic == "hub" else critic or "")
        jobs = generation.plan(subject, specs, count, photos_of(photos, count, unlicensed), chosen.seed)
        for writer in writers.values():
            opened(stack, writer)
        marks = scorer_for(chosen, scorer, stack)
        browser: Any = make_renderer(chosen.renderer, workers=chosen.workers, deadline=chosen.deadline)
        painter = stack.enter_context(browser)
        team = generation.Team(writers, painter, eyes, marks, looks)
        show = stack.enter_context(shown(as_json, prices))
        run = generation.Generation(
            target, subject, jobs, team, seed=chosen.seed, rounds=rounds, trial=check, concurrent=concurrent,
            timeout_is_ours=chosen.timeout == "infrastructure", told=lambda event: show(run, event),
        )  # fmt: skip
        asyncio.run(until_stopped(run))
    tally = run.tally()
    if as_json:
        o.emit(summary(run, prices))
    else:
        print_summary(run, prices)
    if run.stopped == INTERRUPTED:
        raise typer.Exit(130)
    if run.stopped:
        raise Unavailable(run.stopped)
    if not tally.painted.total() and set(run.dropped) >= set(specs):
        raise PaintError(f"No generator is left. {'; '.join(f'{s}: {why}' for s, why in run.dropped.items())}")
    if run.unfinished or run.unreliable:
        raise typer.Exit(4 if run.unfinished else 3)


INTERRUPTED = "interrupted"


async def until_stopped(run: Generation) -> None:
    """Run; at the first Ctrl-C wait for the calls under way, which are paid for, at the second end at once."""
    import asyncio
    import signal

    from paintcli.cli import output as o

    task = asyncio.ensure_future(run.run())

    def stop() -> None:
        if run.stopped:
            task.cancel()
            return
        run.stop(INTERRUPTED)
        o.say("Stopping: what has been asked is waited for and kept. Once more ends at once.")

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        await task
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def prices_of(flags: list[str], chosen: Settings) -> Prices:
    """Model name → dollars for a million tokens read and written, from paint.toml and then the flags."""
    from paintcli.errors import UsageError
    from paintcli.generation import model_name

    table = chosen.tables.get("generate", {})
    if unknown := set(table) - {"prices"}:
        raise UsageError(f"paint.toml has the unknown key {min(unknown)!r} under [generate]; it may hold prices.")
    found: dict[str, Any] = dict(table.get("prices", {}))
    for flag in flags:
        model, _, numbers = flag.partition("=")
        found[model] = numbers.split(",")
    prices = {}
    for model, pair in found.items():
        try:
            read, written = (float(number) for number in pair)
        except (TypeError, ValueError):
            raise UsageError(f"The price of {model} is two numbers, MODEL=IN,OUT, not {pair!r}.") from None
        prices[model_name(model) if ":" in model else model] = (read, written)
    return prices


def photos_of(spec: str | None, count: int, unlicensed: bool) -> list[Photo]:
    from paintcli.cli import output as o

    if spec is None:
        return []
    kind, _, taxon = spec.partition(":")
    if kind != "inaturalist":
        from paintcli.photos import from_folder

        return from_folder(Path(spec), allow_unlicensed=unlicensed)
    from platformdirs import user_cache_dir

    from paintcli.backends.inaturalist import fetch

    with o.progress(count, "photos") as bar:
        return fetch(
            taxon, count, Path(user_cache_dir("paint")) / "inaturalist",
            told=lambda done: bar.update(bar.tasks[0].id, completed=done),
        )  # fmt: skip


def scorer_for(chosen: Settings, asked: str | None, stack: ExitStack) -> Any:
    from paintcli.cli.chosen import scorer_of

    return scorer_of(chosen, None, stack) if asked else None


@contextmanager
def shown(as_json: bool, prices: Prices) -> Iterator[Any]:
    """Tells a person of every event and, in a terminal, keeps a line of progress and spend at the bottom."""
    from paintcli.cli import output as o

    with o.progress(None, "generating") as bar:

        def show(run: Generation, event: Event) -> None:
            tally = run.tally()
            if as_json and event.row:
                o.emit(event.row)
            elif event.kind != "candidate" or bar.disable:
                o.say(event.text)
            line = f"{tally.painted.total()} candidates, {tally.refused.total()} refused; {money(total(run, prices))}"
            bar.update(bar.tasks[0].id, completed=len(run.done), total=len(run.jobs), description=line)

        yield show


def total(run: Generation, prices: Prices) -> Spend:
    from paintcli.generation import Spend, spent

    whole = Spend()
    for each in spent(run.journal, prices).values():
        for name, value in vars(each).items():
            setattr(whole, name, getattr(whole, name) + value)
    return whole


def money(spend: Spend) -> str:
    """Tokens and dollars in words, and what is not known of them."""
    words = f"{spend.tokens_in:,} tokens in, {spend.tokens_out:,} out"
    if spend.uncounted:
        words += f" ({spend.uncounted} of {spend.calls} replies uncounted)"
    if spend.unpriced == spend.calls:
        return words + (", price unknown" if spend.calls else "")
    return words + f", ${spend.cost:.2f}" + (f" and {spend.unpriced} replies unpriced" if spend.unpriced else "")


def summary(run: Generation, prices: Prices) -> dict[str, Any]:
    from paintcli.generation import spent

    tally = run.tally()
    return {
        "pool": str(run.pool),
        "generators": {
            spec: {
                "painted": tally.painted[spec],
                "refused": tally.refused[spec],
                "unpainted": tally.unpainted[spec],
                "dropped": run.dropped.get(spec),
            }
            for spec in run.team.generators
        },
        "spend": {
            name: {**vars(s), "cost": None if s.unpriced else round(s.cost, 6)}
            for name, s in spent(run.journal, prices).items()
        },
        "unfinished": run.unfinished,
        "stopped": run.stopped or None,
    }


def print_summary(run: Generation, prices: Prices) -> None:
    from rich.table import Table

    from paintcli.cli import output as o
    from paintcli.generation import model_name, spent

    tally, spends = run.tally(), spent(run.journal, prices)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("generator", "candidates", "refused", "nothing to see", "spend"):
        table.add_column(column)
    for spec in run.team.generators:
        name = model_name(spec)
        spend = spends.get(name)
        table.add_row(
            o.plain(name), str(tally.painted[spec]), str(tally.refused[spec]), str(tally.unpainted[spec]),
            o.plain(run.dropped.get(spec) or (money(spend) if spend else "")),
        )  # fmt: skip
    o.out().print(table)
    for name, spend in spends.items():
        if name not in {model_name(spec) for spec in run.team.generators}:
            o.say(f"{name}: {money(spend)}")
    if run.unfinished:
        o.say(f"Not finished: {run.unfinished} of {len(run.jobs)} candidates; the same command goes on.")
    if tally.painted.total():
        after_pool_in(run.pool)
