"""A new project: a folder with paint.toml, a domain file for its subject, and an empty pool."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from paintcli import settings
from paintcli.errors import UsageError
from paintcli.files import write_atomic

ARTICLES = re.compile(r"^(an?|the|some|two|three)\s+", re.IGNORECASE)


def create(folder: Path, subject: str) -> list[Path]:
    """Write a project that paints `subject` ("a blue iris") into `folder`; returns the files, paint.toml first.

    Nothing that is there is changed. Raises UsageError in one sentence for a folder that is a project already, or a
    subject that cannot be written down.
    """
    words = subject.strip()
    name = "-".join(re.findall(r"\w+", ARTICLES.sub("", words).lower()))
    if not name:
        raise UsageError('Say what is painted in words, such as --subject "a blue iris".')
    if not words.isprintable() or any(c in words for c in '"\\{}'):
        raise UsageError("The subject goes into a request in words: no quotes, braces, backslashes or line breaks.")
    if (folder / settings.FILE).exists():
        raise UsageError(f"{folder} is a project already: it holds {settings.FILE}.")
    domain = folder / f"{name}.toml"
    if domain.exists():
        raise UsageError(f"{domain} is there already; give it another --subject, or name it in a {settings.FILE}.")
    filled = {"@domain@": name, "@title@": name.replace("-", " ").capitalize(), "@subject@": words}
    made = []
    for template, path in ((settings.FILE, folder / settings.FILE), ("domain.toml", domain)):
        text = (files("paintcli.prompts") / "init" / template).read_text("utf-8")
        for mark, value in filled.items():
            text = text.replace(mark, value)
        write_atomic(path, text.encode())
        made.append(path)
    (folder / "pool").mkdir(exist_ok=True)
    return [*made, folder / "pool"]
