"""Prediction-powered estimates of a mean, with the weight of the predictions tuned (PPI++).

n outcomes are known, and predictions of all n + N. The mean of the outcomes is corrected by how
far the predictions of the n are from those of the N:

    mean(Y) + lambda (mean(f of the N) - mean(f of the n))

which is unbiased for every lambda, however bad the predictions are, if the n are a random sample
(Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, 2023, "Prediction-powered inference"). The
variance is lowest at lambda = cov(Y, f) / ((1 + n/N) var(f)); with it the interval is, for many
outcomes, never wider than without predictions (Angelopoulos, Duchi and Zrnic, 2023, "PPI++").

Here lambda is found for each outcome from the others, so that the estimate stays unbiased for few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import t as student

from arena.data.errors import UsageError
from arena.rating.battles import points_of_a
from surrogate.board.board import Board
from surrogate.ranking.advice import answer_ratings, predicted_win_rates

Floats = npt.NDArray[np.float64]

LEVEL = 0.95
FEWEST_OUTCOMES = 5
SMALLEST_VARIANCE = 1e-12


@dataclass(frozen=True)
class MeanEstimate:
    """An estimate of a mean with its interval.

    Attributes:
        value: The estimate.
        standard_error: Its standard error.
        low: Lower bound of the interval.
        high: Upper bound.
    """

    value: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True)
class PoweredMean:
    """A mean estimated with and without predictions.

    Attributes:
        powered: With the predictions.
        classical: From the outcomes alone.
        weight: Mean weight of the predictions (lambda), from 0 (of no use) to 1.
        outcomes: Number of outcomes n.
        unjudged: Number of predictions without outcome N.
    """

    powered: MeanEstimate
    classical: MeanEstimate
    weight: float
    outcomes: int
    unjudged: int

    @property
    def width_ratio(self) -> float:
        """Width of the interval with predictions by that without; NaN where that has none."""
        wide = self.classical.standard_error
        return self.powered.standard_error / wide if wide > 0 else float("nan")


def prediction_powered_mean(
    outcomes: npt.ArrayLike,
    predictions: npt.ArrayLike,
    unjudged: npt.ArrayLike,
    level: float = LEVEL,
) -> PoweredMean:
    """Estimate a mean from few outcomes and many predictions.

    Args:
        outcomes: Shape (n,), of items drawn at random from all.
        predictions: Predictions of the same items, shape (n,); must not have learned from the
            outcomes.
        unjudged: Predictions of the other items, shape (N,); without any, predictions say nothing.
        level: Coverage of the interval (Student's t with n - 1 degrees of freedom).

    Raises:
        UsageError: With fewer than five outcomes, values that are not finite, or a level out of
            range.
    """
    known, guessed, others = (
        np.asarray(part, dtype=np.float64) for part in (outcomes, predictions, unjudged)
    )
    _check(known, guessed, others, level)
    size = len(known)
    weights = _tuned_weights(known, guessed, size / len(others) if len(others) else np.inf)
    weight = float(weights.mean())
    corrected = known - weights * guessed
    spread = np.concatenate([guessed, others]).var(ddof=1)
    variance = corrected.var(ddof=1) / size
    value = float(corrected.mean())
    if len(others):
        variance += weight**2 * spread / len(others)
        value += weight * float(others.mean())
    return PoweredMean(
        _interval(value, float(np.sqrt(variance)), size, level),
        _interval(float(known.mean()), float(known.std(ddof=1) / np.sqrt(size)), size, level),
        weight,
        size,
        len(others),
    )


def _check(known: Floats, guessed: Floats, others: Floats, level: float) -> None:
    if known.ndim != 1 or known.shape != guessed.shape or others.ndim != 1:
        raise UsageError("outcomes and their predictions must be two lists of the same length")
    if len(known) < FEWEST_OUTCOMES:
        raise UsageError(
            f"{len(known)} outcomes are too few; at least {FEWEST_OUTCOMES} are needed"
        )
    if not all(np.isfinite(part).all() for part in (known, guessed, others)):
        raise UsageError("outcomes and predictions must be numbers; leave missing ones out")
    if not 0 < level < 1:
        raise UsageError(f"level = {level:g} is out of range; use above 0 and below 1")


def _tuned_weights(known: Floats, guessed: Floats, ratio: float) -> Floats:
    """Return the weight for each outcome that the other outcomes ask for, shape (n,)."""
    left = len(known) - 1
    own_known, own_guessed = known - known.mean(), guessed - guessed.mean()
    # Sums of squares and products around the mean, each item left out in turn.
    factor = 1 + 1 / left
    products = own_known @ own_guessed - factor * own_known * own_guessed
    squares = own_guessed @ own_guessed - factor * own_guessed**2
    slopes = np.divide(
        products, squares, out=np.zeros_like(products), where=squares > SMALLEST_VARIANCE
    )
    return np.asarray(np.clip(slopes / (1 + ratio), 0.0, 1.0))


def _interval(value: float, standard_error: float, size: int, level: float) -> MeanEstimate:
    reach = float(student.ppf((1 + level) / 2, size - 1)) * standard_error
    return MeanEstimate(value, standard_error, value - reach, value + reach)


UNBOUNDED = "the win rate may be 0 or 1, which no rating has"
NO_RATING = "an opponent has no rating on the board"
LARGEST_RATING = 30.0
"""Logits beyond which a win rate is 0 or 1 in double precision."""
COLUMNS = [
    *("language", "system", "judgments", "questions", "unjudged", "opponents"),
    *("win_rate", "low", "high", "judged_alone", "judged_alone_low", "judged_alone_high"),
    *("predicted", "weight", "width_ratio", "rating", "rating_low", "rating_high", "reason"),
]


@dataclass(frozen=True)
class _Matchups:
    """One system's matchups on the questions it answered.

    Attributes:
        points: Share of points won from each opponent, shape (O, Q); NaN where not judged.
        predicted: Expected share of points, shape (O, Q); NaN where none is predicted.
        judgments: Number of judgments, shape (O, Q).
        ratings: Rating of each opponent on the board, shape (O,); NaN without one.
    """

    points: Floats
    predicted: Floats
    judgments: Floats
    ratings: Floats

    @cached_property
    def weights(self) -> Floats:
        """How much each matchup counts in its question's outcome, shape (O, Q).

        By its judgments; the sum is 1 of a question with some that have a prediction, else 0.
        """
        usable = np.isfinite(self.points) & np.isfinite(self.predicted)
        counted = np.where(usable, self.judgments, 0.0)
        return np.asarray(counted / np.maximum(counted.sum(axis=0), 1.0))

    @property
    def shares(self) -> Floats:
        """How much each opponent counts in the mean of the outcomes, shape (O,), with the sum 1.

        Predictions of questions without outcome are weighed alike: by shares of all judgments,
        opponents that are met on few questions, or twice on each, would count otherwise in these
        than in those of judged questions, and the difference would bias the correction.
        """
        total = self.weights.sum()
        return np.asarray(self.weights.sum(axis=1) / max(float(total), 1.0))


def estimate_win_rates(
    board: Board, table: pd.DataFrame, judgments: pd.DataFrame, level: float = LEVEL
) -> pd.DataFrame:
    """Estimate how often new systems beat the systems they were judged against.

    The judged questions must have been drawn at random, and opponents without regard to the
    question; then the estimate is unbiased, whatever the surrogate is worth. The unit is the
    question: its outcome is the mean of its judgments' points (1 a win, 0.5 a tie; of a soft
    judgment those expected by its probabilities).

    A rating is the Bradley-Terry coefficient at which a system has this win rate against the same
    opponents, each at its rating by verdicts alone on the board, or the surrogate's where there
    is no other.

    Args:
        board: The board, with its feature table.
        table: Feature table of the new systems' answers, with the board's features.
        judgments: Columns ``language, query_id, system_a, system_b, winner``: of new systems
            against systems on the board. Others are left aside.
        level: Coverage of the intervals.

    Returns:
        A row a language and new system with judgments, columns ``language, system, judgments,
        questions, unjudged, opponents, win_rate, low, high, judged_alone, judged_alone_low,
        judged_alone_high, predicted, weight, width_ratio, rating, rating_low, rating_high,
        reason``: numbers of judgments, of judged and unjudged questions and opponents; the
        prediction-powered win rate; that of the judgments alone; the surrogate's mean prediction;
        its weight; how wide the first interval is, compared with the second; the rating. NaN with
        the reason where something is not defined.

    Raises:
        UsageError: If no judgment is of a new system against one on the board.
    """
    rows = [
        _row(board, table, part, str(language), system, level)
        for language, part in judgments.groupby("language")
        for system in sorted(set(table.loc[table["language"] == language, "system"]))
        if _against_board(board, part, str(language), system).shape[0]
    ]
    if not rows:
        raise UsageError("no judgment is of a new system against a system on the board")
    return pd.DataFrame(rows, columns=COLUMNS)


def rating_of(win_rate: float, opponents: Floats, shares: Floats) -> float:
    """Return the Bradley-Terry coefficient with an expected win rate against opponents.

    Args:
        win_rate: From 0 to 1.
        opponents: Their coefficients, shape (O,).
        shares: How often each is met, shape (O,), with the sum 1.

    Returns:
        NaN for a win rate of 0 or 1, which no coefficient has, or where an opponent has none.
    """
    if not 0 < win_rate < 1 or np.isnan(opponents).any():
        return float("nan")
    reach = LARGEST_RATING + float(np.abs(opponents).max())
    return float(
        brentq(lambda rating: float(shares @ expit(rating - opponents)) - win_rate, -reach, reach)
    )


def _against_board(
    board: Board, judgments: pd.DataFrame, language: str, system: str
) -> pd.DataFrame:
    """One system's judgments against the board, columns ``query_id, opponent, points``."""
    known = set(board.ratings.loc[board.ratings["language"] == language, "system"])
    points = points_of_a(judgments)
    is_a, is_b = judgments["system_a"] == system, judgments["system_b"] == system
    own = pd.DataFrame(
        {
            "query_id": judgments["query_id"],
            "opponent": judgments["system_b"].where(is_a, judgments["system_a"]),
            "points": points.where(is_a, 1 - points),
        }
    )
    return own[(is_a | is_b) & own["opponent"].isin(known)].reset_index(drop=True)


