"""Prior ratings of an arena's systems, from a board or from their answers alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.rows import are_in
from arena.data.schema import QUESTION_KEY
from arena.rating.posterior import PRIOR_COLUMNS
from features.engine.extraction import extract
from features.measures.registry import FEATURES
from surrogate.board.board import Board
from surrogate.board.summary import fingerprint
from surrogate.board.unjudged_board import (
    EVIDENCE_FEATURES,
    first_ratings,
    preferences_for,
)
from surrogate.learning.training_data import with_answers
from surrogate.ranking.rank import rank_systems


def judging_prior(
    arena: Arena,
    questions: pd.DataFrame | None = None,
    board: Board | Path | str | None = None,
    *,
    seed: int = 0,
    n_jobs: int = 1,
) -> pd.DataFrame:
    """Return prior ratings of the systems, ``PRIOR_COLUMNS``, by a board with or without verdicts.

    Args:
        arena: Questions and answers.
        questions: Columns ``language, query_id`` of ``questions_to_judge``; by default all.
        board: A board of the same questions, or its folder; by default one without verdicts.
        seed: Seed of a board without verdicts.
        n_jobs: Processes for feature extraction.

    Raises:
        UsageError: If the board cannot be used; see ``expected_systems``.
    """
    if board is not None:
        opened = board if isinstance(board, Board) else Board.load(board)
        return expected_systems(opened, arena, n_jobs=n_jobs)
    drawn = arena.queries[QUESTION_KEY] if questions is None else questions[QUESTION_KEY]
    preferences = preferences_for(arena)
    X = _evidence_of_answers(arena, drawn, preferences, n_jobs)
    tables = []
    bases = {}
    for language, n_questions in drawn["language"].value_counts(sort=False).items():
        systems = sorted(X.loc[X["language"] == language, "system"].unique())
        first = first_ratings(
            X,
            language,
            systems,
            int(n_questions),
            arena.info.reference_system,
            seed,
            preferences,
        )
        tables.append(first.table)
        bases[language] = first.basis
    return first_prior(pd.concat(tables, ignore_index=True), bases)


def _evidence_of_answers(
    arena: Arena, questions: pd.DataFrame, preferences: Iterable[str], n_jobs: int
) -> pd.DataFrame:
    """Measure the features of first ratings on some questions."""
    answers = arena.answers[are_in(arena.answers, questions, QUESTION_KEY)]
    # As values: a name would also be looked up in other packages, which may declare it too.
    names = [*EVIDENCE_FEATURES, *(name for name in preferences if name in FEATURES)]
    measured = [FEATURES[name] for name in names]
    return with_answers(extract(arena, measured, answers, n_jobs=n_jobs), answers)


def expected_systems(board: Board, arena: Arena, n_jobs: int = 1) -> pd.DataFrame:
    """Return a surrogate's ratings and standard errors of every system of an arena.

    Systems on the board are rated by surrogates that saw neither them nor their verdicts. A
    standard error is the one whose normal 90% interval is the conformal interval. A board without
    verdicts is put on their scale (``first_prior``).

    Returns:
        Columns ``language, system, rating, standard_error``; NaN where nothing is expected.
    """
    by = board.summary.settings.by
    if by != "language":
        raise UsageError(f"prior ratings need a board by language; this one is by {by}")
    bases = {language: part.basis for language, part in board.summary.languages.items()}
    if "verdicts" not in bases.values():
        return first_prior(_all_rated(board, arena), bases)
    rows = board.ratings
    is_new = ~arena.answers["system"].isin(set(rows["system"]))
    if is_new.any():
        rows = rank_systems(board, arena.answers[is_new], arena, n_jobs).board
    rows = rows[rows["system"].isin(arena.info.systems)]
    has_error = rows["surrogate_error"] > 0
    prior = rows.assign(
        rating=rows["surrogate_rating"].where(has_error),
        standard_error=rows["surrogate_error"].where(has_error),
    )
    return prior[list(PRIOR_COLUMNS)].reset_index(drop=True)


def _all_rated(board: Board, arena: Arena) -> pd.DataFrame:
    """Return the rows of a board without verdicts, if it is of this arena."""
    absent = sorted(set(arena.info.systems) - set(board.ratings["system"]))
    if absent or fingerprint(arena) != board.summary.fingerprint:
        reason = f"it lacks {', '.join(absent)}" if absent else "its questions are others"
        raise UsageError(f"the board is not of this arena: {reason}; build it again")
    return board.ratings[board.ratings["system"].isin(set(arena.info.systems))]


def first_prior(ratings: pd.DataFrame, bases: Mapping[str, str]) -> pd.DataFrame:
    """Put the ratings of a board without verdicts on the scale of verdicts.

    Returns:
        Columns ``language, system, rating, standard_error``, in logits.
    """
    # Ratings by verdicts spread by one logit, mean over public arenas, and correlate with those of
    # a first board by .5. With judge preferences it was .83 on four arenas, weights learned without
    # each (benchmarks/README.md, "First boards"); less is taken, as these arenas are much alike.
    spread = 1.0
    uses_preferences = ratings["language"].map(bases).eq("preferences")
    correlation = np.where(uses_preferences, 0.7, 0.5)
    grouped = ratings.groupby("language")["rating"]
    deviation = grouped.transform("std", ddof=0)
    centered = ratings["rating"] - grouped.transform("mean")
    standardized = centered / deviation.where(deviation > 0)
    error = spread * np.sqrt(1 - correlation**2)
    prior = ratings.assign(
        rating=correlation * spread * standardized,
        standard_error=np.where(standardized.notna(), error, np.nan),
    )
    return prior[list(PRIOR_COLUMNS)]
