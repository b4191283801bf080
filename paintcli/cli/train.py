"""`paint train`: a policy learns your taste."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paintcli.cli import options
from paintcli.cli.road import after_run, then

if TYPE_CHECKING:
    from paintcli.settings import Settings
    from paintcli.training.recipe import Recipe
    from paintcli.training.run import Examined
    from paintcli.training.survey import Survey

SHARED = ("renderer", "scorer", "judge", "pool", "domain", "seed", "workers", "deadline", "timeout")
"""Settings of every command that are values of a recipe too."""


def register(app: typer.Typer) -> None:
    app.command()(train)


def train(
    mix: Annotated[
        str | None,
        typer.Option(
            "--mix",
            metavar="NAME|TERM=W,...",
            help="judge-led, hps-led, hps-only, control, or weights that sum to 1.",
            show_default="judge-led",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="RUN", help="The run folder.", show_default=False)
    ] = None,
    run_tag: Annotated[
        str | None, typer.Option("--run-tag", metavar="T", help="Its name under runs/.", show_default=False)
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run (default: the newest).")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan; load nothing.")] = False,
    where: options.Where = "local",
    preset: options.Preset = None,
    model: options.Model = None,
    steps: options.Steps = None,
    warm_start: Annotated[
        str | None,
        typer.Option(
            "--warm-start", metavar="POOL_OR_RUN[:COND]", help="Fine-tune on these sketches first.", show_default=False
        ),
    ] = None,
    turns: Annotated[
        int | None,
        typer.Option("--turns", metavar="N", help="Replies per rollout: look and revise.", show_default=False),
    ] = None,
    schedule: Annotated[
        str | None,
        typer.Option("--references-schedule", metavar="NAME", help="fixed or easy-to-hard.", show_default=False),
    ] = None,
    exam_every: Annotated[
        int | None,
        typer.Option(
            "--exam-every", metavar="N", help="Sit the frozen exam every N steps; see `paint exam`.", show_default=False
        ),
    ] = None,
    stand_ins: options.StandIns = False,
    settings_: options.Set = None,
    trackio: Annotated[bool, typer.Option("--trackio", help="Log to trackio on this machine too.")] = False,
    trackio_space: Annotated[
        str | None, typer.Option("--trackio-space", metavar="SPACE", help="…and live to a Space.", show_default=False)
    ] = None,
    env_url: Annotated[
        str | None,
        typer.Option("--env-url", metavar="URL", help="Reward by an OpenEnv environment.", show_default=False),
    ] = None,
    push_to: Annotated[str | None, typer.Option("--push-to", metavar="REPO", hidden=True)] = None,
    cancel: Annotated[bool, typer.Option("--cancel", help="End the run's Job on the Hub.")] = False,
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
    """Train a policy to paint what you like, by GRPO on a LoRA adapter.

    Everything is checked before anything is loaded. A run can be stopped at any moment (Ctrl-C, SIGTERM, kill -9);
    --resume goes on as if it had not been. With --json every step is a line on stdout.

    **Examples**

    `paint train --mix control`  proves in a minute that the trainer moves a policy

    `paint train --mix judge-led --dry-run`

    `paint train --mix hps-only --stand-ins --model ./gemma --set max_completion=256 --exam-every 10`

    `paint train --resume --run-tag judge-led-1`
    """
    from paintcli import settings
    from paintcli.cli import output as o
    from paintcli.cli.chosen import newest_run
    from paintcli.errors import UsageError
    from paintcli.training import recipe as recipes
    from paintcli.training import run
    from paintcli.training.processes import by_first, is_first
    from paintcli.training.run import check_folder, check_processes, default_tag, open_run

    if where not in ("local", "hub"):
        raise UsageError(f"--where is local or hub, not {where!r}.")
    flags = {
        "model": model, "steps": steps, "warm_start": warm_start, "turns": turns, "references_schedule": schedule,
        "stand_ins": stand_ins or None, "renderer": renderer, "scorer": scorer, "judge": judge, "pool": pool,
        "domain": domain, "seed": seed, "workers": workers, "deadline": deadline, "env_url": env_url,
        "exam_every": exam_every,
    }  # fmt: skip
    given = {name: value for name, value in flags.items() if value is not None}
    given |= recipes.assignments(settings_ or [])
    chosen = settings.load()
    runs = (chosen.project or Path.cwd()) / "runs"
    if where == "hub" and (resume or cancel):
        again_on_hub(output or (runs / run_tag if run_tag else None), cancel)
        return
    if resume:
        folder = output or (runs / run_tag if run_tag else newest_run(chosen.project, recipes.FILE))
        stored = recipes.Recipe.read(folder)
        recipe = recipes.again(stored, mix, preset, given)
    else:
        recipe = compose(mix, preset, given)
        folder = output or runs / (run_tag or default_tag(recipe))

    from paintcli.training.survey import survey

    seen = survey(recipe, where)
    if dry_run:
        show_plan(seen, folder, where, as_json, warnings(recipe, chosen))
        if not (as_json or seen.objections):
            o.say("To begin: the same without --dry-run.")
        return
    seen.check()
    if where == "hub":
        run_on_hub(recipe, seen, folder)
        return

    from paintcli.training.policy import load_policy

    folder = by_first(lambda: folder)  # its name may hold the time
    by_first(lambda: check_folder(folder, resume))
    check_processes(recipe, resume)
    report_to = tracker(trackio, trackio_space)
    with ExitStack() as stack:
        task = open_task(recipe, chosen, stack)
        examined = open_exam(recipe, chosen, task, stack) if recipe.exam_every else None
        # loaded before the folder is made: a model that is not there leaves no half a run behind
        policy = load_policy(recipe)
        recipe, saved, notes = by_first(lambda: open_run(recipe, folder, resume))
        if not is_first():  # the first process tells
            run.train(recipe, folder, task, lambda: policy, saved=saved, examined=examined)
            return
        for note in notes:
            o.say(note)
        for said in warnings(recipe, chosen):
            o.say(said)
        if not recipe.is_control:
            o.say(seen.line())
        run_locally(recipe, folder, task, policy, saved, report_to, as_json, push_to, examined)


def warnings(recipe: Recipe, chosen: Settings) -> list[str]:
    """What is on record against the pool. Only pools on this machine are looked at: a warning fetches nothing."""
    from paintcli import calibration, domains
    from paintcli.errors import PaintError
    from paintcli.pool import resolve

    compares = not (recipe.is_control or recipe.env_url) and recipe.weights().wants("judge")
    if not compares or (recipe.pool or "").startswith("hub:"):
        return []
    try:
        pool = resolve(recipe.pool, chosen.project, domains.load(recipe.domain).name)
    except PaintError:  # a pool that cannot be used is refused by the run itself
        return []
    said = calibration.warning(pool)
    return [said] if said else []


def compose(mix: str | None, preset: str | None, given: dict[str, Any]) -> Recipe:
    """The recipe: the mix's own values, then paint.toml, then environment, then flags and --set.

    Raises UsageError for what cannot be one, and for a domain or a pool that is not here: before anything is weighed.
    """
    from paintcli import domains, settings
    from paintcli.pool import Pool
    from paintcli.training import recipe as recipes

    table = dict(settings.load().tables.get("train", {}))
    given = dict(given)
    named = [mix, given.pop("mix", None), table.pop("mix", None), "judge-led"]
    mix = str(next(m for m in named if m))
    start = recipes.compose(mix, preset, table, given)
    shared = settings.load(
        defaults={name: getattr(start, name) for name in SHARED}, **{k: given[k] for k in given if k in SHARED}
    )
    if start.is_control:
        return start
    recipe = recipes.compose(
        mix, preset, table, {name: getattr(shared, name) for name in SHARED if getattr(shared, name) is not None}, given
    )
    domains.load(recipe.domain)
    if recipe.pool and not recipe.pool.startswith("hub:"):
        Pool.load(Path(recipe.pool))
    return recipe


def open_task(recipe: Recipe, chosen: Settings, stack: ExitStack) -> Any:
    """What the recipe trains on, with its backends. Everything that can be refused is refused here."""
    from huggingface_hub import get_token

    from paintcli import domains
    from paintcli.cli import output as o
    from paintcli.pool import resolve
    from paintcli.training import control, studio, warmstart

    if recipe.warm_start:
        warmstart.Source.parse(recipe.warm_start).sketches()
    if recipe.is_control:
        return control.Control(recipe)
    domain = domains.load(recipe.domain)
    if recipe.env_url:
        return open_environment(recipe, domain, stack)
    pool = None
    if studio.needs_pool(recipe):
        pool = resolve(recipe.pool, chosen.project, domain.name, hub=get_token() is not None)
        if not recipe.pool:
            o.say(f"References from {pool.origin}.")
    return studio.open_studio(recipe, domain, pool, stack)


def open_exam(recipe: Recipe, chosen: Settings, task: Any, stack: ExitStack) -> Examined:
    """The exam of a run and who answers in it: the run's own renderer and judge where it has them."""
    from huggingface_hub import get_token

    from paintcli import domains
    from paintcli.pool import resolve
    from paintcli.training.exam import Exam, open_assessor
    from paintcli.training.studio import Studio

    studio = task if isinstance(task, Studio) else None
    domain = domains.load(recipe.domain)
    pool = studio.pool if studio else None
    if pool is None:
        pool = resolve(recipe.pool, chosen.project, domain.name, hub=get_token() is not None)
    exam = Exam.of(domain, pool, recipe.judge, recipe.exam_samples)
    shared = studio is not None and studio.assessor.comparer is not None
    assessor = studio.assessor if studio and shared else open_assessor(exam, recipe, stack)
    return exam, lambda: assessor