def _row(
    board: Board,
    table: pd.DataFrame,
    judgments: pd.DataFrame,
    language: str,
    system: str,
    level: float,
) -> dict[str, object]:
    own = _against_board(board, judgments, language, system)
    start = {"language": language, "system": system, "judgments": len(own)}
    try:
        matchups = _matchups(board, table, own, language, system)
        outcomes, predictions, unjudged = _per_question(matchups)
        done = prediction_powered_mean(outcomes, predictions, unjudged, level)
    except UsageError as error:
        return {**start, "reason": str(error)}
    everything = np.concatenate([predictions, unjudged])
    return {**start, **_estimates(done, matchups), "predicted": float(everything.mean())}


def _matchups(
    board: Board, table: pd.DataFrame, own: pd.DataFrame, language: str, system: str
) -> _Matchups:
    if language not in board.surrogate.systems_ or language in board.surrogate.failures_:
        raise UsageError("the board has no surrogate for this language")
    opponents = sorted(own["opponent"].unique())
    rows = table[(table["language"] == language) & (table["system"] == system)]
    questions = sorted(rows["query_id"])
    ratings, others = (
        answer_ratings(board.surrogate, source, language, names, questions)
        for source, names in ((table, [system]), (board.features, opponents))
    )
    met = own.groupby(["opponent", "query_id"])["points"]
    points, judgments = (
        values.unstack("query_id").reindex(index=opponents, columns=questions).to_numpy(np.float64)
        for values in (met.mean(), met.size())
    )
    return _Matchups(
        points,
        predicted_win_rates(ratings.loc[system], others),
        np.nan_to_num(judgments),
        _board_ratings(board, language, opponents),
    )


