"""The README of everything that is published: front matter the Hub reads, and a body computed from the data itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paintcli.analysis.report import number, spanned
from paintcli.analysis.terminal import plural

if TYPE_CHECKING:
    from paintcli.pool import Pool
    from paintcli.training.recipe import Recipe

TAGS = ["watercolour", "creative-coding", "p5.js", "p5.brush", "paint"]
COMPUTED = "<!-- From here on computed by paint publish. -->"
"""Above it stand the author's own words, kept from one publication to the next."""

WITHIN = (
    "**Rewards compare within a step and not across steps.** A step's paintings were all judged against the same few "
    "references, drawn anew for every step: a step with hard references has low rewards whatever was painted. To rank "
    "paintings of different steps, judge them again against the same references."
)


def front(**values: Any) -> str:
    """YAML front matter; keys without a value are left out."""
    from huggingface_hub.utils import yaml_dump  # type: ignore[attr-defined]

    return f"---\n{yaml_dump({k: v for k, v in values.items() if v not in (None, [], {})}, sort_keys=False)}---\n"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def size_category(rows: int) -> str:
    """The Hub's name for a number of rows."""
    names = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
    return next((name for most, name in names if rows < most), "1M<n<10M")


def image_folder(pictures: Iterable[str]) -> list[dict[str, Any]]:
    """`configs` of an image folder whose pictures (paths in the repository) are all named by its metadata.jsonl."""
    places = {(f"{path.rpartition('/')[0]}/" if "/" in path else "") + f"*{Path(path).suffix}" for path in pictures}
    files = [{"split": "train", "path": ["metadata.jsonl", *sorted(places)]}]
    return [{"config_name": "default", "data_files": files}]


def authors_words(readme: Path) -> str:
    """The body of a README without front matter and without what was computed the last time; "" for none."""
    if not readme.is_file():
        return ""
    text = readme.read_text("utf-8")
    if text.startswith("---\n"):
        text = text.partition("\n---\n")[2]
    return text.partition(COMPUTED)[0].strip()


def licence_line(licence: str, what: str) -> str:
    return f"{what}: {licence}." if licence != "cc-by-4.0" else f"{what}: CC BY 4.0; name this dataset when you use it."


# -- pools ---------------------------------------------------------------------------------------------------------


def pool(found: Pool, repo: str, licence: str) -> str:
    """The card of a pool. Reads every picture."""
    from paintcli.diversity import diversity, in_words
    from paintcli.pool import stats

    told = stats(found)
    head = front(
        license=licence,
        pretty_name=f"{found.name}: rated watercolour sketches",
        task_categories=["image-classification"],
        tags=[*TAGS, "preference"],
        size_categories=[size_category(len(found))],
        configs=image_folder(e.name for e in found.entries),
    )
    own = authors_words(found.path / "README.md")
    parts = [own or f"# {found.name}: rated watercolours", COMPUTED, "## In figures" if own else ""]
    rated = ", ".join(f"{count} *{tier}*" for tier, count in told["tiers"].items()) or "none of them rated"
    parts.append(
        f"{plural(len(found), 'painting')} by p5.brush sketches, each with the JavaScript that paints it where that is "
        f"known: {rated}" + (f"; {told['unrated']} unrated." if told["tiers"] and told["unrated"] else ".")
        + f" {told['reserved']} of them are kept out of every training draw, for exams (see `paint`)."
    )  # fmt: skip
    parts.append(
        table(
            ["tier", "paintings", "coverage: least", "median", "most"],
            [[tier, told["tiers"][tier], *(f"{q[i]:.3f}" for i in (0, 2, 4))] for tier, q in told["coverage"].items()],
        )
        if told["coverage"]
        else ""
    )
    for what, title in (("families", "family"), ("subjects", "subject")):
        parts.append(table([title, "paintings"], told[what].items()))
    models = Counter(str(e.row.get("generator_model") or "not recorded") for e in found.entries)
    parts.append(table(["painted by", "paintings"], models.most_common()))
    parts.append(" ".join(f"{sentence.rstrip('.')}." for sentence in in_words(diversity(found), len(found))))
    again = told["consistency"]
    parts.append(
        f"The rater saw {again['rechecked']} paintings twice, blind, and gave {again['same']:.0%} the same tier."
        if again
        else "Nothing was rated twice, so nothing is known about the rater's own consistency. It is one taste."
    )
    parts += ["## Load it", _load(repo), "## Reference photos", photos(found), "## Licence"]
    parts.append(licence_line(licence, "Paintings and sketches"))
    return head + "\n" + "\n\n".join(p for p in parts if p) + "\n"


