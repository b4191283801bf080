"""The reward: its table, its mixes, its terms, and the way from a reply to a number with a real gate."""

import asyncio
import io
import itertools
import math
from dataclasses import replace

import pytest
from PIL import Image
from washes import make_pool, wash

from paintcli import domains
from paintcli.errors import Unavailable, UsageError
from paintcli.gate import Violation
from paintcli.painting import Painting
from paintcli.pool import Pool
from paintcli.reward import PRESETS, TERMS, Assessor, Mix, Reward, combine, hpsv3_term, length_term

CODE = (
    """
function setup() {
  createCanvas(600, 600, WEBGL);
  angleMode(DEGREES);
  noLoop();
}
function draw() {
  translate(-300, -300);
  background('#f7f1e5');
  brush.noStroke();
  brush.fillBleed(0.2);
  brush.fill('#d98a6f', 200);
  brush.circle(300, 300, 160, 0.3);
}
"""
    + "// a long and honest sketch\n" * 120
)
CHEAT = CODE.replace("brush.circle(300, 300, 160, 0.3);", "brush.circle(300, 300, 160, 0.3); text('hibiscus', 0, 0);")


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    return Pool.load(make_pool(tmp_path_factory.mktemp("pools") / "p", per_tier=3))


# -- mixes


def test_the_published_mixes():
    assert Mix.parse("judge-led").weights == {"gate": 0.05, "length": 0.05, "judge": 0.6, "hpsv3": 0.3, "pigment": 0}
    assert Mix.parse("hps-led").weights == {"gate": 0.05, "length": 0.05, "judge": 0.3, "hpsv3": 0.6, "pigment": 0}
    assert Mix.parse("hps-only").weights == {"gate": 0.05, "length": 0.05, "judge": 0, "hpsv3": 0.9, "pigment": 0}
    assert all(math.fsum(weights.values()) == pytest.approx(1) for weights in PRESETS.values())


def test_a_mix_of_ones_own():
    mix = Mix.parse("gate=.1, length=.1,judge=.5,pigment=.3")
    assert mix.weights == {"gate": 0.1, "length": 0.1, "judge": 0.5, "hpsv3": 0.0, "pigment": 0.3}
    assert Mix.parse("gate=0.3333333,judge=0.3333333,hpsv3=0.3333334").wants("hpsv3")  # within 1e-6 of 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("gate=.5,judge=.4", "must sum to 1, not 0.9"),
        ("gate=.5,beauty=.5", "unknown term 'beauty'"),
        ("gate=.5,gate=.5", "gate twice"),
        ("gate=half,judge=.5", "must be a number, not 'half'"),
        ("gate=1.5,judge=-.5", "between 0 and 1"),
        ("gate=nan,judge=1", "between 0 and 1"),
        ("judge-lead", "There is no mix 'judge-lead'"),
        ("", "There is no mix ''"),
    ],
)
def test_a_faulty_mix_is_one_sentence(text, sentence):
    with pytest.raises(UsageError) as said:
        Mix.parse(text)
    assert sentence in str(said.value)
    assert "\n" not in str(said.value)


# -- terms


def test_the_length_term_at_its_corners():
    def at(tokens):
        return length_term("x" * (4 * tokens))

    assert at(149) == at(150) == 0
    assert at(151) == pytest.approx(1 / 2850)
    assert at(1575) == pytest.approx(0.5)
    assert at(3000) == at(6000) == 1
    assert at(6001) == 0
    assert length_term("") == 0


def test_the_hpsv3_term():
    assert hpsv3_term(0) == 0.5
    assert hpsv3_term(4) == pytest.approx(0.7310585786)
    assert hpsv3_term(-10) == pytest.approx(0.0758581800)
    assert (hpsv3_term(1e6), hpsv3_term(-1e6)) == (pytest.approx(1), pytest.approx(0))


# -- the table


STATES = ("available", "unavailable", "weight 0", "observed", "observed, unavailable")
VALUES = {"gate": 1.0, "length": 0.5, "judge": 0.25, "hpsv3": 0.8, "pigment": 0.4}
ASKED = ("length", "judge", "hpsv3", "pigment")