def open_environment(recipe: Recipe, domain: Any, stack: ExitStack) -> Any:
    """The task whose rewards an OpenEnv environment gives. Raises PaintError when it does not answer at all."""
    from paintcli.backends.hub.env import Environment
    from paintcli.backends.loop import Loop
    from paintcli.errors import UsageError
    from paintcli.training.remote import Remote

    if recipe.turns > 1:
        raise UsageError("An environment takes one reply an episode: leave turns = 1 with --env-url.")
    task = Remote(recipe, domain, Environment(recipe.env_url, sessions=recipe.workers))
    loop = Loop()
    stack.callback(loop.close)
    loop.run(task.learn_prompt())
    return task


def tracker(local: bool, space: str | None) -> str:
    """TRL's `report_to`; trackio is told its names by the environment."""
    import importlib.util
    import os

    from paintcli.errors import UsageError

    if not (local or space):
        return "none"
    if importlib.util.find_spec("trackio") is None:
        raise UsageError("--trackio needs trackio, which is not installed: pip install 'paintcli[train]'.")
    os.environ.setdefault("TRACKIO_PROJECT", "paint")
    if space:
        os.environ["TRACKIO_SPACE_ID"] = space
    return "trackio"


def run_locally(
    recipe: Recipe, folder: Path, task: Any, policy: Any, saved: Path | None, report_to: str, as_json: bool,
    push_to: str | None, examined: Examined | None,
) -> None:  # fmt: skip
    """Train and show it. Ctrl-C and SIGTERM end it with one sentence; what was done is kept."""
    import signal

    from paintcli.cli import output as o
    from paintcli.cli.live import Panel
    from paintcli.training import hub, run, state

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    panel = Panel(recipe, folder, state.step_of(saved) if saved else 0, as_json)
    pusher = hub.Pusher(folder, push_to, o.say) if push_to else None
    try:
        with panel:
            outcome = run.train(
                recipe, folder, task, lambda: policy, saved=saved, told=panel.told, report_to=report_to,
                callbacks=[pusher.callback()] if pusher else None, examined=examined,
            )  # fmt: skip
        if pusher:
            pusher.push()
    except KeyboardInterrupt:
        then("Stopped. Go on with", "train", "--resume", "-o", folder)
        raise typer.Exit(130) from None
    if as_json:
        o.emit(
            {"run": str(folder), "steps": outcome.steps, "rollouts": outcome.rollouts, "excluded": outcome.excluded,
             "idle_steps": outcome.idle, "probe": panel.probes}
        )  # fmt: skip
    else:
        panel.summary(outcome)


