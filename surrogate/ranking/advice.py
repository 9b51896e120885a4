"""Which questions to judge to settle a new system's rank, and how many judgments that takes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from arena.data.errors import UsageError
from arena.data.seeds import generator
from surrogate.board.board import Board
from surrogate.ranking.rank import RankedSystems

LEVEL = 0.95
POWER = 0.8
QUESTIONS = 20
SMALLEST_MARGIN = 1e-6
EQUAL = "predicted to be equal: no number of judgments separates them"


@dataclass(frozen=True)
class Advice:
    """What to judge next.

    Attributes:
        neighbors: Columns ``language, system, rank, expected_rank, neighbor, side, win_rate,
            judgments, reason``: the systems next ``above`` and ``below`` a new system on the
            board, the share of points it is expected to win against each, and how many judgments
            of that pair would tell them apart; missing with the reason where none would. A system
            without a rank has the one that its answers and verdicts let expect alone. All rests
            on the ratings being right.
        questions: Columns ``language, system, query_id``: a draw of those it has no verdict on,
            the same for all systems, those judged on the board first. By replay questions whose
            matchups are predicted to be close, or clear, do not tell more.
    """

    neighbors: pd.DataFrame
    questions: pd.DataFrame


def judgments_to_separate(win_rate: float) -> int | None:
    """Return how many judgments of a pair tell a win rate from one half; None where none do.

    The number at which a two-sided test of one half at the ``LEVEL`` finds the difference with
    the ``POWER``, if the share of points p that one is expected to win against the other is right
    (normal approximation of the binomial; ties, which vary less, need no more):

        ((z(level) / 2 + z(power) sqrt(p (1 - p))) / (p - 1/2))^2
    """
    margin = abs(win_rate - 0.5)
    if margin < SMALLEST_MARGIN:
        return None
    by_chance = float(ndtri((1 + LEVEL) / 2)) / 2
    as_expected = float(ndtri(POWER)) * math.sqrt(win_rate * (1 - win_rate))
    return math.ceil(((by_chance + as_expected) / margin) ** 2)


def advise(board: Board, placed: RankedSystems, *, questions: int = QUESTIONS) -> Advice:
    """Say which questions to judge to settle the rank of new systems, and how many.

    Args:
        board: The board.
        placed: The new systems as they stand on it: by their answers and the verdicts at hand,
            near-copies beside what they copy; of those without a rank by what is expected of them.
            Judged questions of a new system are not named again.
        questions: Questions to name in each language and for each system.

    Raises:
        UsageError: If no new system can be placed, or the number is out of range.
    """
    if questions < 1:
        raise UsageError("questions must be at least 1")
    rated = placed.new[["language", "system", "rank", "rating"]]
    rated = rated.assign(rating=rated["rating"].fillna(placed.explanations["expected"]))
    table = placed.features
    neighbors, asked = [], []
    rated = rated.dropna(subset="rating")
    for language, system, rank, rating in rated.itertuples(index=False, name=None):
        known = board.ratings[board.ratings["language"] == language].dropna(subset="rating")
        others = known.set_index("system")["rating"].sort_values(ascending=False, kind="stable")
        above, below = others[others > rating], others[others <= rating]
        sides = dict.fromkeys(above.index[-1:], "above") | dict.fromkeys(below.index[:1], "below")
        for name, side in sides.items():
            win_rate = float(expit(rating - others[name]))
            needed = judgments_to_separate(win_rate)
            neighbors.append(
                {
                    **{"language": language, "system": system, "rank": rank},
                    "expected_rank": 1 + len(above),
                    **{"neighbor": name, "side": side, "win_rate": win_rate},
                    **{"judgments": needed, "reason": EQUAL if needed is None else ""},
                }
            )
        own = table.loc[(table["language"] == language) & (table["system"] == system), "query_id"]
        open_ = set(own) - _judged_questions(placed.judgments, language, system)
        named = [item for item in _drawn(board, language) if item in open_][:questions]
        asked.append(pd.DataFrame({"language": language, "system": system, "query_id": named}))
    if not neighbors:
        raise UsageError("no new system has a rating on the board")
    places = pd.DataFrame(neighbors).astype(
        {"rank": "Int64", "expected_rank": "Int64", "judgments": "Int64"}
    )
    return Advice(places, pd.concat(asked, ignore_index=True))


def _drawn(board: Board, language: str) -> list[str]:
    """Order a language's questions: those the board's systems were judged on first, at random."""
    known = board.features.loc[board.features["language"] == language, "query_id"].unique()
    rated = board.surrogate.ratings_.get(language)
    judged = set(() if rated is None else rated.questions)
    drawn = generator(board.surrogate.seed, "advice", language).permutation(np.sort(known))
    return sorted(map(str, drawn), key=lambda item: item not in judged)


def _judged_questions(judged: pd.DataFrame, language: str, system: str) -> set[str]:
    takes_part = (judged["system_a"] == system) | (judged["system_b"] == system)
    return set(judged.loc[takes_part & (judged["language"] == language), "query_id"])
