"""Everything about one run in one dictionary: what `analyze --json` prints and the tables and pictures are made of.

Keys (all always there; null or empty where the data cannot say). An interval is {"value", "low", "high"}.

- run, source, kind ("rollouts" or "curve"), rollouts (null for a curve), steps, split ("card" or "ends")
- verdict: sentences, the most important first
- thirds: [{"from", "to", "steps", "rollouts", "mean_reward", "under_0.3", "shapes"}]; under_ names the threshold
- gain: {"first", "last", "change": interval}; slope: interval + "t", in reward per step
- order: best, median, worst → {"first", "last", "change": interval}, means over steps
- decomposition: {"threshold", "formula", "change", "bad_became_rare", "good_got_better", "bad_got_better": intervals
  that sum to change, "share_first", "share_last", "good_first", …, "good_change", "ceiling": intervals}
- weights: {"origin", term: weight}; terms: term → {"first", "last", "change": interval, "weight", "contribution"}
- correlations: column → {"all", "top"} → interval + "rollouts"; "top_band" is where the top begins
- draw: {"basis", "reason", "judge_sd", "reward_sd", "share_of_step_noise", "adjusted": {…, "curve"}, "hardest",
  "easiest", "between": {"from", "to", "reward", "change", "terms", "draw", "draw_share"}}
- health, hacking, code, colours: see the modules of these names
- exam: what the run's exams say, see its module; null for a run without
- flat: {"fault", "evidence"} for a run without a sure gain, else null
- series: per step: "step", "reward", and for rollouts "best", "median", "worst"
- distributions: for each third the rollouts per bin of reward, 20 bins from 0 to 1 (null for a curve)
- missing: columns the data lacks; notes: what was odd about it
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from paintcli.analysis.code import code
from paintcli.analysis.colours import colours
from paintcli.analysis.draw import draw
from paintcli.analysis.exam import exam
from paintcli.analysis.gain import Options, _plain, gain
from paintcli.analysis.health import hacking, health
from paintcli.analysis.sources import Run
from paintcli.analysis.steps import Steps
from paintcli.errors import UsageError

if TYPE_CHECKING:
    from paintcli.training.recipe import Recipe

BINS = 20

SATURATED = 0.08
"""A judge term whose mean stays within this of 0 or of 1 has nothing left to tell paintings apart by."""


def steps_of(run: Run, options: Options) -> Steps:
    """The run split as asked; unasked, as published: rollouts as on the dataset card, a curve by its ends."""
    return Steps(run, options.split or ("ends" if run.is_curve else "card"))


def recipe_of(run: Run) -> Recipe | None:
    """What a run folder was trained by; None for what has no recipe."""
    from paintcli.training.recipe import FILE, Recipe

    if run.folder is None or not (run.folder / FILE).is_file():
        return None
    return Recipe.read(run.folder)


def own_targets(run: Run) -> dict[str, Any] | None:
    """The numbers of the domain that a run folder's recipe names; None for what has no recipe.

    A recipe whose domain file is not here holds the sketches to none, and that is noted in the run.
    """
    from paintcli import domains

    recipe = recipe_of(run)
    if recipe is None:
        return None
    if recipe.is_control:  # it paints nothing
        return {}
    domain = recipe.domain
    try:
        return domains.load(domain).targets
    except UsageError:
        run.notes.append(f"Its domain {domain} is not here: the sketches are held to no numbers.")
        return {}


def analyse(run: Run, options: Options, advance: Callable[[], None] = lambda: None) -> dict[str, Any]:
    """The whole report of one run. `advance` is called once for each picture looked at."""
    steps = steps_of(run, options)
    palette = colours(steps, options.images, advance)  # first: it may fill in the coverage that others use
    report: dict[str, Any] = {
        "run": run.name,
        "source": run.path,
        "kind": "curve" if run.is_curve else "rollouts",
        "rollouts": None if run.is_curve else len(run),
        "steps": len(steps),
        "split": steps.split,
        "verdict": [],
        **gain(steps, options),
        "top_band": options.band,
        "draw": draw(steps, options),
        "health": health(steps),
        "hacking": hacking(steps),
        "code": code(steps, options.targets),
        "colours": palette,
        "exam": exam(run.folder),
        "flat": None,
        "series": {
            "step": steps.numbers.astype(int).tolist(),
            "reward": [_plain(value) for value in steps.reward],
            **{name: [_plain(v) for v in values] for name, values in steps.order_statistics.items()},
        },
        "distributions": distributions(steps),
        "missing": run.missing,
        "notes": run.notes,
    }
    change = report["gain"]["change"]
    if change["low"] is not None and change["low"] <= 0 <= change["high"]:
        report["flat"] = flat(steps, report)
    report["verdict"] = verdict(report)
    return report


def distributions(steps: Steps) -> list[list[int]] | None:
    if steps.run.is_curve:
        return None
    reward = steps.run.numbers["reward"]
    return [
        np.histogram(np.clip(reward[(steps.third_of == third) & steps.rewarded], 0, 1), BINS, (0, 1))[0].tolist()
        for third in range(3)
    ]


def by_third(run: Run, options: Options) -> dict[str, Any]:
    """The part of the report that the dataset card's table shows, under the same keys."""
    steps = steps_of(run, options)
    found = gain(steps, options)
    return {
        "run": run.name,
        "source": run.path,
        "kind": "curve" if run.is_curve else "rollouts",
        "rollouts": None if run.is_curve else len(run),
        "steps": len(steps),
        "split": steps.split,
        "thirds": found["thirds"],
        "correlations": found["correlations"],
        "notes": run.notes,
        "missing": run.missing,
    }