@pytest.mark.parametrize("refused", [False, True])
@pytest.mark.parametrize("gate_known", [True, False])
def test_every_combination_has_its_right_value(gate_known, refused):
    """625 states of four terms × gate known or not × refused or not, against the rule written down once more."""
    for states in itertools.product(STATES, repeat=4):
        weights, terms, reasons = {"gate": 0.2}, {"gate": 1.0 if gate_known else None}, {}
        if not gate_known:
            reasons["gate"] = "browser gone"
        for term, state in zip(ASKED, states, strict=True):
            weights[term] = 0.2 if state in ("available", "unavailable") else 0.0
            terms[term] = VALUES[term] if state in ("available", "observed") else None
            if "unavailable" in state:
                reasons[term] = f"{term} down"
        violations = (Violation("text_label", 3, "text()"),) if refused else ()
        reward = combine(Mix("table", weights), terms, reasons, violations)

        down = [t for t, state in zip(ASKED, states, strict=True) if state == "unavailable"]
        if refused:
            assert (reward.value, reward.unavailable) == (0, ()), states
        elif down or not gate_known:
            assert reward.value is None, states
            expected = ([] if gate_known else ["gate: browser gone"]) + [f"{t}: {t} down" for t in down]
            assert list(reward.unavailable) == expected
        else:
            points = [0.2 * VALUES[t] for t, state in zip(ASKED, states, strict=True) if state == "available"]
            assert reward.value == pytest.approx(0.2 + sum(points)), states
            assert reward.unavailable == ()
        for term, state in zip(ASKED, states, strict=True):
            assert reward.terms[term] == (VALUES[term] if state in ("available", "observed") else None)
            told = any(why.startswith(f"{term}: ") for why in reward.observed_unavailable)
            assert told == (state == "observed, unavailable")


def test_a_stand_in_is_never_written_under_hpsv3():
    terms = {"gate": 1.0, "length": 0.5, "judge": 0.25, "hpsv3": 0.8}
    reward = combine(Mix.parse("judge-led"), terms, stand_in=True)
    told = reward.to_json("a.js")
    assert told["terms"] == {"gate": 1.0, "length": 0.5, "judge": 0.25, "hpsv3": None, "taste": 0.8}
    assert told["weights"] == {"gate": 0.05, "length": 0.05, "judge": 0.6, "hpsv3": 0.0, "taste": 0.3}
    assert told["reward"] == pytest.approx(sum(told["weights"][t] * (told["terms"][t] or 0) for t in told["weights"]))
    down = combine(Mix.parse("judge-led"), {**terms, "hpsv3": None}, {"hpsv3": "no pool"}, stand_in=True)
    assert down.value is None
    assert down.unavailable == ("taste: no pool",)


def test_the_documented_object():
    reward = combine(Mix.parse("hps-only"), {"gate": 1.0, "length": 1.0, "hpsv3": 0.9}, backends={"hpsv3": "hpsv3"})
    assert reward.to_json("x.js") == {
        "input": "x.js",
        "reward": 0.91,
        "terms": {"gate": 1.0, "length": 1.0, "judge": None, "hpsv3": 0.9},
        "weights": {"gate": 0.05, "length": 0.05, "judge": 0.0, "hpsv3": 0.9},
        "unavailable": [],
        "violations": [],
        "backends": {"hpsv3": "hpsv3"},
    }


def test_points_add_up():
    reward = combine(Mix.parse("hps-led"), {"gate": 1.0, "length": 0.5, "judge": 0.25, "hpsv3": 0.8})
    assert sum(points for *_, points in reward.explain()) == pytest.approx(reward.value)
    refused = combine(Mix.parse("hps-led"), {"gate": 0.0, "length": 0.5}, violations=(Violation("truncated", 1, ""),))
    assert all(points == 0 for *_, points in refused.explain())


# -- from reply to reward: real gate, real parser, pictures made beforehand


def png(image):
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