def photos(found: Pool) -> str:
    """Every photo that was painted from, with licence and attribution. The photos themselves are not published."""
    named: dict[str, list[str]] = {}
    for entry in found.entries:
        row = entry.row
        if name := row.get("reference_photo_url") or row.get("reference_photo"):
            who = str(row.get("reference_photo_attribution") or "")
            named[str(name)] = [who, str(row.get("reference_photo_licence") or "")]
    if not named:
        return "None: no painting was made from a photograph."
    rows = [[name, *values] for name, values in sorted(named.items())]
    return (
        f"{plural(len(rows), 'photograph')} served as a model for a painting and is named in its row. The photographs "
        "themselves are not in this dataset; their licences are their own.\n\n"
        + table(["photograph", "attribution", "licence"], rows)
    )


def _load(repo: str) -> str:
    return (
        f'```python\nfrom datasets import load_dataset\n\nrows = load_dataset("{repo}", split="train")\n'
        'rows[0]["image"]\n```'
    )


# -- rollouts ------------------------------------------------------------------------------------------------------


def rollouts(
    reports: Sequence[Mapping[str, Any]], counts: Sequence[Mapping[str, Any]], recipes: Sequence[Recipe | None],
    pictures: Iterable[str], repo: str, licence: str, charts: Sequence[str],
) -> str:  # fmt: skip
    """The card of a rollouts dataset: `reports` of `analysis.report`, `counts` of `folders.count`, one a run.

    `charts` are paths of pictures in the repository, one a run ("" for none).
    """
    total = sum(c["painted"] for c in counts)
    unpainted = sum(c["unpainted"] for c in counts)
    names = ", ".join(r["run"] for r in reports)
    head = front(
        license=licence,
        pretty_name=f"{names}: rollouts",
        task_categories=["text-generation", "image-classification"],
        tags=[*TAGS, "grpo", "reinforcement-learning", "rollouts"],
        size_categories=[size_category(total)],
        configs=image_folder(pictures),
    )
    parts = [
        f"# {names}: every painting of {'the run' if len(reports) == 1 else 'the runs'}",
        f"{plural(total, 'painting')} with the p5.brush sketch that painted each, its reward and what the reward is "
        "made of: everything a language model wrote while it was trained by GRPO to paint, good and bad, in order.",
        WITHIN,
    ]
    for report, count, recipe, chart in zip(reports, counts, recipes, charts, strict=True):
        parts += _run(report, count, recipe, chart, "##" if len(reports) == 1 else "###", len(reports) > 1)
    parts += ["## Load it", _load(repo)]
    if unpainted:
        parts.append(
            f"{plural(unpainted, 'rollout')} left no picture (refused before painting, or nobody could paint it). They "
            "have the same columns and lie beside, since an image folder holds only rows with an image:\n\n"
            f'```python\nload_dataset("json", data_files="hf://datasets/{repo}/unpainted.jsonl", split="train")\n```'
        )
    parts += ["## Columns", COLUMN_NOTES, "## Licence", licence_line(licence, "Paintings and sketches")]
    return head + "\n" + "\n\n".join(p for p in parts if p) + "\n"


def _run(
    report: Mapping[str, Any], count: Mapping[str, Any], recipe: Recipe | None, chart: str, mark: str, named: bool
) -> Iterable[str]:
    """The sections about one run."""
    if named:
        yield f"## {report['run']}"
    if recipe:
        yield made_by(recipe)
    yield f"{mark} What it shows"
    yield "\n".join(f"- {sentence}" for sentence in report["verdict"])
    if chart:
        yield f"![Mean reward by step, running mean and its 95 % interval]({chart})"
    under = next(k for k in report["thirds"][0] if k.startswith("under_"))
    yield table(
        ["steps", "rollouts", "mean reward", under.replace("_", " "), "shapes per sketch"],
        [
            [f"{t['from']}–{t['to']}", t["rollouts"], number(t["mean_reward"]), t[under], number(t["shapes"], 1)]
            for t in report["thirds"]
        ],
    )
    if report["correlations"]:
        yield f"{mark} What goes with reward"
        yield table(
            ["column", "correlation with reward", f"within reward ≥ {report['top_band']:g}"],
            [[f"`{n}`", spanned(c["all"]), spanned(c["top"])] for n, c in report["correlations"].items()],
        )
        yield "With 95 % intervals that resample whole steps. A correlation is no cause."
    yield f"{mark} What is left out"
    excluded = report["health"]["excluded"] or {"rollouts": 0, "causes": {}}
    causes = "; ".join(f"{cause}: {n}" for cause, n in excluded["causes"].items())
    yield (
        f"{plural(excluded['rollouts'], 'rollout')} of {report['rollouts']} could not be judged through no fault of "
        f"the sketch{f' ({causes})' if causes else ''}: `reward` is null there, never 0, and no figure counts it. "
        f"The gate refused {count['refused']}, which earned 0{_codes(count['violations'])}."
    )
    yield from report["notes"]
    if report["missing"]:
        yield f"Columns the data does not have: {', '.join(report['missing'])}."
    if count["stand_ins"]:
        yield stand_in_note(count["stand_ins"])