def flat(steps: Steps, report: dict[str, Any]) -> dict[str, Any]:
    """What the evidence says is at fault for a run without a sure gain: the first of these that shows."""
    evidence: list[str] = []
    fault = None

    def found(name: str, sentence: str) -> None:
        nonlocal fault
        fault = fault or name
        evidence.append(sentence)

    rate = steps.from_curve("learning_rate")
    gradient = steps.from_curve("grad_norm")
    collapsed = report["health"]["collapsed_groups"]
    if rate is not None and np.nanmax(rate) == 0:
        found("trainer", "the learning rate is 0 throughout")
    elif rate is not None and np.nanmax(rate) < 3e-5:
        # published: 2e-5 stayed flat, 5e-5 learned
        found("trainer", f"the learning rate never exceeds {np.nanmax(rate):.1e} (2e-5 stayed flat where 5e-5 learned)")
    if gradient is not None and np.nanmedian(gradient) < 1e-6:
        found("trainer", "the gradient is zero")
    if collapsed and collapsed > 0.3 * len(steps):
        found("trainer", f"{collapsed} of {len(steps)} groups have the same reward throughout: nothing to learn from")
    refused = steps.run.column("gate")
    if refused is not None and (share := 1 - np.nanmean(refused[steps.third_of == 2])) > 0.5:
        found("gate", f"the gate still refuses {share:.0%} in the last third")
    judge = report["terms"].get("judge")
    if judge and report["weights"].get("judge"):
        mean = (judge["first"] + judge["last"]) / 2
        if mean < SATURATED:
            found("judge saturation", f"it loses nearly every comparison (judge term {mean:.2f}): add a weaker tier")
        if mean > 1 - SATURATED:
            found("judge saturation", f"it wins nearly every comparison (judge term {mean:.2f}): add a stronger tier")
    adjusted = report["draw"].get("adjusted")
    if adjusted and (adjusted["change"]["low"] or 0) > 0:
        found("draw", "with the draw taken out the gain is sure: hard references came late")
    excluded = report["health"]["excluded"]
    if excluded and excluded["rollouts"] > 0.2 * len(steps.run):
        found("infrastructure", f"{excluded['rollouts']} of {len(steps.run)} rollouts have no reward")
    change = report["gain"]["change"]
    if not evidence:
        evidence.append(
            "nothing in the data points to a fault; with these steps a gain under "
            f"{change['high'] - change['value']:.3f} would not show"
        )
    return {"fault": fault, "evidence": evidence}


def number(value: float | None, digits: int = 3) -> str:
    """A figure for a person, with a real minus sign; – where there is none."""
    return "–" if value is None else f"{value:.{digits}f}".replace("-", "−")


def signed(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:+.{digits}f}".replace("-", "−")


def spanned(interval: dict[str, Any], digits: int = 3) -> str:
    """+0.273 (+0.210 to +0.330)"""
    if interval["low"] is None:
        return signed(interval["value"], digits)
    return (
        f"{signed(interval['value'], digits)} ({signed(interval['low'], digits)} to {signed(interval['high'], digits)})"
    )


def verdict(report: dict[str, Any]) -> list[str]:
    """The findings as sentences with their 95 % intervals, the most important first."""
    said = []
    gain, change, t = report["gain"], report["gain"]["change"], report["slope"]["t"]
    ends = f"mean reward {number(gain['first'])} → {number(gain['last'])}"
    if change["value"] is None:
        one = "Nothing can be said about change: there is only one step." if report["steps"] == 1 else ""
        said.append(one or "Nothing can be said about change in reward.")
    elif change["low"] is None:
        said.append(f"Too few steps for an interval: {ends}, {signed(change['value'])}.")
    elif change["low"] > 0:
        said.append(f"It learned: {ends}, {spanned(change)}, slope t {signed(t, 2)}.")
    elif change["high"] < 0:
        said.append(f"It got worse: {ends}, {spanned(change)}, slope t {signed(t, 2)}.")
    else:
        said.append(f"No learning to be seen: {ends}, {spanned(change)}, slope t {signed(t, 2)}.")
    said += _exam_sentence(report["exam"])
    if report["flat"]:
        fault = report["flat"]["fault"]
        said.append(
            (f"The evidence points to the {fault}: " if fault else "Why: ")
            + "; ".join(report["flat"]["evidence"])
            + "."
        )
    parts = report["decomposition"]
    if parts and change["low"] is not None and not report["flat"] and change["value"]:
        rare, good = parts["bad_became_rare"], parts["good_got_better"]
        share = rare["value"] / change["value"]
        said.append(
            f"{share:.0%} of the change is that bad ones (< {parts['threshold']:g}) went from "
            f"{parts['share_first']:.0%} to {parts['share_last']:.0%} of the rollouts; that brought {spanned(rare)}."
        )
        sure = good["low"] > 0 or good["high"] < 0
        moved = "The good ones got better" if sure and good["value"] > 0 else (
            "The good ones got worse" if sure else "The good ones hardly moved"
        )  # fmt: skip
        said.append(
            f"{moved}: their mean went from {number(parts['good_first'])} to {number(parts['good_last'])}, "
            f"which brought {spanned(good)}; if every rollout were a good one the mean would be "
            f"{number(parts['good_last'])}."
        )
    moved_terms = [
        (n, e) for n, e in report["terms"].items() if e["contribution"] is not None and e["change"]["low"] is not None
    ]
    nothing: tuple[str, dict[str, Any]] = ("", {})
    name, entry = max(moved_terms, key=lambda item: abs(item[1]["contribution"]), default=nothing)
    if entry and not report["flat"] and abs(entry["contribution"]) > 0.2 * abs(change["value"] or 0):
        weight = "the inferred weight" if report["weights"]["origin"] == "inferred" else "weight"
        said.append(
            f"Of the terms, {name} moved the reward most: {number(entry['first'])} → {number(entry['last'])} "
            f"at {weight} {entry['weight']:.2f} is {signed(entry['contribution'])}."
        )
    said += _draw_sentences(report["draw"])
    said += _warnings(report)
    return said


