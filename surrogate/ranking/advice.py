"""How many judgments two systems need before it can be said which is the better."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit, ndtri

from arena.data.errors import UsageError
from arena.data.seeds import generator
from surrogate.board.board import Board
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.training import finite_means
from surrogate.ranking.judged import judged_ratings

LEVEL = 0.95
POWER = 0.8
SMALLEST_MARGIN = 1e-6


def judgments_to_separate(
    win_rate: float, level: float = LEVEL, power: float = POWER
) -> int | None:
    """Return how many judgments of a pair tell a win rate from one half.

    The number at which a two-sided test of one half finds the difference with the given power
    (normal approximation of the binomial; ties, which vary less, need no more):

        ((z(level) / 2 + z(power) sqrt(p (1 - p))) / (p - 1/2))^2

    Args:
        win_rate: Share of points p that one system is expected to win against the other.
        level: Confidence of the statement.
        power: Probability of reaching it, if the win rate is as expected.

    Returns:
        None where no number is enough: the two are expected to be equal.

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


Floats = npt.NDArray[np.float64]


def predicted_win_rates(ratings: pd.Series, opponents: pd.DataFrame) -> Floats:
    """Return a system's expected points against each opponent on each question.

    Args:
        ratings: Its rating on each of Q questions.
        opponents: Those of O opponents, one column a question.

    Returns:
        Shape (O, Q), each from 0 to 1; NaN where either has no rating.
    """
    own = ratings.to_numpy(np.float64)
    return np.asarray(expit(own - opponents[list(ratings.index)].to_numpy(np.float64)))


def answer_ratings(
    surrogate: Surrogate,
    X: pd.DataFrame,
    language: str,
    systems: Sequence[str],
    questions: Sequence[str],
) -> pd.DataFrame:
    """Rate single answers (logits): a row a system, a column a question; NaN without one."""
    rows = X[
        (X["language"] == language)
        & X["system"].isin(set(systems))
        & X["query_id"].isin(set(questions))
    ]
    if rows.empty:
        return pd.DataFrame(np.nan, list(systems), list(questions))
    rated = surrogate.predict_answers(rows)
    wide = rated.pivot_table("rating", "system", "query_id", dropna=False)
    return wide.reindex(index=list(systems), columns=list(questions))


EQUAL = "predicted to be equal: no number of judgments separates them"
QUESTIONS = 20


@dataclass(frozen=True)
class Advice:
    """What to judge next.

    Attributes:
        neighbors: Columns ``language, system, rank, neighbor, side, win_rate, judgments,
            reason``: the systems next ``above`` and ``below`` a new system on the board, the share
            of points it is expected to win against each, and how many judgments of that pair
            would tell them apart at the level; missing with the reason where none would. It
            rests on the surrogate's ratings being right.
        questions: Columns ``language, system, query_id, uncertainty, order, random_order``: how
            open the matchups with the neighbors are (p (1 - p), 0.25 the most), the order by it,
            and a random order. Judge by ``order`` to distinguish it from the neighbors with few
            judgments; by ``random_order`` where the win rate is to be estimated, which needs a
            random sample.
        level: Confidence of the separation.
        power: Probability of reaching it.
    """

    neighbors: pd.DataFrame
    questions: pd.DataFrame
    level: float
    power: float


def advise(
    board: Board,
    table: pd.DataFrame,
    *,
    judged: pd.DataFrame | None = None,
    questions: int = QUESTIONS,
    level: float = LEVEL,
    power: float = POWER,
    seed: int = 0,
) -> Advice:
    """Say which questions to judge to settle the rank of new systems, and how many.

    Args:
        board: The board, with its feature table.
        table: Feature table of the new systems' answers, with the board's features.
        judged: Judgments already at hand: they count in the ratings (``judged_ratings``), and a
            new system's judged questions are not named again.
        questions: Questions to name in each language and for each system, by either order.
        level: Confidence with which neighbors are to be distinguishable.
        power: Probability of reaching it.
        seed: Seed of the random order.

    Raises:
        UsageError: If the board has no feature table, no new system can be placed, or a number is
            out of range.
    """
    if questions < 1:
        raise UsageError("questions must be at least 1")
    judgments_to_separate(0.9, level, power)
    rated = _rated(board, table, judged)
    places = [
        _Place(board, table, str(language), str(system), rating)
        for language, system, rating in rated[["language", "system", "rating"]].to_numpy()
    ]
    settled = [place for place in places if np.isfinite(place.rating)]
    if not settled:
        raise UsageError("no new system has a rating in a language of the board")
    return Advice(
        pd.DataFrame(
            [row for place in settled for row in _neighbor_rows(place, level, power)]
        ).astype({"rank": "Int64", "judgments": "Int64"}),
        pd.concat(
            [_question_rows(place, judged, questions, seed) for place in settled],
            ignore_index=True,
        ),
        level,
        power,
    )


