"""Votes and labels as they are given: lines at the end of a file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from arena.data.errors import UsageError
from arena.data.folder import VOTES_FILE
from arena.data.writing import locked_folder, synchronize


def append_vote(folder: Path, judgment: Mapping[str, str]) -> int:
    """Write a vote to ``votes.jsonl`` of an arena folder, as ``append_line`` does."""
    return append_line(folder / VOTES_FILE, judgment)


def append_line(path: Path, record: Mapping[str, object]) -> int:
    """Write a record, once and for all, and return the size of the file in bytes."""
    line = json.dumps(dict(record), ensure_ascii=False) + "\n"
    with locked_folder(path.parent):
        is_new = not os.path.lexists(path)
        if not is_new and not path.is_file():
            raise UsageError(f"{path} is no file; move it away, so that it can be written")
        with path.open("ab+") as stream:
            _cut_torn_line(stream)
            stream.write(line.encode())
            stream.flush()
            os.fsync(stream.fileno())
            size = stream.tell()
        if is_new:
            synchronize(path)
    return size


def _cut_torn_line(stream: IO[bytes]) -> None:
    """Remove a last line that has no end: its writer was killed."""
    stream.seek(0)
    content = stream.read()
    end = content.rfind(b"\n") + 1
    if end < len(content):
        stream.truncate(end)
