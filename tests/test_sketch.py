"""Extraction, the inventory and what is refused as input."""

import random
import time
from pathlib import Path

import pytest

from paintcli import domains, gate
from paintcli.errors import UsageError
from paintcli.sketch import MOST_BYTES, extract, read

HONEST = sorted((Path(__file__).parent / "corpus" / "honest").iterdir())
REPLIES = [path for path in HONEST if path.name.startswith("reply-")]
SKETCH = "function setup() {\n  createCanvas(600, 600, WEBGL);\n  brush.circle(0, 0, 100);\n}\n"


@pytest.mark.parametrize("path", REPLIES, ids=lambda path: path.name)
def test_a_reply_gives_its_sketch_and_nothing_else(path):
    sketch = read(path.read_bytes(), path.name)
    lines = [line.strip() for line in sketch.source.splitlines() if line.strip()]
    assert "function setup() {" in lines
    assert "brush.circle(0, 0, 140);" in lines
    assert lines[-1] == "}"
    assert not sketch.truncated
    assert "\r" not in sketch.source and "```" not in sketch.source and "<script" not in sketch.source
    assert "ellipse" not in sketch.source and "400, 400" not in sketch.source


def test_plain_javascript_is_taken_whole():
    text = "// a ``` in a comment\n" + SKETCH + "// the end\n"
    assert extract(text).source == text
    assert extract(text, "a.js").source == text
    assert extract("let x = 1;\n", "a.js").source == "let x = 1;\n"  # no setup, yet a sketch: the gate says what lacks


def test_lines_are_those_of_the_extracted_source():
    reply = "Look:\n\n```js\n" + SKETCH.replace("brush.circle", "ellipse") + "```\n"
    found = gate.check(extract(reply), domains.load()).violations
    assert [v.line for v in found if v.code == "bare_primitives"] == [3]


@pytest.mark.parametrize(
    ("reply", "source"),
    [
        ("", ""),
        ("Sorry.", ""),
        ("I would write setup() and draw(), then call brush.circle() five times.", ""),
        ("<think>" + SKETCH, ""),
        ("<think>\n```js\n" + SKETCH + "```\nbut no, ", ""),
        ("<think>a</think>", ""),
        ("<thinking>plan: petals</thinking>\n" + SKETCH, SKETCH),
        ("<plan>five petals</plan>\n" + SKETCH, SKETCH),
        ("<code>\n" + SKETCH + "</code>", SKETCH),
        ("<answer>\n" + SKETCH + "</answer>\nThere.", SKETCH),
        ("```python\nprint('createCanvas')\n```", ""),
        ("```\n" + SKETCH + "```\n```json\n{\"setup\": 1}\n```", SKETCH.rstrip("\n")),
        ("```js\n" + SKETCH + "```\n```js\n// 2\n" + SKETCH + "```", "// 2\n" + SKETCH.rstrip("\n")),
        ("[THINK]ellipse()[/THINK]\n" + SKETCH + "<|im_end|>", SKETCH.rstrip("\n")),
        ("<|channel|>analysis<|message|>hm<|end|>\n<|start|>assistant<|channel|>final<|message|>" + SKETCH, SKETCH),
        ("```js\n" + SKETCH.rstrip("\n") + "```\nThere.", SKETCH.rstrip("\n")),
        ("```js\n" + SKETCH + "\nI hope you like it; they're petals.", SKETCH),
        ("````markdown\n```js\n" + SKETCH + "```\n````", SKETCH),
        ("Look:\n> ```js\n> " + SKETCH.rstrip().replace("\n", "\n> ") + "\n> ```\n", SKETCH),
        ("Look.\n<think>" + SKETCH + "</think>\n" + SKETCH, SKETCH.rstrip("\n")),
        ("```js\n" + SKETCH + "```\nAgain:\n```js\n" + SKETCH[:60], SKETCH.rstrip("\n")),
        ("```js\n// <think>hm</think>\n" + SKETCH + "```", "// <think>hm</think>\n" + SKETCH.rstrip("\n")),
    ],
)  # fmt: skip
def test_which_block(reply, source):
    assert extract(reply).source.strip() == source.strip()


@pytest.mark.parametrize("cut", range(62, len(SKETCH) - 2, 7))
def test_a_reply_that_stops_in_the_middle_is_truncated(cut):
    for reply in ("```js\n" + SKETCH[:cut], SKETCH[:cut], "Here:\n\n" + SKETCH[:cut]):
        sketch = extract(reply)
        assert sketch.truncated, reply
        assert "truncated" in {v.code for v in gate.check(sketch, domains.load()).violations}


TWO = (
    SKETCH.replace("  brush.circle(0, 0, 100);\n", "  noLoop();\n")
    + "function draw() {\n  background(255);\n"
    + ('  brush.fill("#aa3322", 190);\n  brush.circle(0, 0, 100);\n' * 3 + "}\n")
)


