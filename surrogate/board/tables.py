"""The files of a board folder: names, columns, reading and writing, only here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pyarrow as pa

from arena.data.errors import DataError, Problem, UsageError
from arena.data.schema import Kind, TableSchema
from arena.data.tables import guarded_csv, read_rows
from features.engine.extraction import KEY, feature_columns

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

DTYPES: Mapping[Kind, str] = {"text": "str", "count": "Int64"}
"""Types of a board's columns by kind; all others are floats."""
BY_JUDGE = "rating_by:"
"""How columns begin that are ratings by one judge alone, whose name follows."""


PLACES: Mapping[str, Kind] = {
    "rank": "count",
    "rank_low": "count",
    "rank_high": "count",
    "tier": "count",
    "place": "count",
    "place_low": "count",
    "place_high": "count",
    "wins": "share",
    "wins_low": "share",
    "wins_high": "share",
}
"""Columns of where a system stands, in a language and overall."""
RATINGS = TableSchema(
    name="board",
    columns={
        "language": "text",
        "system": "text",
        **PLACES,
        "rating": "number",
        "low": "number",
        "high": "number",
        "standard_error": "number",
        "verdict_share": "share",
        "surrogate_rating": "number",
        "surrogate_low": "number",
        "surrogate_high": "number",
        "surrogate_error": "number",
        "arena_rank": "count",
        "arena_rating": "number",
        "arena_low": "number",
        "arena_high": "number",
        "coverage": "share",
        "answers": "count",
        "split": "text",
        "note": "text",
    },
    key=["language", "system"],
)
OVERALL = TableSchema(
    name="overall",
    columns={
        "system": "text",
        **PLACES,
        "mean_rank": "number",
        "mean_rating": "number",
        "languages": "count",
        "coverage": "share",
        "arena_rank": "count",
        "arena_mean_rank": "number",
    },
    key=["system"],
)
VERDICT_RATINGS = TableSchema(
    name="verdict_ratings",
    columns={
        "language": "text",
        "system": "text",
        "rank": "count",
        "rank_low": "count",
        "rank_high": "count",
        "tier": "count",
        "rating": "number",
        "low": "number",
        "high": "number",
        "at_equal_length": "number",
        "note": "text",
    },
    key=["language", "system"],
)
IMPORTANCES = TableSchema(
    name="importances",
    columns={
        "language": "text",
        "feature": "text",
        "importance": "number",
    },
    key=["language", "feature"],
)
WIN_MATRIX = TableSchema(
    name="win_matrix",
    columns={
        "language": "text",
        "system": "text",
        "opponent": "text",
        "wins": "count",
        "losses": "count",
        "ties": "count",
    },
    key=["language", "system", "opponent"],
)
DIFFERENCES = TableSchema(
    name="differences",
    columns={
        "language": "text",
        "system": "text",
        "opponent": "text",
        "difference": "number",
        "low": "number",
        "high": "number",
        "probability": "probability",
    },
    key=["language", "system", "opponent"],
)

REMARKS = TableSchema(
    name="remarks",
    columns={
        "name": "text",
        "severity": "text",
        "sentence": "text",
        "subject": "text",
        "statistic": "number",
        "systems": "text",
    },
)

TABLES: Mapping[str, TableSchema] = {
    "ratings": RATINGS,
    "overall": OVERALL,
    "verdict_ratings": VERDICT_RATINGS,
    "importances": IMPORTANCES,
    "win_matrix": WIN_MATRIX,
    "differences": DIFFERENCES,
}
"""Name of a board's attribute to what is in it."""


def table_file(schema: TableSchema) -> str:
    """Return the name of a table's CSV file."""
    return f"{schema.name}.csv"


BOARD_FILES = (
    *(table_file(schema) for schema in (*TABLES.values(), REMARKS)),
    FEATURES_FILE,
    JUDGE_REPORT_FILE,
    SURROGATE_FILE,
    SUMMARY_FILE,
)
"""Files of a board folder in the order of writing, without the manifest, which comes last."""


def _damaged(source: str, error: Exception) -> Problem:
    return Problem(source, None, None, None, f"cannot be read ({error})", REBUILD)


def empty_board_table(schema: TableSchema) -> pd.DataFrame:
    """Return a table of a board without a row."""
    return pd.DataFrame(columns=list(schema.columns))


def typed_board_table(table: pd.DataFrame, schema: TableSchema) -> pd.DataFrame:
    """Bring a table to its columns and types, numbers rounded."""
    by_judge = [name for name in table if str(name).startswith(BY_JUDGE)]
    columns = table[[*schema.columns, *by_judge]].reset_index(drop=True)
    dtypes = {}
    for name in columns:
        dtypes[name] = DTYPES.get(schema.columns.get(name, "number"), "float64")
    empty_texts = dict.fromkeys(_columns_of(schema, "text"), "")
    return columns.fillna(empty_texts).astype(dtypes).round(DECIMALS)


def write_board_table(table: pd.DataFrame, schema: TableSchema, folder: Path) -> None:
    """Write a table; equal ones give the same bytes."""
    (folder / table_file(schema)).write_text(guarded_csv(table), encoding="utf-8", newline="")


def read_board_table(schema: TableSchema, folder: Path) -> pd.DataFrame:
    """Read a table of a board."""
    # Beyond it not every whole number has a float of its own, so that a count cannot be read.
    largest_count = 2**53
    file = table_file(schema)
    texts = _columns_of(schema, "text")
    try:
        table = pd.read_csv(
            folder / file,
            dtype=dict.fromkeys(texts, "str"),
            keep_default_na=False,
            na_values=[""],
        )
        # pandas would use cells beyond the header as an index
        if not isinstance(table.index, pd.RangeIndex):
            raise pd.errors.ParserError("rows have more cells than the header")
        for name in texts:
            # written in front of texts that a spreadsheet would take for formulas
            table[name] = table[name].fillna("").str.removeprefix("'")
        for name in _columns_of(schema, "count"):
            if (pd.to_numeric(table[name]).abs() > largest_count).any():
                raise ValueError(f"{name} holds a number too large for a count")
        typed = typed_board_table(table, schema)
        if typed.duplicated(list(schema.key)).any():
            raise ValueError(f"several rows have the same {', '.join(schema.key)}")
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:
        raise DataError([_damaged(file, error)]) from error
    return typed


def _columns_of(schema: TableSchema, kind: Kind) -> list[str]:
    return [name for name, column_kind in schema.columns.items() if column_kind == kind]


def read_feature_table(path: Path | str, answers: pd.DataFrame | None = None) -> pd.DataFrame:
    """Read a feature table, for Parquet of the ``answers``' questions."""
    path = Path(path)
    if not path.exists():
        raise UsageError(f"there is no feature table at {path}")
    try:
        table = read_rows(path, None if answers is None else set(answers["query_id"])).table
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
    """Bring a feature table to its types: numbers, texts or missing."""
    names = feature_columns(table)
    table = table.reset_index(drop=True)
    others = table.drop(columns=names).astype("object")
    return pd.concat([others, table[names].astype("float64")], axis=1)[list(table.columns)]
