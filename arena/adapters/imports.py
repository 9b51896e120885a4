"""Data sets of others as arenas: one reader a kind of source, and one way to write them down."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from arena.adapters.answer_tables import TABLE, read_answer_tables
from arena.adapters.collected import ForeignArena
from arena.adapters.field_maps import kinds
from arena.adapters.lmarena import read_battles, read_fastchat
from arena.adapters.memerag import read_memerag_answers
from arena.adapters.miracl import read_miracl
from arena.adapters.mirage import read_mirage
from arena.adapters.tool_records import read_tool_records
from arena.data.errors import UsageError, checked_choice
from arena.data.files import replaced_folder
from arena.data.folder import write_arena
from arena.data.rows import write_rows
from arena.data.schema import INFO_FILE

Reader = Callable[..., ForeignArena]

READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "mirage": read_mirage,
        "miracl": read_miracl,
        "memerag": read_memerag_answers,
        "lmarena": read_battles,
        "fastchat": read_fastchat,
        TABLE: read_answer_tables,
        **{tool: partial(read_tool_records, tool) for tool in kinds() if tool != TABLE},
    }
)
"""Reader of each kind of source: paths, and options by name."""

FEATURES_FILE = "published_features.parquet"
APART_FILE = "apart_answers.jsonl.gz"


def import_arena(kind: str, paths: Sequence[Path | str], **options: object) -> ForeignArena:
    """Read what others published as an arena.

    Args:
        kind: One of ``READERS``.
        paths: Files, folders, or clones of repositories.
        options: Options of that kind's reader, such as ``language`` or ``name``.

    Returns:
        The arena, what was left out and why, and published features, if there are any.

    Raises:
        UsageError: For an unknown kind or option, and as the reader says.
        DataError: With every problem of all files.
    """
    known = reader_options(kind)
    for name in options:
        checked_choice(name, known, f"option of {kind}")
    return READERS[kind](paths, **options)


def reader_options(kind: str) -> list[str]:
    """Return the options that a kind of source has.

    Raises:
        UsageError: For an unknown kind.
    """
    reader = READERS[checked_choice(kind, READERS, "kind of source")]
    return [name for name in inspect.signature(reader).parameters if name != "paths"]


@dataclass(frozen=True)
class WrittenImport:
    """What was written.

    Attributes:
        folder: The arena folder.
        counts: Rows by table: ``languages``, ``systems``, ``questions``, ``answers``,
            ``judgments``, ``published_ratings``, ``apart``.
        features: Table of published features, or None.
        apart: Answers of the systems kept apart, or None.
    """

    folder: Path
    counts: dict[str, int]
    features: Path | None
    apart: Path | None


def check_import_folder(folder: Path | str, is_replaced: bool = False) -> None:
    """Make sure, before anything is read, that an arena can be written to a folder.

    Args:
        folder: Where it is to go.
        is_replaced: Whether an arena folder that is there may be replaced, with all it holds.

    Raises:
        UsageError: If it is a file, or a folder with something in it that may not be replaced.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a folder to write to")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not (folder / INFO_FILE).is_file():
        raise UsageError(f"{folder} holds something that is not an arena; name another folder")
    if not is_replaced:
        raise UsageError(f"{folder} holds an arena; name another folder, or say --replace")


def write_import(
    foreign: ForeignArena,
    folder: Path | str,
    apart: Sequence[str] = (),
    *,
    is_replaced: bool = False,
) -> WrittenImport:
    """Write an arena folder, whole or not at all.

    Published features go beside the tables, for ``board --feature-table``.

    Args:
        foreign: What was read.
        folder: Where to; see ``check_import_folder``.
        apart: Systems to keep out of the arena; their answers are written to a file of their own,
            which ``rank`` reads. Their judgments and published ratings are left out.
        is_replaced: Whether an arena folder that is there may be replaced.

    Raises:
        UsageError: If the folder cannot be written to, or the arena has no such system.
    """
    folder = Path(folder)
    check_import_folder(folder, is_replaced)
    arena, features = foreign.arena, foreign.features
    for system in apart:
        if system == arena.info.reference_system:
            raise UsageError(f"{system!r} is the reference; others need its answers in the arena")
        checked_choice(system, arena.info.systems, "system to keep apart")
    kept = arena.part(systems=[name for name in arena.info.systems if name not in apart])
    answers = arena.answers[arena.answers["system"].isin(apart)].reset_index(drop=True)
    with replaced_folder(folder) as writing:
        write_arena(kept, writing)
        if len(features):
            write_rows(features, writing / FEATURES_FILE)
        if len(answers):
            write_rows(answers, writing / APART_FILE)
    counts = {
        "languages": len(kept.info.languages),
        "systems": len(kept.info.systems),
        "questions": len(kept.queries),
        "answers": len(kept.answers),
        "judgments": len(kept.judgments),
        "published_ratings": len(kept.published_ratings),
        "apart": len(answers),
    }
    return WrittenImport(
        folder,
        counts,
        folder / FEATURES_FILE if len(features) else None,
        folder / APART_FILE if len(answers) else None,
    )
