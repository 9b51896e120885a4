"""Which questions to judge to settle a new system's rank, and how many judgments that takes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from arena.data.errors import UsageError
from arena.statistics.bootstrap import generator
from arena.statistics.significance import scores_to_find
from surrogate.board.board import Board
from surrogate.ranking.ranked_systems import RankedSystems

LEVEL = 0.95
POWER = 0.8
QUESTIONS = 20


@dataclass(frozen=True)
class Advice:
    """What to judge next.

    Attributes:
        neighbors: Columns ``language, system, rank, expected_rank, neighbor, side, win_rate,
            judgments, reason``: the systems next ``above`` and ``below`` a new system on the
            board, the share of points it is expected to win against each, and how many judgments
            of that pair would tell them apart; missing with the reason where none would. A system
            without a rank has an expected one. All numbers assume that the ratings are right.
        questions: Columns ``language, system, query_id``: a draw of those it has no verdict on,
            the same for all systems, those judged on the board first. By replay questions whose
            matchups are predicted to be close, or clear, do not tell more.
    """

    neighbors: pd.DataFrame
    questions: pd.DataFrame


def judgments_to_separate(win_rate: float) -> int | None:
    """Return how many judgments of a pair distinguish a win rate from one half, or None.

    The number at which a two-sided test of one half at the ``LEVEL`` finds the difference with the
    ``POWER``, if the expected win rate is right. Verdicts are taken as binomial: ties, which vary
    less, need no more judgments.
    """
    smallest_margin = 1e-6
    margin = abs(win_rate - 0.5)
    if margin < smallest_margin:
        return None
    return scores_to_find(
        margin,
        error=1 - LEVEL,
        power=POWER,
        null_deviation=0.5,
        deviation=math.sqrt(win_rate * (1 - win_rate)),
    )


def advise(board: Board, placed: RankedSystems, *, questions: int = QUESTIONS) -> Advice:
    """Name the questions to judge to settle the rank of new systems, and how many that takes.

    Args:
        board: The board.
        placed: The new systems on it, by their answers and the verdicts at hand; those without a
            rank are placed by their expected rating. Judged questions of a new system are not
            named again.
        questions: Questions to name in each language and for each system.

    Raises:
        UsageError: If no new system can be placed, or the number is out of range.
    """
    if questions < 1:
        raise UsageError("questions must be at least 1")
    ratings = placed.new["rating"].fillna(placed.explanations["expected"])
    rated = placed.new.assign(rating=ratings).dropna(subset="rating")
    neighbors: list[dict[str, object]] = []
    to_judge = []
    for row in rated.itertuples():
        neighbors.extend(_neighbors(board, row.language, row.system, row.rank, row.rating))
        named = _open_questions(board, placed, row.language, row.system)[:questions]
        to_judge.append(
            pd.DataFrame({"language": row.language, "system": row.system, "query_id": named})
        )
    if not neighbors:
        raise UsageError("no new system has a rating on the board")
    counts = dict.fromkeys(["rank", "expected_rank", "judgments"], "Int64")
    return Advice(
        neighbors=pd.DataFrame(neighbors).astype(counts),
        questions=pd.concat(to_judge, ignore_index=True),
    )


def _neighbors(
    board: Board, language: str, system: str, rank: object, rating: float
) -> Iterator[dict[str, object]]:
    rows = board.ratings[board.ratings["language"] == language].dropna(subset="rating")
    others = rows.set_index("system")["rating"].sort_values(ascending=False, kind="stable")
    above = others[others > rating]
    below = others[others <= rating]
    for side, nearest in (("above", above.iloc[-1:]), ("below", below.iloc[:1])):
        for neighbor, neighbor_rating in nearest.items():
            win_rate = float(expit(rating - neighbor_rating))
            n_judgments = judgments_to_separate(win_rate)
            reason = ""
            if n_judgments is None:
                reason = "predicted to be equal: no number of judgments separates them"
            yield {
                "language": language,
                "system": system,
                "rank": rank,
                "expected_rank": 1 + len(above),
                "neighbor": neighbor,
                "side": side,
                "win_rate": win_rate,
                "judgments": n_judgments,
                "reason": reason,
            }


def _open_questions(board: Board, placed: RankedSystems, language: str, system: str) -> list[str]:
    """List the answered questions without a verdict on a new system, in the order to judge them."""
    features = placed.features
    is_answer = (features["language"] == language) & (features["system"] == system)
    answered = set(features.loc[is_answer, "query_id"])
    judgments = placed.judgments
    takes_part = (judgments["system_a"] == system) | (judgments["system_b"] == system)
    is_here = judgments["language"] == language
    judged = set(judgments.loc[takes_part & is_here, "query_id"])
    return [name for name in _shuffled(board, language) if name in answered - judged]


def _shuffled(board: Board, language: str) -> list[str]:
    """Order a language's questions at random, those the board's systems were judged on first."""
    is_here = board.features["language"] == language
    questions = np.sort(board.features.loc[is_here, "query_id"].unique())
    shuffled = generator(board.surrogate.seed, "advice", language).permutation(questions)
    ratings = board.surrogate.ratings_.get(language)
    judged = set() if ratings is None else set(ratings.questions)
    return sorted((str(name) for name in shuffled), key=lambda name: name not in judged)
