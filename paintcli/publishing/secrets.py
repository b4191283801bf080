"""A last look through a folder before it leaves this machine: tokens, keys, and files that are never meant to travel.

Every file is read as bytes whatever its name: text, tensors, pictures. Compressed text in PNG files and the members of
zip archives (a wheel is one) are unpacked first. What is looked for: the forms of well-known tokens, private keys, and
the very values of this machine's Hub token and of environment variables named like secrets. What cannot be found
this way: a secret in an encoding of its own, or cut in two.
"""

from __future__ import annotations

import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from paintcli.errors import PaintError

FORMS = {
    "a Hugging Face token": rb"\bhf_[A-Za-z0-9]{30,}",
    # words with hyphens ("sk-loading-indicator") are no keys: at least one digit, one capital
    "an API key": rb"(?<![A-Za-z0-9_-])sk-(?=[\w-]{0,200}\d)(?=[\w-]{0,200}[A-Z])[\w-]{20,}",
    "an AWS access key": rb"(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])",
    "an AWS secret key": rb"(?i)aws_secret_access_key[\"']?\s*[=:]\s*[\"']?[a-z0-9/+]{40}(?![a-z0-9/+])",
    "a GitHub token": rb"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{50,})",
    "a Google API key": rb"\bAIza[0-9A-Za-z_-]{35}\b",
    "a Slack token": rb"\bxox[abprs]-[0-9A-Za-z-]{20,}",
    "a private key": rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----",
}
NAMES = re.compile(
    r"\.env(\..+)?|\.netrc|\.npmrc|\.pypirc|\.git-credentials|id_(rsa|dsa|ecdsa|ed25519)|.+\.(pem|p12|pfx|key)|"
    r"credentials(\.json)?|stored_tokens|token"
)
SECRET_VARIABLE = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY")
SHORTEST = 12
"""Characters; a shorter value of such a variable is "true" or "1000" more often than a secret."""

PNG = b"\x89PNG\r\n\x1a\n"
UNPACKED = 16 << 20
"""Bytes a compressed text of a PNG is unpacked to at most."""


@dataclass(frozen=True)
class Leak:
    """Something that must not leave. `line` counts from 1 in text; None in other files. Never holds the secret."""

    file: str
    line: int | None
    what: str

    def __str__(self) -> str:
        return f"{self.file}{f', line {self.line}' if self.line else ''}: {self.what}"


def own_values() -> dict[str, bytes]:
    """What the secrets of this machine are called → their values: the Hub token, and variables named like secrets."""
    from huggingface_hub import get_token

    found = {
        f"the value of {name}": value.encode()
        for name, value in os.environ.items()
        if SECRET_VARIABLE.search(name.upper()) and len(value) >= SHORTEST and not Path(value).exists()
    }
    if token := get_token():
        found["your Hugging Face token"] = token.encode()
    return found


def scan(folder: Path, values: Mapping[str, bytes] | None = None) -> list[Leak]:
    """Everything in the folder that looks like a secret. `values` (default `own_values()`) are looked for literally."""
    values = own_values() if values is None else values
    leaks = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        if NAMES.fullmatch(path.name):
            leaks.append(Leak(name, None, "a file of this name holds secrets"))
        for inside, data in contents(path.read_bytes()):
            leaks += look(f"{name}{inside}", data, values)
    return leaks


def refuse(folder: Path) -> None:
    """Raises PaintError, naming file and line and never the secret, when the folder holds one."""
    if leaks := scan(folder):
        more = f" (and {len(leaks) - 1} more)" if len(leaks) > 1 else ""
        raise PaintError(f"Nothing was sent: {leaks[0]}{more}. Take it out and publish again.")


def contents(data: bytes) -> Iterator[tuple[str, bytes]]:
    """("", the bytes), then what is packed inside: (" (text)" or "!member", unpacked bytes)."""
    yield "", data
    if data.startswith(PNG):
        for text in png_texts(data):
            yield " (text in the picture)", text
    elif zipfile.is_zipfile(BytesIO(data)):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            for member in archive.namelist():
                yield f"!{member}", archive.read(member)


def png_texts(data: bytes) -> Iterator[bytes]:
    """The texts of a PNG, each by itself (a checksum follows it) and unpacked where it is compressed."""
    at = len(PNG)
    while at + 8 <= len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        if kind in (b"tEXt", b"zTXt", b"iTXt"):
            yield body
            start = body.find(b"\x78")  # where a zlib stream begins: after keyword, flags and language
            while start >= 0 and kind != b"tEXt":
                try:
                    yield zlib.decompressobj().decompress(body[start:], UNPACKED)
                    break
                except zlib.error:
                    start = body.find(b"\x78", start + 1)
        at += size + 12


def look(name: str, data: bytes, values: Mapping[str, bytes]) -> Iterator[Leak]:
    """The leaks in one run of bytes, at most one of each kind."""
    is_text = b"\0" not in data[:8192]
    places = {what: found.start() for what, form in FORMS.items() if (found := re.search(form, data))}
    places |= {what: at for what, value in values.items() if (at := data.find(value)) >= 0}
    for what, at in places.items():
        yield Leak(name, data.count(b"\n", 0, at) + 1 if is_text else None, what)


def find(folder: Path, words: bytes) -> str:
    """The first file of a folder that holds these bytes; "" for none, and for words too short to mean anything."""
    if len(words) < 6:  # "/root" is in many a text
        return ""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        if words in path.read_bytes():
            return path.relative_to(folder).as_posix()
    return ""