def run_on_hub(recipe: Recipe, seen: Survey, folder: Path) -> None:
    """Send the run as a Job and follow it."""
    from paintcli.cli import output as o
    from paintcli.errors import UsageError
    from paintcli.training import hub

    if hub.record(folder):
        raise UsageError(f"{folder} has a Job already: --resume follows it or goes on, --cancel ends it.")
    made = hub.submit(recipe, seen, folder.name, folder)
    o.say(f"Job {made['job']}; it pushes to {made['repo']} every {hub.PUSH_EVERY} steps.")
    follow(folder, made)


def again_on_hub(folder: Path | None, cancel: bool) -> None:
    """Follow a run's Job, start the next one where it ended early, or cancel it."""
    from paintcli.backends.hub import jobs
    from paintcli.cli import output as o
    from paintcli.errors import UsageError
    from paintcli.training import hub
    from paintcli.training.recipe import Recipe
    from paintcli.training.survey import survey

    if folder is None:
        raise UsageError("Name the run whose Job is meant: --run-tag or -o.")
    made = hub.record(folder)
    if made is None:
        raise UsageError(f"{folder} has no Job: it holds no {hub.RECORD}.")
    if cancel:
        jobs.cancel(made["job"])
        o.say(f"Job {made['job']} is cancelled; what it pushed stays in {made['repo']}.")
        remind_of_spaces(folder)
        return
    if jobs.over(jobs.state(made["job"])):
        hub.fetch(folder, made["repo"])
        recipe = Recipe.read(folder)
        made = hub.submit(recipe, survey(recipe, "hub"), folder.name, folder)
        o.say(f"The last Job is over; Job {made['job']} goes on from its last push.")
    follow(folder, made)


