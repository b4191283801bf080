"""The gate against its corpus, in the syntax and in the page."""

import asyncio
import dataclasses
import io
from pathlib import Path

import idioms
import pytest
from PIL import Image

from paintcli import domains, names
from paintcli.gate import Verdict, Violation, check, check_painting, verdict
from paintcli.painting import Painting
from paintcli.sketch import extract, read

CORPUS = Path(__file__).parent / "corpus"
HONEST = sorted((CORPUS / "honest").iterdir())
CHEATS = [line.split("\t") for line in (CORPUS / "cheats" / "index.tsv").read_text("utf-8").splitlines()]
DOMAIN = domains.load()
CHEATING = names.words("external_access text_label bare_primitives pixel_access unknown_brush_method off_allowlist")


def load(name: str):
    path = CORPUS / name
    return read(path.read_bytes(), path.name)


def codes(found: Verdict) -> set[str]:
    return {violation.code for violation in found.violations}


def test_the_corpus_is_as_large_as_promised():
    assert len(HONEST) >= 50
    assert len(CHEATS) >= 80 and len({kind for _, kind, _, _ in CHEATS}) >= 25
    assert {name for name, *_ in CHEATS} == {p.name for p in (CORPUS / "cheats").iterdir()} - {"index.tsv"}


@pytest.mark.parametrize("path", HONEST, ids=lambda path: path.name)
def test_no_honest_sketch_is_refused(path):
    assert check(load(f"honest/{path.name}"), DOMAIN).violations == ()


@pytest.mark.parametrize(("name", "where", "right"), [(n, w, r) for n, _, w, r in CHEATS])
def test_every_cheat_that_syntax_can_see_is_refused_for_the_right_reason(name, where, right):
    found = codes(check(load(f"cheats/{name}"), DOMAIN))
    assert found <= set(right.split())
    assert bool(found) == (where == "static")


def source(body: str, top: str = "") -> str:
    return f"{top}\nfunction setup() {{\n  createCanvas(600, 600, WEBGL);\n  brush.circle(0, 0, 9);\n  {body}\n}}\n"


@pytest.mark.parametrize("idiom", idioms.HONEST, ids=lambda idiom: idiom[0][:40])
def test_no_honest_idiom_is_refused(idiom):
    assert check(extract(source(*idiom), "idiom.js"), DOMAIN).violations == ()


@pytest.mark.parametrize("idiom", idioms.CHEATS, ids=lambda idiom: idiom[0][:40])
def test_no_cheating_idiom_passes(idiom):
    assert codes(check(extract(source(*idiom), "idiom.js"), DOMAIN)) & CHEATING


@pytest.mark.parametrize("text", idioms.SKETCHES, ids=lambda text: text[-40:])
def test_no_cheating_sketch_passes(text):
    assert codes(check(extract(text, "sketch.js"), DOMAIN)) & CHEATING


def test_everything_that_applies_is_reported_once_and_by_line():
    found = check(
        extract(source("ellipse(0, 0, 9); eval('1');\n  text('a', 0, 0); ellipse(1, 1, 9); ellipse(2, 2, 9);")), DOMAIN
    )
    assert [(v.code, v.line) for v in found.violations] == [
        ("bare_primitives", 5), ("external_access", 5), ("text_label", 6), ("bare_primitives", 6),
    ]  # fmt: skip


def test_the_allowlist_is_the_domains():
    sketch = extract(source("brush.line(0, 0, 9, 9); brush.scribble();"))
    assert codes(check(sketch, DOMAIN)) == {"off_allowlist", "unknown_brush_method"}
    free = dataclasses.replace(DOMAIN, enforce_allowlist=False)
    assert codes(check(sketch, free)) == {"unknown_brush_method"}


def test_a_wrong_method_is_told_the_nearest_and_once_what_is_allowed():
    allowed = ", ".join(sorted(DOMAIN.methods))
    sketch = extract(source("brush.cirle(0, 0, 9);\nbrush.fillBleeds(1);\nbrush.zzz();"))
    assert [v.detail for v in check(sketch, DOMAIN).violations if v.code == "unknown_brush_method"] == [
        f"brush.cirle does not exist; did you mean circle? allowed are {allowed}",
        "brush.fillBleeds does not exist; did you mean fillBleed?",
        "brush.zzz does not exist",
    ]
    free = dataclasses.replace(DOMAIN, enforce_allowlist=False)
    hint = "brush.lne does not exist; did you mean line? this domain asks for "
    assert check(extract(source("brush.lne(0, 0, 9, 9);")), free).violations[0].detail == hint + allowed
    strict = check(extract(source("brush.flowLine(0, 0, 9, 9);")), DOMAIN).violations[0].detail
    assert strict == f"brush.flowLine is not among the methods of this domain; allowed are {allowed}"


@pytest.mark.parametrize("name", sorted(names.P5_REFUSED))
def test_every_refused_p5_name_is_refused_and_may_be_the_sketchs_own(name):
    code = names.P5_REFUSED[name]
    assert codes(check(extract(source(f"{name}(1, 2);")), DOMAIN)) == {code}
    assert check(extract(source(f"{name}(1, 2);", top=f"const {name} = (a, b) => a + b;")), DOMAIN).passed


@pytest.mark.parametrize("name", sorted(names.P5_HARMLESS - {"createCanvas", "break"}))
def test_every_harmless_p5_name_passes(name):
    assert check(extract(source(f"const r = {name};")), DOMAIN).passed


