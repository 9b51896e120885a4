"""Reading the CSV tables of a board folder, with columns that older boards lack left missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from arena.errors import DataError, Problem

REBUILD = "build the board anew"


@dataclass(frozen=True)
class TableSchema:
    """Columns of a table.

    Attributes:
        file: Name of its file.
        texts: Columns of text that it must have.
        numbers: Columns of numbers that it must have.
        later_texts: Columns of text that older boards lack; empty there.
        later_numbers: Columns of numbers that older boards lack; NaN there.
    """

    file: str
    texts: tuple[str, ...]
    numbers: tuple[str, ...]
    later_texts: tuple[str, ...] = ()
    later_numbers: tuple[str, ...] = ()

    @property
    def all_texts(self) -> tuple[str, ...]:
        """Columns of text."""
        return self.texts + self.later_texts

    @property
    def all_numbers(self) -> tuple[str, ...]:
        """Columns of numbers."""
        return self.numbers + self.later_numbers


BOARD = TableSchema(
    "board.csv",
    ("language", "system"),
    ("rank", "rating", "coverage", "answers"),
    ("split", "note"),
    ("low", "high", "arena_rank", "arena_rating", "arena_low", "arena_high"),
)
OVERALL = TableSchema(
    "overall.csv",
    ("system",),
    ("rank", "mean_rank", "mean_rating", "languages", "coverage"),
    (),
    ("arena_rank", "arena_mean_rank"),
)
IMPORTANCES = TableSchema(
    "importances.csv",
    ("language", "feature"),
    ("importance",),
    (),
    (
        *("tournament_mean", "tournament_low", "tournament_q1"),
        *("tournament_median", "tournament_q3", "tournament_high"),
    ),
)
TIERS = TableSchema("tiers.csv", ("language", "system"), ("tier", "rank_low", "rank_high"))
WIN_MATRIX = TableSchema(
    "win_matrix.csv", ("language", "system", "opponent"), ("wins", "losses", "ties")
)
NEIGHBOURS = TableSchema("neighbours.csv", ("language", "system", "neighbour"), ("distance",))


def read_table(folder: Path, schema: TableSchema) -> pd.DataFrame:
    """Read a table: missing texts as empty ones, missing numbers as NaN.

    Raises:
        DataError: If the file is damaged, a column is missing or a number is none.
    """
    path = folder / schema.file
    try:
        table = pd.read_csv(
            path,
            dtype=dict.fromkeys(schema.all_texts, "str"),
            keep_default_na=False,
            na_values=[""],
            encoding="utf-8",
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise DataError([_damaged(schema.file, error)]) from error
    problems = [
        Problem(schema.file, 1, name, None, "there is no such column", REBUILD)
        for name in schema.texts + schema.numbers
        if name not in table
    ]
    if problems:
        raise DataError(problems)
    return _typed(table, schema)


def read_optional_table(folder: Path, schema: TableSchema) -> pd.DataFrame | None:
    """Read a table, or return None where the folder has no such file."""
    return read_table(folder, schema) if (folder / schema.file).is_file() else None


def _damaged(source: str, error: Exception) -> Problem:
    return Problem(source, None, None, None, f"cannot be read ({error})", REBUILD)


def _typed(table: pd.DataFrame, schema: TableSchema) -> pd.DataFrame:
    columns: dict[str, pd.Series] = {}
    problems: list[Problem] = []
    for name in schema.all_texts:
        columns[name] = table[name].fillna("") if name in table else _blank(table, "")
    for name in schema.all_numbers:
        if name not in table:
            columns[name] = _blank(table, float("nan"))
            continue
        columns[name] = pd.to_numeric(table[name], errors="coerce").astype(float)
        problems += _not_numbers(table[name], columns[name], schema.file)
    if problems:
        raise DataError(problems)
    return pd.DataFrame(columns)


def _blank(table: pd.DataFrame, value: object) -> pd.Series:
    return pd.Series([value] * len(table), index=table.index)


def _not_numbers(found: pd.Series, numbers: pd.Series, source: str) -> Sequence[Problem]:
    wrong = found[numbers.isna() & found.notna()]
    return [
        Problem(source, int(row) + 2, str(found.name), value, "is no number", REBUILD)
        for row, value in wrong.items()
    ]
