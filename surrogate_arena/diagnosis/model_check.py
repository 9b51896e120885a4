"""How well ratings fit: battles on questions that they have not seen, and tests of lack of fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import xlogy

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.types import Floats
from arena.data.wording import Remark, count_of
from arena.rating.battles import Battles
from arena.rating.biases import SIDE
from arena.rating.group_ratings import Method
from arena.rating.intervals import expected_shares
from arena.rating.judgment_columns import POINTS_OF_A, TIE
from arena.rating.ratings import Ratings, counted_judgments, rate_battles
from arena.statistics.bootstrap import generator
from surrogate_arena.diagnosis.lack_of_fit import disagreement_test, pairs_test

FOLDS = 5


@dataclass(frozen=True)
class ModelCheck:
    """How well ratings fit the battles.

    Attributes:
        log_likelihood: Mean logarithm of the probability of a battle's outcome, on questions that
            the ratings have not seen; a tie is half a win for each, and -0.693 is chance.
        accuracy: Share of the battles decided there that the favored system won.
        predicted: Number of battles that were predicted.
        battles: Number of all battles; of the others a system was not rated without them.
        tests: Tests of lack of fit, as far as the battles allow them.
    """

    log_likelihood: float
    accuracy: float
    predicted: int
    battles: int
    tests: tuple[Remark, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was found."""
        held_out = (
            f"on questions that they have not seen the ratings predict {self.accuracy:.0%} of the "
            f"decided ones among {count_of(self.predicted, 'battle')}; log-likelihood "
            f"{self.log_likelihood:.3f} a battle (chance: {np.log(0.5):.3f})"
        )
        return (held_out, *(test.sentence for test in self.tests))


def check_model(
    judgments: pd.DataFrame | Arena | Battles,
    *,
    language: str | None = None,
    judge: str | None = None,
    ties: str = "half",
    ridge: float | None = None,
    position: bool = False,
    folds: int = FOLDS,
    seed: int = 0,
) -> ModelCheck:
    """Check how well ratings fit judgments: by questions left out, and for what they leave over.

    Args:
        judgments: As in ``rate``; so are the others but ``folds``.
        language: Language to take, where there are several.
        judge: Judge to take, where there are several.
        ties: ``half`` or ``drop``.
        ridge: Precision of the prior of the plain model.
        position: Whether that has a term for side A.
        folds: Number of parts of the questions, each predicted by ratings from the others.
        seed: Of the parts, and of the tests.

    Raises:
        UsageError: For an unknown choice, or fewer questions than parts.
        ConvergenceError: With a given ``ridge`` that leaves a part without maximum.
    """
    if not isinstance(judgments, Battles):
        counted, _ = counted_judgments(judgments, language, judge)
        judgments = Battles.from_judgments(counted)
    battles = judgments.counted(ties)
    if not 2 <= folds <= battles.n_questions:
        raise UsageError(
            f"folds must be from 2 to the number of questions, {battles.n_questions:,}"
        )
    method = Method(ridge=ridge, position=position, rounds=0, seed=seed)
    shares = _held_out_shares(battles, method, folds)
    weight = np.ones(len(battles)) if battles.weight is None else battles.weight
    is_predicted = np.isfinite(shares)
    points = POINTS_OF_A[battles.winner]
    log_likelihood = xlogy(points, shares) + xlogy(1 - points, 1 - shares)
    is_decided = is_predicted & (battles.winner != TIE)
    # A system favored by nothing wins half of the time.
    is_right = np.where(shares == 0.5, 0.5, (shares > 0.5) == (points > 0.5))
    largest = battles.largest_group()
    tests = [pairs_test(largest, seed), disagreement_test(largest, seed=seed)]
    return ModelCheck(
        log_likelihood=_mean(log_likelihood[is_predicted], weight[is_predicted]),
        accuracy=_mean(is_right[is_decided], weight[is_decided]),
        predicted=round(float(weight[is_predicted].sum())),
        battles=battles.judged,
        tests=tuple(test for test in tests if test is not None),
    )


def _held_out_shares(battles: Battles, method: Method, folds: int) -> Floats:
    """Predict side A's share of each battle by ratings that have not seen its question, (N,)."""
    shares = np.full(len(battles), np.nan)
    order = generator(method.seed, "model check", "folds").permutation(battles.n_questions)
    fold = (order % folds)[battles.question]
    for number in range(folds):
        is_held_out = fold == number
        rated = rate_battles(battles.only(~is_held_out), method)
        shares[is_held_out] = _predicted_shares(rated, battles)[is_held_out]
    return shares


def _mean(values: Floats, weights: Floats) -> float:
    return float(np.average(values, weights=weights)) if weights.sum() > 0 else np.nan


def _predicted_shares(rated: Ratings, battles: Battles) -> Floats:
    """Predict side A's share of the points of N battles, with what its judge likes, shape (N,).

    NaN where a system is not rated, or the two are in groups that never met.
    """
    table = rated.table.set_index("system").reindex(list(battles.systems))
    ratings = table["rating"].to_numpy(np.float64)
    group = table["group"].to_numpy(np.float64, na_value=np.nan)
    covariance = rated.covariance.reindex(index=table.index, columns=table.index).to_numpy()
    a, b = battles.side_a, battles.side_b
    variances = covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]
    logits = ratings[a] - ratings[b] + _liked(rated, battles)
    shares = expected_shares(logits, np.sqrt(np.maximum(variances, 0.0)))
    return np.where(group[a] == group[b], shares, np.nan)


def _liked(rated: Ratings, battles: Battles) -> Floats:
    """Return the logits that judges add to side A, shape (N,)."""
    traits: Sequence[str] = (SIDE, *battles.traits)
    coefficients = np.zeros((len(battles.judges), len(traits)))
    for bias in rated.biases:
        if bias.judge in battles.judges and bias.trait in traits:
            row = battles.judges.index(bias.judge)
            coefficients[row, traits.index(bias.trait)] = bias.coefficient
    judge = np.zeros(len(battles), dtype=np.intp) if battles.judge is None else battles.judge
    differences = np.ones((len(battles), 1))
    if battles.differences is not None:
        differences = np.hstack([differences, battles.differences])
    return np.asarray((coefficients[judge] * differences).sum(axis=1))
