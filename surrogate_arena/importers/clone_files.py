"""Files of a clone: found by folder and ending, their language by name."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from arena.data.errors import UsageError, argument
from arena.data.languages import MIRACL_LANGUAGES, read_language
from surrogate_arena.importers.tables import TABLE_SUFFIXES

_LOG = logging.getLogger(__name__)
_PARTS = re.compile(r"[^A-Za-z]+")


def files_below(
    paths: Sequence[Path | str], suffixes: Sequence[str] = TABLE_SUFFIXES
) -> list[Path]:
    """List files as they were named, and, sorted, those with some endings in folders."""
    files: dict[Path, None] = {}
    for path in paths:
        found = sorted(_files_at(Path(path), tuple(suffixes)))
        files.update(dict.fromkeys(found))
    if not files:
        named = ", ".join(map(str, paths)) or "no path"
        raise UsageError(f"there is no file to read in {named}; expected {', '.join(suffixes)}")
    return list(files)


def _files_at(path: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    # A folder with more files than this is no clone of a data set
    most_files = 100_000
    if path.is_file():
        yield path
        return
    if not path.is_dir():
        raise UsageError(f"there is no file or folder {path}")
    n_files = 0
    for folder, folders, names in os.walk(path):
        # The walk goes into the folders that are left in this list.
        folders[:] = [name for name in folders if not name.startswith(".")]
        # Counted before any is opened: a wrong folder may be a whole disk.
        n_files += len(names)
        if n_files > most_files:
            raise UsageError(f"{path} holds more than {most_files:,} files; name its parts")
        for name in names:
            if name.endswith(suffixes) and not name.startswith("."):
                yield Path(folder, name)


def shown_path(path: Path, below: Sequence[Path | str]) -> str:
    """Return a file's path in the named folder, or its last parts."""
    for folder in map(Path, below):
        if folder.is_dir() and path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return "/".join(path.parts[-2:]) if len(path.parts) > 1 else path.name


def bare_name(path: Path) -> str:
    """Return ``gpt-4.1`` of ``gpt-4.1.csv.gz``."""
    return re.sub(r"\.[a-z]+(\.gz|\.zst)?$", "", path.name)


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """Return a name for each file: its own, or its folder's where files share a name."""
    names = [bare_name(path) for path in paths]
    folders = [path.resolve().parent.name for path in paths]
    if len(set(names)) == len(names):
        return names
    if len(set(folders)) == len(folders):
        return folders
    return [f"{folder}/{name}" for folder, name in zip(folders, names, strict=True)]


def language_of(path: Path, below: Sequence[Path | str], language: str | None = None) -> str | None:
    """Return the language of a file: one of MIRACL's, by its own name or that of a folder.

    ``en/dev-00000-of-00001.parquet``, ``en.jsonl`` and ``topics.miracl-v1.0-en-dev.tsv`` are
    English. Folders above those in ``below`` do not count; ``language`` overrules names.
    """
    if language is not None:
        return language
    holders = [folder for folder in map(Path, below) if path.is_relative_to(folder)]
    top = holders[0] if holders and holders[0].is_dir() else path.parent
    folders = [top.resolve().name, *path.parent.relative_to(top).parts]
    # The nearest name counts: the file's, then those of folders, then the last part of the file's.
    stem = path.name.partition(".")[0]
    names = [stem, *reversed(folders), *reversed(_PARTS.split(path.name))]
    return next((name for name in names if name in MIRACL_LANGUAGES), None)


def checked_language(name: str | None) -> str | None:
    """Return the code of a language's code, English name, or tag; log a tag's region."""
    if name is None:
        return None
    reading = read_language(name)
    if reading.code is None:
        raise UsageError(f"{name!r} is not a language code; {reading.hint}")
    if reading.remark:
        _LOG.warning("Language: %s", reading.remark)
    return reading.code


def without_language(paths: Iterable[str]) -> UsageError:
    """Return the error of files whose names do not tell their language."""
    first = ", ".join(list(paths)[:3])
    return UsageError(
        f"the language of {first} is not known: put it in a folder named by the language's code "
        f"(en/…), or give {argument('language')}"
    )
