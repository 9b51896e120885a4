"""Which questions to judge to settle a new system's rank, and how many judgments that takes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from arena.data.errors import UsageError
from surrogate.board.board import Board
from surrogate.learning.surrogate import predict_answers
from surrogate.learning.training import finite_means
from surrogate.ranking.judged import judged_ratings

LEVEL = 0.95
POWER = 0.8
QUESTIONS = 20
SMALLEST_MARGIN = 1e-6
EQUAL = "predicted to be equal: no number of judgments separates them"


@dataclass(frozen=True)
class Advice:
    """What to judge next.

    Attributes:
        neighbors: Columns ``language, system, rank, neighbor, side, win_rate, judgments,
            reason``: the systems next ``above`` and ``below`` a new system on the board, the
            share of points it is expected to win against each, and how many judgments of that
            pair would tell them apart; missing with the reason where none would. It rests on the
            ratings being right.
        questions: Columns ``language, system, query_id, uncertainty``, the most telling first:
            how open the matchups with the neighbors are (p (1 - p), 0.25 the most).
    """

    neighbors: pd.DataFrame
    questions: pd.DataFrame


def judgments_to_separate(
    win_rate: float, level: float = LEVEL, power: float = POWER
) -> int | None:
    """Return how many judgments of a pair tell a win rate from one half; None where none do.

    The number at which a two-sided test of one half finds the difference with the given power
    (normal approximation of the binomial; ties, which vary less, need no more):

        ((z(level) / 2 + z(power) sqrt(p (1 - p))) / (p - 1/2))^2

    Args:
        win_rate: Share of points p that one system is expected to win against the other.
        level: Confidence of the statement.
        power: Probability of reaching it, if the win rate is as expected.

    Raises:
        UsageError: For a number out of range.
    """
    if not 0 <= win_rate <= 1:
        raise UsageError(f"win_rate = {win_rate:g} is out of range; use 0 to 1")
    if not (0 < level < 1 and 0 < power < 1):
        raise UsageError("level and power must be above 0 and below 1")
    margin = abs(win_rate - 0.5)
    if margin < SMALLEST_MARGIN:
        return None
    by_chance = float(ndtri((1 + level) / 2)) / 2
    as_expected = float(ndtri(power)) * math.sqrt(win_rate * (1 - win_rate))
    return math.ceil(((by_chance + as_expected) / margin) ** 2)


def advise(
    board: Board,
    table: pd.DataFrame,
    *,
    judged: pd.DataFrame | None = None,
    questions: int = QUESTIONS,
    level: float = LEVEL,
) -> Advice:
    """Say which questions to judge to settle the rank of new systems, and how many.

    Args:
        board: The board.
        table: Feature table of the new systems' answers, with the board's features.
        judged: Judgments already at hand: they count in the ratings (``judged_ratings``), and a
            new system's judged questions are not named again.
        questions: Questions to name in each language and for each system.
        level: Confidence with which neighbors are to be distinguishable.

    Raises:
        UsageError: If no new system can be placed, or a number is out of range.
    """
    if questions < 1:
        raise UsageError("questions must be at least 1")
    judgments_to_separate(0.9, level)
    columns = ["language", "system", "rating"]
    rated = board.surrogate.predict(table)[columns]
    if judged is not None and not board.summary.is_published:
        both = [judged_ratings(board, table, judged)[columns], rated]
        rated = pd.concat(both).drop_duplicates(["language", "system"])
    neighbors, asked = [], []
    for language, system, rating in rated.dropna().itertuples(index=False, name=None):
        known = board.ratings[board.ratings["language"] == language].dropna(subset="rating")
        others = known.set_index("system")["rating"].sort_values(ascending=False, kind="stable")
        above, below = others[others > rating], others[others <= rating]
        sides = {
            **dict.fromkeys(above.index[-1:], "above"),
            **dict.fromkeys(below.index[:1], "below"),
        }
        for name, side in sides.items():
            win_rate = float(expit(rating - others[name]))
            needed = judgments_to_separate(win_rate, level)
            neighbors.append(
                {
                    **{"language": language, "system": system, "rank": 1 + len(above)},
                    **{"neighbor": name, "side": side, "win_rate": win_rate},
                    **{"judgments": needed, "reason": EQUAL if needed is None else ""},
                }
            )
        own = table[(table["language"] == language) & (table["system"] == system)]
        own = own[~own["query_id"].isin(_judged_questions(judged, language, system))]
        open_ = _uncertainty(board, own, list(sides)).sort_values(ascending=False, kind="stable")
        named = open_.head(questions).rename_axis("query_id").rename("uncertainty").reset_index()
        asked.append(named.assign(language=language, system=system))
    if not neighbors:
        raise UsageError("no new system has a rating on the board")
    places = pd.DataFrame(neighbors).astype({"rank": "Int64", "judgments": "Int64"})
    order = ["language", "system", "query_id", "uncertainty"]
    return Advice(places, pd.concat(asked, ignore_index=True)[order])


def _uncertainty(board: Board, own: pd.DataFrame, neighbors: list[str]) -> pd.Series:
    """Mean of p (1 - p) of a system's matchups with its neighbors, by question; NaN without any."""
    asked = sorted(own["query_id"])
    known = board.features[board.features["language"].isin(own["language"])]
    known = known[known["system"].isin(neighbors) & known["query_id"].isin(asked)]
    if own.empty or known.empty:
        return pd.Series(np.nan, index=asked)
    mine, theirs = (
        predict_answers(board.surrogate, rows)
        .pivot_table("rating", "system", "query_id", dropna=False)
        .reindex(columns=asked)
        .to_numpy(np.float64)
        for rows in (own, known)
    )
    rates = expit(mine - theirs)
    return pd.Series(finite_means(rates * (1 - rates)), index=asked)


def _judged_questions(judged: pd.DataFrame | None, language: str, system: str) -> set[str]:
    if judged is None:
        return set()
    takes_part = (judged["system_a"] == system) | (judged["system_b"] == system)
    return set(judged.loc[takes_part & (judged["language"] == language), "query_id"])
