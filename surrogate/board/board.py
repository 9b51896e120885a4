"""A board: a leaderboard with everything it rests on, and its folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from pydantic import BaseModel

from arena.data.arena import Arena
from arena.data.errors import DataError, Problem, UsageError, argument
from arena.data.files import check_small_file, file_digest
from arena.data.tables import read_record, write_record, write_rows
from arena.data.wording import count_of, notebook_html
from arena.data.writing import replaced_folder
from arena.quality.judge_report import JudgeReport
from features.declare.feature import Feature, offer
from surrogate.board import tables
from surrogate.board.summary import HELD_MARK, HELD_OUT, NO_RATINGS, BoardSummary, RatingInterval
from surrogate.learning.saving import load_surrogate, save_surrogate
from surrogate.learning.surrogate import Surrogate

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


class Manifest(BaseModel):
    """``manifest.json`` of a board folder, written last."""

    files: dict[str, str]
    sizes: dict[str, int]


@dataclass(frozen=True, eq=False)
class Board:
    """A leaderboard by verdicts and surrogate, with everything it rests on.

    Numbers have six decimals, ranks and counts are ``Int64``, texts are never missing.

    Attributes:
        ratings: Ratings by language, best first.
        overall: Ranks over all languages.
        verdict_ratings: Ratings by verdicts alone.
        importances: Feature importances by language.
        win_matrix: Who won against whom.
        differences: Difference of every two systems, and how sure it is.
        features: Feature table, one row per answer.
        judge_report: The quality of the judge.
        summary: Settings, agreement, scores, what was skipped.
        surrogate_or_file: The surrogate, or the file to load it from.
        built_from: The arena, or its folder; None if loaded.
        folder: Folder it was loaded from.
        own_features: The user's features, which no file has.
        own_regressor: The user's regressor, likewise.
    """

    ratings: pd.DataFrame
    overall: pd.DataFrame
    verdict_ratings: pd.DataFrame
    importances: pd.DataFrame
    win_matrix: pd.DataFrame
    differences: pd.DataFrame
    features: pd.DataFrame
    judge_report: JudgeReport
    summary: BoardSummary
    surrogate_or_file: Surrogate | Path
    built_from: Arena | Path | None = None
    folder: Path | None = None
    own_features: tuple[Feature, ...] = ()
    own_regressor: BaseEstimator | None = None

    @cached_property
    def surrogate(self) -> Surrogate:
        """Return the surrogate, for new systems."""
        source = self.surrogate_or_file
        if isinstance(source, Path):
            return load_surrogate(source, regressor=self.own_regressor)
        return source

    @property
    def systems(self) -> Sequence[str]:
        """Return every system: ranked ones by overall rank, then others by name."""
        rest = sorted(set(self.ratings["system"]) - set(self.overall["system"]))
        return [*self.overall["system"], *rest]

    @property
    def languages(self) -> Sequence[str]:
        """Return the languages with ratings."""
        return sorted(self.ratings["language"].unique())

    def prediction_interval(self, language: str) -> RatingInterval:
        """Return how wide a language's prediction intervals are."""
        summary = self.summary.languages.get(language)
        return NO_RATINGS if summary is None else summary.interval

    def by_language(self, column: str) -> pd.DataFrame:
        """Return a column of the ratings: a row per system, a column per language."""
        table = self.ratings.pivot(index="system", columns="language", values=column)
        return table.reindex(index=self.systems, columns=self.languages).astype(float)

    def table(self, language: str | None = None) -> pd.DataFrame:
        """Return the ratings of a language, by default the only one, or the overall ranks.

        Raises:
            UsageError: If the board has no such language.
        """
        if language is None and len(self.languages) > 1:
            return self.overall
        language = self.languages[0] if language is None else language
        if language not in self.languages:
            offered = offer(language, self.languages)
            raise UsageError(f"the board has no language {language!r}; {offered}")
        return self.ratings[self.ratings["language"] == language].reset_index(drop=True)

    def own_arena(self) -> Arena | Path:
        """Return the board's arena, or its folder; UsageError if not noted or gone."""
        return self.arena_folder() if self.built_from is None else self.built_from

    def arena_folder(self) -> Path:
        """Return the board's arena folder; UsageError if not noted or gone."""
        name = self.summary.arena
        path = self._noted_folder()
        if path is None:
            raise UsageError(
                f"the board does not say where arena {name!r} is; name it: {argument('arena')}"
            )
        if not path.is_dir():
            raise UsageError(
                f"arena {name!r} is no longer at {path}; name its folder: {argument('arena')}"
            )
        return path

    def _noted_folder(self) -> Path | None:
        if isinstance(self.built_from, Path):
            return self.built_from
        if self.folder is None or self.summary.arena_folder is None:
            return None
        return self.folder / self.summary.arena_folder

    def save(self, folder: Path | str, arena: Path | str | None = None) -> Board:
        """Write the board's folder whole or not at all; the same board gives the same bytes.

        A board there is replaced; other files stay.

        Args:
            folder: Created if absent.
            arena: Arena folder to note for ranking new systems; by default the one it was built
                from.

        Returns:
            The board in the folder.

        Raises:
            UsageError: If the folder is not empty and holds no board.
        """
        # Only boards that are written need their remarks.
        from surrogate.board.remarks import board_remarks, remark_table

        folder = Path(folder).resolve()
        further_files = check_board_target(folder)
        if arena is None:
            arena = self._noted_folder()
        arena_folder = None if arena is None else os.path.relpath(arena, folder)
        summary = self.summary.model_copy(update={"arena_folder": arena_folder})
        surrogate = self.surrogate  # loaded before anything is written: it may be in the folder
        with replaced_folder(folder) as target:
            for name, schema in tables.TABLES.items():
                tables.write_board_table(getattr(self, name), schema, target)
            remarks = remark_table(board_remarks(self))
            tables.write_board_table(remarks, tables.REMARKS, target)
            write_rows(self.features, target / tables.FEATURES_FILE)
            save_surrogate(surrogate, target / tables.SURROGATE_FILE)
            write_record(self.judge_report, target / tables.JUDGE_REPORT_FILE)
            write_record(summary, target / tables.SUMMARY_FILE)
            digests = {name: file_digest(target / name) for name in tables.BOARD_FILES}
            sizes = {name: (target / name).stat().st_size for name in tables.BOARD_FILES}
            manifest = Manifest(files=digests, sizes=sizes)
            write_record(manifest, target / tables.MANIFEST_FILE)
            for path in further_files:
                copy = shutil.copytree if path.is_dir() else shutil.copy2
                copy(path, target / path.name)
        return replace(self, summary=summary, folder=folder)

    @classmethod
    def load(
        cls,
        folder: Path | str,
        features: Sequence[Feature] = (),
        regressor: BaseEstimator | None = None,
    ) -> Board:
        """Read a board folder.

        Args:
            folder: A folder that ``save`` wrote.
            features: Your features that the board was built with: a file holds no code.
            regressor: Your regressor that it was built with.

        Returns:
            The board that was saved.

        Raises:
            UsageError: If the folder holds no board.
            DataError: If a file of it is damaged, or not of this board.
        """
        folder = Path(folder)
        files = (*tables.BOARD_FILES, tables.MANIFEST_FILE)
        absent = [name for name in files if not (folder / name).is_file()]
        if absent:
            raise UsageError(
                f"{folder} holds no board: {', '.join(absent)} "
                f"{'is' if len(absent) == 1 else 'are'} missing; "
                "make one with  surrogate-arena board ARENA --out DIR"
            )
        for name in (tables.SUMMARY_FILE, tables.JUDGE_REPORT_FILE):  # before they are digested
            check_small_file(folder / name)
        manifest = read_record(Manifest, folder / tables.MANIFEST_FILE, tables.REBUILD)
        fault = "is not as it was written with this board"
        problems = [
            Problem(name, None, None, None, fault, tables.REBUILD)
            for name in tables.BOARD_FILES
            if (folder / name).stat().st_size != manifest.sizes.get(name)
            or file_digest(folder / name) != manifest.files.get(name)
        ]
        if problems:
            raise DataError(problems)
        report = read_record(JudgeReport, folder / tables.JUDGE_REPORT_FILE, tables.REBUILD)
        summary = read_record(BoardSummary, folder / tables.SUMMARY_FILE, tables.REBUILD)
        return cls(
            **{
                name: tables.read_board_table(schema, folder)
                for name, schema in tables.TABLES.items()
            },
            features=tables.read_feature_table(folder / tables.FEATURES_FILE),
            judge_report=report,
            summary=summary.judged(report.label),
            surrogate_or_file=folder / tables.SURROGATE_FILE,
            folder=folder,
            own_features=tuple(features),
            own_regressor=regressor,
        )

    def _repr_html_(self) -> str:
        caption = f"Leaderboard of {self.summary.arena}, judged by {self.summary.judge}"
        text = " ".join(part.sentence for part in self.summary.macro.conclusions)
        table = self.table()
        holdout = self.summary.settings.holdout
        if holdout:
            text += f" {HELD_MARK} {HELD_OUT}"
            is_held_out = table["system"].isin(holdout)
            table["system"] += is_held_out.map({True: f" {HELD_MARK}", False: ""})
        return notebook_html(caption, text, table, self.summary.signature)

    def __repr__(self) -> str:
        """Name the arena, and count the ranked systems."""
        return (
            f"<Board of {self.summary.arena!r}, judged by {self.summary.judge!r}: "
            f"{count_of(len(self.systems), 'system')} in {', '.join(self.languages)}>"
        )


def open_board(board: Board | Path | str) -> Board:
    """Return a board, perhaps read from its folder."""
    if isinstance(board, Board):
        return board
    if isinstance(board, Path | str):
        return Board.load(board)
    raise UsageError(
        f"an object of type {type(board).__name__} is not a board; give what build_board returned, "
        "or the path of a board folder"
    )


def check_board_target(folder: Path | str) -> list[Path]:
    """Check that a folder may hold a board; return its other files."""
    folder = Path(folder).resolve()
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    is_empty = all(path.name == tables.FEATURE_CACHE for path in paths)
    marks = (tables.MANIFEST_FILE, tables.table_file(tables.RATINGS))
    holds_board = all((folder / name).is_file() for name in marks)
    if not is_empty and not holds_board:
        raise UsageError(
            f"{folder} is not empty and holds no board; name a new folder, because a board "
            "replaces the whole folder"
        )
    board_files = (*tables.BOARD_FILES, tables.MANIFEST_FILE)
    return [path for path in paths if path.name not in board_files]
