"""The real task: a group of replies through browser, gate, judge and scorer into rollouts."""

import asyncio
import json
from contextlib import ExitStack
from pathlib import Path

import pytest

pytest.importorskip("torch")

from paintcli import domains, pool, rollouts
from paintcli.errors import Unavailable
from paintcli.training import recipe, studio
from paintcli.training.task import Sample, complete

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

EXAMPLES = Path(__file__).parent.parent / "examples"
LOVED = ("peach-hibiscus", "lilac-hibiscus", "crimson-profile")
REFUSED = """```javascript
function setup() { createCanvas(600, 600, WEBGL); noLoop(); }
function draw() { background(255); ellipse(0, 0, 300, 300); }
```"""
CUT_OFF = "```javascript\nfunction setup() { createCanvas(600, 600, WEBGL);"


def wash(x, opacity):
    """A passing sketch of one disc."""
    return f"""```javascript
function setup() {{ createCanvas(600, 600, WEBGL); brush.scaleBrushes(3); angleMode(DEGREES); noLoop(); }}
function draw() {{
  background("#fffdf5"); translate(-300, -300);
  brush.noStroke(); brush.fill("#e8927c", {opacity}); brush.fillBleed(0.2); brush.circle({x}, 300, 150);
}}
```"""


@pytest.fixture(scope="module")
def rated(tmp_path_factory, renderer):
    """Three loved examples and three flat discs that are okay."""
    folder = tmp_path_factory.mktemp("pool")
    rows = []
    sources = {name: (EXAMPLES / f"{name}.js").read_text() for name in LOVED}
    sources |= {f"disc-{x}": wash(x, 200).split("\n", 1)[1].rsplit("```", 1)[0] for x in (200, 300, 400)}
    for name, source in sources.items():
        (folder / f"{name}.png").write_bytes(renderer.render_sync(source, 1).png)
        (folder / f"{name}.js").write_text(source)
        rows.append(
            {"file_name": f"{name}.png", "source_file": f"{name}.js", "tier": "love" if name in LOVED else "okay"}
        )
    (folder / "metadata.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    return pool.Pool.load(folder)


@pytest.fixture(scope="module")
def renderer():
    from paintcli.backends.chromium import ChromiumRenderer

    with ChromiumRenderer(workers=2) as painter:
        yield painter


def group(task, replies, step=0):
    samples = [Sample(r, len(r) // 4, "stop") for r in replies]
    found = asyncio.run(task.assess(samples, step))
    complete(found, "run", samples, 1.5)
    return [rollout for rollout, _ in found.rows], [png for _, png in found.rows], found.warnings


def chosen(**values):
    return recipe.compose("judge-led", None, {"stand_ins": True, "steps": 10, **values})


def test_a_group_becomes_rollouts(rated):
    wanted = chosen()
    with ExitStack() as stack:
        task = studio.open_studio(wanted, domains.load(), rated, stack)
        peach = (EXAMPLES / "peach-hibiscus.js").read_text()
        rows, pictures, _ = group(task, [peach, wash(300, 220), REFUSED, CUT_OFF], step=3)
    good, disc, refused, cut = rows
    assert [r.position_in_group for r in rows] == [0, 1, 2, 3] and {r.step for r in rows} == {3}
    assert {r.seed for r in rows} == {3} and {r.reference_seed for r in rows} == {3}
    assert good.references == disc.references and [r["tier"] for r in good.references] == [
        "love",
        "love",
        "okay",
        "okay",
    ]
    assert good.gate == 1 and good.reward > disc.reward > 0
    expected = 0.05 + 0.05 * good.length + 0.6 * good.judge + 0.3 * good.taste
    assert good.reward == pytest.approx(expected)
    # the stand-in is never written under the real thing's name
    assert good.hpsv3 is None and good.hpsv3_weight == 0 and good.taste_weight == 0.3
    assert good.scorer == good.judge_backend == "taste (stand-in)"
    assert len(good.comparisons) == 4 and good.n_shapes > 1 and disc.n_circles == disc.executed_circles == 1
    assert good.executed_shapes >= good.n_shapes and good.brush_methods_used
    assert refused.reward == 0 and refused.violations[0]["code"] == "bare_primitives" and refused.judge is None
    assert cut.reward == 0 and "truncated" in {v["code"] for v in cut.violations} and pictures[3] is None
    assert pictures[0].startswith(b"\x89PNG") and good.coverage > 0.2
    assert good.step_group_reward == pytest.approx(sum(r.reward for r in rows) / 4)
    assert good.seconds_paint > 0 and good.seconds_judge is not None and good.seconds_generate == 1.5
    assert good.versions["p5"] and good.subject == "a peach hibiscus"


class Down:
    """A judge that is down whenever the candidate is the one it was told of."""

    def __init__(self, judge, until):
        self.judge, self.left = judge, until

    async def prefer(self, first, second, criteria):
        if self.left > 0:
            self.left -= 1
            raise Unavailable("503 from the provider")
        return await self.judge.prefer(first, second, criteria)


def test_an_outage_is_no_score_and_the_others_keep_theirs(rated):
    from dataclasses import replace

    from paintcli.training.studio import Studio

    with ExitStack() as stack:
        whole = studio.open_studio(chosen(), domains.load(), rated, stack)
        down = Down(whole.assessor.comparer, until=8)  # the eight questions about whichever is painted first
        task = Studio(chosen(), domains.load(), replace(whole.assessor, comparer=down), rated)
        first, _, _ = group(task, [wash(300, 220)])
        rest, _, _ = group(task, [wash(300, 220), REFUSED])
    assert first[0].reward is None and first[0].judge is None and first[0].gate == 1
    assert first[0].unavailable == ["judge: no comparison succeeded (503 from the provider)"]
    assert first[0].step_group_reward is None
    assert rest[0].reward > 0 and rest[1].reward == 0


def test_references_get_harder_only_when_asked(rated):
    with ExitStack() as stack:
        fixed = studio.open_studio(chosen(), domains.load(), rated, stack)
        easy = studio.open_studio(chosen(references_schedule="easy-to-hard"), domains.load(), rated, stack)
        tiers = {step: [[r.tier for r in task.draw(step).references] for task in (fixed, easy)] for step in (0, 4, 9)}
    assert [tiers[s][0] for s in tiers] == [["love", "love", "okay", "okay"]] * 3
    assert tiers[0][1].count("okay") == 3 and tiers[9][1].count("love") == 3  # three of a tier is all there are
    assert tiers[4][1].count("love") == tiers[4][1].count("okay") == 2


def test_pigment_weighs_only_when_asked(rated):
    with ExitStack() as stack:
        plain = studio.open_studio(chosen(), domains.load(), rated, stack)
        heavy = studio.open_studio(chosen(pigment=0.5), domains.load(), rated, stack)
        (without,), _, _ = group(plain, [wash(300, 220)])
        (weighed,), _, _ = group(heavy, [wash(300, 220)])
    assert without.pigment is None and without.pigment_weight == 0
    assert weighed.pigment == pytest.approx(min(weighed.coverage / 0.35, 1), abs=1e-5)
    assert weighed.reward == pytest.approx(0.5 * without.reward + 0.5 * weighed.pigment, abs=1e-6)


def test_a_look_shows_the_painting_and_the_gate_and_nothing_else(rated):
    with ExitStack() as stack:
        task = studio.open_studio(chosen(turns=2), domains.load(), rated, stack)
        samples = [Sample(r, 9, "stop") for r in (wash(300, 220), REFUSED)]
        painted, refused = asyncio.run(task.look(samples, 0))
        names = [e.name for e in rated.entries]
    assert "paint on" in painted.words and "bare_primitives (line 2)" in refused.words
    for words in (painted.words, refused.words):
        leaks = ("reward", "score", "judge", "love", "okay", "reference", "tier", *names)
        assert not [leak for leak in leaks if leak in words.lower()]


def test_the_rows_load_as_a_dataset(rated, tmp_path):
    with ExitStack() as stack:
        task = studio.open_studio(chosen(), domains.load(), rated, stack)
        samples = [Sample(r, 9, "stop") for r in (wash(250, 200), REFUSED, CUT_OFF)]
        found = asyncio.run(task.assess(samples, 0))
    folder = rollouts.RunFolder(tmp_path / "run")
    for rollout, png in found.rows:
        folder.append(rollout, png)
    from datasets import load_dataset

    loaded = load_dataset("imagefolder", data_dir=str(tmp_path / "run"), cache_dir=str(tmp_path / "cache"))["train"]
    assert loaded.num_rows == 1 and loaded[0]["image"].size == (600, 600)
    assert loaded[0]["reward"] == pytest.approx(found.rows[0][0].reward)
