"""Options that name what is to be written: tested as options are read, before any work."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from arena.data.errors import UsageError
from arena.data.files import resolved


def check_target(path: Path | str, is_folder: bool) -> None:
    """Check, before any work, that a file or folder can be written, by writing beside it.

    Args:
        path: File to write in a folder that is there, or folder to write, whose parents are made.
        is_folder: Which of the two.

    Raises:
        UsageError: If it cannot.
    """
    try:
        whole = resolved(Path(path))
        os.fsencode(str(whole)).decode()
        if whole.exists() and whole.is_dir() != is_folder:
            kind = "file; name a folder" if is_folder else "folder; name a file"
            raise UsageError(f"{whole} is a {kind} to write to")
        if whole.exists() and not is_folder and not whole.is_file():
            return  # a device or pipe, written into
        there = whole.parent
        if is_folder:
            there = next(place for place in (whole, *whole.parents) if place.exists())
        if not there.is_dir():
            why = f"{there} is a file" if there.exists() else f"there is no folder {there}"
            raise UsageError(f"{why}; make it, or name another place to write {whole.name} to")
        with tempfile.TemporaryFile(dir=there) as probe:
            probe.write(b"x")
            probe.flush()
    except UnicodeDecodeError:
        raise UsageError(f"{str(path)!a} is not UTF-8; name another place to write to") from None
    except OSError as error:
        raise UsageError(f"nothing can be written to {path} ({error})") from error


def _new_folder(path: Path | None) -> Path | None:
    if path is not None:
        check_target(path, is_folder=True)
    return path


def _new_file(path: Path | None) -> Path | None:
    if path is not None:
        check_target(path, is_folder=False)
    return path


OUT_FOLDER: Any = {"callback": _new_folder}
"""Of options: a folder to write."""
OUT_FILE: Any = {"callback": _new_file}