def _exam_sentence(exam: dict[str, Any] | None) -> list[str]:
    """What the frozen references say: no draw and no mix has a part in it."""
    if exam is None or exam["change"]["low"] is None:
        return []
    change, (first, *_, last) = exam["change"], exam["series"]
    found = "got better" if change["low"] > 0 else "got worse" if change["high"] < 0 else "shows no sure change"
    return [
        f"In the exam it {found}: {number(first['score'])} after {first['step']} steps, {number(last['score'])} after "
        f"{last['step']}, {spanned(change)} on the same {exam['samples']} seeds and {exam['references']} reserved "
        "references."
    ]


def _draw_sentences(draw: dict[str, Any]) -> list[str]:
    if draw["basis"] is None:
        return [draw["reason"][0].upper() + draw["reason"][1:] + "."]
    adjusted = draw["adjusted"]
    noise = (
        f", {draw['share_of_step_noise']:.0%} of the curve's noise" if draw["share_of_step_noise"] is not None else ""
    )
    return [
        f"The draw moves a step's reward by ±{number(draw['reward_sd'])}{noise}; without it the gain is "
        f"{spanned(adjusted['change'])}, slope t {signed(adjusted['slope']['t'], 2)}."
    ]


def _warnings(report: dict[str, Any]) -> list[str]:
    said = []
    health = report["health"]
    if (phantom := health["phantom_zeros"]) and phantom["rollouts"]:
        said.append(
            f"{phantom['rollouts']} rollouts look like phantom zeros ({phantom['known_by']}): "
            "an outage taken for a verdict."
        )
    if (excluded := health["excluded"]) and excluded["rollouts"]:
        causes = ", ".join(f"{cause} {count}" for cause, count in excluded["causes"].items())
        said.append(f"{excluded['rollouts']} rollouts have no reward and are left out ({causes}).")
    if health["collapsed_groups"]:
        said.append(
            f"{health['collapsed_groups']} of {report['steps']} groups taught nothing: all their rewards are the same."
        )
    clipped = health["clipped"]
    if clipped and (clipped["last"] or 0) > 0.05:
        said.append(f"{clipped['last']:.0%} of the replies are cut off in the last third.")
    entropy = health["entropy"]
    if entropy and entropy["first"] and entropy["last"] is not None and entropy["last"] < 0.5 * entropy["first"]:
        said.append(
            f"Entropy fell from {number(entropy['first'], 2)} to {number(entropy['last'], 2)}: "
            "it is settling on one painting."
        )
    disobeyed = [
        f"{name} {asked['asked'][0]:g}–{asked['asked'][1]:g} ({asked['within_last']:.0%} obey, "
        f"median {asked['median_last']:.3g})"
        for name, asked in ((report["code"] or {}).get("obedience") or {}).items()
        if asked["within_last"] is not None and asked["within_last"] < 0.5
    ]
    if disobeyed:
        said.append(f"At the end it does not do what the prompt asks: {', '.join(disobeyed)}.")
    agreement = (report["hacking"] or {}).get("judge_against_hpsv3")
    terms = report["terms"]
    if agreement and "judge" in terms and "hpsv3" in terms:
        judge, hpsv3 = terms["judge"]["change"], terms["hpsv3"]["change"]
        if judge["low"] is not None and judge["low"] > 0 and hpsv3["high"] < 0:
            said.append("The judge term rose while HPSv3 fell: look whether the judge is being gamed.")
        if hpsv3["low"] is not None and hpsv3["low"] > 0 and judge["high"] < 0:
            said.append("HPSv3 rose while the judge term fell: look whether HPSv3 is being gamed.")
    return said
