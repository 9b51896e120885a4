"""The folder a board is written to and read from."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ValidationError

from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import atomic_path
from arena.data.rows import read_rows, write_rows
from features.engine.extraction import feature_columns
from surrogate.board.board import Board
from surrogate.board.language import BOARD_COLUMNS
from surrogate.board.summary import BoardSummary
from surrogate.learning.saving import load_judge, save_judge
from surrogate.learning.surrogates import SurrogateJudge

FEATURES_FILE = "features.parquet"
ARENA_FILE = "arena.csv"
BOARD_FILE = "board.csv"
OVERALL_FILE = "overall.csv"
IMPORTANCES_FILE = "importances.csv"
TIERS_FILE = "tiers.csv"
WIN_MATRIX_FILE = "win_matrix.csv"
NEIGHBOURS_FILE = "neighbours.csv"
EXAMPLES_FILE = "examples.jsonl"
JUDGE_REPORT_FILE = "judge_report.json"
JUDGE_FILE = "judge.skops"
SUMMARY_FILE = "summary.json"
DECIMALS = 6


@dataclass(frozen=True)
class PublishedBoard:
    """What ranking new systems needs of a board.

    Attributes:
        board: Synthetic ratings a language.
        overall: Ranks over all languages.
        judge: The surrogate judge.
        summary: What the board says about itself.
        features: Feature table of the board's answers; None where the folder holds none.
    """

    board: pd.DataFrame
    overall: pd.DataFrame
    judge: SurrogateJudge
    summary: BoardSummary
    features: pd.DataFrame | None = None


def write_board(board: Board, folder: Path | str, arena: Path | str | None = None) -> None:
    """Write a board's files; the same board gives the same bytes in every table.

    Args:
        board: The board.
        folder: Created if absent; a board already there is replaced.
        arena: Arena folder the board was built from, noted so that new systems can be ranked
            without naming it again.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    place = os.path.relpath(arena, folder) if arena is not None else None
    summary = board.summary.model_copy(update={"arena_folder": place})
    save_judge(board.judge, folder / JUDGE_FILE)
    write_rows(board.features, folder / FEATURES_FILE)
    for table, name in [
        (board.arena, ARENA_FILE),
        (board.board, BOARD_FILE),
        (board.overall, OVERALL_FILE),
        (board.importances, IMPORTANCES_FILE),
        (board.tiers, TIERS_FILE),
        (board.win_matrix, WIN_MATRIX_FILE),
        (board.neighbours, NEIGHBOURS_FILE),
    ]:
        write_rows(table.round(DECIMALS), folder / name)
    write_rows(board.examples, folder / EXAMPLES_FILE)
    _write_json(board.judge_report, folder / JUDGE_REPORT_FILE)
    _write_json(summary, folder / SUMMARY_FILE)


def read_board(folder: Path | str) -> PublishedBoard:
    """Read what ranking new systems needs of a board folder.

    A board that was built before there were intervals is read as well: ``low`` and ``high`` are
    NaN there, and the summary says why.

    Raises:
        UsageError: If the folder holds no board, or its judge cannot be trusted.
        DataError: If ``summary.json`` is malformed.
    """
    folder = Path(folder)
    absent = [
        name
        for name in (BOARD_FILE, OVERALL_FILE, JUDGE_FILE, SUMMARY_FILE)
        if not (folder / name).is_file()
    ]
    if absent:
        raise UsageError(
            f"{folder} holds no board: {', '.join(absent)} is missing; "
            "make one with  surrogate-arena board ARENA --out DIR"
        )
    features = folder / FEATURES_FILE
    return PublishedBoard(
        board=_with_intervals(read_table(folder / BOARD_FILE)),
        overall=read_table(folder / OVERALL_FILE),
        judge=load_judge(folder / JUDGE_FILE),
        summary=read_summary(folder / SUMMARY_FILE),
        features=read_feature_table(features) if features.is_file() else None,
    )


def arena_folder(folder: Path | str, summary: BoardSummary) -> Path:
    """Return the arena folder a board was built from.

    Raises:
        UsageError: If it was not noted or is not there any more.
    """
    if summary.arena_folder is None:
        raise UsageError(f"the board does not say where arena {summary.arena!r} is; use --arena")
    place = Path(folder) / summary.arena_folder
    if not place.is_dir():
        raise UsageError(f"arena {summary.arena!r} is no longer at {place}; use --arena")
    return place


def read_feature_table(path: Path | str) -> pd.DataFrame:
    """Read a feature table: ``language, system, query_id`` and one column a feature.

    Raises:
        UsageError: If the file is absent, a key column or every feature is missing, or a feature
            is not numeric.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no feature table at {path}")
    table = read_rows(path).table
    absent = [name for name in ("language", "system", "query_id") if name not in table]
    if absent:
        raise UsageError(f"{path.name} lacks the columns {', '.join(absent)}")
    names = feature_columns(table)
    if not names:
        raise UsageError(f"{path.name} has no feature column")
    try:
        return table.astype(dict.fromkeys(names, "float64"))
    except (TypeError, ValueError) as error:
        raise UsageError(f"{path.name} has a feature that is not a number ({error})") from error


def _write_json(content: BaseModel, path: Path) -> None:
    plain = content.model_dump(mode="json")
    text = json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False)
    with atomic_path(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def _with_intervals(board: pd.DataFrame) -> pd.DataFrame:
    """Give a board of an older version the columns of the interval, without values."""
    older = [name for name in ("low", "high") if name not in board]
    board = board.assign(**dict.fromkeys(older, float("nan")))
    return board.reindex(columns=BOARD_COLUMNS)


def read_table(path: Path) -> pd.DataFrame:
    """Read a table of a board folder, ranks as whole numbers and texts as texts."""
    ranks = {"rank": "Int64", "arena_rank": "Int64"}
    texts = {"language": "str", "system": "str", "split": "str", "note": "str"}
    columns = pd.read_csv(path, nrows=0).columns
    dtypes = {name: kind for name, kind in {**ranks, **texts}.items() if name in columns}
    table = pd.read_csv(path, dtype=dtypes, keep_default_na=False, na_values=[""])
    return table.fillna({name: "" for name in ("split", "note") if name in columns})


def read_summary(path: Path) -> BoardSummary:
    """Read ``summary.json`` of a board folder.

    Raises:
        DataError: If it is malformed; names each field.
    """
    try:
        return BoardSummary.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise DataError(
            [
                Problem(
                    path.name,
                    None,
                    ".".join(str(part) for part in item["loc"]),
                    item["input"],
                    item["msg"],
                    "build the board anew",
                )
                for item in error.errors()
            ]
        ) from error