def _codes(violations: Mapping[str, int]) -> str:
    return f" ({', '.join(f'`{code}` {n}' for code, n in violations.items())})" if violations else ""


def stand_in_note(stand_ins: Sequence[str]) -> str:
    """Says that a reward is not what its name is elsewhere."""
    return (
        f"**A stand-in judged here: {'; '.join(stand_ins)}.** `taste` is a small model fitted to one person's ratings; "
        "it is not HPSv3 and not a vision-language judge, and these rewards do not compare with theirs."
    )


COLUMN_NOTES = """`step` counts from 0, `position_in_group` within it. `reward` is null where nobody could judge.
`gate`, `length`, `judge`, `hpsv3`, `taste` and `pigment` are the unweighted terms, 0–1, and `*_weight` their weights;
a term that is null was not asked for or not answered. `n_shapes`, `n_vertices`, `n_circles` and `n_fill_calls` count
call sites in the source, `executed_*` what ran. `coverage` is the share of pixels further than 32 in RGB from the
paper. `references` and `comparisons` say what a painting was compared with and how that went, shown first (`forward`)
and second (`backward`). `violations` are the gate's reasons, with lines; `unavailable` says what could not be answered.
`seed` painted it; `versions` names every library."""


# -- adapters ------------------------------------------------------------------------------------------------------


def made_by(recipe: Recipe) -> str:
    """One sentence: which model, rewarded for what, by whom."""
    mix = recipe.weights()
    weights = ", ".join(f"{term} {weight:.2g}" for term, weight in mix.weights.items() if weight)
    judges = [f"judge: {named(recipe.judge)}"] if mix.wants("judge") else []
    judges += [f"scorer: {named(recipe.scorer)}"] if mix.wants("hpsv3") else []
    return (
        f"{named(recipe.model)}, {recipe.steps} steps of {recipe.generations} sketches; rewarded for {weights} "
        f"(`{recipe.mix}`{'; ' + ', '.join(judges) if judges else ''})."
    )


def named(spec: str) -> str:
    """A spec without the folders of this machine: "gguf:/home/me/judge.gguf" is "gguf:judge.gguf"."""
    import re

    return re.sub(r"(^|(?<=[\"+:]))(?:~|\.{1,2})?/(?!/)[^\"+:]*/", "", spec)


def adapter(
    recipe: Recipe, base: str, repo: str, licence: str, *, step: int | None, multimodal: bool, tensors: int,
    report: Mapping[str, Any] | None, chart: str, probe: Mapping[str, Any], exam: str,
) -> str:  # fmt: skip
    """The card of an adapter. `step`: after how many steps it was saved, None when nobody knows.

    `exam` and `chart`: Markdown of the exam's result and the path of a picture, "" for none.
    """
    stand_ins = [f"{role} `taste`" for role in ("judge", "scorer") if getattr(recipe, role) == "taste"]
    head = front(
        license=licence,
        base_model=base,
        base_model_relation="adapter",
        library_name="peft",
        pipeline_tag="text-generation",
        tags=[*TAGS, "lora", "grpo", "trl"],
    )
    done = "" if step is None or step == recipe.steps else f" It was saved after {step} of the {recipe.steps} steps."
    parts = [
        f"# {repo.rpartition('/')[2]}",
        f"A LoRA adapter that teaches {base} to paint: asked for a painting it writes a p5.brush sketch, which "
        f"`paint render` paints. Trained by GRPO.{done}",
        "## What it was rewarded for",
        made_by(recipe) if step is not None else "Not known: only the adapter was published, not its run.",
    ]  # fmt: skip
    if step is not None and stand_ins:
        parts.append(stand_in_note(stand_ins))
    if step is not None:
        parts.append(
            "`gate`: the sketch is honest p5.brush and paints. `length`: up to 3,000 tokens of it. `judge`: its share "
            "of wins against rated paintings, each pair in both orders. `hpsv3`: sigmoid(mu / 4). It was rewarded for "
            "nothing else, and not for being good at anything else."
        )
    if report:
        parts += ["## What came of it", "\n".join(f"- {s}" for s in report["verdict"])]
        if chart:
            parts.append(f"![Mean reward by step, running mean and its 95 % interval]({chart})")
        parts.append(WITHIN)
    if {"before", "after"} <= probe.keys():
        parts += ["## Before and after", _probe(probe)]
    if exam:
        parts += ["## Exam", exam]
    parts += ["## Load it", LOADING_WHY.format(tensors=tensors), loading(recipe, base, repo, multimodal)]
    if step is not None:
        parts += ["## Recipe", _recipe(recipe), "The whole of it is in `recipe.toml`."]
    parts += ["## Licence", f"The adapter: {licence}. Its base model has a licence of its own."]
    return head + "\n" + "\n\n".join(p for p in parts if p) + "\n"


