"""Holding systems out: Algorithm 1's R² over tournaments, and ratings of unseen systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.metrics import r2_score

from arena.data.errors import UsageError
from arena.data.seeds import generator, seed_sequence
from arena.rating.bradley_terry import ConvergenceError
from arena.rating.tournaments import Tournaments, fit_coefficients
from surrogate.learning.regressors import find_learner
from surrogate.learning.surrogates import FEWEST_SYSTEMS, Recipe, train_language_judge
from surrogate.learning.tensor import FeatureTensor
from surrogate.learning.training import Field

Floats = npt.NDArray[np.float64]

DEFAULT_HOLDOUT_SIZE = 2
FEWEST_HELD_OUT = 2
SMALLEST_SPREAD = 1e-6
"""Held-out coefficients (log-odds) closer than this are equal: R² is not defined."""
FOLDS = 5


@dataclass(frozen=True)
class TournamentFits:
    """Surrogates trained on single tournaments, for one stretch of tournaments.

    Attributes:
        r2: R² on the held-out systems, shape (T,); NaN where fewer than two have a coefficient,
            or where their coefficients are equal.
        importances: Share of each feature, shape (T, F); 0 for a feature left out.
    """

    r2: Floats
    importances: Floats


def choose_holdout(systems: Sequence[str], seed: int) -> tuple[str, ...]:
    """Draw the systems to hold out.

    Args:
        systems: Judged systems.
        seed: The user's seed.

    Returns:
        Two systems, sorted; none where fewer than three would be left to train on.
    """
    names = sorted(systems)
    if len(names) < DEFAULT_HOLDOUT_SIZE + FEWEST_SYSTEMS:
        return ()
    drawn = generator(seed, "holdout").choice(len(names), DEFAULT_HOLDOUT_SIZE, replace=False)
    return tuple(names[index] for index in sorted(drawn))


def check_holdout(holdout: Sequence[str], judged: Sequence[str]) -> tuple[str, ...]:
    """Check the systems a user wants held out.

    Raises:
        UsageError: If one is not judged, stands twice, or too few are left to train on.
    """
    unknown = [system for system in holdout if system not in judged]
    if unknown:
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


def fit_tournaments(
    tensor: FeatureTensor,
    tournaments: Tournaments,
    holdout: Sequence[str],
    recipe: Recipe,
    stretch: range,
) -> TournamentFits:
    """Train a surrogate on each tournament and score it on the held-out systems.

    Lines 1-7 of Algorithm 1 of MIRAGE-Bench.

    Args:
        tensor: Features of the judged systems on the judged questions.
        tournaments: The tournaments of this language.
        holdout: Held-out systems, at least one.
        recipe: Learner and kind of rows.
        stretch: Which tournaments to fit.
    """
    is_held = np.isin(tensor.systems, list(holdout))
    train, held = _split(tensor, is_held)
    r2 = np.full(len(stretch), np.nan)
    importances = np.zeros((len(stretch), len(tensor.features)))
    for row, index in enumerate(stretch):
        draws = tournaments.draws[index]
        coefficients = tournaments.coefficients[index]
        state = random_state(tournaments, tensor.language, "tournament", str(index))
        estimator = find_learner(recipe.learner).tournament(state)
        target = coefficients[None, ~is_held]
        judge = train_language_judge(train, draws[None], target, recipe, estimator)
        shares = judge.importances()
        importances[row] = [shares.get(name, 0.0) for name in tensor.features]
        r2[row] = held_out_r2(coefficients[is_held], judge.predict(held, draws))
    return TournamentFits(r2, importances)


def rate_unseen(tensor: FeatureTensor, tournaments: Tournaments, recipe: Recipe) -> Floats:
    """Rate every system by a surrogate that has seen neither its answers nor its battles.

    The systems are split into five seeded folds; each fold is rated by a surrogate trained on
    the others, with the coefficients of tournaments held among them alone.

    Returns:
        Shape (S,), on the scale of the tournaments of all; NaN where too few systems that met
        are left to train on, or their tournaments have no maximum likelihood without a prior.
    """
    size = len(tensor.systems)
    order = generator(tournaments.seed, "folds", tensor.language).permutation(size)
    ratings = np.full(size, np.nan)
    for number, fold in enumerate(np.array_split(order, min(FOLDS, size))):
        is_held = np.isin(np.arange(size), fold)
        target = _coefficients_without(tensor, tournaments, is_held)
        if np.isfinite(target).any(axis=0).sum() < FEWEST_SYSTEMS:
            continue
        train, unseen = _split(tensor, is_held)
        state = random_state(tournaments, tensor.language, "fold", str(number))
        estimator = find_learner(recipe.learner).final(state)
        judge = train_language_judge(train, tournaments.draws, target, recipe, estimator)
        ratings[is_held] = judge.predict(unseen)
    return ratings


def _coefficients_without(
    tensor: FeatureTensor, tournaments: Tournaments, is_held: npt.NDArray[np.bool_]
) -> Floats:
    """Coefficients of the K other systems in tournaments held without their battles, (T, K).

    Coefficients are differences: they are moved as a whole to where the K lie among all systems
    on average, so that what is learned from them is on the scale of all. That one number is the
    same for the whole fold, and lower for a stronger one.
    """
    held = [system for system, is_out in zip(tensor.systems, is_held, strict=True) if is_out]
    battles = Field(tensor, tournaments).without(held).tournaments.battles
    among_all = tournaments.coefficients[:, ~is_held]
    unknown = np.full(among_all.shape, np.nan)
    if not battles.counts.any():
        return unknown
    try:
        alone = fit_coefficients(battles, tournaments.draws, tournaments.ridge)
    except ConvergenceError:
        return unknown
    both = np.isfinite(among_all) & np.isfinite(alone)
    return np.asarray(alone + (among_all - alone)[both].mean()) if both.any() else unknown


def _split(
    tensor: FeatureTensor, is_held: npt.NDArray[np.bool_]
) -> tuple[FeatureTensor, FeatureTensor]:
    pairs = list(zip(tensor.systems, is_held.tolist(), strict=True))
    kept = [system for system, held in pairs if not held]
    return tensor.take(systems=kept), tensor.take(systems=[name for name, held in pairs if held])


def random_state(tournaments: Tournaments, *keys: str) -> int:
    """Return the seed of a learner for one purpose, derived from the tournaments' seed."""
    return int(seed_sequence(tournaments.seed, "surrogate", *keys).generate_state(1)[0])


def held_out_r2(truth: Floats, predicted: Floats) -> float:
    """R² of predicted coefficients, both of shape (H,).

    Returns:
        NaN where fewer than two systems have both, or their coefficients are equal.
    """
    both = np.isfinite(truth) & np.isfinite(predicted)
    if both.sum() < FEWEST_HELD_OUT or np.ptp(truth[both]) < SMALLEST_SPREAD:
        return float("nan")
    return float(r2_score(truth[both], predicted[both]))
