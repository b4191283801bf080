"""`paint forecast`: will this run learn, and what will it cost?"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paintcli.cli import options
from paintcli.cli.road import then

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paintcli.backends.loop import Loop
    from paintcli.forecast import Cost, Forecast, Meeting, Table
    from paintcli.judging import HeldOut, Share
    from paintcli.pool import Reference
    from paintcli.training.recipe import Recipe
    from paintcli.training.studio import Studio
    from paintcli.training.survey import Survey

    Held = tuple[HeldOut | str | None, Share | None]

DRAWS = 64
"""Steps whose very draws of references the samples meet."""

PAID = 16
"""References a judge that costs money or minutes is asked about, unless --panel says otherwise."""


def register(app: typer.Typer) -> None:
    app.command()(forecast)


def forecast(
    samples: Annotated[
        Path | None,
        typer.Argument(
            metavar="SAMPLES",
            help="What `paint sample` wrote, a run, a probe of it, or a folder of sketches. Default: the recipe's "
            "model writes some.",
            show_default=False,
        ),
    ] = None,
    mix: Annotated[
        str | None,
        typer.Option(
            "--mix",
            metavar="NAME|TERM=W,...",
            help="judge-led, hps-led, hps-only, or weights that sum to 1.",
            show_default="judge-led",
        ),
    ] = None,
    count: Annotated[
        int, typer.Option("-n", "--count", metavar="N", min=1, help="How many sketches the model writes.")
    ] = 32,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Where those go.", show_default=False)
    ] = None,
    first: Annotated[
        int | None,
        typer.Option("--first", metavar="N", min=1, help="Of a run, only its first N steps.", show_default=False),
    ] = None,
    as_logged: Annotated[
        bool, typer.Option("--as-logged", help="Take a run's groups and comparisons as they are: nobody is asked.")
    ] = False,
    panel: Annotated[
        int | None,
        typer.Option(
            "--panel",
            metavar="N",
            min=1,
            help=f"Compare with about N references; default all for taste, {PAID} for another judge.",
            show_default=False,
        ),
    ] = None,
    trust: Annotated[
        int,
        typer.Option(
            "--trust", metavar="N", min=0, help="Pairs of reserved paintings the judge is held against the rater on."
        ),
    ] = 60,
    per_hour: Annotated[
        float | None,
        typer.Option("--price-per-hour", metavar="X", min=0, help="Of the machine.", show_default=False),
    ] = None,
    per_comparison: Annotated[
        float | None,
        typer.Option("--price-per-comparison", metavar="X", min=0, help="Of the judge.", show_default=False),
    ] = None,
    where: options.Where = "local",
    preset: options.Preset = None,
    model: options.Model = None,
    steps: options.Steps = None,
    stand_ins: options.StandIns = False,
    settings_: options.Set = None,
    renderer: options.Renderer = None,
    scorer: options.Scorer = None,
    judge: options.Judge = None,
    pool: options.Pool = None,
    domain: options.Domain = None,
    seed: options.Seed = None,
    workers: options.Workers = None,
    deadline: options.Deadline = None,
    as_json: options.Json = False,
) -> None:
    """Say before a run whether it will learn: from some samples of its policy, the pool and the mix.

    Gate, win rates by reference and tier, the spread within groups and how much of it another draw would confirm,
    groups without a gradient, what the draw adds, how far the judge agrees with the rater, hours and cost; a verdict,
    and which lever to pull. The formula and its trials: results/forecast/README.md.

    **Examples**

    `paint forecast --mix judge-led --stand-ins --model ./gemma --set max_completion=256`

    `paint forecast samples-first/ --mix gate=.1,judge=.9 --judge taste`

    `paint forecast runs/first --first 5 --as-logged --price-per-hour 5`
    """
    from dataclasses import replace

    from paintcli import settings
    from paintcli.backends.loop import Loop
    from paintcli.cli import output as o
    from paintcli.cli.train import open_task
    from paintcli.errors import UsageError
    from paintcli.forecast import Table, cost, logged, meetings, plan_of
    from paintcli.forecast import forecast as foretell
    from paintcli.training import models
    from paintcli.training.survey import survey

    if where not in ("local", "hub"):
        raise UsageError(f"--where is local or hub, not {where!r}.")
    if as_logged and samples is None:
        raise UsageError("--as-logged reads what a run wrote: name the run.")
    flags = {
        "model": model, "steps": steps, "stand_ins": stand_ins or None, "renderer": renderer, "scorer": scorer,
        "judge": judge, "pool": pool, "domain": domain, "seed": seed, "workers": workers, "deadline": deadline,
    }  # fmt: skip
    if not samples:
        output = place(output)
    recipe = recipe_of(samples, mix, preset, {k: v for k, v in flags.items() if v is not None}, settings_ or [])
    rows = read(samples, first) if samples else []
    if (there := len(rows) if samples else count) < recipe.generations:
        raise UsageError(
            f"{there} samples are too few for a group of {recipe.generations}; {4 * recipe.generations} say enough."
        )
    recipe.refuse_stand_ins()
    seen = survey(recipe, where)
    plan = plan_of(recipe, models.configuration(recipe.model))
    held: Held = None, None
    met: Sequence[Meeting]
    rungs: dict[str, Sequence[Meeting]] = {}
    if as_logged:
        table = Table.of(rows)
        met = logged(rows, table)
    else:
        with ExitStack() as stack:
            if not samples:
                seen.check()
            studio = open_task(replace(recipe, warm_start=""), settings.load(), stack)
            loop = Loop()  # one for all: a backend's connections belong to it
            stack.callback(loop.close)
            if not samples:
                assert output is not None
                samples = write(recipe, studio, count, output, loop)
                rows = read(samples, None)
            references, draws = panel_of(studio, recipe, panel)
            rows = loop.run(assess(rows, samples, studio, references))
            table = Table.of(rows)
            met = meetings(table, draws)
            rungs = rungs_of(studio, recipe, references, table, draws)
            held = loop.run(hold(studio, trust))
    told = foretell(table, recipe.weights(), plan, met, rungs)
    paid = recipe.weights().wants("judge") and recipe.judge != "taste"
    asked = recipe.steps * recipe.generations * recipe.references * 2 if paid else 0
    spent = cost(seconds_of(seen, recipe, rows), recipe.steps, asked, per_hour, per_comparison)
    if as_json:
        o.emit(to_json(told, held, spent, recipe, seen))
    else:
        show(told, held, spent, recipe, seen)
        if as_logged:
            then("What did that run learn?", "analyze", samples)
        elif told.gain.learns:
            then("Does the trainer move? A minute, no GPU", "train", "--mix", "control")


def recipe_of(
    samples: Path | None, mix: str | None, preset: str | None, flags: dict[str, Any], sets: list[str]
) -> Recipe:
    """The run's own recipe where the samples are a run's, with what was said laid over it; else as for `train`."""
    from paintcli.cli.train import compose
    from paintcli.errors import UsageError
    from paintcli.training import recipe as recipes

    given = flags | recipes.assignments(sets)
    if samples and (samples / recipes.FILE).is_file():
        recipe = recipes.again(recipes.Recipe.read(samples), mix, preset, given)
    else:
        recipe = compose(mix, preset, given)
    if recipe.is_control:
        raise UsageError(
            "The control task has no pool and no gate to forecast from: `python -m benchmarks.forecast` does it for "
            "tiny runs like it."
        )
    if recipe.env_url:
        raise UsageError("A forecast paints and judges on this machine: leave out env_url.")
    return recipe


def read(samples: Path, first: int | None) -> list[dict[str, Any]]:
    """The samples as rollouts: a run's, or a folder's sketches, of which only "code" and a place are known."""
    from paintcli.cli.options import read_sketch
    from paintcli.errors import UsageError
    from paintcli.rollouts import PAINTED, UNPAINTED, stream
    from paintcli.sketch import files_in

    if not samples.is_dir():
        raise UsageError(f"{samples} is no folder of samples.")
    if any((samples / name).is_file() for name in (PAINTED, UNPAINTED)):
        rows = [row for row in stream(samples) if "reward" in row]
        if not rows:
            raise UsageError(f"{samples} holds no rollouts; is it a pool?")
        rows.sort(key=lambda row: (row["step"], row["position_in_group"]))
        kept = sorted({row["step"] for row in rows})[:first]
        return [row for row in rows if row["step"] in kept]
    found = files_in(samples)
    if not found:
        raise UsageError(f"{samples} holds neither rollouts nor sketches.")
    return [{"code": read_sketch(str(path)).source, "step": 0} for path in found]


def place(output: Path | None) -> Path:
    """Where the model's samples go. Raises UsageError for a folder that is not empty."""
    import time

    from paintcli.errors import UsageError

    folder = output or Path(f"forecast-{time.strftime('%Y%m%d-%H%M%S')}")
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; forecast from it by naming it, or choose another folder with -o.")
    return folder


