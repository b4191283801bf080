"""`paint render` as a person and a script meet it: files, folders, replies, standard streams, exit codes, bad input."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

pytestmark = pytest.mark.browser

LEAF = """
function setup() {
  createCanvas(200, 200, WEBGL);
  angleMode(DEGREES);
  noLoop();
}
function draw() {
  translate(-width / 2, -height / 2);
  background('#f7f1e5');
  brush.noStroke();
  brush.fillBleed(0.2);
  brush.fill('#6d8f57', 200);
  brush.circle(100, 100, 60, 0.3);
}
"""
CHEAT = LEAF.replace("brush.circle(100, 100, 60, 0.3);", "ellipse(0, 0, 50, 50);\n  text('leaf', 0, 0);")
KEYS = [
    "sketch",
    "png",
    "passed",
    "violations",
    "coverage",
    "width",
    "height",
    "seed",
    "seconds",
    "renderer",
    "finished",
    "js_errors",
    "unavailable",
]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name, text=LEAF):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def rows(ran):
    return [json.loads(line) for line in ran.out.splitlines()]


def test_a_sketch_becomes_a_picture_beside_you(paint, here):
    write("in/leaf.js")
    ran = paint("render", "in/leaf.js")
    assert ran.code == 0, ran
    assert "passed" in ran.out and "leaf.png" in ran.out
    with Image.open(here / "leaf.png") as image:
        assert (image.format, image.size) == ("PNG", (200, 200))


def test_json_has_the_documented_keys(paint):
    write("leaf.js")
    ran = paint("render", "leaf.js", "--json", "--seed", "3")
    (row,) = rows(ran)
    assert list(row) == KEYS
    assert (row["sketch"], row["png"], row["passed"], row["seed"]) == ("leaf.js", "leaf.png", True, 3)
    assert 0.1 < row["coverage"] < 0.6 and row["finished"] is True
    assert row["violations"] == [] and row["unavailable"] is None


def test_a_folder_of_sketches_and_replies(paint, here):
    write("in/a.js")
    write("in/deep/b.txt", f"Here it is:\n```js\n{LEAF}```\nEnjoy!")
    write("in/c.md", CHEAT)
    write("in/README.md", "about this folder")
    ran = paint("render", "in", "-o", "out", "--json")
    assert ran.code == 3  # one was refused
    verdicts = {Path(row["sketch"]).name: row["passed"] for row in rows(ran)}
    assert verdicts == {"a.js": True, "b.txt": True, "c.md": False}
    assert (here / "out/a.png").exists() and (here / "out/deep/b.png").exists()
    assert not (here / "out/c.png").exists()


def test_a_refused_sketch_names_every_violation_with_its_line(paint):
    write("cheat.js", CHEAT)
    ran = paint("render", "cheat.js", "--json")
    (row,) = rows(ran)
    codes = {v["code"]: v["line"] for v in row["violations"]}
    assert ran.code == 3 and row["png"] is None
    assert codes["bare_primitives"] == 13 and codes["text_label"] == 14


def test_a_refused_sketch_writes_nothing_where_its_picture_would_go(paint):
    write("cheat.js", CHEAT)
    ran = paint("render", "cheat.js", "-o", "-")
    assert (ran.code, ran.out) == (3, "")
    assert "text_label" in ran.err


def test_anyway_paints_what_was_refused_and_keeps_the_verdict(paint, here):
    write("line.js", LEAF.replace("brush.circle(100, 100, 60, 0.3);", "brush.rect(50, 50, 90, 90);"))
    ran = paint("render", "line.js", "--anyway", "--json")
    (row,) = rows(ran)
    assert ran.code == 3 and row["passed"] is False
    assert [v["code"] for v in row["violations"]] == ["off_allowlist"]
    assert (here / "line.png").exists()


def test_standard_input_to_standard_output():
    ran = subprocess.run(
        [sys.executable, "-m", "paintcli", "render", "-", "-o", "-"],
        input=LEAF.encode(),
        capture_output=True,
        timeout=240,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(b"\x89PNG") and ran.stdout.endswith(b"IEND\xaeB`\x82")
    assert b"passed" in ran.stderr  # the table does not mix with the picture


def test_equal_seeds_equal_bytes_other_seeds_other_bytes(paint, here):
    write("leaf.js")
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert paint("render", "leaf.js", "-o", f"{name}.png", "--seed", seed).code == 0
    assert (here / "a.png").read_bytes() == (here / "b.png").read_bytes() != (here / "c.png").read_bytes()


def test_a_batch_goes_on_after_a_file_that_cannot_be_read(paint, here):
    write("good.js")
    Path("bad.js").write_bytes(b"\x00\x01\x02\xff" * 100)
    ran = paint("render", "bad.js", "good.js", "--json")
    assert {row["sketch"]: row["passed"] for row in rows(ran)} == {"bad.js": None, "good.js": True}
    # the same error as alone, once the others are painted
    assert (ran.code, ran.err) == (2, "paint: bad.js is a binary file, not a sketch.\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.js"], "nowhere.js does not exist"),
        (["empty-folder"], "empty-folder holds no sketch"),
        (["binary.js"], "binary.js"),
        (["huge.js"], "huge.js"),
        (["latin.js"], "latin.js"),
        (["leaf.js", "--seed", "-1"], "seed must be at least 0"),
        (["leaf.js", "--workers", "0"], "workers must be at least 1"),
        (["leaf.js", "--deadline", "0"], "deadline must be at least"),
        (["leaf.js", "--domain", "roses"], "no domain 'roses'"),
        (["leaf.js", "--domain", "roses.toml"], "roses.toml does not exist"),
        (["leaf.js", "--renderer", "remote"], "remote"),
        (["leaf.js", "sub/leaf.js"], "would both become leaf.png"),
        (["leaf.js", "sub", "-o", "leaf.js"], "is a file"),
        (["leaf.js", "sub/leaf.js", "-o", "-"], "takes one painting"),
        (["leaf.js", "-o", "-", "--json"], "where --json would write too"),
        (["-", "--watch"], "--watch needs files"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(paint, here, arguments, sentence):
    write("leaf.js")
    write("sub/leaf.js")
    (here / "empty-folder").mkdir()
    (here / "binary.js").write_bytes(bytes(range(256)) * 20)
    (here / "huge.js").write_text("//" + "x" * 5_000_000)
    (here / "latin.js").write_bytes("// é\n".encode("latin-1") + LEAF.encode())
    before = sorted(p.name for p in here.iterdir())
    ran = paint("render", *arguments)
    assert ran.code == 2, ran
    assert sentence in ran.err and ran.err.count("\n") == 1 and ran.err.startswith("paint: ")
    assert sorted(p.name for p in here.iterdir()) == before


def test_an_empty_reply_is_refused_not_an_error(paint):
    write("empty.txt", "")
    ran = paint("render", "empty.txt", "--json")
    assert ran.code == 3
    assert [v["code"] for v in rows(ran)[0]["violations"]] == ["no_sketch_in_response"]


def test_an_output_that_cannot_be_written(paint, here):
    write("leaf.js")
    (here / "file").write_text("")
    ran = paint("render", "leaf.js", "-o", "file/leaf.png")
    assert ran.code == 1 and "cannot be written" in ran.err and "Traceback" not in ran.err


def test_a_full_disk_leaves_nothing_half_written(here):
    write("leaf.js")
    limited = (
        "import resource, signal, sys\n"
        "from paintcli.cli import render\n"
        "save = render.save\n"
        "def limited(*a):\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "    save(*a)\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "render.save = limited\n"
        "sys.argv = ['paint', 'render', 'leaf.js']\n"
        "from paintcli.cli.main import run; run()\n"
    )
    ran = subprocess.run([sys.executable, "-c", limited], capture_output=True, text=True, timeout=240)
    assert ran.returncode == 1 and "leaf.png cannot be written" in ran.stderr, ran
    assert sorted(p.name for p in here.iterdir()) == ["leaf.js"]


def test_no_browser_is_one_sentence(paint, monkeypatch, here):
    write("leaf.js")
    monkeypatch.setenv("PAINT_CHROMIUM", str(here / "no-such-browser"))
    ran = paint("render", "leaf.js")
    assert ran.code == 1 and "no-such-browser" in ran.err and ran.err.count("\n") == 1


def test_a_browser_that_does_not_start_is_one_sentence(paint, monkeypatch):
    write("leaf.js")
    monkeypatch.setenv("PAINT_CHROMIUM", "true")
    ran = paint("render", "leaf.js")
    assert ran.code == 1 and "stopped at once" in ran.err and ran.err.count("\n") == 1


def test_watch_paints_again_on_save(here):
    write("leaf.js")
    watcher = subprocess.Popen(
        [sys.executable, "-m", "paintcli", "render", "leaf.js", "--watch", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert json.loads(watcher.stdout.readline())["passed"] is True
        time.sleep(0.3)
        write("leaf.js", "")  # half-saved: said, and the watch goes on
        assert json.loads(watcher.stdout.readline())["passed"] is False
        write("leaf.js", LEAF.replace("60, 0.3", "20, 0.3"))
        assert json.loads(watcher.stdout.readline())["coverage"] < 0.1
    finally:
        watcher.send_signal(signal.SIGINT)
        assert watcher.wait(120) in (0, 130)
