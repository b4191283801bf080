"""Every command ends by naming the next one, and the next one is a command that works."""

import json
import os
import re
import shlex
from pathlib import Path

import analysis_data
import pytest
from test_publish import make_run
from washes import make_pool, read_rows, write_rows

from paintcli.pool import starter


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A project that paints a blue iris, and six pictures beside its empty pool."""
    from paintcli.project import create

    create(tmp_path / "irises", "a blue iris")
    monkeypatch.setenv("PAINT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path / "irises")
    pictures = make_pool(tmp_path / "pictures", per_tier=3)
    (pictures / "metadata.jsonl").unlink()
    return tmp_path / "irises"


def named(ran) -> list[str]:
    """The commands that were named, without `paint`."""
    return [line.partition(" paint ")[2] for line in ran.err.splitlines() if re.search("[:?] paint ", line)]


def test_a_pool_is_rated_then_rechecked_then_forecast_from(paint):
    ran = paint("pool", "import", "../pictures")
    assert ran.code == 0 and named(ran) == ["pool rate"], ran
    rows = read_rows(Path("pool"))
    assert {row["subject"] for row in rows} == {"a blue iris"}
    assert named(paint("pool", "stats")) == ["pool rate"] == named(paint("pool", "check", "--no-render"))
    assert named(paint("pool", "stats", "--pool", "pool")) == ["pool rate"]
    assert not named(paint("pool", "stats", "--pool", starter())), "somebody else's pool is not to be rated"
    for row in rows:
        row["tier"] = "love"
    write_rows(Path("pool"), [*rows[:5], {**rows[5], "tier": None}])
    assert "Rate the 1 that nobody has rated: paint pool rate\n" in paint("pool", "show").err
    write_rows(Path("pool"), rows)
    assert named(paint("pool", "stats")) == ["pool rate --recheck 6"]
    write_rows(Path("pool"), [{**row, "recheck_tier": "okay"} for row in rows])
    assert named(paint("pool", "stats")) == ["pool generate"], "too few for a judge to be held against the rater"
    marked = [
        {**row, "reserved": i < 2, "tier": ("love", "okay")[i % 2], "recheck_tier": "love"}
        for i, row in enumerate(rows)
    ]
    write_rows(Path("pool"), marked)
    assert named(paint("pool", "stats")) == ["forecast --mix judge-led"]
    assert not named(paint("pool", "stats", "--json"))


def test_outside_a_project_the_pool_is_named(paint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = paint("pool", "import", "pictures", "--pool", "my pool")
    assert named(ran) == ["pool rate --pool 'my pool'"]
    assert {row.get("subject") for row in read_rows(Path("my pool"))} == {None}, "nobody said what they show"


def test_what_is_said_of_a_picture_goes_before_the_domain(paint):
    paint("pool", "import", "../pictures", "--sample", "1", "--subject", "a rose")
    paint("pool", "import", "../pictures")
    assert sorted(row["subject"] for row in read_rows(Path("pool"))) == ["a blue iris"] * 5 + ["a rose"]


def test_a_finding_names_its_remedy(paint):
    paint("pool", "import", "../pictures", "--tier", "love")
    rows = read_rows(Path("pool"))
    write_rows(Path("pool"), [{**rows[0], "reference_photo": "x.jpg"}, *rows[1:]])
    ran = paint("pool", "check", "--no-render")
    assert ran.code == 1 and "licence: fill in reference_photo_licence" in ran.err and not named(ran)


def test_a_run_is_analysed_hung_and_given_away(paint, here):
    paint("pool", "import", "../pictures", "--tier", "love")
    make_run(here / "runs" / "first")
    assert named(paint("analyze", "--brief"))[-1] == "gallery runs/first"
    assert named(paint("analyze", here / "runs" / "first", "--brief"))[-1].startswith("gallery ")
    assert not named(paint("analyze", "--json"))


def test_a_control_run_leads_to_the_run_and_to_no_gallery(paint, here):
    control = here / "runs" / "control"
    rows = analysis_data.run(steps=12, group=2, seed=1)
    for row in rows:
        row["file_name"] = None
    control.mkdir(parents=True)
    analysis_data.write(control / "unpainted.jsonl", rows)
    from paintcli.training.recipe import compose

    (control / "recipe.toml").write_text(compose("control", None, {}).toml())
    assert named(paint("analyze", "--brief")) == ["train --mix judge-led --exam-every 10"]
    ran = paint("gallery")
    assert ran.code == 2 and "control run paints none" in ran.err and "paint score" in ran.err
    ran = paint("gallery", control)
    assert ran.code == 2 and "There is no painting in made-up (a control run paints none)" in ran.err
    make_run(here / "runs" / "first")
    os.utime(control / "unpainted.jsonl", (4e9, 4e9))  # the newer one
    assert named(paint("analyze", "--brief")) == ["train --mix judge-led --exam-every 10"]
    assert paint("publish", "rollouts", "--licence", "cc0-1.0", "--dry-run", "--out", "look").code == 0
    assert "first-rollouts" in Path("look/README.md").read_text()


def test_what_is_named_can_be_typed(paint, here):
    """A look before anything leaves, and what then sends it."""
    paint("pool", "import", "../pictures", "--tier", "love")
    ran = paint("publish", "pool", "--licence", "cc-by-4.0", "--dry-run", "--out", "look")
    assert ran.code == 0 and "for OWNER/irises-pool" in ran.out, ran
    assert "the same without --dry-run" in ran.err
    assert Path("look/README.md").read_text().partition("pretty_name: ")[2].startswith("'irises: rated")
    ran = paint("publish", "pool", "--licence", "cc-by-4.0", "--dry-run", "--json")
    assert json.loads(ran.out)["repo"] == "OWNER/irises-pool" and "dry-run" not in ran.err


def test_words_are_quoted_and_paths_short(here, capsys):
    from paintcli.cli.road import then

    then("Next", "pool", "rate", "--pool", here / "my pool", "--recheck", 3)
    then("Next", "analyze", Path("/elsewhere/run"))
    first, second = capsys.readouterr().err.splitlines()
    assert shlex.split(first.partition("paint ")[2]) == ["pool", "rate", "--pool", "my pool", "--recheck", "3"]
    assert second == "Next: paint analyze /elsewhere/run"


def test_after_a_run(here, capsys):
    from paintcli.cli.road import after_control, after_gallery, after_run

    after_run(here / "runs" / "a", examined=False)
    after_run(here / "runs" / "a", examined=True)
    after_control(here / "runs" / "c", [0.0] * 10 + [1.0] * 10)
    after_control(here / "runs" / "c", [0.3] * 20)
    after_gallery([here / "runs" / "a"], True)
    after_gallery(["OWNER/rollouts"], False)
    assert [line.partition("paint ")[2] for line in capsys.readouterr().err.splitlines()] == [
        "exam runs/a", "analyze runs/a", "analyze runs/a",
        "analyze runs/c", "train --mix judge-led --exam-every 10", "analyze runs/c",
        "publish all runs/a --dry-run --out look", "publish gallery OWNER/rollouts --dry-run --out look",
    ]  # fmt: skip
