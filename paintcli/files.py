"""Files that are whole or absent: a temporary file beside the target, fsync, rename. JSON lines: append, fsync."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

from paintcli.errors import PaintError


def write_atomic(path: Path, data: bytes) -> None:
    """Write `data` to `path` or leave what was there. Raises PaintError in one sentence (full disk, no permission)."""
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o666 & ~_umask())  # mkstemp makes 0600; a picture is as readable as any other file
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise PaintError(f"{path} cannot be written: {reason(error)}.") from error


def append_json_line(path: Path, row: dict[str, Any]) -> None:
    """Append one JSON object as one line and fsync. Raises PaintError in one sentence; no half line stays."""
    append(path, json.dumps(row, ensure_ascii=False) + "\n")


def append(path: Path, text: str) -> None:
    """Append whole lines and fsync, the folder made when missing. Raises PaintError; no half line stays."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(text.encode("utf-8", "replace"))  # a page's error may hold half of a surrogate pair
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        with contextlib.suppress(OSError):
            _cut(path)  # a full disk leaves half a line; the next one must not be glued to it
        raise PaintError(f"{path} cannot be appended to: {reason(error)}.") from error


def mend(path: Path) -> None:
    """Make the last line of a JSON-lines or CSV file end: whatever follows the last line end is torn, and cut off.

    But a whole JSON object there gets its line end: a file that a person wrote often lacks the last one, and a part of
    an object is none. Absent files stay so.
    """
    if not path.is_file() or not path.stat().st_size:
        return
    with path.open("rb") as file:
        file.seek(_last_end(file))
        tail = file.read()
    if not tail:
        return
    try:
        whole = isinstance(json.loads(tail), dict)
    except ValueError:
        whole = False
    if whole:
        append(path, "\n")
    else:
        _cut(path)


def _cut(path: Path) -> None:
    """Cut off whatever follows the last line end."""
    with path.open("r+b") as file:
        file.truncate(_last_end(file))
        os.fsync(file.fileno())


def _last_end(file: BinaryIO) -> int:
    """Where the last whole line ends, 0 where there is none."""
    position = file.seek(0, os.SEEK_END)
    while position > 0:  # backwards in blocks: a run's metadata may be a gigabyte
        start = max(0, position - 65536)
        file.seek(start)
        newline = file.read(position - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        position = start
    return 0


def reason(error: OSError) -> str:
    """An OSError in words a person can act on."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return "the disk is full, free some space"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return "no permission to write there"
        case errno.ENOTDIR | errno.EEXIST:
            return "a part of the path is a file, not a folder"
        case errno.EISDIR:
            return "it is a folder"
        case errno.ENAMETOOLONG:
            return "the name is too long"
    return (error.strerror or str(error)).lower()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
