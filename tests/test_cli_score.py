"""`paint score` and `paint judge` as a person and a script meet them: real browser, real gate, the embedded judge."""

import json
import shutil
from pathlib import Path

import pytest
from PIL import Image
from washes import make_pool, wash

from paintcli.analysis import sources
from paintcli.rollouts import stream

pytestmark = pytest.mark.browser

LEAF = (
    """
function setup() {
  createCanvas(200, 200, WEBGL);
  angleMode(DEGREES);
  noLoop();
}
function draw() {
  translate(-100, -100);
  background('#faf6ec');
  brush.noStroke();
  brush.fillBleed(0.2);
  brush.fill('#c8506a', 200);
  brush.circle(100, 100, 50, 0.3);
  brush.circle(80, 90, 40, 0.3);
}
"""
    + "// a leaf, then a smaller one over it\n" * 30
)
CHEAT = LEAF.replace("brush.circle(80, 90, 40, 0.3);", "text('leaf', 0, 0);")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A pool of ten and ten, made once."""
    return make_pool(tmp_path_factory.mktemp("pools") / "made", per_tier=10)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, made):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAINT_CACHE", str(made.parent / "cache"))
    monkeypatch.setenv("PAINT_POOL", str(made))
    return tmp_path


@pytest.fixture
def paint(paint, made, monkeypatch):
    def call(*arguments, **how):
        return paint(*arguments, *(() if "--pool" in arguments else ("--pool", made)), **how)

    return call


def write(name, text):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def picture(name, seed=1, layers=12):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    wash("round", layers, 3, seed=seed).save(path)


def lines(ran):
    return [json.loads(line) for line in ran.out.splitlines()]


# -- paint score


def test_the_documented_object(paint):
    write("leaf.js", LEAF)
    ran = paint("score", "leaf.js", "--json")
    assert ran.code == 0, ran.err
    (row,) = lines(ran)
    assert list(row) == ["input", "reward", "terms", "weights", "unavailable", "violations", "backends"]
    assert row["input"] == "leaf.js"
    assert row["weights"] == {"gate": 0.05, "length": 0.05, "judge": 0.6, "hpsv3": 0.0, "taste": 0.3}
    assert row["terms"]["hpsv3"] is None
    assert row["reward"] == pytest.approx(sum(w * (row["terms"][t] or 0) for t, w in row["weights"].items()), abs=1e-5)
    assert row["backends"] == {"renderer": "local", "judge": "taste (stand-in)", "taste": "taste (stand-in)"}


def test_refused_is_zero_and_exit_three(paint):
    write("leaf.js", LEAF)
    write("cheat.js", CHEAT)
    ran = paint("score", "leaf.js", "cheat.js", "--json")
    assert ran.code == 3
    good, bad = lines(ran)
    assert good["reward"] > 0
    assert (bad["reward"], bad["violations"][0]["code"], bad["terms"]["gate"]) == (0, "text_label", 0)


def test_no_number_outranks_a_refusal(paint):
    write("cheat.js", CHEAT)
    picture("alone.png")
    ran = paint("score", "cheat.js", "alone.png", "--json")
    assert ran.code == 4
    refused, alone = lines(ran)
    assert refused["reward"] == 0
    assert alone["reward"] is None
    assert alone["unavailable"] == [
        "gate: the picture has no sketch beside it",
        "length: the picture has no sketch beside it",
    ]
    assert 0 < alone["terms"]["judge"] < 1


@pytest.mark.parametrize("beside", ["leaf.js", "sources/leaf.js"])
def test_a_picture_with_its_sketch_beside_it_is_rewarded(paint, beside):
    picture("leaf.png")
    write(beside, LEAF)
    ran = paint("score", "leaf.png", "--json")
    assert ran.code == 0, ran.err
    assert lines(ran)[0]["reward"] > 0
    assert lines(ran)[0]["backends"].keys() == {"judge", "taste"}  # nothing was painted


def test_folders_stream_and_take_each_painting_once(paint):
    picture("run/images/a.png")
    write("run/sources/a.js", LEAF)
    write("run/b.js", LEAF)
    picture("run/c.png")
    write("run/c.js", CHEAT)
    write("run/README.md", "# about")
    ran = paint("score", "run", "--json")
    assert ran.code == 3
    assert [row["input"] for row in lines(ran)] == ["run/b.js", "run/c.png", "run/images/a.png"]


def test_explain_says_where_each_point_came_from(paint):
    write("leaf.js", LEAF)
    ran = paint("score", "leaf.js", "--explain")
    assert ran.code == 0, ran.err
    for word in ("gate", "length", "judge", "taste", "points", "shown first", "logits"):
        assert word in ran.out
    assert ran.out.count("against ") == 4


def test_explain_stays_within_a_narrow_terminal(paint, monkeypatch):
    from paintcli.cli import output

    write("leaf.js", LEAF)
    monkeypatch.setenv("COLUMNS", "60")
    output.out.cache_clear()
    ran = paint("score", "leaf.js", "--explain")
    output.out.cache_clear()
    assert max(map(len, ran.out.splitlines())) <= 60
    assert ran.out.count("against ") == ran.out.count("share ") == 4  # wrapped, not cut


def test_observe_records_and_changes_nothing(paint):
    write("leaf.js", LEAF)
    plain = lines(paint("score", "leaf.js", "--json", "--mix", "gate=.5,length=.5"))[0]
    seen = lines(paint("score", "leaf.js", "--json", "--mix", "gate=.5,length=.5", "--observe"))[0]
    assert seen["reward"] == plain["reward"]
    assert plain["terms"]["judge"] is None
    assert 0 <= seen["terms"]["judge"] <= 1
    assert 0 <= seen["terms"]["pigment"] <= 1
    assert "judge" not in plain["backends"]


def test_a_sketch_on_standard_input(paint):
    ran = paint("score", "-", "--json", "--mix", "gate=.5,length=.5", stdin=LEAF.encode())
    assert (ran.code, lines(ran)[0]["input"]) == (0, "-")


def test_the_same_references_for_all_and_by_seed(paint):
    picture("a.png")
    picture("b.png", seed=2)

    def met(*more):
        return [
            [c["reference"] for c in row["comparisons"]]
            for row in lines(paint("judge", "a.png", "b.png", "--json", *more))
        ]

    first, other = met(), met("--seed", 5)
    assert first[0] == first[1]
    assert other[0] == other[1] != first[0]
    assert met("--seed", 5) == other


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--mix", "gate=.5"), "must sum to 1, not 0.5"),
        (("--mix", "gate=.5,beauty=.5"), "unknown term 'beauty'"),
        (("--mix", "best"), "no mix 'best'"),
        (("--judge", "oracle"), "no judge 'oracle'"),
        (("--scorer", "oracle"), "no scorer 'oracle'"),
        (("--pool", "nowhere"), "nowhere is not a folder"),
        (("--references", "0"), "--references"),
    ],
)
def test_a_faulty_call_is_one_sentence(paint, arguments, sentence):
    write("leaf.js", LEAF)
    ran = paint("score", "leaf.js", *arguments)
    assert ran.code == 2
    assert sentence in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


def test_inputs_that_are_not_there(paint, here):
    assert "gone.js does not exist" in paint("score", "gone.js").err
    (here / "empty").mkdir()
    ran = paint("score", "empty")
    assert (ran.code, "neither sketches nor pictures" in ran.err) == (2, True)


def test_a_batch_goes_on_after_an_unreadable_picture(paint, here):
    picture("good.png")
    write("good.js", LEAF)
    (here / "cut.png").write_bytes((here / "good.png").read_bytes()[:200])
    ran = paint("score", "cut.png", "good.png", "--json")
    assert ran.code == 4
    cut, good = lines(ran)
    assert cut["reward"] is None
    assert "not a readable picture" in cut["unavailable"][0]
    assert good["reward"] > 0


# -- other sizes and modes


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "L", "LA", "1", "CMYK", "I;16"])
def test_any_mode_is_judged(paint, here, mode):
    image = wash("round", 12, 3, seed=1)
    if mode == "I;16":
        image = Image.frombytes("I;16", image.size, b"".join(bytes((0, v)) for v in image.convert("L").tobytes()))
    else:
        image = image.convert(mode)
    image.save(here / ("a.tif" if mode in ("CMYK", "I;16") else "a.png"))
    ran = paint("judge", "a.tif" if mode in ("CMYK", "I;16") else "a.png", "--json")
    assert ran.code == 0, ran.err
    assert 0 <= lines(ran)[0]["score"] <= 1


def test_huge_and_tiny_pictures_are_judged(paint, here):
    wash("round", 12, 3, seed=1).resize((5000, 3000)).save(here / "huge.png")
    Image.new("RGB", (1, 1)).save(here / "tiny.png")
    ran = paint("judge", "huge.png", "tiny.png", "--json")
    assert ran.code == 0, ran.err


# -- paint judge


def test_the_documented_judgement(paint):
    picture("a.png")
    ran = paint("judge", "a.png", "--json")
    assert ran.code == 0, ran.err
    (row,) = lines(ran)
    assert list(row) == ["image", "score", "comparisons", "ties", "backend", "seed"]
    assert [c["tier"] for c in row["comparisons"]] == ["love", "love", "okay", "okay"]
    assert row["score"] == pytest.approx(sum(c["score"] for c in row["comparisons"]) / 4, abs=1e-5)
    assert all(c["score"] == pytest.approx((c["forward"] + c["backward"]) / 2, abs=1e-5) for c in row["comparisons"])


def test_against_another_picture_and_back(paint):
    picture("a.png", layers=14)
    picture("b.png", layers=3)
    there = lines(paint("judge", "a.png", "--against", "b.png", "--json"))[0]
    back = lines(paint("judge", "b.png", "--against", "a.png", "--json"))[0]
    assert there["comparisons"][0]["reference"] == "b.png"
    assert there["score"] + back["score"] == pytest.approx(1, abs=1e-5)
    assert there["score"] > 0.5


def test_repeat_tells_retest_bias_and_ties(paint):
    picture("a.png")
    picture("b.png", seed=2)
    first, _, together = lines(paint("judge", "a.png", "b.png", "--repeat", "3", "--json"))
    assert len(first["scores"]) == 3
    assert together["images"] == 2
    for row, duels in ((first, 4), (together, 8)):
        assert row["repeats"] == 3
        assert (row["retest_agreement"]["value"], row["retest_agreement"]["of"]) == (1, duels)
        assert row["first_shown_wins"]["value"] == 0.5
        assert row["tie_rate"]["value"] == 0


def test_held_out(paint):
    (row,) = lines(paint("judge", "--held-out", "--json"))
    assert row["held_out"] == 4
    assert row["agreement"]["value"] > 0.7
    assert row["rater_consistency"] is None
    assert row["leave_family_out"]["families"] == 4
    assert row["decided_by"]
    told = paint("judge", "--held-out")
    assert "the better rated painting wins" in told.out


def test_each_duel_is_printed(paint):
    picture("a.png")
    ran = paint("judge", "a.png")
    assert ran.out.count("love-") == 2
    assert ran.out.count("okay-") == 2
    assert "taste (stand-in)" in ran.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "No picture was named"),
        (("gone.png",), "gone.png does not exist"),
        (("leaf.js",), "is a sketch: `paint render`"),
        (("a.png", "--held-out"), "it takes no pictures"),
        (("a.png", "--against", "gone.png"), "gone.png does not exist"),
        (("empty",), "empty holds no pictures"),
    ],
)
def test_a_faulty_judge_call_is_one_sentence(paint, here, arguments, sentence):
    picture("a.png")
    write("leaf.js", LEAF)
    (here / "empty").mkdir()
    ran = paint("judge", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err


def test_a_pool_of_one_tier_cannot_teach_taste(paint, here, made):
    lonely = here / "lonely"
    lonely.mkdir()
    shutil.copy(made / "love-00.png", lonely)
    (lonely / "metadata.jsonl").write_text('{"file_name": "love-00.png", "tier": "love"}\n')
    picture("a.png")
    ran = paint("judge", "a.png", "--pool", lonely)
    assert ran.code == 2
    assert "has only 'love'" in ran.err


def test_an_unreadable_picture_is_told_and_the_rest_judged(paint, here):
    picture("a.png")
    (here / "cut.png").write_bytes(b"\x89PNG\r\n")
    ran = paint("judge", "cut.png", "a.png", "--json")
    assert ran.code == 4
    cut, good = lines(ran)
    assert cut["score"] is None
    assert "not a readable picture" in cut["unavailable"][0]
    assert good["score"] is not None


def test_no_browser_is_one_sentence(paint, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAINT_CHROMIUM", "/nonexistent")
    (tmp_path / "leaf.js").write_text(LEAF)
    ran = paint("score", "leaf.js", "--mix", "gate=.5,length=.5")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines()[-1].startswith("paint: PAINT_CHROMIUM names /nonexistent")


def test_what_was_scored_is_kept_as_a_run(paint):
    write("in/leaf.js", LEAF)
    write("in/cheat.js", CHEAT)
    ran = paint("score", "in", "-o", "kept", "--json", "--seed", "4")
    assert ran.code == 3, ran.err
    rows = {row["input"]: row for row in lines(ran)}
    kept = {row["code"].strip(): row for row in stream(Path("kept"))}
    leaf, cheat = kept[LEAF.strip()], kept[CHEAT.strip()]
    assert (leaf["reward"], leaf["judge"]) == pytest.approx(
        (rows["in/leaf.js"]["reward"], rows["in/leaf.js"]["terms"]["judge"]), abs=1e-5
    )
    assert (cheat["reward"], cheat["file_name"], cheat["violations"][0]["code"]) == (0, None, "text_label")
    assert (leaf["step"], leaf["seed"], len(leaf["references"]), leaf["run"]) == (0, 4, 4, "kept")
    assert (Path("kept") / leaf["file_name"]).read_bytes()[1:4] == b"PNG"
    assert [int(run.painted.sum()) for run in sources.load("kept")] == [1]  # as gallery and analyze see it
    again = paint("score", "in", "-o", "kept")
    assert again.code == 2 and "name a new folder" in again.err
