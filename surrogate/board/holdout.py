"""Systems kept out of training, and R² of single tournaments on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.metrics import r2_score

from arena.data.errors import UsageError
from arena.data.seeds import generator
from surrogate.learning.languages import LanguageData
from surrogate.learning.surrogate import FEW_TREES, FEWEST_SYSTEMS, Surrogate, reseeded

Floats = npt.NDArray[np.float64]

DEFAULT_HOLDOUT_SIZE = 2
FEWEST_HELD_OUT = 2
SMALLEST_SPREAD = 1e-6
"""Held-out coefficients (logits) closer than this are equal: R² is not defined."""


@dataclass(frozen=True)
class TournamentFit:
    """A surrogate trained on a single tournament of one language.

    Attributes:
        ratings: Rating of each judged system by its answers in the tournament, shape (S,).
        shares: Share of each feature in the surrogate's decisions, shape (F,); 0 for one that
            could not be used.
        coefficients: Coefficient of each system in the tournament, shape (S,).
        is_held: Which systems were held out, shape (S,).
    """

    ratings: Floats
    shares: Floats
    coefficients: Floats
    is_held: npt.NDArray[np.bool_]

    @property
    def holdout_r2(self) -> float:
        """R² on the held-out systems; see ``r2``."""
        return r2(self.coefficients[self.is_held], self.ratings[self.is_held])

    @property
    def train_r2(self) -> float:
        """R² on the systems trained on."""
        return r2(self.coefficients[~self.is_held], self.ratings[~self.is_held])


def choose_holdout(
    systems: Sequence[str], seed: int, size: int = DEFAULT_HOLDOUT_SIZE, *keys: str
) -> tuple[str, ...]:
    """Draw the systems to hold out, sorted; none where fewer than three would be left.

    Args:
        systems: Judged systems, in an order that draws may hang on; see ``by_content``.
        seed: The user's seed.
        size: How many to draw.
        keys: What they are drawn for.
    """
    if len(systems) < size + FEWEST_SYSTEMS:
        return ()
    drawn = generator(seed, "holdout", *keys).choice(len(systems), size, replace=False)
    return tuple(sorted(systems[index] for index in drawn))


def check_holdout(holdout: Sequence[str], judged: Sequence[str]) -> tuple[str, ...]:
    """Check the systems a user wants held out.

    Raises:
        UsageError: If one is not judged, stands twice, or too few are left to train on.
    """
    if unknown := [system for system in holdout if system not in judged]:
        raise UsageError(
            f"cannot hold out {', '.join(unknown)}: not judged; "
            f"the judged systems are {', '.join(sorted(judged))}"
        )
    chosen = tuple(sorted(set(holdout)))
    if len(chosen) < len(holdout):
        raise UsageError("a held-out system is named twice")
    if len(set(judged) - set(chosen)) < FEWEST_SYSTEMS:
        raise UsageError(f"holding out {len(chosen)} systems leaves fewer than 3 to train on")
    return chosen


def fit_tournament(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    holdout: Sequence[str],
    index: int,
    seed: int,
    trees: int = FEW_TREES,
) -> list[TournamentFit]:
    """Train a surrogate on one tournament, some systems held out, and rate all of them by it.

    Lines 1 to 7 of Algorithm 1 of MIRAGE-Bench.

    Args:
        languages: One, or those a pooled surrogate learns from together.
        surrogate: What to train.
        holdout: Held-out systems.
        index: Which tournament.
        seed: Seed of the surrogate.
        trees: Trees of a forest.

    Raises:
        UsageError: If too few systems can be trained on, or no feature has a value.
    """
    ratings = {data.language: data.tournaments.single(index) for data in languages}
    # One tournament has one row a system, whose features are those of its own questions.
    rows = "system" if surrogate.rows == "overall" else surrogate.rows
    fitted = reseeded(surrogate, seed, trees=trees, rows=rows, n_jobs=1).fit(
        pd.concat([data.hiding(holdout).X for data in languages]), ratings
    )
    drawn = pd.concat([data.drawn(index) for data in languages])
    asked = {data.language: data.drawn_questions(index) for data in languages}
    rated = fitted.predict(drawn, asked).set_index(["language", "system"])["rating"]
    importances = fitted.importances().set_index("language")["importance"]
    return [
        TournamentFit(
            rated.reindex([(data.language, name) for name in data.systems]).to_numpy(np.float64),
            importances[importances.index == data.language].fillna(0.0).to_numpy(np.float64),
            data.tournaments.coefficients[index],
            np.isin(data.systems, list(holdout)),
        )
        for data in languages
    ]


def r2(truth: Floats, predicted: Floats) -> float:
    """R² of predicted coefficients, both of shape (H,).

    Returns:
        NaN where fewer than two systems have both, or their coefficients are equal.
    """
    both = np.isfinite(truth) & np.isfinite(predicted)
    if both.sum() < FEWEST_HELD_OUT or np.ptp(truth[both]) < SMALLEST_SPREAD:
        return float("nan")
    return float(r2_score(truth[both], predicted[both]))
