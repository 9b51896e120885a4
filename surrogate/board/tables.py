"""The files of a board folder: their names, what their columns are, and how they are read.

Nothing else in the project names a file of a board or reads one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pandas as pd
import pyarrow as pa
from pydantic import BaseModel

from arena.data.errors import DataError, Problem, UsageError
from arena.data.tables import guarded_csv, read_rows
from features.engine.extraction import KEY, feature_columns

Content = TypeVar("Content", bound=BaseModel)

DECIMALS = 6
"""Decimals of every number of a board."""
REBUILD = "build the board again"

SUMMARY_FILE = "summary.json"
JUDGE_REPORT_FILE = "judge_report.json"
FEATURES_FILE = "features.parquet"
SURROGATE_FILE = "surrogate.zip"
MANIFEST_FILE = "manifest.json"
FEATURE_CACHE = ".feature-cache"
"""Folder beside a board's files that keeps what was measured; no part of the board."""

TEXTS = {
    "language",
    "system",
    "opponent",
    "neighbor",
    "feature",
    "split",
    "note",
}
"""Columns that are texts, never missing."""
COUNTS = {
    "rank",
    "rank_low",
    "rank_high",
    "tier",
    "arena_rank",
    "answers",
    "languages",
    "wins",
    "losses",
    "ties",
}
"""Columns that are whole numbers, or missing. All others are floats, or missing."""
BY_JUDGE = "rating_by:"
"""How columns begin that are ratings by one judge alone, whose name follows."""


@dataclass(frozen=True)
class BoardTable:
    """A table of a board.

    Attributes:
        file: Its CSV file.
        names: Its columns.
        keys: How many columns, the first ones, tell its rows apart.
    """

    file: str
    names: tuple[str, ...]
    keys: int = 2

    def empty(self) -> pd.DataFrame:
        """Return the table without a row."""
        return pd.DataFrame(columns=list(self.names))

    def typed(self, table: pd.DataFrame) -> pd.DataFrame:
        """Bring a table to these columns and their types, numbers rounded."""
        by_judge = [name for name in table if str(name).startswith(BY_JUDGE)]
        columns = table[[*self.names, *by_judge]].reset_index(drop=True)
        dtypes = {}
        for name in columns:
            if name in TEXTS:
                dtypes[name] = "str"
            elif name in COUNTS:
                dtypes[name] = "Int64"
            else:
                dtypes[name] = "float64"
        empty_texts = dict.fromkeys([name for name in columns if name in TEXTS], "")
        return columns.fillna(empty_texts).astype(dtypes).round(DECIMALS)

    def write(self, table: pd.DataFrame, folder: Path) -> None:
        """Write the table; the same one gives the same bytes."""
        (folder / self.file).write_text(guarded_csv(table), encoding="utf-8", newline="")

    def read(self, folder: Path) -> pd.DataFrame:
        """Read the table.

        Raises:
            DataError: If the file is damaged, a column is missing, a number is none, or a row is
                there twice.
        """
        # Beyond it not every whole number has a float of its own, so that a count cannot be read.
        largest_count = 2**53
        texts = [name for name in self.names if name in TEXTS]
        keys = list(self.names[: self.keys])
        try:
            table = pd.read_csv(
                folder / self.file,
                dtype=dict.fromkeys(texts, "str"),
                keep_default_na=False,
                na_values=[""],
            )
            # pandas takes the cells beyond the header for an index
            if not isinstance(table.index, pd.RangeIndex):
                raise pd.errors.ParserError("rows have more cells than the header")
            for name in texts:
                # written in front of texts that a spreadsheet would take for formulas
                table[name] = table[name].fillna("").str.removeprefix("'")
            for name in COUNTS.intersection(self.names):
                if (pd.to_numeric(table[name]).abs() > largest_count).any():
                    raise ValueError(f"{name} holds a number too large for a count")
            typed = self.typed(table)
            if typed.duplicated(keys).any():
                raise ValueError(f"several rows have the same {', '.join(keys)}")
        except (ArithmeticError, KeyError, TypeError, ValueError) as error:
            raise DataError([_damaged(self.file, error)]) from error
        return typed


