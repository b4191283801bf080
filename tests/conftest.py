"""What several test files share: the command run as a person runs it, without a new interpreter each time."""

import io
import signal
import sys
from dataclasses import dataclass

import pytest

from paintcli.settings import DEFAULTS

# A shell's background job ignores SIGINT, and so would every process that a test starts, to interrupt it later.
signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def paint(capsys, monkeypatch):
    """Run `paint …` through its real entry point: paint("render", "a.js", stdin=b"…") → exit code, stdout, stderr."""
    for name in DEFAULTS:
        monkeypatch.delenv(f"PAINT_{name.upper()}", raising=False)
    monkeypatch.setenv("COLUMNS", "200")  # a table's words are not broken over lines

    def call(*arguments, stdin: bytes = b"") -> Ran:
        from paintcli.cli.main import run

        monkeypatch.setattr(sys, "argv", ["paint", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        try:
            run()
            code = 0
        except SystemExit as done:
            code = done.code or 0
        seen = capsys.readouterr()
        return Ran(code, seen.out, seen.err)

    return call
