"""Pairs for the second of two judges: some at random, then those that tell most.

Random pairs show how to scale the first judge's ratings to a prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import scipy
from scipy.special import expit

from arena.data.arena import Arena
from arena.data.rows import are_in
from arena.judging.answer_pairs import PAIR_COLUMNS
from arena.judging.choosing.adaptive import AdaptivePairs
from arena.judging.choosing.chosen_pairs import ChosenPairs, Rounds, joined_pairs
from arena.judging.choosing.drawn_pairs import sample_pairs
from arena.judging.judging_settings import JudgingSettings
from arena.llm.usage import Budget
from arena.rating.battles import Battles
from arena.rating.judgments import points_of_a
from arena.rating.posterior import PRIOR_COLUMNS, RatingPrior, battle_posterior
from arena.rating.soft_verdicts import (
    calibrated_judgments,
    learn_temperatures,
    values_by_judge,
)

JUDGE_DIFFERENCE = 0.2
"""Standard deviation of what two judges of an arena rate a system differently, in logits, before
both have judged. The posterior lets it be up to four times as large, if verdicts say so."""
SCALE_DEVIATION = 0.5
"""Standard deviation, before both have judged, of the factor by which the second judge's ratings
are the first one's; its mean is 1."""
FEWEST_CALIBRATION = 10
"""Random pairs that the second judge is asked about first, however settled the ranking looks."""


class EscalatedPairs:
    """Chooses the second judge's pairs: random ones, then ``adaptive``."""

    n_planned: int | None = None

    def __init__(
        self,
        arena: Arena,
        settings: JudgingSettings,
        first_ratings: pd.DataFrame,
        failed: pd.DataFrame | None,
        calls: Budget,
    ) -> None:
        """Draw the random pairs."""
        self.adaptive: AdaptivePairs | None = None
        self._arena = arena
        self._settings = settings
        self._first_ratings = first_ratings
        self._failed = failed
        self._calls = calls
        n_pairs = n_calibration(len(first_ratings))
        limits = [n_pairs, settings.budget, calls.calls_left]
        n_calls = min(limit for limit in limits if limit is not None)
        self._random = sample_pairs(arena, settings, n_calls)

    def rounds(self) -> Rounds:
        """Yield the random pairs, then those of ``AdaptivePairs``."""
        outcome = yield self._random
        judgments = pd.concat([self._arena.judgments, outcome.judgments], ignore_index=True)
        failed = [table for table in (self._failed, outcome.failures) if table is not None]
        by_second = judgments[judgments["judge"] == self._settings.first_judge]
        is_random = are_in(by_second, self._random.table, PAIR_COLUMNS)
        # Pairs that were chosen for their closeness would say little of how far judges agree.
        prior = calibrated_prior(self._first_ratings, by_second[is_random])
        self.adaptive = AdaptivePairs(
            replace(self._arena, judgments=judgments),
            self._settings,
            prior,
            pd.concat(failed, ignore_index=True),
            self._calls,
        )
        return (yield from self.adaptive.rounds())

    def chosen(self, rounds: Sequence[ChosenPairs]) -> ChosenPairs:
        """Join what was asked, in this run and before."""
        if self.adaptive is None:
            return joined_pairs(self._random.on([]), rounds)
        # The random pairs were judged before the others were chosen.
        return self.adaptive.chosen(rounds[1:])


def ratings_by_first(
    judgments: pd.DataFrame, first_judge: str, prior: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Rate the systems by the first judge, ``PRIOR_COLUMNS``."""
    temperatures = values_by_judge(learn_temperatures(judgments))
    by_first = judgments[judgments["judge"] == first_judge]
    tables = []
    for language, rows in calibrated_judgments(by_first, temperatures).groupby("language"):
        battles = Battles.from_judgments(rows)
        expected = None if prior is None else prior[prior["language"] == language]
        rating_prior = RatingPrior.of_table(expected, battles.systems)
        table = battle_posterior(battles, rating_prior).table
        tables.append(table.assign(language=language))
    if not tables:
        return pd.DataFrame(columns=list(PRIOR_COLUMNS))
    return pd.concat(tables, ignore_index=True)[list(PRIOR_COLUMNS)]


def n_calibration(n_systems: int) -> int:
    """Return how many random pairs the second judge is asked about."""
    pairs_a_system = 2
    return max(FEWEST_CALIBRATION, pairs_a_system * n_systems)


def calibrated_prior(first_ratings: pd.DataFrame, by_second: pd.DataFrame) -> pd.DataFrame:
    """Scale the first judge's ratings to the second one's verdicts.

    The factor b, with prior N(1, 1/4), is the most probable given verdicts by ratings b theta.
    """
    rating_of = first_ratings.set_index(["language", "system"])["rating"]
    systems_a = pd.MultiIndex.from_frame(by_second[["language", "system_a"]])
    systems_b = pd.MultiIndex.from_frame(by_second[["language", "system_b"]])
    ratings_a = rating_of.reindex(systems_a).to_numpy(np.float64)
    ratings_b = rating_of.reindex(systems_b).to_numpy(np.float64)
    is_rated = np.isfinite(ratings_a - ratings_b)
    differences = (ratings_a - ratings_b)[is_rated]
    points = points_of_a(by_second).to_numpy(np.float64)[is_rated]

    def slope(factor: float) -> float:
        residuals = points - expit(factor * differences)
        return float(differences @ residuals) - (factor - 1.0) / SCALE_DEVIATION**2

    # No residual is above 1, so the root is no further from 1 than this.
    bound = SCALE_DEVIATION**2 * float(np.abs(differences).sum()) + 1.0
    factor = float(scipy.optimize.brentq(slope, 1.0 - bound, 1.0 + bound))
    spread = float(rating_of.std(ddof=0)) if len(rating_of) else 0.0
    errors = factor * first_ratings["standard_error"]
    # The less the second judge follows the first one, the less is known of where it will differ.
    doubt = np.hypot(JUDGE_DIFFERENCE, (1.0 - min(factor, 1.0)) * spread)
    return first_ratings.assign(
        rating=factor * first_ratings["rating"], standard_error=np.hypot(errors, doubt)
    )