RATINGS = BoardTable(
    "board.csv",
    (
        "language",
        "system",
        "rank",
        "rank_low",
        "rank_high",
        "tier",
        "rating",
        "low",
        "high",
        "standard_error",
        "verdict_share",
        "surrogate_rating",
        "surrogate_low",
        "surrogate_high",
        "surrogate_error",
        "arena_rank",
        "arena_rating",
        "arena_low",
        "arena_high",
        "coverage",
        "answers",
        "split",
        "note",
    ),
)
OVERALL = BoardTable(
    "overall.csv",
    (
        "system",
        "rank",
        "rank_low",
        "rank_high",
        "probability_best",
        "mean_rank",
        "mean_rating",
        "languages",
        "coverage",
        "arena_rank",
        "arena_mean_rank",
    ),
    keys=1,
)
ARENA = BoardTable(
    "arena.csv",
    (
        "language",
        "system",
        "rank",
        "rank_low",
        "rank_high",
        "tier",
        "rating",
        "low",
        "high",
        "at_equal_length",
        "note",
    ),
)
IMPORTANCES = BoardTable(
    "importances.csv",
    (
        "language",
        "feature",
        "importance",
        "tournament_mean",
        "tournament_low",
        "tournament_high",
        "tournament_q1",
        "tournament_median",
        "tournament_q3",
    ),
)
WIN_MATRIX = BoardTable(
    "win_matrix.csv", ("language", "system", "opponent", "wins", "losses", "ties"), keys=3
)
DIFFERENCES = BoardTable(
    "differences.csv",
    ("language", "system", "opponent", "difference", "low", "high", "probability"),
    keys=3,
)

TABLES: Mapping[str, BoardTable] = {
    "ratings": RATINGS,
    "overall": OVERALL,
    "arena": ARENA,
    "importances": IMPORTANCES,
    "win_matrix": WIN_MATRIX,
    "differences": DIFFERENCES,
}
"""Name of a board's attribute to what is in it."""

BOARD_FILES = (
    *(table.file for table in TABLES.values()),
    FEATURES_FILE,
    JUDGE_REPORT_FILE,
    SURROGATE_FILE,
    SUMMARY_FILE,
)
"""Files of a board folder in the order of writing, without the manifest, which comes last."""


def _damaged(source: str, error: Exception) -> Problem:
    return Problem(source, None, None, None, f"cannot be read ({error})", REBUILD)


def read_feature_table(path: Path | str, answers: pd.DataFrame | None = None) -> pd.DataFrame:
    """Read a feature table: ``language, system, query_id`` and one column per feature.

    Args:
        path: File, or folder of Parquet files.
        answers: Of Parquet, read the rows of these answers' questions alone.

    Raises:
        UsageError: If the file is absent, a key column or every feature is missing, or a feature
            is not numeric.
        DataError: If it is damaged.
    """
    path = Path(path)
    if not path.exists():
        raise UsageError(f"there is no feature table at {path}")
    try:
        table = read_rows(path, None, None if answers is None else set(answers["query_id"])).table
        table = table.drop(columns=KEY, errors="ignore")
    except (pa.ArrowException, OSError) as error:
        raise DataError([_damaged(path.name, error)]) from error
    absent = [name for name in ("language", "system", "query_id") if name not in table]
    if absent:
        raise UsageError(f"{path.name} lacks the columns {', '.join(absent)}")
    if not feature_columns(table):
        raise UsageError(f"{path.name} has no feature column")
    try:
        return typed_features(table)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{path.name} has a feature that is not a number ({error})") from error


def typed_features(table: pd.DataFrame) -> pd.DataFrame:
    """Bring a feature table to its types: features are numbers, all else is text or missing."""
    names = feature_columns(table)
    table = table.reset_index(drop=True)
    others = table.drop(columns=names).astype("object")
    return pd.concat([others, table[names].astype("float64")], axis=1)[list(table.columns)]