def _rated(board: Board, table: pd.DataFrame, judged: pd.DataFrame | None) -> pd.DataFrame:
    """Rate the new systems by the surrogate, and by their verdicts where there are some."""
    columns = ["language", "system", "rating"]
    predicted = board.surrogate.predict(table)[columns]
    if judged is None or board.summary.is_published:
        return predicted
    both = [judged_ratings(board, table, judged)[columns], predicted]
    return pd.concat(both).drop_duplicates(["language", "system"], ignore_index=True)


@dataclass(frozen=True)
class _Place:
    """A new system in one language of a board."""

    board: Board
    table: pd.DataFrame
    language: str
    system: str
    rating: float

    @property
    def answered(self) -> list[str]:
        rows = self.table[
            (self.table["language"] == self.language) & (self.table["system"] == self.system)
        ]
        return sorted(rows["query_id"])

    @cached_property
    def others(self) -> pd.Series:
        """Ratings of the board's systems, best first."""
        ratings = self.board.ratings
        rows = ratings[ratings["language"] == self.language]
        return (
            rows.set_index("system")["rating"].dropna().sort_values(ascending=False, kind="stable")
        )

    @property
    def neighbors(self) -> list[tuple[str, str]]:
        """The systems next above and below, with the side."""
        others = self.others
        above, below = others[others > self.rating], others[others <= self.rating]
        return [
            *((str(name), "above") for name in above.index[-1:]),
            *((str(name), "below") for name in below.index[:1]),
        ]


def _neighbor_rows(place: _Place, level: float, power: float) -> list[dict[str, object]]:
    others, rating = place.others, place.rating
    rows = []
    for name, side in place.neighbors:
        win_rate = float(expit(rating - others[name]))
        needed = judgments_to_separate(win_rate, level, power)
        rows.append(
            {
                "language": place.language,
                "system": place.system,
                "rank": 1 + int((others > rating).sum()),
                "neighbor": name,
                "side": side,
                "win_rate": win_rate,
                "judgments": needed,
                "reason": EQUAL if needed is None else "",
            }
        )
    return rows


def _question_rows(
    place: _Place, judged: pd.DataFrame | None, count: int, seed: int
) -> pd.DataFrame:
    known = _judged_questions(judged, place.language, place.system)
    left = [name for name in place.answered if name not in known]
    uncertainty = _uncertainty(place, left)
    order = np.argsort(np.argsort(-np.nan_to_num(uncertainty, nan=-1.0), kind="stable")) + 1
    random = generator(seed, "advice", place.language, place.system)
    random_order = random.permutation(len(left)) + 1
    rows = pd.DataFrame(
        {
            "language": place.language,
            "system": place.system,
            "query_id": left,
            "uncertainty": uncertainty,
            "order": order,
            "random_order": random_order,
        }
    )
    named = rows[(rows["order"] <= count) | (rows["random_order"] <= count)]
    return named.sort_values("order", ignore_index=True)


def _uncertainty(place: _Place, questions: Sequence[str]) -> Floats:
    """Mean of p (1 - p) of the matchups with the neighbors, shape (Q,); NaN without any."""
    names = [name for name, _ in place.neighbors]
    own, opponents = (
        answer_ratings(place.board.surrogate, source, place.language, systems, questions)
        for source, systems in ((place.table, [place.system]), (place.board.features, names))
    )
    rates = predicted_win_rates(own.loc[place.system], opponents)
    return finite_means(rates * (1 - rates))


def _judged_questions(judged: pd.DataFrame | None, language: str, system: str) -> set[str]:
    if judged is None:
        return set()
    takes_part = (judged["system_a"] == system) | (judged["system_b"] == system)
    return set(judged.loc[takes_part & (judged["language"] == language), "query_id"])
