"""The files of a board folder: their names, what their columns are, and how they are read.

Nothing else in the project names a file of a board or reads one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, ValidationError

from arena.data.errors import HALF_SURROGATE, DataError, Problem, UsageError, counted_problems
from arena.data.files import small_file
from arena.data.rows import read_rows
from arena.data.schema import is_unstorable, validation_problems
from arena.data.wording import guarded_csv, unguarded
from features.engine.columns import feature_columns

DECIMALS = 6
"""Decimals of every number of a board."""
REBUILD = "build the board again"

SUMMARY_FILE = "summary.json"
JUDGE_REPORT_FILE = "judge_report.json"
EXAMPLES_FILE = "examples.jsonl"
FEATURES_FILE = "features.parquet"
SURROGATE_FILE = "surrogate.zip"
MANIFEST_FILE = "manifest.json"

Kind = Literal["text", "number", "bound", "count"]
"""``bound``: a number that may be infinite, where there is no upper bound."""
_LARGEST = 1e300
_MOST_COUNT = 2**53
_DTYPES: Mapping[Kind, str] = {
    "text": "str",
    "number": "float64",
    "bound": "float64",
    "count": "Int64",
}


@dataclass(frozen=True)
class BoardTable:
    """A table of a board.

    Attributes:
        file: Name of its CSV file.
        columns: Column to its kind: texts are never missing, numbers may be, as may counts (whole
            numbers).
    """

    file: str
    columns: Mapping[str, Kind]

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.columns)

    def empty(self) -> pd.DataFrame:
        """Return the table without a row."""
        return pd.DataFrame(columns=self.names)

    def of_kind(self, kind: Kind) -> list[str]:
        """Return the columns of a kind."""
        return [name for name, of in self.columns.items() if of == kind]

    def typed(self, table: pd.DataFrame) -> pd.DataFrame:
        """Bring a table to these columns and their types, numbers rounded."""
        columns = table[list(self.columns)].reset_index(drop=True)
        texts = dict.fromkeys(self.of_kind("text"), "")
        dtypes = {name: _DTYPES[kind] for name, kind in self.columns.items()}
        return columns.fillna(texts).astype(dtypes).round(DECIMALS)

    def write(self, table: pd.DataFrame, folder: Path) -> None:
        """Write the table; the same one gives the same bytes."""
        text = guarded_csv(table)
        (folder / self.file).write_text(text, encoding="utf-8", newline="")

    def read(self, folder: Path) -> pd.DataFrame:
        """Read the table.

        Raises:
            DataError: If the file is damaged, a column is missing or a number is none.
        """
        texts = dict.fromkeys(self.of_kind("text"), "str")
        try:
            table = pd.read_csv(
                folder / self.file, dtype=texts, keep_default_na=False, na_values=[""]
            )
        except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
            raise DataError([_damaged(self.file, error)]) from error
        if not isinstance(table.index, pd.RangeIndex):  # pandas took further cells for an index
            more = ValueError("rows have more cells than the header")
            raise DataError([_damaged(self.file, more)])
        problems = [
            Problem(self.file, 1, name, None, "there is no such column", REBUILD)
            for name in self.columns
            if name not in table
        ] or [
            problem
            for name in self.columns
            if self.columns[name] != "text"
            for problem in self._problems(table[name], name)
        ]
        if problems:
            raise DataError(problems)
        own = {name: table[name].fillna("").map(unguarded) for name in self.of_kind("text")}
        return self.typed(table.assign(**own))

    def _problems(self, column: pd.Series, name: str) -> list[Problem]:
        fault = "is not a whole number" if self.columns[name] == "count" else "is not a number"
        return counted_problems(
            self._wrong(column),
            lambda item: Problem(self.file, int(item[0]) + 2, name, item[1], fault, REBUILD),
        )

    def _wrong(self, column: pd.Series) -> Sequence[tuple[Any, object]]:
        numbers = pd.to_numeric(column, errors="coerce")
        wrong = (numbers.isna() & column.notna()) | (numbers.abs() > _LARGEST)
        kind = self.columns[str(column.name)]
        if kind == "bound":
            wrong &= numbers != np.inf
        if kind == "count":
            wrong |= numbers.notna() & (numbers != numbers.round())
            wrong |= numbers.abs() > _MOST_COUNT
        return list(column[wrong].items())


RATINGS = BoardTable(
    "board.csv",
    {
        **dict.fromkeys(("language", "system"), "text"),
        **dict.fromkeys(("rank", "rank_low", "rank_high", "tier"), "count"),
        **dict.fromkeys(("rating", "low"), "number"),
        **{"high": "bound", "verdict_share": "number"},
        **dict.fromkeys(("surrogate_rating", "surrogate_low"), "number"),
        "surrogate_high": "bound",
        **{"arena_rank": "count"},
        **dict.fromkeys(("arena_rating", "arena_low", "arena_high"), "number"),
        **{"coverage": "number", "answers": "count", "split": "text", "note": "text"},
    },
)
OVERALL = BoardTable(
    "overall.csv",
    {
        **{"system": "text", "rank": "count", "mean_rank": "number", "mean_rating": "number"},
        **{"languages": "count", "coverage": "number"},
        **{"arena_rank": "count", "arena_mean_rank": "number"},
    },
)
ARENA = BoardTable(
    "arena.csv",
    {
        **dict.fromkeys(("language", "system"), "text"),
        **dict.fromkeys(("rank", "rank_low", "rank_high", "tier"), "count"),
        **dict.fromkeys(("rating", "low", "high"), "number"),
        "note": "text",
    },
)
IMPORTANCES = BoardTable(
    "importances.csv",
    {
        **{"language": "text", "feature": "text", "importance": "number"},
        **dict.fromkeys(("tournament_mean", "tournament_low", "tournament_high"), "number"),
        **dict.fromkeys(("tournament_q1", "tournament_median", "tournament_q3"), "number"),
    },
)
WIN_MATRIX = BoardTable(
    "win_matrix.csv",
    {
        **dict.fromkeys(("language", "system", "opponent"), "text"),
        **dict.fromkeys(("wins", "losses", "ties"), "count"),
    },
)
DIFFERENCES = BoardTable(
    "differences.csv",
    {
        **dict.fromkeys(("language", "system", "opponent"), "text"),
        **dict.fromkeys(("difference", "low", "high", "probability"), "number"),
    },
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

BOARD_FILES: Mapping[str, str] = {
    RATINGS.file: "ratings and ranks of every system in every language, by verdicts and surrogate",
    OVERALL.file: "systems by their mean rank over languages",
    ARENA.file: "ratings by verdicts alone (Bradley-Terry), or as published, with 95% intervals",
    IMPORTANCES.file: "share of each feature in the surrogate's decisions",
    WIN_MATRIX.file: "wins, losses and ties of each pair",
    DIFFERENCES.file: "by how much, and how surely, one of two systems is rated better",
    EXAMPLES_FILE: "answers with their verdicts, as the systems wrote them",
    FEATURES_FILE: "every feature of every answer",
    JUDGE_REPORT_FILE: "what is known of the judge",
    SURROGATE_FILE: "the surrogate",
    SUMMARY_FILE: "settings, agreement, counts of what was skipped and why",
}
"""Files of a board folder and what they hold."""


def _damaged(source: str, error: Exception) -> Problem:
    return Problem(source, None, None, None, f"cannot be read ({error})", REBUILD)


class ExampleVerdict(BaseModel):
    """A verdict on an answer, as seen from its system."""

    model_config = ConfigDict(frozen=True)

    opponent: str
    outcome: Literal["win", "loss", "tie"]
    judge: str = ""


class Example(BaseModel):
    """An answer with the verdicts on it."""

    model_config = ConfigDict(frozen=True)

    language: str
    query_id: str
    query: str
    system: str
    answer: str
    verdicts: tuple[ExampleVerdict, ...] = ()


def read_examples(folder: Path) -> pd.DataFrame:
    """Read example answers, in the order of the file; see ``examples.choose_examples``.

    Raises:
        DataError: If a line is no example, with all such lines.
    """
    rows = read_rows(folder / EXAMPLES_FILE)
    problems: list[Problem] = list(rows.problems)
    examples = []
    for record, line in zip(rows.table.to_dict(orient="records"), rows.lines, strict=True):
        if is_unstorable(record):
            problems.append(Problem(EXAMPLES_FILE, int(line), None, None, HALF_SURROGATE, REBUILD))
            continue
        try:
            examples.append(Example.model_validate(record).model_dump(mode="json"))
        except ValidationError as error:
            problems += validation_problems(error, EXAMPLES_FILE, int(line), lambda _: REBUILD)
    if problems:
        raise DataError(problems)
    return typed_examples(pd.DataFrame(examples, columns=list(Example.model_fields)))


def typed_examples(examples: pd.DataFrame) -> pd.DataFrame:
    """Bring example answers to their columns and types."""
    texts = [name for name in Example.model_fields if name != "verdicts"]
    dtypes = {**dict.fromkeys(texts, "str"), "verdicts": "object"}
    return examples[list(Example.model_fields)].reset_index(drop=True).astype(dtypes)


def read_feature_table(path: Path | str) -> pd.DataFrame:
    """Read a feature table: ``language, system, query_id`` and one column a feature.

    Raises:
        UsageError: If the file is absent, a key column or every feature is missing, or a feature
            is not numeric.
        DataError: If it is damaged.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no feature table at {path}")
    try:
        table = read_rows(path).table
    except (pa.ArrowException, OSError) as error:
        raise DataError([_damaged(path.name, error)]) from error
    absent = [name for name in ("language", "system", "query_id") if name not in table]
    if absent:
        raise UsageError(f"{path.name} lacks the columns {', '.join(absent)}")
    names = feature_columns(table)
    if not names:
        raise UsageError(f"{path.name} has no feature column")
    try:
        return typed_features(table)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{path.name} has a feature that is not a number ({error})") from error


def typed_features(table: pd.DataFrame) -> pd.DataFrame:
    """Bring a feature table to its types: features are numbers, all else is text or missing."""
    names = feature_columns(table)
    others = dict.fromkeys([name for name in table if name not in names], "object")
    return table.reset_index(drop=True).astype({**others, **dict.fromkeys(names, "float64")})


Content = TypeVar("Content", bound=BaseModel)


def read_json(kind: type[Content], path: Path) -> Content:
    """Read a record.

    Raises:
        DataError: If it is malformed; names each field.
    """
    try:
        return kind.model_validate_json(small_file(path))
    except ValidationError as error:
        problems = validation_problems(error, path.name, None, lambda _: REBUILD)
        raise DataError(problems) from error


def write_json(content: BaseModel, path: Path) -> None:
    """Write a record as JSON."""
    plain = content.model_dump(mode="json")
    text = json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
