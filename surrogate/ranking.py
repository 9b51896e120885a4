"""Placing new systems on an existing board, whose rows stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from arena import Arena, UsageError
from arena.fingerprint import fingerprint
from features import extract, parse_features
from features.models.options import ModelOptions
from surrogate.board_folder import DECIMALS, PublishedBoard

NEW = "new"
NO_SURROGATE = "the board has no surrogate for this language"
NO_ANSWER = "no answer in this language"
NO_FEATURES = "no feature of its answers could be computed"


@dataclass(frozen=True)
class Placement:
    """A board with new systems placed on it.

    Attributes:
        board: The board's rows as published plus one a new system and language, with ``split``
            ``new``; sorted by language and rank.
        overall: The overall rows as published plus one a new system.
        features: Feature table of the new answers.
    """

    board: pd.DataFrame
    overall: pd.DataFrame
    features: pd.DataFrame

    @property
    def new(self) -> pd.DataFrame:
        """The rows of the new systems."""
        return self.board[self.board["split"] == NEW].reset_index(drop=True)


def rank_systems(
    board: PublishedBoard,
    answers: pd.DataFrame,
    arena: Arena,
    n_jobs: int = 1,
    models: ModelOptions | None = None,
) -> Placement:
    """Rank new systems by their answers alone.

    A new system's rank is the place it would take: one more than the number of the board's
    systems with a higher rating. The board's own ranks and ratings do not change.

    Args:
        board: The board.
        answers: Columns ``query_id, language, system, answer``.
        arena: The arena the board was built from (questions, passages, reference answers).
        n_jobs: Processes for feature extraction.
        models: How features' models are run; see ``features.extract``.

    Raises:
        UsageError: If a system is already on the board, or the arena is another one.
    """
    if fingerprint(arena) != board.summary.fingerprint:
        raise UsageError(
            f"the questions or reference answers of arena {arena.info.name!r} are not those of "
            f"arena {board.summary.arena!r} the board was built from; build the board anew"
        )
    known = sorted(set(answers["system"]) & set(board.board["system"]))
    if known:
        raise UsageError(f"already on the board: {', '.join(known)}; give them other names")
    declared = parse_features(",".join(board.judge.features))
    table = extract(arena, declared, answers=answers, n_jobs=n_jobs, models=models)
    return place_systems(board, table, arena.queries)


def place_systems(board: PublishedBoard, table: pd.DataFrame, queries: pd.DataFrame) -> Placement:
    """Rank new systems by a feature table already at hand.

    Args:
        board: The board.
        table: Feature table of the new systems' answers, with the board's features.
        queries: The arena's questions, for coverage.
    """
    rated = board.judge.predict(table).set_index(["language", "system"])
    systems = sorted(table["system"].unique())
    languages = sorted({*board.board["language"], *table["language"]})
    rows = [
        _row(board.board, rated, queries, language, system)
        for language in languages
        for system in systems
    ]
    new = pd.DataFrame(rows).astype({"rank": "Int64"})
    placed = pd.concat([board.board, new], ignore_index=True)
    ordered = placed.sort_values(["language", "rank"], kind="stable").reset_index(drop=True)
    overall = _overall(board.overall, new, board.board["language"].nunique())
    return Placement(ordered, overall, table)


def _row(
    board: pd.DataFrame, rated: pd.DataFrame, queries: pd.DataFrame, language: str, system: str
) -> dict[str, object]:
    found = (language, system) in rated.index
    rating = float(rated.loc[(language, system), "rating"]) if found else float("nan")
    rating = round(rating, DECIMALS)
    answers = int(rated.loc[(language, system), "answers"]) if found else 0
    field = board[board["language"] == language]
    return {
        "language": language,
        "system": system,
        "rank": _place(field["rating"], rating),
        "rating": rating,
        "coverage": answers / int((queries["language"] == language).sum()),
        "answers": answers,
        "split": NEW,
        "note": _note(rating, answers, field.empty),
    }


def _place(ratings: pd.Series, rating: float) -> int | None:
    return None if np.isnan(rating) else 1 + int((ratings > rating).sum())


def _note(rating: float, answers: int, no_surrogate: bool) -> str:
    if not np.isnan(rating):
        return ""
    if no_surrogate:
        return NO_SURROGATE
    return NO_ANSWER if answers == 0 else NO_FEATURES


def _overall(overall: pd.DataFrame, new: pd.DataFrame, languages: int) -> pd.DataFrame:
    rows = [_overall_row(overall, system, part, languages) for system, part in _systems(new)]
    placed = pd.concat([overall, pd.DataFrame(rows).astype({"rank": "Int64"})], ignore_index=True)
    return placed.sort_values("rank", kind="stable").reset_index(drop=True)


def _systems(new: pd.DataFrame) -> Sequence[tuple[str, pd.DataFrame]]:
    return [(str(system), part) for system, part in new.groupby("system")]


def _overall_row(
    overall: pd.DataFrame, system: str, part: pd.DataFrame, languages: int
) -> dict[str, object]:
    ranked = part[part["rank"].notna()]
    complete = len(ranked) == languages
    mean_rank = round(float(ranked["rank"].mean()), DECIMALS) if complete else float("nan")
    better = int((overall["mean_rank"] < mean_rank).sum())
    return {
        "system": system,
        "rank": 1 + better if complete else None,
        "mean_rank": mean_rank,
        "mean_rating": float(ranked["rating"].mean()) if complete else float("nan"),
        "languages": len(ranked),
        "coverage": float(part["coverage"].mean()),
    }