def write(recipe: Recipe, studio: Studio, count: int, folder: Path, loop: Loop) -> Path:
    """Let the recipe's model write `count` sketches, as the run's first probe would; the folder they are in."""
    from dataclasses import replace

    from paintcli.cli import output as o
    from paintcli.training import run
    from paintcli.training.models import quiet
    from paintcli.training.policy import load_policy

    if recipe.warm_start:
        o.say("The samples are the model's from before its warm start.")
    with quiet():
        model, tokenizer = load_policy(recipe)
        run.take_probe(
            replace(recipe, probe=count), folder, studio, loop, model, tokenizer, "before",
            lambda event: o.say(f"{count} samples of {recipe.model} …") if event.kind == "note" else None,
        )  # fmt: skip
    return folder / "probe-before"


def panel_of(studio: Studio, recipe: Recipe, most: int | None) -> tuple[list[Reference], list[list[str]]]:
    """(references the samples are compared with, the names each of the run's first steps draws).

    All that can be drawn, or the draws of as many steps as stay within `most` references.
    """
    most = most or (None if recipe.judge == "taste" else PAID)
    kept: dict[str, Reference] = {}
    draws: list[list[str]] = []
    for step in range(min(recipe.steps, DRAWS)):
        drawn = studio.draw(step).references
        if most and draws and len(kept.keys() | {r.name for r in drawn}) > most:
            break
        kept |= {r.name: r for r in drawn}
        draws.append([r.name for r in drawn])
    if not most and studio.pool is not None and studio.assessor.asks("judge"):
        kept |= {r.name: r for r in studio.pool.drawable}
    return list(kept.values()), draws