def _probe(probe: Mapping[str, Any]) -> str:
    before, after = probe["before"], probe["after"]
    keys = ("passed", "reward", "judge", "hpsv3", "taste", "coverage", "tokens")
    rows = [
        [key, number(before.get(key)), number(after.get(key))]
        for key in keys
        if before.get(key) is not None or after.get(key) is not None
    ]
    return (
        f"Means of {before['samples']} samples with the same seeds and references, before and after training:\n\n"
        + table(["", "before", "after"], rows)
    )


def exams(rows: Sequence[Mapping[str, Any]], facts: Mapping[str, Any] | None) -> str:
    """Exam results (`rollouts.EXAM_COLUMNS`; a step that is None was not recorded) and what the exam was."""
    parts = []
    if facts:
        judge = str(facts["judge"])
        parts.append(
            f"{facts['samples']} sketches with fixed seeds, each against the same {len(facts['references'])} "
            f"references that no training draws, in both orders; judge: {named(judge)}. The score is the mean share of "
            "wins; a refused sketch wins nothing."
        )
        if judge == "taste":
            parts.append(stand_in_note(["the exam's judge was `taste`"]))
    parts.append(
        table(
            ["after step", "score", "95 % interval", "samples", "passed the gate"],
            [
                [
                    "–" if r["step"] is None else r["step"], number(r["score"]),
                    f"{number(r['low'])} to {number(r['high'])}", r["samples"], number(r["passed"], 2),
                ]
                for r in rows
            ],
        )
    )  # fmt: skip
    return "\n\n".join(parts)


def _recipe(recipe: Recipe) -> str:
    shown = (
        "subject", "domain", "pool", "references", "steps", "generations", "learning_rate", "schedule", "scale_rewards",
        "loss_type", "beta", "temperature", "top_p", "top_k", "max_completion", "rank", "alpha", "targets", "experts",
        "precision", "warm_start", "seed",
    )  # fmt: skip
    values = [(name, getattr(recipe, name)) for name in shown]
    return table(["", "value"], [[f"`{n}`", named(str(v))] for n, v in values if v not in (None, "")])


LOADING_WHY = """The check in the middle matters: on another class of model, or another base, peft drops the tensors
that find no place, warns at most, and the base model answers. All {tensors} tensors must be there."""


def loading(recipe: Recipe, base: str, repo: str, multimodal: bool) -> str:
    """Code that loads the adapter, makes sure of every tensor, and lets it write one sketch."""
    kind = "AutoModelForImageTextToText" if multimodal else "AutoModelForCausalLM"
    return f"""```python
import json

from huggingface_hub import hf_hub_download
from peft import PeftModel, get_peft_model_state_dict
from safetensors import safe_open
from transformers import {kind}, AutoTokenizer

BASE, ADAPTER = {json.dumps(base)}, {json.dumps(repo)}
tokenizer = AutoTokenizer.from_pretrained(BASE)
model = {kind}.from_pretrained(BASE, dtype="auto", device_map="auto")
model = PeftModel.from_pretrained(model, ADAPTER).eval()

with safe_open(hf_hub_download(ADAPTER, "adapter_model.safetensors"), "pt") as file:
    saved = set(file.keys())
placed = set(get_peft_model_state_dict(model))
assert saved == placed, f"{{len(saved - placed)}} of {{len(saved)}} tensors found no place in this model"

with open(hf_hub_download(ADAPTER, "prompt.json"), encoding="utf-8") as file:
    messages = json.load(file)
asked = tokenizer.apply_chat_template(
    messages, add_generation_prompt=True, return_dict=True, return_tensors="pt", enable_thinking={recipe.thinking}
).to(model.device)
reply = model.generate(
    **asked, max_new_tokens={recipe.max_completion}, do_sample=True, temperature={recipe.temperature},
    top_p={recipe.top_p}, top_k={recipe.top_k},
)
sketch = tokenizer.decode(reply[0, asked["input_ids"].shape[1]:], skip_special_tokens=True)
print(sketch)
```"""
