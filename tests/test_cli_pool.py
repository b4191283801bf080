"""`paint pool` as a person and a script meet it."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image
from test_cli_score import LEAF
from washes import make_pool, read_rows, wash, write_rows

from paintcli.pool import starter

LATER = LEAF.replace("brush.circle(80, 90, 40, 0.3);", "text('leaf', 0, 0);")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAINT_CACHE", str(tmp_path / "cache"))
    return make_pool(tmp_path / "mine", per_tier=3)


def lines(ran):
    return [json.loads(line) for line in ran.out.splitlines()]


def test_stats(paint):
    ran = paint("pool", "stats", "--pool", "mine", "--json")
    assert ran.code == 0, ran.err
    (row,) = lines(ran)
    assert row["tiers"] == {"love": 3, "okay": 3}
    assert row["families"] == {"hand-round": 2, "hand-upright": 2, "hand-windy": 2}
    told = paint("pool", "stats", "--pool", "mine")
    assert "6 paintings" in told.out
    assert "love" in told.out


def test_a_contact_sheet_in_a_file(paint):
    ran = paint("pool", "show", "--pool", "mine", "-o", "sheet.png", "--columns", "3")
    assert ran.code == 0, ran.err
    assert ran.out == ""
    sheet = Image.open("sheet.png")
    assert sheet.width == 3 * 186 + 6
    assert sheet.height == 2 * (180 + 22 + 6) + 6
    assert len(sheet.resize((40, 30)).getcolors(1200)) > 100  # pictures, not an empty sheet


def test_a_list_where_no_picture_can_be_shown(paint):
    ran = paint("pool", "show", "--pool", "mine", "--tier", "okay")
    assert [line.split()[0] for line in ran.out.splitlines()] == [f"okay-0{i}.png" for i in range(3)]
    assert (
        "no paintings of tier 'weak'; it has love, okay"
        in paint("pool", "show", "--pool", "mine", "--tier", "weak").err
    )


@pytest.mark.browser
def test_check_paints_every_source_again(paint, here):
    """One honest source, one refused, one whose picture it cannot have painted."""
    for name in ("honest", "cheat", "other"):
        (here / "sources" / f"{name}.js").write_text(LATER if name == "cheat" else LEAF)
        wash("round", 30, 3, seed=9).save(here / f"{name}.png")
    Path("out").mkdir()
    shutil.copy(here / "sources" / "honest.js", "out")
    assert paint("render", "out/honest.js", "-o", here / "honest.png").code == 0
    rows = [
        {"file_name": f"{n}.png", "source_file": f"sources/{n}.js", "tier": "okay"}
        for n in ("honest", "cheat", "other")
    ]
    write_rows(here, rows)
    ran = paint("pool", "check", "--pool", "mine", "--json")
    found = {(row["kind"], row["file"]) for row in lines(ran)}
    assert {("refused", "cheat.png"), ("repainted", "other.png"), ("near-duplicate", "cheat.png")} == found
    assert ran.code == 3


def test_check_tells_everything_at_once(paint, here):
    rows = read_rows(here)
    rows[0]["file_name"] = "gone.png"
    rows[1] |= {"reference_photo": "x.jpg"}
    shutil.copy(here / rows[2]["file_name"], here / rows[3]["file_name"])
    (here / rows[4]["file_name"]).write_bytes(b"not a picture")
    write_rows(here, rows)
    ran = paint("pool", "check", "--pool", "mine", "--no-render", "--json")
    assert ran.code == 1
    assert [(row["kind"], row["file"]) for row in lines(ran)] == [
        ("file", "gone.png"),
        ("file", "okay-01.png"),
        ("near-duplicate", "love-02.png"),
        ("licence", "love-01.png"),
    ]


def test_a_clean_pool_has_no_findings(paint):
    ran = paint("pool", "check", "--pool", "mine", "--no-render")
    assert (ran.code, ran.out) == (0, "")
    assert "no findings" in ran.err


def test_import_into_the_projects_pool(paint):
    Path("paint.toml").write_text("")
    ran = paint("pool", "import", "mine", "--sample", "2", "--seed", "4", "--json")
    assert ran.code == 0, ran.err
    (row,) = lines(ran)
    assert len(row["added"]) == 2
    assert {r["imported_from"] for r in read_rows(Path("pool"))} == {"mine"}
    assert "6 paintings added" not in paint("pool", "import", "mine").out  # two of the six are there already
    assert len(read_rows(Path("pool"))) == 6
    # and it is the project's own from now on
    assert lines(paint("pool", "stats", "--json"))[0]["paintings"] == 6


def test_import_with_a_tier(paint):
    Path("pictures").mkdir()
    wash("windy", 9, 2, seed=3).save("pictures/a.png")
    assert paint("pool", "import", "pictures", "--tier", "weak", "--subject", "a rose").code == 0
    (row,) = read_rows(Path("pool"))
    assert (row["tier"], row["subject"], row["source_file"]) == ("weak", "a rose", None)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("stats", "--pool", "nowhere"), "nowhere is not a folder"),
        (("stats", "--pool", "empty"), "holds no metadata.jsonl"),
        (("show", "--domain", "cathedral"), "no starter pool for 'cathedral'"),
        (("import", "nowhere"), "nowhere is not a folder"),
        (("import", "mine", "--pool", "mine"), "is the pool itself"),
        (("import", "mine", "--best", "3"), "no rewards"),
        (("import", "mine", "--pool", "hub:a/b"), "is not filled from here"),
    ],
)
def test_a_faulty_call_is_one_sentence(paint, arguments, sentence):
    Path("empty").mkdir()
    ran = paint("pool", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err


def test_the_list_keeps_its_tabs(paint):
    ran = paint("pool", "show", "--pool", "mine", "--tier", "love")
    assert ran.out.splitlines()[0].split("\t")[:2] == ["love-00.png", "love"]


@pytest.mark.browser
def test_a_source_that_is_none_is_a_finding_among_others(here, paint):
    rows = read_rows(here)
    with_source = next(row for row in rows if row.get("source_file"))
    (here / with_source["source_file"]).write_bytes(b"\0\0")
    ran = paint("pool", "check", "--pool", "mine")
    assert f"file: {with_source['file_name']} " in ran.out and "is a binary file, not a sketch." in ran.out
    assert " painted again, " in ran.err and ran.code in (1, 3), ran


@pytest.mark.parametrize(
    "arguments",
    [
        ("import", "mine"),
        ("generate", "--generator", "hub:http://127.0.0.1:1#x"),
        ("rate",),
        ("calibrate", "mine", "--record"),
    ],
)
def test_a_packaged_pool_is_not_changed(paint, arguments):
    before = {path: path.stat().st_mtime_ns for path in starter().rglob("*")}
    ran = paint("pool", *arguments, "--pool", starter())
    assert (ran.code, ran.out) == (2, "") and "The packaged pool hibiscus is not yours to change" in ran.err, ran
    assert {path: path.stat().st_mtime_ns for path in starter().rglob("*")} == before


def test_what_a_file_says_does_not_drive_the_terminal(here, paint):
    rows = read_rows(here)
    rows[0]["family"] = "\x1b]0;mine\x07\x1b[2J[bold]"
    write_rows(here, rows)
    ran = paint("pool", "stats", "--pool", "mine")
    assert "\x1b" not in ran.out and "\x07" not in ran.out and " ]0;mine  [2J[bold] 1" in ran.out
    ran = paint("pool", "stats", "--pool", "\x1b[2Jnone")
    assert ran.err == "paint: The pool [2Jnone is not a folder.\n"


def test_a_sheet_is_a_png(paint):
    ran = paint("pool", "show", "--pool", "mine", "-o", "sheet.jpg")
    assert ran.code == 2
    assert "sheet.png, not sheet.jpg" in ran.err


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are Unix")
def test_in_a_terminal_the_names_are_whole_words(here):
    """A real pseudo-terminal of 80 columns: four pictures side by side at most, the names as text below them.

    Standard input is none, as under cron or behind a pipe: there is nobody to ask what the terminal can draw.
    """
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"}
    command = [sys.executable, "-m", "paintcli", "pool", "show", "--pool", "mine"]
    import termios

    primary, secondary = os.openpty()
    termios.tcsetwinsize(secondary, (24, 80))
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=secondary,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    ) as shown:
        os.close(secondary)
        seen = b""
        with contextlib.suppress(OSError):  # EIO: the other end was closed
            while chunk := os.read(primary, 65536):
                seen += chunk
    os.close(primary)
    assert shown.returncode == 0
    told = re.sub(r"\x1b\[[0-9;]*m", "", seen.decode())
    assert "love: 3" in told
    assert "love-00             love-01             love-02" in told
    assert "▀" in told
