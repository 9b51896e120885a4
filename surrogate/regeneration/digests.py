"""Digests of files, by which a change is noticed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from arena.consistency import INFO_FILE
from arena.folder import TABLES
from arena.rows import SUFFIXES

Digests = dict[str, str]
"""Name of a file to the SHA-256 of its bytes."""

_QUERIES, _ANSWERS, _JUDGMENTS = TABLES

ARENA_CONTENT = (
    INFO_FILE,
    *(f"{table}{suffix}" for table in (_QUERIES, _ANSWERS) for suffix in SUFFIXES),
)
"""Files of an arena folder that answers are measured on."""

ARENA_JUDGMENTS = tuple(f"{_JUDGMENTS}{suffix}" for suffix in SUFFIXES)

ARENA_REMARKS = ("failed_judgments.jsonl", "metaevaluation.json")
"""Files of an arena folder that are told of on a board."""


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digests_of(folder: Path, names: tuple[str, ...]) -> Digests:
    """Return the digests of those of some files that a folder holds."""
    return {name: file_digest(folder / name) for name in names if (folder / name).is_file()}


def folder_digests(folder: Path) -> Digests:
    """Return the digests of all files in a folder, by their path within it."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in files}
