"""Reading the CSV tables of a board folder, with columns that older boards lack left missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import pandas as pd
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, ValidationError

from arena.data.errors import DataError, Problem, UsageError
from arena.data.rows import read_rows
from arena.data.schema import validation_problems
from surrogate.board import tables
from surrogate.board.judge_report import JudgeReport
from surrogate.board.summary import BoardSummary

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


FILE_NAME = "examples.jsonl"


class Verdict(BaseModel):
    """A verdict on an answer, as seen from its system."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    opponent: str
    outcome: Literal["win", "loss", "tie"]
    judge: str = ""


class Example(BaseModel):
    """An answer with the verdicts on it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    language: str
    query_id: str
    query: str
    system: str
    answer: str
    verdicts: tuple[Verdict, ...] = ()


def read_examples(folder: Path) -> tuple[Example, ...] | None:
    """Read example answers, in the order of the file, or return None where there are none.

    Raises:
        DataError: If a line is no example, with all such lines.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    rows = read_rows(path)
    examples: list[Example] = []
    problems: list[Problem] = list(rows.problems)
    records = rows.table.to_dict(orient="records")
    for record, line in zip(records, rows.lines, strict=True):
        try:
            examples.append(Example.model_validate(record))
        except ValidationError as error:
            problems += validation_problems(error, FILE_NAME, int(line), lambda _: REBUILD)
    if problems:
        raise DataError(problems)
    return tuple(examples)


SUMMARY_FILE = "summary.json"
FEATURES_FILE = "features.parquet"
JUDGE_REPORT_FILE = "judge_report.json"

Content = TypeVar("Content", bound=BaseModel)


@dataclass(frozen=True)
class BoardTables:
    """A board folder. What older boards lack is None.

    Attributes:
        summary: What the board says about itself.
        board: Ratings a language, as ``csv_tables.BOARD`` names its columns.
        overall: Ranks over all languages.
        importances: Shares of features in the surrogate.
        tiers: Systems that are not distinguishable, a language.
        win_matrix: Wins, losses and ties of every pair, a language.
        neighbours: Nearest systems in the space of features, a language.
        features: Feature table, one row an answer.
        examples: Answers with verdicts.
        judge_report: What is known of the judge.
    """

    summary: BoardSummary
    board: pd.DataFrame
    overall: pd.DataFrame
    importances: pd.DataFrame | None
    tiers: pd.DataFrame | None
    win_matrix: pd.DataFrame | None
    neighbours: pd.DataFrame | None
    features: pd.DataFrame | None
    examples: tuple[Example, ...] | None
    judge_report: JudgeReport | None

    @property
    def systems(self) -> Sequence[str]:
        """Every system: ranked ones by overall rank, then the others by name."""
        rest = sorted(set(self.board["system"]) - set(self.overall["system"]))
        return [*self.overall["system"], *rest]

    @property
    def languages(self) -> Sequence[str]:
        """Languages with a board."""
        return sorted(self.board["language"].unique())


def read_board_tables(folder: Path | str) -> BoardTables:
    """Read a board folder.

    Raises:
        UsageError: If the folder holds no board.
        DataError: If a file of it is damaged.
    """
    folder = Path(folder)
    required = (tables.BOARD.file, tables.OVERALL.file, SUMMARY_FILE)
    absent = [name for name in required if not (folder / name).is_file()]
    if absent:
        raise UsageError(
            f"{folder} holds no board: {', '.join(absent)} is missing; "
            "make one with  surrogate-arena board ARENA --out DIR"
        )
    return BoardTables(
        summary=_read_json(BoardSummary, folder / SUMMARY_FILE),
        board=read_table(folder, tables.BOARD),
        overall=read_table(folder, tables.OVERALL),
        importances=read_optional_table(folder, tables.IMPORTANCES),
        tiers=read_optional_table(folder, tables.TIERS),
        win_matrix=read_optional_table(folder, tables.WIN_MATRIX),
        neighbours=read_optional_table(folder, tables.NEIGHBOURS),
        features=_read_features(folder),
        examples=read_examples(folder),
        judge_report=_read_judge_report(folder),
    )


def _read_json(kind: type[Content], path: Path) -> Content:
    try:
        return kind.model_validate_json(path.read_bytes())
    except ValidationError as error:
        problems = validation_problems(error, path.name, None, lambda _: REBUILD)
        raise DataError(problems) from error


def _read_judge_report(folder: Path) -> JudgeReport | None:
    path = folder / JUDGE_REPORT_FILE
    return _read_json(JudgeReport, path) if path.is_file() else None


def _read_features(folder: Path) -> pd.DataFrame | None:
    path = folder / FEATURES_FILE
    if not path.is_file():
        return None
    try:
        table = pd.read_parquet(path)
    except (pa.ArrowException, OSError) as error:
        fault = f"cannot be read ({error})"
        raise DataError([Problem(FEATURES_FILE, None, None, None, fault, REBUILD)]) from error
    absent = [name for name in ("language", "system") if name not in table]
    if absent:
        raise DataError(
            [
                Problem(FEATURES_FILE, None, name, None, "there is no such column", REBUILD)
                for name in absent
            ]
        )
    return table
