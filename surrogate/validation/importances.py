"""Which features a surrogate's ranking of unseen systems rests on (MIRAGE-Bench, figure 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena import Arena, UsageError
from features import DEFAULT_FEATURES, Feature
from surrogate.agreement import percentile_interval
from surrogate.field import Field
from surrogate.surrogate_names import DEFAULT_SURROGATE, find_surrogate
from surrogate.surrogates import Surrogate
from surrogate.system_surrogate import SystemSurrogate, feature_shares
from surrogate.validation.arranged import Study, arrange, checked_repeats
from surrogate.validation.language_arena import LanguageArena, TournamentSettings
from surrogate.validation.permuted_ratings import permuted_ratings
from surrogate.validation.scores import finite_means, taus_of_pairs
from surrogate.validation.tasks import Progress, learner_state

Floats = npt.NDArray[np.float64]

REPEATS = 5
PERMUTATIONS = 5


def importances(
    arena: Arena,
    model: str = DEFAULT_SURROGATE,
    features: Sequence[Feature] = DEFAULT_FEATURES,
    *,
    permutations: int = PERMUTATIONS,
    judge: str | None = None,
    feature_table: pd.DataFrame | None = None,
    repeats: int = REPEATS,
    tournaments: TournamentSettings | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Study:
    """Say how much of the ranking of unseen systems each feature carries.

    **Permutation** (Breiman, 2001, "Random forests"): each system is rated by a surrogate trained
    without it; once with its own values of a feature, and once with those of another system's
    answers to the same questions. The importance is the Kendall tau that is lost. Features that
    say the same stand in for each other, so that each of them seems to matter less.

    **Share** (mean decrease in impurity): of a forest's own splits, over forests of single
    tournaments, as in the paper; what the forest looks at, whether or not it helps.

    Both have the interval that holds 95% of the tournaments: the permutation's tau is held
    against the ratings of each tournament in turn.

    Args:
        arena: The arena.
        model: One of ``surrogate.surrogate_names.SURROGATE_NAMES``.
        features: Features to extract from every answer.
        permutations: How often each feature is permuted, at least once.
        judge: Whose judgments to learn from.
        feature_table: Features already at hand.
        repeats: How often to split the systems into folds anew.
        tournaments: How tournaments are held, and the seed of everything random.
        n_jobs: Processes to use.
        progress: Called as trainings end.

    Returns:
        Columns ``language, feature, permutation, permutation_low, permutation_high, share,
        share_low, share_high``, those that matter most first. A share is NaN for a model that is
        no ensemble of trees of one language.

    Raises:
        UsageError: For an unknown model, fewer than one repeat, or too few systems.
    """
    checked_repeats(repeats)
    if permutations < 1:
        raise UsageError("permutations must be at least 1")
    surrogate = find_surrogate(model)
    at_hand = arrange(
        arena,
        features,
        judge=judge,
        feature_table=feature_table,
        tournaments=tournaments,
        n_jobs=n_jobs,
    )
    folds = permuted_ratings(at_hand, surrogate, repeats, permutations, n_jobs, progress)
    parts = [
        _table(item, folds[item.language], _shares(item, surrogate, at_hand.how.seed))
        for item in at_hand.arenas
    ]
    settings = f"permutations:{permutations}"
    return Study(
        pd.concat(parts, ignore_index=True),
        at_hand.signature("importances", model, repeats, settings),
    )


def _shares(arena: LanguageArena, surrogate: Surrogate, seed: int) -> Floats:
    """Share of each feature in forests of single tournaments, shape (T, F)."""
    features = arena.answers.features
    times = len(arena.tournaments.draws)
    if not isinstance(surrogate, SystemSurrogate):
        return np.full((times, len(features)), np.nan)
    field = Field(arena.answers, arena.tournaments)
    found = [
        feature_shares(
            *(surrogate, field.one_tournament(index)),
            learner_state(seed, "shares", arena.language, str(index)),
        )
        for index in range(times)
    ]
    return np.array([[shares.get(name, 0.0) for name in features] for shares in found])


def _table(arena: LanguageArena, ratings: Floats, shares: Floats) -> pd.DataFrame:
    features = arena.answers.features
    lost = _lost(ratings, arena.tournaments.coefficients, len(features))
    against_all = _lost(ratings, arena.truth[None], len(features))[:, 0]
    rows = []
    for place, feature in enumerate(features):
        low, high = percentile_interval(lost[place])
        share_low, share_high = percentile_interval(shares[:, place])
        rows.append(
            {
                "language": arena.language,
                "feature": feature,
                "permutation": float(against_all[place]),
                "permutation_low": low,
                "permutation_high": high,
                "share": float(finite_means(shares[:, place : place + 1])[0]),
                "share_low": share_low,
                "share_high": share_high,
            }
        )
    return pd.DataFrame(rows).sort_values("permutation", ascending=False, kind="stable")


def _lost(ratings: Floats, truth: Floats, size: int) -> Floats:
    """Tau that permuting each of F features costs, against each truth, shape (F, T)."""
    losses = []
    for repeat in ratings:
        taus = taus_of_pairs(repeat, truth)
        losses.append((taus[0] - taus[1:]).reshape(size, -1, len(truth)))
    every = np.concatenate(losses, axis=1)
    return np.array([finite_means(of_feature) for of_feature in every])
