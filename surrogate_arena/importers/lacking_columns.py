"""What to say where columns of a table are not known: which are missing, and how to name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import pandas as pd

from arena.data.wording import first_of
from surrogate_arena.importers.cells import is_missing_cell, read_number
from surrogate_arena.importers.columns import (
    FILE,
    NEEDED,
    NEEDED_OF_PAIRS,
    bare_column,
    chosen_columns,
    field_names,
)
from surrogate_arena.importers.record_values import paths_of
from surrogate_arena.importers.table_columns import holds_records
from surrogate_arena.importers.winner_words import word_of

_MOST_RECORDS = 50
_MOST_SHOWN = 20


def lacking_columns(frames: Sequence[pd.DataFrame], columns: Mapping[str, str]) -> str:
    """Return which fields of answers, or of pairs, no column is known for, and what to do.

    Args:
        frames: Tables of one layout.
        columns: Field to the column that the user chose.
    """
    fields = {**field_names("answers"), **field_names("pairs")}
    needed = NEEDED_OF_PAIRS if _are_pairs(frames, columns) else NEEDED
    fields = {field: fields[field] for field in (*needed, "reference", "passages")}
    named = {field: name for field, name in columns.items() if field in fields}
    names = dict(chosen_columns(frames, fields, named).names)
    for field in [field for field in names if field.startswith("answer")]:
        if holds_records(frames, names[field]):
            del names[field]
    lacking = [field for field in needed if field not in names]
    found = [f"{field} from {names[field]!r}" for field in needed if field in names]
    texts = _texts_in(frames, set(names.values()))
    listed = list(dict.fromkeys(map(str, chain.from_iterable(frames))))
    parts = [f"no column is known for {', '.join(lacking)}"]
    if found:
        parts[0] += f" ({', '.join(found)})"
    parts.append(f"the columns are {', '.join(listed) or 'none'}")
    nested = [path for path in texts if path not in listed]
    if nested:
        parts.append(f"texts in them are at {first_of(nested, _MOST_SHOWN)}")
    parts.append(_advice(names, lacking, texts))
    own = [path for path in texts if path in listed]
    if needed == NEEDED and lacking == ["system", "answer"] and len(own) > 1:
        parts.append(
            "if each column holds the answers of one system, begin their names with 'answer ', "
            f"such as 'answer {own[0]}'"
        )
    return "; ".join(parts)


def _advice(names: Mapping[str, str], lacking: Sequence[str], texts: Sequence[str]) -> str:
    """Say what to do where columns are missing.

    Args:
        names: Field to the column that is known for it.
        lacking: Fields that no column is known for.
        texts: Columns, and paths in them, with texts that no field is read from.
    """
    if set(lacking) <= {"system_a", "system_b"}:
        # The texts that are left are no names.
        return f"add columns {' and '.join(lacking)} with the names of the systems"
    if "system_a" in names and {"answer_a", "answer_b"} <= set(lacking):
        return "battles without answers are read by 'import lmarena', and by 'fit'"
    if texts or lacking[0] == "system":
        return f"say which is which with --column, such as {_example(lacking, texts)}"
    return f"add a column {lacking[0]}"


def _are_pairs(frames: Sequence[pd.DataFrame], columns: Mapping[str, str]) -> bool:
    """Tell whether tables seem to be of pairs: a second side is known."""
    names = {bare_column(column) for column in map(str, chain.from_iterable(frames))}
    second = ("system_b", "answer_b")
    known = set(chain.from_iterable(field_names("pairs")[field] for field in second))
    return not names.isdisjoint(known) or not columns.keys().isdisjoint(second)


def _example(lacking: Sequence[str], texts: Sequence[str]) -> str:
    field = lacking[0]
    example = FILE
    if not field.startswith("system"):
        names = set(field_names("pairs" if field[-2:] in ("_a", "_b") else "answers")[field])
        usual = [path for path in texts if bare_column(path.rpartition(".")[2]) in names]
        example = next(iter([*usual, *texts]), "NAME")
    elif field != "system":
        example = "NAME"
    shown = f"--column {field}={example}"
    return f"{shown} (the name of each file)" if example == FILE else shown


def paths_in(frame: pd.DataFrame) -> list[str]:
    """Return the paths in the cells of a table that lead to texts and numbers."""
    paths: dict[str, None] = {}
    for record in frame.head(_MOST_RECORDS).to_dict(orient="records"):
        for path, value in paths_of(record):
            if path not in frame and isinstance(value, str | int | float):
                paths[path] = None
    return list(paths)


def paths_of_verdicts(frame: pd.DataFrame) -> list[str]:
    """Return the columns, and the paths in them, that hold words for a winner and nothing else."""
    sound: dict[str, bool] = {}
    for record in frame.head(_MOST_RECORDS).to_dict(orient="records"):
        for path, value in paths_of(record):
            if not is_missing_cell(value):
                is_word = isinstance(value, str) and word_of(value) is not None
                sound[path] = sound.get(path, True) and is_word
    return [path for path, is_sound in sound.items() if is_sound]


def _texts_in(frames: Sequence[pd.DataFrame], taken: set[str]) -> list[str]:
    """Return the columns, and the paths in them, that hold texts and are not taken."""
    texts: dict[str, None] = {}
    for frame in frames:
        for record in frame.head(_MOST_RECORDS).to_dict(orient="records"):
            for path, value in paths_of(record):
                if path in taken or path.partition(".")[0] in taken:
                    continue
                is_text = isinstance(value, str) and not is_missing_cell(value)
                if is_text and read_number(value) is None:
                    texts[path] = None
    texts.pop(FILE, None)
    return list(texts)
