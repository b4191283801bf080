"""Files that are whole or absent: a temporary file beside the target, fsync, rename. JSON lines: append, fsync."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
from pathlib import Path
from typing import Any

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
    """Append whole lines and fsync. Raises PaintError in one sentence; no half line stays."""
    try:
        with path.open("ab") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        with contextlib.suppress(OSError):
            mend(path)  # a full disk leaves half a line; the next one must not be glued to it
        raise PaintError(f"{path} cannot be appended to: {reason(error)}.") from error


def mend(path: Path) -> None:
    """Cut a torn last line off a JSON-lines or CSV file: whatever follows the last line end. Absent files stay so."""
    if not path.is_file() or not path.stat().st_size:
        return
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        position = end
        while position > 0:  # backwards in blocks: a run's metadata may be a gigabyte
            start = max(0, position - 65536)
            file.seek(start)
            newline = file.read(position - start).rfind(b"\n")
            if newline >= 0:
                position = start + newline + 1
                break
            position = start
        if position < end:
            file.truncate(position)
            os.fsync(file.fileno())


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
