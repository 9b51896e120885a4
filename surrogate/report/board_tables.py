"""Everything a site shows of a board, as read from its folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pandas as pd
import pyarrow as pa
from pydantic import BaseModel, ValidationError

from arena.errors import DataError, Problem, UsageError
from arena.records import validation_problems
from surrogate.judge_report import JudgeReport
from surrogate.report import csv_tables
from surrogate.report.csv_tables import REBUILD, read_optional_table, read_table
from surrogate.report.examples import Example, read_examples
from surrogate.summary import BoardSummary

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
    required = (csv_tables.BOARD.file, csv_tables.OVERALL.file, SUMMARY_FILE)
    absent = [name for name in required if not (folder / name).is_file()]
    if absent:
        raise UsageError(
            f"{folder} holds no board: {', '.join(absent)} is missing; "
            "make one with  surrogate-arena board ARENA --out DIR"
        )
    return BoardTables(
        summary=_read_json(BoardSummary, folder / SUMMARY_FILE),
        board=read_table(folder, csv_tables.BOARD),
        overall=read_table(folder, csv_tables.OVERALL),
        importances=read_optional_table(folder, csv_tables.IMPORTANCES),
        tiers=read_optional_table(folder, csv_tables.TIERS),
        win_matrix=read_optional_table(folder, csv_tables.WIN_MATRIX),
        neighbours=read_optional_table(folder, csv_tables.NEIGHBOURS),
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