async def assess(
    rows: list[dict[str, Any]], samples: Path, studio: Studio, references: list[Reference]
) -> list[dict[str, Any]]:
    """Every sample against every reference, as rollouts. What was refused or lost in its run stays so."""
    import asyncio
    from dataclasses import asdict

    from paintcli.cli import output as o
    from paintcli.painting import Painting
    from paintcli.sketch import extract
    from paintcli.training.studio import rollout_of

    async def one(row: dict[str, Any]) -> dict[str, Any]:
        known = "gate" in row and row["gate"] != 1
        picture = samples / row["file_name"] if row.get("file_name") else None
        if not known:
            sketch = extract(row["code"])
            if picture is None:
                evaluation = await studio.assessor.evaluate(sketch, references, int(row.get("seed") or 0))
            else:
                painting = await asyncio.to_thread(Painting.from_file, picture)
                evaluation = await studio.assessor.evaluate_picture(painting, sketch, references)
            row = {**row, **asdict(rollout_of(evaluation, studio.assessor, row["code"])), "step": row["step"]}
        else:
            row = {**row, "comparisons": []}
        bar.advance(bar.tasks[0].id)
        return row

    with o.progress(len(rows), "judging the samples") as bar:
        return await asyncio.gather(*map(one, rows))


def rungs_of(
    studio: Studio, recipe: Recipe, references: list[Reference], table: Table, draws: list[list[str]]
) -> dict[str, Sequence[Meeting]]:
    """What the groups would meet if they drew from one tier alone, for each tier that was compared."""
    from paintcli.forecast import meetings
    from paintcli.pool import tier_rank, tiers_of

    if studio.pool is None or not table.references:
        return {}
    drawn = {r.tier for r in references for names in draws if r.name in names}
    middle = sum(tier_rank(t)[0] for t in drawn) / len(drawn)
    found: dict[str, Sequence[Meeting]] = {}
    for tier, members in tiers_of(references).items():
        if {tier} != drawn and len(members) >= recipe.references:
            name = f"an easier rung ({tier})" if tier_rank(tier)[0] > middle else f"a harder rung ({tier})"
            picks = [
                studio.pool.draw({tier: recipe.references}, recipe.group_seed(s), members) for s in range(len(draws))
            ]
            found[name] = meetings(table, [[r.name for r in pick.references] for pick in picks])
    return found


async def hold(studio: Studio, pairs: int) -> Held:
    """(the judge against the rater or why that is not known, the rater against the rater); None: not asked."""
    from paintcli.errors import PaintError
    from paintcli.forecast import rater_bound
    from paintcli.judging import held_out

    comparer = studio.assessor.comparer
    if comparer is None or studio.pool is None or not pairs:
        return None, None
    bound = rater_bound(studio.pool.rechecked)
    try:
        return await held_out(studio.pool, comparer, studio.domain.criteria, pairs), bound
    except PaintError as error:
        return str(error), bound