class Painter:
    """Returns one picture for every sketch and counts; `down` makes it unavailable."""

    def __init__(self, down=False, **painting):
        self.down, self.painted = down, 0
        self.painting = {"png": png(wash("round", 14, 4, seed=5)), "finished": True, **painting}

    async def render(self, source, seed=0):
        self.painted += 1
        if self.down:
            raise Unavailable("the browser died")
        return Painting(seed=seed, **self.painting)


class Answers:
    """Judge and scorer with fixed answers that count how often they were asked."""

    def __init__(self, probability=0.75, mu=4.0, down=False):
        self.probability, self.mu, self.down, self.asked = probability, mu, down, 0
        self.prompts, self.criteria = set(), set()

    async def prefer(self, first, second, criteria):
        self.asked += 1
        self.criteria.add(criteria)
        await asyncio.sleep(0)
        if self.down:
            raise Unavailable("no answer")
        return self.probability

    async def score(self, paintings, prompt):
        self.asked += 1
        self.prompts.add(prompt)
        if self.down:
            raise Unavailable("no answer")
        return [self.mu] * len(paintings)


def assessor(mix="judge-led", **changes):
    parts = {"renderer": Painter(), "comparer": Answers(), "scorer": Answers()} | changes
    return Assessor(Mix.parse(mix), domains.load("hibiscus"), **parts)


def run(coroutine):
    return asyncio.run(coroutine)


def test_a_domain_without_a_pigment_target_is_told_before_anything_is_painted():
    bare = replace(domains.load("hibiscus"), targets={})
    with pytest.raises(UsageError, match=r"has no targets\.pigment"):
        Assessor(Mix.parse("gate=.5,pigment=.5"), bare, renderer=Painter())
    Assessor(Mix.parse("gate=1"), bare, renderer=Painter())


def test_from_a_reply_to_a_number(pool):
    jury = assessor()
    done = run(jury.evaluate(f"Here it is:\n```javascript\n{CODE}\n```", pool.entries[:4], seed=9))
    assert done.verdict.passed
    assert done.painting.seed == 9
    assert done.mu == 4.0
    assert len(done.judgement.comparisons) == 4
    length = length_term(done.sketch.source)
    assert 0 < length < 1
    # a comparer that says .75 for whoever is first: .75 forward, .25 backward, ½ in all
    assert done.reward.value == pytest.approx(0.05 + 0.05 * length + 0.6 * 0.5 + 0.3 * hpsv3_term(4))
    assert set(done.seconds) == {"paint", "judge", "score"}
    assert jury.scorer.prompts == {jury.domain.hpsv3_prompt}
    assert jury.comparer.criteria == {jury.domain.criteria}
    assert "Washes" in jury.domain.criteria


def test_a_refused_sketch_is_zero_and_costs_nothing(pool):
    jury = assessor(comparer=Answers(down=True), scorer=Answers(down=True))
    done = run(jury.evaluate(CHEAT, pool.entries[:4]))
    assert done.reward.value == 0
    assert [v.code for v in done.reward.violations] == ["text_label"]
    assert done.reward.terms["gate"] == 0
    assert (jury.renderer.painted, jury.comparer.asked, jury.scorer.asked) == (0, 0, 0)


def test_no_sketch_in_the_reply_is_zero(pool):
    done = run(assessor().evaluate("I would rather not.", pool.entries[:4]))
    assert done.reward.value == 0
    assert done.reward.violations[0].code == "no_sketch_in_response"


def test_a_blank_canvas_is_zero(pool):
    blank = png(Image.new("RGB", (60, 60), "white"))
    done = run(assessor(renderer=Painter(png=blank)).evaluate(CODE, pool.entries[:4]))
    assert done.reward.value == 0
    assert done.reward.violations[0].code == "blank_canvas"


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"renderer": Painter(down=True)}, "gate: the browser died"),
        ({"comparer": Answers(down=True)}, "judge: no comparison succeeded (no answer)"),
        ({"scorer": Answers(down=True)}, "hpsv3: no answer"),
        ({"scorer": Answers(mu=math.nan)}, "hpsv3: the scorer answered nan"),
    ],
)
def test_an_outage_is_no_number_and_says_why(pool, broken, reason):
    done = run(assessor(**broken).evaluate(CODE, pool.entries[:4]))
    assert done.reward.value is None
    assert reason in done.reward.unavailable


