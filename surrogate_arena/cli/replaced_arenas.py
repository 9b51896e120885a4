"""Arena folders that may be replaced: those that hold nothing but what an import writes."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from arena.data.errors import UsageError
from arena.data.folder import find_table_file, table_files
from arena.data.schema import DIGESTS, INFO_FILE, JUDGMENTS
from arena.data.tables import read_rows
from arena.data.wording import count_of, first_of
from arena.data.writing import LOCK_FILE

FEATURES_FILE = "published_features.parquet"
APART_FILE = "apart_answers.jsonl.gz"
_IMPORTED = (INFO_FILE, LOCK_FILE, FEATURES_FILE, APART_FILE, *table_files())
"""What an import writes, so that another one can write it again, and what holds nothing."""


def check_arena_target(folder: Path | str, is_replaced: bool = False) -> None:
    """Make sure, before anything is read, that an arena can be written to a folder.

    Raises:
        UsageError: If the folder holds an arena that is not to be replaced, or anything else, such
            as votes or the replies of judges.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a folder to write to")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not (folder / INFO_FILE).is_file():
        raise UsageError(f"{folder} holds something that is not an arena; name another folder")
    further = sorted(path.name for path in folder.iterdir() if path.name not in _IMPORTED)
    n_given = _n_verdicts_given_here(folder)
    if n_given:
        further.append(count_of(n_given, "verdict"))
    if further:
        place = quote(str(folder))
        raise UsageError(
            f"{folder} holds an arena, and {first_of(further, 3)}, which an import cannot make "
            f"again; name another folder, or keep this one: mv {place} {place}.before"
        )
    if not is_replaced:
        raise UsageError(f"{folder} holds an arena; name another folder, or add --replace")


def _n_verdicts_given_here(folder: Path) -> int:
    """Count verdicts by ``vote`` and ``judge``, which alone note what answers they saw."""
    path = find_table_file(folder, JUDGMENTS.name)
    if path is None:
        return 0
    table = read_rows(path).table
    return int(table[DIGESTS[0]].notna().sum()) if DIGESTS[0] in table else 0