@pytest.mark.parametrize("name", sorted(names.BROWSER_REFUSED))
def test_every_refused_global_of_the_browser_is_refused(name):
    code = names.BROWSER_REFUSED[name]
    for expression in (f"{name}(1)", f"window.{name}(1)", f"self['{name}'](1)"):
        assert codes(check(extract(source(expression + ";")), DOMAIN)) == {code}


def test_no_name_is_in_two_tables():
    assert not names.P5_HARMLESS & names.P5_REFUSED.keys()
    assert len(names.BRUSH_METHODS) == 47
    assert DOMAIN.methods <= names.BRUSH_METHODS


# -- what the page saw -------------------------------------------------------------------------------------------------


def painting(covered: float, **facts) -> Painting:
    image = Image.new("RGB", (100, 100), "white")
    image.paste("red", (0, 0, 100, round(100 * covered)))
    data = io.BytesIO()
    image.save(data, "PNG")
    return Painting(data.getvalue(), **facts)


PAINTED = {"brush.circle": 1, "p5.createCanvas": 1}
SKETCH = extract(source(""))


@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        (painting(0.3, calls=PAINTED), set()),
        (painting(0.3, calls=None), set()),
        (painting(0.3, calls=PAINTED, js_errors=("TypeError: x",)), set()),
        (painting(0.0, calls=PAINTED), {"blank_canvas"}),
        (painting(0.0, calls=PAINTED, js_errors=("TypeError: x",)), {"render_failed"}),
        (painting(0.0, calls={}), {"blank_canvas", "no_painting_calls"}),
        (painting(0.3, calls={"brush.beginShape": 1, "p5.ellipse": 1}), {"bare_primitives", "no_painting_calls"}),
        (painting(0.3, calls=PAINTED | {"brush.line": 1}), {"off_allowlist"}),
        (painting(0.3, calls=PAINTED | {"page.fetch": 1, "page.getContext": 1}), {"external_access", "pixel_access"}),
        (painting(0.3, calls=PAINTED | {"canvas.drawingContext": 1}), {"pixel_access"}),
        (painting(0.3, calls=PAINTED | {"canvas.width": 1, "p5.random": 9}), set()),
        (Painting(None, fault="render_timeout", fault_detail="not done after 30 s"), {"render_timeout"}),
        (Painting(None, fault="render_failed", calls={"p5.text": 2}), {"render_failed", "text_label"}),
    ],
)  # fmt: skip
def test_what_the_page_saw_is_judged(picture, expected):
    assert codes(check_painting(picture, SKETCH, DOMAIN)) == expected


def test_a_global_with_a_name_of_p5_is_told_as_the_reason():
    error = "TypeError: Cannot redefine property: triangle\n    at Object.defineProperty"
    (found,) = check_painting(painting(0, calls={}, js_errors=(error,)), SKETCH, DOMAIN).violations[:1]
    assert found.code == "render_failed" and "triangle" in found.detail and "p5's own name" in found.detail


def test_verdicts_are_joined_without_doubles():
    one, two = Violation("text_label", 3, "a"), Violation("blank_canvas", None, "b")
    assert verdict([two, one], [one]).violations == (one, two)


@pytest.fixture(scope="module")
def renderer():
    from paintcli.backends.chromium import ChromiumRenderer

    with ChromiumRenderer(workers=2, deadline=30) as running:
        yield running


def judged(renderer, sketches) -> dict[str, Verdict]:
    """What the page makes of each; equal sources are painted once."""

    async def every():
        sources = list({sketch.source for sketch in sketches.values()})
        paintings = await asyncio.gather(*map(renderer.render, sources))
        painted = dict(zip(sources, paintings, strict=True))
        return {name: check_painting(painted[sketch.source], sketch, DOMAIN) for name, sketch in sketches.items()}

    return asyncio.run(every())


@pytest.mark.browser
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_no_honest_sketch_is_refused_once_it_is_painted(renderer, every):
    found = judged(renderer, {path.name: load(f"honest/{path.name}") for path in HONEST[::every]})
    assert {name: seen.violations for name, seen in found.items() if not seen.passed} == {}


@pytest.mark.browser
def test_what_only_the_page_can_see_is_refused_there(renderer):
    hidden = {name: set(right.split()) for name, _, where, right in CHEATS if where == "runtime"}
    found = judged(renderer, {name: load(f"cheats/{name}") for name in hidden})
    assert {name: seen.violations for name, seen in found.items() if not codes(seen) & hidden[name]} == {}


@pytest.mark.browser
@pytest.mark.parametrize("each", ["kind", pytest.param("cheat", marks=pytest.mark.slow)])
def test_the_page_is_a_second_witness_of_what_draws(renderer, each):
    """Were the syntax blind, the page would still refuse what is drawn, written, evaluated or fetched."""
    drawn = {
        kind if each == "kind" else name: (name, set(right.split()))
        for name, kind, where, right in CHEATS
        if where == "static"
        and kind.split("-")[0] in ("primitive", "curve", "solid", "text", "eval", "network", "pixels")
        and not name.startswith(("primitive-this", "primitive-default", "primitive-tagged"))
    }  # fmt: skip
    found = judged(renderer, {name: load(f"cheats/{name}") for name, _ in drawn.values()})
    assert {name: found[name].violations for name, right in drawn.values() if not codes(found[name]) & right} == {}
