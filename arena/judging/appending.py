"""Changing an arena folder in place: answers, judgments, further tables, failures, states."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from arena.data.errors import DataError, Problem, UsageError, checked_choice
from arena.data.files import open_text
from arena.data.folder import (
    FURTHER_FOLDER,
    VOTES_FILE,
    find_table_file,
    read_arena,
    read_info,
    read_own_answers,
    read_votes,
    write_info,
)
from arena.data.frames import (
    empty_rows,
    keys_of_rows,
    row_problems,
    with_columns,
)
from arena.data.names import refuse_names_alike
from arena.data.rows import are_in
from arena.data.schema import (
    ANSWER_KEY,
    ANSWERS,
    DIGESTS,
    FURTHER,
    JUDGMENT_KEY,
    JUDGMENTS,
    QUESTION_KEY,
    ArenaInfo,
    TableSchema,
)
from arena.data.systems import HELD, LISTED, STATE, SYSTEMS_TABLE
from arena.data.tables import SUFFIXES, json_lines, read_rows, row_suffix, write_rows
from arena.data.types import Flags
from arena.data.writing import atomic_path, locked_folder, synchronize

Table = Literal["answers", "judgments"]


_APPENDED: dict[Table, tuple[TableSchema, list[str]]] = {
    "answers": (ANSWERS, ANSWER_KEY),
    "judgments": (JUDGMENTS, JUDGMENT_KEY),
}
"""Tables that rows are added to, with the columns that tell their rows apart."""
_SIDES = ["system_a", "system_b", *DIGESTS]
_MIRRORED = ["system_b", "system_a", *reversed(DIGESTS)]


def set_state(folder: Path | str, systems: Collection[str], state: str) -> Path:
    """Write the state of systems of an arena folder to its ``systems.csv``; return the file.

    Raises:
        UsageError: If the folder is no arena folder, has no such system, or would lose its
            reference.
        DataError: If its content is at fault.
    """
    folder = Path(folder)
    with locked_folder(folder):
        return _set_state(folder, systems, state)


def _set_state(folder: Path, systems: Collection[str], state: str) -> Path:
    arena = read_arena(folder, is_judged=False, has_unlisted=True)
    for system in systems:
        checked_choice(system, arena.info.systems, "system of this arena")
    if arena.info.reference_system in systems and state != LISTED:
        raise UsageError(f"{arena.info.reference_system!r} is the reference of all others")
    attributes = arena.attributes.set_index("system")
    rows = attributes.reindex(attributes.index.union(list(systems)))
    rows.loc[list(systems), STATE] = state
    path = find_table_file(folder, SYSTEMS_TABLE) or folder / f"{SYSTEMS_TABLE}.csv"
    write_rows(rows.rename_axis("system").reset_index(), path)
    return path


def append_rows(
    folder: Path | str,
    name: Table,
    rows: pd.DataFrame,
    *,
    replacing: bool = False,
    state: str = "",
) -> tuple[Path, int]:
    """Add rows to an arena folder's table, in the file's format.

    The file is replaced in one step, under a lock. Rows whose key exists stay, unless
    ``replacing``; judgments of a pair's former texts are replaced. Systems of new answers are
    declared in ``arena.json``, with ``state`` in ``systems.csv``, and votes in ``votes.jsonl``
    become judgments. Returns the file, and how many rows were added.
    """
    folder = Path(folder)
    with locked_folder(folder):
        if name == JUDGMENTS.name:
            _settle_votes(folder)
        return _add_rows(folder, name, rows, replacing, state)


def add_answers(
    folder: Path | str,
    answers: pd.DataFrame | Path | str,
    *,
    is_held: bool = False,
) -> tuple[Path, int, int]:
    """Add answers of new or known systems to an arena folder.

    Args:
        folder: Arena folder; new systems are declared in its ``arena.json``.
        answers: Columns ``query_id, language, system, answer``, or their file; those that the arena
            has are skipped.
        is_held: Keep its systems off boards and from judges.

    Returns:
        The file, and how many answers were added and skipped.

    Raises:
        UsageError: If there is no such folder or file, or a new system's name looks like another's.
        DataError: For malformed answers, and those that have an unknown question or differ from the
            arena's; nothing is added.
    """
    arena = read_arena(folder, has_unlisted=True)
    table = read_own_answers(answers, arena.queries)
    answers_of_arena = arena.answers.set_index(ANSWER_KEY)["answer"]
    keys = pd.MultiIndex.from_frame(table[ANSWER_KEY])
    present = pd.Series(answers_of_arena.reindex(keys).to_numpy())
    differing = table[present.notna() & (present != table["answer"])]
    problems = []
    source = answers.name if isinstance(answers, Path) else "answers"
    for key in differing[ANSWER_KEY].itertuples(index=False, name=None):
        fault = "the arena holds another answer of this system to this question"
        hint = "leave it out, or give the new version of the system a name of its own"
        problems.append(Problem(source, None, "+".join(ANSWER_KEY), key, fault, hint))
    if problems:
        raise DataError(problems)
    systems = set(arena.info.systems)
    refuse_names_alike(set(table["system"]) - systems, systems)
    file, n_added = append_rows(folder, "answers", table, state=HELD if is_held else "")
    return file, n_added, len(table) - n_added


def append_further(
    folder: Path, name: str, rows: pd.DataFrame, key: list[str], *, replacing: bool = False
) -> None:
    """Add rows to a further table, whose ``key`` tells rows apart."""
    path = folder / FURTHER_FOLDER / f"{name}.jsonl"
    with locked_folder(folder):
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            write_rows(rows, path)
            return
        _, is_kept, new = _merged(path, FURTHER, key, rows, replacing)
        _rewrite_lines(path, is_kept, new)


def settle_votes(folder: Path) -> None:
    """Move the votes of ``votes.jsonl`` into the judgments."""
    with locked_folder(folder):
        _settle_votes(folder)


def _settle_votes(folder: Path) -> None:
    votes = read_votes(folder)
    if votes is None:
        return
    path, _ = _add_rows(folder, "judgments", votes.table, replacing=True)
    # On the disk before the votes leave it: the power may fail in between.
    synchronize(path)
    (folder / VOTES_FILE).unlink()


def _add_rows(
    folder: Path, name: Table, rows: pd.DataFrame, replacing: bool, state: str = ""
) -> tuple[Path, int]:
    info = read_info(folder)
    schema, key = _APPENDED[name]
    path = find_table_file(folder, name)
    old, is_kept, new = _merged(path, schema, key, rows, replacing)
    # Declared first: a system without answers is sound, answers of an unknown one are not.
    _declare_systems(new.get("system", ()), info, folder)
    if state:
        _set_state(folder, set(rows["system"]), state)
    if path is None:
        path = folder / f"{name}{_suffix_of_new(folder)}"
        if len(new):
            write_rows(new, path)
    elif ".jsonl" in path.name:
        _rewrite_lines(path, is_kept, new)
    else:
        parts = [part for part in (old[is_kept], new.astype(object)) if len(part)]
        write_rows(pd.concat(parts or [old[is_kept]], ignore_index=True), path)
    return path, len(new)


def _merged(
    path: Path | None, schema: TableSchema, key: list[str], rows: pd.DataFrame, replacing: bool
) -> tuple[pd.DataFrame, Flags, pd.DataFrame]:
    old_rows = empty_rows(schema) if path is None else with_columns(read_rows(path), schema)
    problems = row_problems(old_rows, schema)
    if problems:
        raise DataError(problems)
    old = old_rows.table
    old_keys = keys_of_rows(old, key)
    new_keys = keys_of_rows(rows, key)
    if replacing:
        return old, ~old_keys.isin(new_keys), rows
    is_kept = ~replaced_flags(old, rows)
    return old, is_kept, rows[~new_keys.isin(old_keys[is_kept])]


def replaced_flags(old: pd.DataFrame, new: pd.DataFrame) -> Flags:
    """Return which old judgments new ones replace: same judge and pair, on former texts, (N,)."""
    if not set(DIGESTS) <= set(old.columns) & set(new.columns):
        return np.zeros(len(old), dtype=np.bool_)
    has_digests = old[list(DIGESTS)].notna().all(axis=1).to_numpy()
    old_texts = _unordered_texts(old)
    new_texts = _unordered_texts(new)
    is_same_pair = old_texts.droplevel(DIGESTS).isin(new_texts.droplevel(DIGESTS))
    return np.asarray(has_digests & is_same_pair & ~old_texts.isin(new_texts))


def _unordered_texts(judgments: pd.DataFrame) -> pd.MultiIndex:
    sides = judgments[_SIDES].astype(object)
    is_turned = (sides["system_a"] > sides["system_b"]).to_numpy()
    ordered = np.where(is_turned[:, None], sides[_MIRRORED], sides)
    table = judgments[["judge", *QUESTION_KEY]].astype(object)
    table[list(sides)] = ordered
    return pd.MultiIndex.from_frame(table)


def _suffix_of_new(folder: Path) -> str:
    answers = find_table_file(folder, "answers")
    return SUFFIXES[0] if answers is None else row_suffix(answers)


def _declare_systems(systems: Iterable[str], info: ArenaInfo, folder: Path) -> None:
    new = [name for name in dict.fromkeys(systems) if name not in info.systems]
    if new:
        write_info(info.model_copy(update={"systems": (*info.systems, *new)}), folder)


def _rewrite_lines(path: Path, is_kept: Flags, new: pd.DataFrame) -> None:
    lines = []
    with open_text(path) as stream:
        for line in stream:
            text = line.strip("\ufeff\r\n")
            if text.strip():
                lines.append(text)
    with atomic_path(path) as temporary, open_text(temporary, "wt") as stream:
        for text in np.array(lines, dtype=object)[is_kept]:
            stream.write(f"{text}\n")
        stream.writelines(json_lines(new))


def list_failures(
    path: Path, failures: pd.DataFrame, key: list[str], settled: pd.DataFrame
) -> Path | None:
    """Update a list of failures (JSON lines) without settled ones; an empty one is removed."""
    if path.is_file():
        old = read_rows(path).table
        left = old[~are_in(old, settled, key)]
        if len(left):
            failures = pd.concat([left, failures], ignore_index=True)
    if failures.empty:
        path.unlink(missing_ok=True)
        return None
    write_rows(failures, path)
    return path
