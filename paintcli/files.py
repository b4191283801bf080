"""Files that are whole or absent: a temporary file beside the target, fsync, rename. JSON lines: append, fsync."""

from __future__ import annotations

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
    """Append one JSON object as one line and fsync. Raises PaintError in one sentence."""
    line = json.dumps(row, ensure_ascii=False) + "\n"
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise PaintError(f"{path} cannot be appended to: {reason(error)}.") from error


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
