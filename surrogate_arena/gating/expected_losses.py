"""Questions that a surrogate expects a candidate to lose."""

from __future__ import annotations

import pandas as pd

from arena.data.schema import QUESTION_KEY
from surrogate.board.board import Board
from surrogate.learning.surrogate import ANSWER_MARK
from surrogate.learning.training_data import with_answers
from surrogate_arena.gating.contenders import Contenders
from surrogate_arena.gating.lost_questions import LostQuestion, listed_questions

MOST_EXPECTED = 10
"""Questions that are listed: of these, 22 points more are lost in fact than of random ones."""


def expected_losses(
    board: Board, pair: Contenders, features: pd.DataFrame
) -> tuple[LostQuestion, ...]:
    """Find the questions whose answers the surrogate rates lowest beside the baseline's.

    ``benchmarks/where_to_look.py`` measures how often these are lost in fact.
    """
    if board.summary.settings.by != "language":
        return ()
    of_baseline = board.features[board.features["system"] == pair.baseline]
    baseline = _answer_ratings(board, of_baseline, pair.baseline_answers)
    of_candidate = features[features["system"] == pair.candidate]
    candidate = _answer_ratings(board, of_candidate, pair.answers)
    rows = candidate.merge(baseline, on=QUESTION_KEY, suffixes=("", "_baseline"))
    rows["loss"] = rows["rating_baseline"] - rows["rating"]
    rows = rows[rows["loss"] > 0].sort_values(
        ["loss", *QUESTION_KEY], ascending=[False, True, True]
    )
    return listed_questions(rows.head(MOST_EXPECTED).assign(votes=0), pair, is_expected=True)


def _answer_ratings(board: Board, features: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Rate each answer as if it were its system's only one."""
    rows = with_answers(features, answers)
    singles = rows.assign(system=rows["system"] + ANSWER_MARK + rows["query_id"])
    rated = board.surrogate.predict(singles)
    rated["query_id"] = rated["system"].str.rsplit(ANSWER_MARK, n=1).str[-1]
    return rated[[*QUESTION_KEY, "rating"]]
