"""Whole or absent."""

import json
import subprocess
import sys

import pytest

from paintcli.errors import PaintError
from paintcli.files import append_json_line, mend, write_atomic


def test_a_write_replaces_the_whole_file(tmp_path):
    target = tmp_path / "deep" / "a.png"
    write_atomic(target, b"one")
    write_atomic(target, b"two")
    assert target.read_bytes() == b"two"
    assert [p.name for p in target.parent.iterdir()] == ["a.png"]  # no temporary file left


def test_a_written_file_is_as_readable_as_any_other(tmp_path):
    write_atomic(tmp_path / "a", b"")
    (tmp_path / "b").write_bytes(b"")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_lines_are_appended(tmp_path):
    for n in range(3):
        append_json_line(tmp_path / "rows.jsonl", {"n": n, "text": "à"})
    assert [json.loads(line)["n"] for line in (tmp_path / "rows.jsonl").read_text("utf-8").splitlines()] == [0, 1, 2]


def test_a_file_where_a_folder_should_be(tmp_path):
    (tmp_path / "a").write_text("")
    with pytest.raises(PaintError, match="not a folder"):
        write_atomic(tmp_path / "a" / "b.png", b"x")


@pytest.mark.skipif(sys.platform == "win32", reason="no file-size limits there")
def test_a_full_disk_is_one_sentence_and_leaves_the_old_file(tmp_path):
    """A disk that takes no more: a file-size limit of 4 KiB on a child process, which the write runs into."""
    old = tmp_path / "a.png"
    old.write_bytes(b"old")
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "from paintcli.files import write_atomic\n"
        "from paintcli.errors import PaintError\n"
        "try:\n    write_atomic(Path(sys.argv[1]), b'x' * 100000)\n"
        "except PaintError as e:\n    print(e); sys.exit(1)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(old)], capture_output=True, text=True)
    assert done.returncode == 1 and "cannot be written" in done.stdout, done
    assert old.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.png"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"n": 1}\n{"n": 2', '{"n": 1}\n'),
        ('{"n": 1}\n{"n": 2}', '{"n": 1}\n{"n": 2}\n'),  # as a person's editor leaves it
        ('{"n": 1}', '{"n": 1}\n'),
        ('{"n": 1', ""),
        ("step,reward\n1,0.5\n2,0.", "step,reward\n1,0.5\n"),
        ("step\n1\n2", "step\n1\n"),  # the beginning of 25
        ('{"n": 1}\n', '{"n": 1}\n'),
        ("", ""),
    ],
)
def test_a_torn_line_is_cut_off_and_a_whole_one_ended(tmp_path, before, after):
    path = tmp_path / "rows"
    path.write_text(before)
    mend(path)
    assert path.read_text() == after


def test_half_of_a_surrogate_pair_is_appended_as_a_question_mark(tmp_path):
    append_json_line(tmp_path / "rows", {"said": "a \ud83d b"})
    assert json.loads((tmp_path / "rows").read_text("utf-8")) == {"said": "a ? b"}


@pytest.mark.skipif(sys.platform == "win32", reason="no file-size limits there")
def test_a_disk_that_is_full_before_the_line_end_keeps_no_line(tmp_path):
    """Else the line would be there twice once it is tried again."""
    line = json.dumps({"text": "x" * 100}) + "\n"
    path = tmp_path / "rows"
    path.write_text(line)
    code = (
        "import json, resource, signal, sys; from pathlib import Path\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({2 * len(line) - 1},) * 2)\n"
        "from paintcli.files import append_json_line\n"
        "from paintcli.errors import PaintError\n"
        "try:\n    append_json_line(Path(sys.argv[1]), {'text': 'x' * 100})\n"
        "except PaintError:\n    sys.exit(1)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)]).returncode == 1
    assert path.read_text() == line
