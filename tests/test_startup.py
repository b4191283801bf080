"""`paint --help` is quick because it imports nothing heavy; that is tested by what is loaded, never by a clock."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from typer.main import get_command

from paintcli.cli.main import app

HEAVY = {"torch", "transformers", "datasets", "pyarrow", "matplotlib", "pyppeteer", "numpy", "PIL", "trl", "peft"}
HEAVY |= {"huggingface_hub", "tree_sitter", "llama_cpp", "textual_image", "psutil"}


def loaded_by(*arguments: str) -> set[str]:
    code = (
        "import json, sys\n"
        f"sys.argv = ['paint', *{list(arguments)!r}]\n"
        "from paintcli.cli.main import run\n"
        "try:\n    run()\nexcept SystemExit:\n    pass\n"
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})), file=sys.stderr)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert "Usage" in ran.stdout, ran
    return set(json.loads(ran.stderr.splitlines()[-1]))


def words(command, *before: str) -> Iterator[tuple[str, ...]]:
    """The words of every command and group, the group before its commands."""
    yield before
    for name, below in getattr(command, "commands", {}).items():
        yield from words(below, *before, name)


@pytest.mark.parametrize("command", [*words(get_command(app))], ids=" ".join)
def test_help_imports_nothing_heavy(command):
    assert loaded_by(*command, "--help") & HEAVY == set()


def test_the_probe_sees_what_is_imported():
    """The control: a command that works does load numpy, so an empty intersection above means something."""
    code = "import sys; import paintcli.painting; sys.exit('numpy' not in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_help_shows_what_a_spec_looks_like():
    """Written as <model>, the placeholder would be swallowed: the help texts are Markdown."""
    told = subprocess.run(
        [sys.executable, "-m", "paintcli", "score", "--help"], capture_output=True, text=True, check=True,
        env={**os.environ, "COLUMNS": "200"},
    ).stdout  # fmt: skip
    assert "vlm:MODEL, gguf:MODEL+MMPROJ, hub" in told


def test_a_table_in_a_pipe_is_not_broken_at_80_columns():
    environment = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    script = (
        "from rich.table import Table; from paintcli.cli import output; table = Table(box=None, show_header=False);"
        "table.add_row('word ' * 200); output.out().print(table)"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert len(told.stdout.splitlines()) == 1