def test_a_term_of_weight_zero_is_not_asked_unless_observed(pool):
    quiet = assessor("hps-only")
    done = run(quiet.evaluate(CODE, pool.entries[:4]))
    assert quiet.comparer.asked == 0
    assert done.reward.terms["judge"] is None
    watching = assessor("hps-only", observe=frozenset({"judge", "pigment"}))
    seen = run(watching.evaluate(CODE, pool.entries[:4]))
    assert watching.comparer.asked == 8
    assert seen.reward.terms["judge"] == 0.5
    assert 0 < seen.reward.terms["pigment"] <= 1
    assert seen.reward.value == done.reward.value
    down = run(
        assessor("hps-only", observe=frozenset({"judge"}), comparer=Answers(down=True)).evaluate(CODE, pool.entries[:4])
    )
    assert down.reward.value == done.reward.value
    assert down.reward.observed_unavailable == ("judge: no comparison succeeded (no answer)",)
    assert down.reward.unavailable == ()


def test_a_time_out_may_be_nobodys_fault(pool):
    late = {"png": None, "fault": "render_timeout", "fault_detail": "30 s", "finished": False}
    assert run(assessor(renderer=Painter(**late)).evaluate(CODE, pool.entries[:4])).reward.value == 0
    published = assessor(renderer=Painter(**late), timeout_is_ours=True)
    assert run(published.evaluate(CODE, pool.entries[:4])).reward.value is None


def test_a_group_shares_references_and_seed_and_runs_together(pool):
    running = most = 0

    class Slow(Painter):
        async def render(self, source, seed=0):
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.05)
            running -= 1
            return await super().render(source, seed)

    jury = assessor(renderer=Slow())
    replies = [CODE, CHEAT, "nothing", CODE]
    group = run(jury.evaluate_group(replies, pool.entries[:4], seed=3))
    assert most == 2
    assert [e.reward.value for e in group][1:3] == [0, 0]
    assert group[0].reward.value == group[3].reward.value > 0
    names = [[c.reference for c in e.judgement.comparisons] for e in (group[0], group[3])]
    assert names[0] == names[1] == [e.name for e in pool.entries[:4]]
    assert {e.painting.seed for e in (group[0], group[3])} == {3}


def test_a_picture_with_its_sketch(pool):
    from paintcli.sketch import extract

    picture = Painting(png(wash("round", 14, 4, seed=5)))
    jury = assessor(renderer=None)
    done = run(jury.evaluate_picture(picture, extract(CODE), pool.entries[:4]))
    assert done.reward.value == run(assessor().evaluate(CODE, pool.entries[:4])).reward.value
    refused = run(jury.evaluate_picture(picture, extract(CHEAT), pool.entries[:4]))
    assert refused.reward.value == 0


def test_a_picture_without_its_sketch_has_no_reward(pool):
    done = run(assessor(renderer=None).evaluate_picture(Painting(png(wash("round", 9, 2, seed=5))), None, pool.entries))
    assert done.reward.value is None
    assert done.reward.unavailable == (
        "gate: the picture has no sketch beside it",
        "length: the picture has no sketch beside it",
    )
    assert done.reward.terms["judge"] == 0.5  # what could be answered is told


def test_a_term_that_nobody_answers_is_said_before_anything_is_paid():
    with pytest.raises(UsageError, match="asks the judge, but none was chosen"):
        assessor(comparer=None)
    with pytest.raises(UsageError, match="asks the hpsv3"):
        assessor("hps-only", comparer=None, scorer=None)
    assert assessor("gate=.5,length=.5", comparer=None, scorer=None).mix.weights["gate"] == 0.5


def test_every_term_is_in_every_reward():
    assert set(combine(Mix.parse("hps-only"), {}).terms) == set(TERMS)
    assert isinstance(combine(Mix.parse("hps-only"), {}), Reward)