def seconds_of(seen: Survey, recipe: Recipe, rows: list[dict[str, Any]]) -> float:
    """Seconds a step will take: the survey's estimate, with the length the samples really have."""
    from paintcli.training.pace import TOKENS

    lengths = [row["completion_tokens"] for row in rows if row.get("completion_tokens")]
    ratio = sum(lengths) / len(lengths) / min(TOKENS, recipe.max_completion) if lengths else 1.0
    return sum(p.size * (ratio if p.name in ("writing", "learning") else 1.0) for p in seen.pace.phases)


def to_json(told: Forecast, held: Held, spent: Cost, recipe: Recipe, seen: Survey) -> dict[str, Any]:
    from paintcli.backends.specs import label
    from paintcli.judging import HeldOut

    judged = recipe.weights().wants("judge")
    agreement, bound = held
    return {
        **told.to_json(),
        "mix": recipe.mix,
        "model": recipe.model,
        "judge": label(recipe.judge) if judged else None,
        "scorer": label(recipe.scorer) if recipe.weights().wants("hpsv3") else None,
        "agreement": agreement.to_json() if isinstance(agreement, HeldOut) else None,
        "agreement_unknown": agreement if isinstance(agreement, str) else None,
        "rater_bound": bound.to_json() if bound else None,
        "cost": spent.to_json(),
        "objections": [str(objection) for objection in seen.objections],
    }


def show(told: Forecast, held: Held, spent: Cost, recipe: Recipe, seen: Survey) -> None:
    from rich.table import Table as Grid

    from paintcli.cli import output as o
    from paintcli.cli.judge import share
    from paintcli.forecast import formula
    from paintcli.judging import HeldOut

    out, signal = o.out(), told.signal

    def grid(title: str) -> Grid:
        return Grid(title=title, title_justify="left", title_style="bold", box=None, show_header=False,
                    pad_edge=False, padding=(0, 2, 0, 0))  # fmt: skip

    def gain(g: Any) -> str:
        return f"{g.value:+.2f} ({g.low:+.2f} to {g.high:+.2f})"

    first = f"{told.verdict} ({told.gain.chance:.0%}): mean reward {gain(told.gain)} over {recipe.steps} steps"
    out.print(o.plain(first), style="bold green" if told.gain.learns else "bold yellow")
    out.print(o.plain(told.why))
    facts = grid(f"\n{told.samples} samples, {recipe.mix}")
    facts.add_row("pass the gate", share(told.passed.to_json()))
    facts.add_row("mean reward", f"{signal.mean:.3f}")
    facts.add_row(
        "spread within a group", f"{signal.sd:.3f} ({signal.confirmed:.0%} of its variance is the policy's own)"
    )
    facts.add_row("groups without a gradient", share(signal.dead.to_json()))
    drawn = signal.draw_reason or "unknown" if signal.draw_share is None else f"{signal.draw_share:.0%}"
    facts.add_row("of the curve's noise, the draw", o.plain(drawn))
    facts.add_row("reach of the learning rate", f"{told.plan.reach:.3f}")
    out.print(facts)
    if told.tiers:
        wins = grid("\nWin share")
        for tier, won in told.tiers:
            wins.add_row(tier, share(won.to_json()))
        ranked = sorted(told.references, key=lambda row: row[2].value if row[2].of else 2.0)
        for name, tier, won in (*ranked[:3], *ranked[3:][-3:]):
            wins.add_row(o.plain(f"  {name} ({tier})"), share(won.to_json()))
        out.print(wins)
    agreement, bound = held
    if isinstance(agreement, HeldOut):
        trusted = grid("\nThe judge and the rater")
        trusted.add_row("the better rated painting wins", share(agreement.agreement.to_json()))
        itself = share(bound.to_json()) if bound else "unknown: nothing was rated twice"
        trusted.add_row("the rater ranks them so again, the bound", itself)
        out.print(trusted)
    elif agreement:
        out.print(o.plain(f"\nThe judge and the rater: {agreement}"))
    money = grid("\nThe run")
    money.add_row("a step", f"{spent.step_seconds:.0f} s")
    money.add_row(f"{recipe.steps} steps", f"{spent.hours:.1f} hours, {spent.comparisons:,} paid comparisons")
    for name, part in (("machine", spent.machine), ("judge", spent.judge), ("together", spent.total)):
        if part is not None:
            money.add_row(name, f"{part:,.2f}")
    out.print(money)
    if told.levers:
        levers = grid("\nLevers, strongest first")
        for lever in told.levers:
            levers.add_row(lever.name, o.plain(lever.what), gain(lever.gain) if lever.gain else "not to be computed")
        out.print(levers)
    for objection in seen.objections:
        out.print(o.plain(f"\nWould be refused: {objection}"), style="yellow")
    out.print(o.plain(f"\n{formula()}"), style="dim")