def follow(folder: Path, made: dict[str, str]) -> None:
    """Stream a Job's log until it is over, then fetch what it pushed. Ctrl-C leaves it running."""
    from paintcli.backends.hub import jobs
    from paintcli.cli import output as o
    from paintcli.errors import PaintError
    from paintcli.training import hub

    try:
        stage = jobs.follow(made["job"], o.say)
    except KeyboardInterrupt:
        o.say(f"Still running. paint train --where hub --resume -o {folder} follows it, --cancel ends it.")
        raise typer.Exit(130) from None
    hub.fetch(folder, made["repo"])
    remind_of_spaces(folder)
    if stage != "COMPLETED":
        raise PaintError(f"Job {made['job']} ended as {stage}; --where hub --resume goes on from its last push.")
    o.say(f"Done: {folder}.")
    after_run(folder, examined=False)


def remind_of_spaces(folder: Path) -> None:
    """After a run on the Hub: what it asked may still be running, and costs as long as it does."""
    from paintcli.cli.doctor import remind
    from paintcli.training.recipe import FILE, Recipe

    if (folder / FILE).is_file():
        recipe = Recipe.read(folder)
        remind(recipe.renderer, recipe.scorer, recipe.env_url)


def show_plan(seen: Survey, folder: Path, where: str, as_json: bool, warned: list[str]) -> None:
    """The resolved recipe and everything the survey found out."""
    from dataclasses import asdict

    from rich.table import Table

    from paintcli.cli import output as o
    from paintcli.training import hub
    from paintcli.training.memory import GB

    job = hub.plan(seen.recipe, seen, folder.name) if where == "hub" else None
    if as_json:
        row = {"run": str(folder), "where": where, "recipe": asdict(seen.recipe), **seen.to_json()}
        row["warnings"] = warned
        if job:
            row |= {"command": job.job.command(), "arguments": list(job.arguments), "repo": job.repo}
        o.emit(row)
        return
    out = o.out()

    def table(title: str, *columns: str) -> Table:
        made = Table(title=title, title_justify="left", title_style="bold", box=None, show_header=bool(columns),
                     pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")  # fmt: skip
        return made

    values = table("Recipe")
    for name, value in asdict(seen.recipe).items():
        if value not in (None, ""):
            values.add_row(name, o.plain(str(value)))
    out.print(values)
    reach = table("\nAdapter")
    for part, (reached, layers) in seen.coverage.parts.items():
        reach.add_row(part, f"{reached} of {layers} layers")
    reach.add_row("trainable", f"{seen.coverage.trainable:,} of {seen.coverage.parameters:,} parameters")
    out.print(reach)
    sizes = table(f"\nMemory on {seen.memory.where.strip(',')}, GB")
    for p in seen.memory.parts:
        sizes.add_row(p.name, f"{p.size / GB:.1f}", o.plain(p.why))
    sizes.add_row("together", f"{seen.memory.total / GB:.1f}", f"of {seen.memory.capacity / GB:.1f}")
    out.print(sizes)
    times = table("\nA step, seconds")
    for p in seen.pace.phases:
        times.add_row(p.name, f"{p.size:.0f}", o.plain(p.why))
    times.add_row("together", f"{seen.pace.step:.0f}", f"{seen.pace.run / 3600:.1f} hours for {seen.pace.steps} steps")
    times.add_row("a Job's time limit", f"{seen.pace.timeout_hours} h", "set-up, the run and half as much again")
    out.print(times)
    if job:
        sent = table("\nOn the Hub")
        sent.add_row("pushed to", f"{job.repo} (private), every {hub.PUSH_EVERY} steps")
        sent.add_row("goes along", o.plain(", ".join(f"{p} as {n}" for n, p in job.carried.items()) or "nothing"))
        sent.add_row("in the Job", o.plain("paint train " + " ".join(job.arguments)))
        out.print(sent)
        out.print(o.plain(job.job.command()), soft_wrap=True)
    for said in warned:
        out.print(o.plain(f"\nWarning: {said}"), style="yellow")
    for objection in seen.objections:
        out.print(o.plain(f"\nWould be refused: {objection}"), style="yellow")
