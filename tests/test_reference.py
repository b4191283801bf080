"""docs/reference.md is made from the code (`make docs`): every command and flag is in it, and no other."""

import re
from collections.abc import Iterator
from pathlib import Path

from typer.main import get_command

from paintcli.cli.main import app

REFERENCE = Path(__file__).parent.parent / "docs" / "reference.md"
STALE = "docs/reference.md is not what the code says: run `make docs`"


def commands(command, name: str) -> Iterator[tuple[str, object]]:
    yield name, command
    for word, below in getattr(command, "commands", {}).items():
        yield from commands(below, f"{name} {word}")


def test_every_flag_is_in_the_reference_and_no_other():
    text = REFERENCE.read_text("utf-8")
    sections = dict(re.findall(r"^#+ `([^`]+)`\n(.*?)(?=^#+ `|\Z)", text, re.MULTILINE | re.DOTALL))
    there = dict(commands(get_command(app), "paint"))
    assert sections.keys() == there.keys(), STALE
    for name, command in there.items():
        flags = set(re.findall(r"(?<![\w-])--[a-z][\w-]*", "\n".join(re.findall(r"^\* `(.+?)`", sections[name], re.M))))
        shown = [p for p in command.params if not getattr(p, "hidden", False)]
        known = {o for p in shown for o in (*p.opts, *p.secondary_opts) if o.startswith("--")}
        assert flags - {"--help"} == known - {"--help"}, f"{STALE} ({name})"
        for parameter in shown:
            words = (getattr(parameter, "help", None) or "").strip()
            assert words in sections[name], f"{STALE} ({name}: {words!r})"