@pytest.mark.parametrize("cut", range(TWO.index("draw"), len(TWO) - 2, 11))
def test_what_is_whole_before_the_cut_does_not_pass_for_the_sketch(cut):
    for reply in ("```js\n" + TWO[:cut], TWO[:cut], "Here:\n\n" + TWO[:cut]):
        assert extract(reply).truncated, reply


def test_a_mistake_in_the_middle_is_not_truncation():
    assert not extract(SKETCH.replace("0, 0,", "0 0,"), "a.js").truncated


def test_inventory_counts_call_sites_through_aliases_but_no_words():
    source = """// brush.circle(brush.vertex)
    const b = brush, { circle: dab, fill } = b;
    const text = "brush.beginShape()";
    function setup() {
      createCanvas(600, 600, WEBGL);
      fill("#fff", 100); b["fill"]("#000"); brush.fill.call(brush, 1);
      dab(0, 0, 5); for (const m of ["circle"]) brush[m](1, 2, 3);
      b.beginShape(); [[1, 2]].forEach((p) => b.vertex(...p)); [1].forEach(b.vertex); brush?.endShape();
      leaf(brush);
    }
    const leaf = (pen) => { pen.beginShape(); pen.vertex(0, 0); pen.endShape(); };
    """
    counts = extract(source, "a.js").inventory
    assert (counts.n_shapes, counts.n_vertices, counts.n_circles, counts.n_fill_calls) == (2, 2, 2, 3)
    assert counts.brush_methods_used == ("beginShape", "circle", "endShape", "fill", "vertex")
    assert counts.code_chars == len(source)


@pytest.mark.parametrize("data", [b"", b" \n\t", b"\xef\xbb\xbf\n"])
def test_nothing_at_all_is_a_reply_without_a_sketch(data):
    assert not read(data, "a.txt").source.strip()
    assert not read(data, "a.js").source.strip()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff", "binary"),
        (b"let a = 1;\0\0", "binary"),
        (b"let a = '\xff\xfa';", "not UTF-8"),
        (b"x" * (MOST_BYTES + 1), "limit"),
    ],
)
def test_what_cannot_be_a_sketch_is_one_sentence(data, words):
    with pytest.raises(UsageError, match=words) as raised:
        read(data, "a.js")
    assert str(raised.value).startswith("a.js ") and str(raised.value).count("\n") == 0


@pytest.mark.parametrize(
    "text",
    [
        "(" * 40_000,
        "[" * 15_000 + "]" * 15_000,
        "{" * 30_000 + "ellipse();" * 10,
        "a?" * 20_000 + "1",
        "x=>" * 15_000 + "1",
        "'a'+" * 6_000 + "'b'",
        "`${" * 20_000,
        "const a = 1;\n" * 4_000,
        "```\n" * 8_000,
        "<think>\n" * 8_000,
        "```js\nlet a = {};\n```\n" * 4_000,
        "I think; (maybe) it's fine } \n" * 2_000,
        "x" * 5_000_000,
        "function setup(){brush.circle(1,2,3)}\n" * 130_000,
        "var a0 = window;" + "".join(f"var a{i + 1} = a{i} || a{i};" for i in range(3_000)),
        "".join(f"var a{i} = a{i + 1} || a{i + 1};" for i in range(3_000)) + "var a3000 = brush;",
    ],
    ids=lambda text: f"{text[:12]!r}…{len(text)}",
)
def test_size_and_nesting_are_borne(text):
    begun = time.process_time()
    for name in ("a.js", "reply"):
        sketch = extract(text, name)
        gate.check(sketch, domains.load())
        assert sketch.inventory.code_chars == len(sketch.source)
    assert time.process_time() - begun < 30


def test_what_no_text_file_holds_becomes_what_it_can_hold():
    """A reply comes as JSON, which can carry both; the sketch is written to a file and read back."""
    written = extract("```javascript\n// \0 \ud83d\nfunction setup() { createCanvas(9, 9); }\n```")
    assert written.source.startswith("// \ufffd ?\nfunction setup()")
    assert read(written.source.encode(), "a.js").source == written.source


def test_nothing_that_is_mangled_raises():
    """Random damage to real sketches and replies: an answer, whatever it is, and never an exception."""
    domain, dice = domains.load(), random.Random(7)
    texts = [path.read_text("utf-8", errors="replace") for path in HONEST]
    pieces = [word for text in texts for word in text.split(" ")] + list("{}[]()`\"'/\\;,.*=>?:$#@!\0\u2028\ud800")
    for _ in range(250):
        words = dice.choice(texts).split(" ")
        for _ in range(dice.randint(1, 12)):
            at = dice.randrange(len(words))
            words[at : at + dice.randint(0, 3)] = [dice.choice(pieces) for _ in range(dice.randint(0, 3))] or [""]
        sketch = extract(" ".join(words), dice.choice(("a.js", "reply")))
        assert all(v.code in gate.CODES for v in gate.check(sketch, domain).violations)
        assert sketch.inventory.code_chars == len(sketch.source)