def _board_ratings(board: Board, language: str, systems: Sequence[str]) -> Floats:
    rows = board.ratings[board.ratings["language"] == language].set_index("system").reindex(systems)
    return np.asarray(rows["arena_rating"].fillna(rows["rating"]), dtype=np.float64)


def _per_question(matchups: _Matchups) -> tuple[Floats, Floats, Floats]:
    """Outcomes and predictions of the judged questions, and predictions of the others."""
    weights, shares = matchups.weights, matchups.shares
    known = weights.any(axis=0)
    outcomes, predictions = (
        np.where(weights > 0, weights * values, 0.0).sum(axis=0)[known]
        for values in (matchups.points, matchups.predicted)
    )
    met = shares > 0
    others = matchups.predicted[met][:, ~matchups.judgments.any(axis=0)]
    complete = np.isfinite(others).all(axis=0)
    return outcomes, predictions, shares[met] @ others[:, complete]


def _estimates(done: PoweredMean, matchups: _Matchups) -> dict[str, object]:
    low, high = _clipped(done.powered)
    alone_low, alone_high = _clipped(done.classical)
    met = matchups.shares > 0
    opponents, shares = matchups.ratings[met], matchups.shares[met]
    ratings = [rating_of(value, opponents, shares) for value in (done.powered.value, low, high)]
    unrated = NO_RATING if np.isnan(opponents).any() else UNBOUNDED
    return {
        "questions": done.outcomes,
        "unjudged": done.unjudged,
        "opponents": len(matchups.ratings),
        "win_rate": done.powered.value,
        "low": low,
        "high": high,
        "judged_alone": done.classical.value,
        "judged_alone_low": alone_low,
        "judged_alone_high": alone_high,
        "weight": done.weight,
        "width_ratio": done.width_ratio,
        "rating": ratings[0],
        "rating_low": ratings[1],
        "rating_high": ratings[2],
        "reason": unrated if np.isnan(ratings).any() else "",
    }


def _clipped(estimate: MeanEstimate) -> tuple[float, float]:
    return max(estimate.low, 0.0), min(estimate.high, 1.0)
