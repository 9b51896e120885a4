"""Rating unseen systems with their own values of a feature, and with those of other systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import delayed

from arena.data.errors import UsageError
from arena.data.folder import Arena
from arena.data.seeds import generator
from arena.statistics.bootstrap import percentile_interval
from arena.statistics.rank_agreement import kendall_taus
from features.declare.feature import Feature
from features.measures.registry import DEFAULT_FEATURES
from surrogate.learning.names import DEFAULT_SURROGATE, find_surrogate
from surrogate.learning.surrogates import (
    FittedSurrogate,
    Surrogate,
    SystemSurrogate,
    feature_shares,
)
from surrogate.learning.tensor import FeatureTensor
from surrogate.learning.training import Field
from surrogate.validation.protocols import system_folds
from surrogate.validation.scores import finite_means
from surrogate.validation.shapley import explained, shapley_shares
from surrogate.validation.study import (
    Arranged,
    LanguageArena,
    Study,
    TournamentSettings,
    arrange,
    checked_repeats,
)
from surrogate.validation.tasks import Progress, learner_state, run_tasks

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Rated:
    """Ratings of one fold's systems in one language, shape (1 + F x K, N): the first row plain."""

    language: str
    repeat: int
    places: list[int]
    ratings: Floats


def permuted_ratings(
    at_hand: Arranged,
    surrogate: Surrogate,
    repeats: int,
    permutations: int,
    n_jobs: int,
    progress: Progress | None,
) -> dict[str, Floats]:
    """Rate every system by surrogates trained without it, features plain and permuted.

    Args:
        at_hand: The arena.
        surrogate: What to train.
        repeats: How often to split the systems into folds anew (R).
        permutations: How often each feature is permuted (K).
        n_jobs: Processes to use.
        progress: Called as trainings end.

    Returns:
        Language code to ratings of S systems, shape (R, 1 + F x K, S): first plain, then the
        permutations of the first feature, and so on; NaN where nothing could be trained.
    """
    seed = at_hand.how.seed
    arenas = at_hand.arenas
    groups = [arenas] if surrogate.pooled else [[arena] for arena in arenas]
    tasks = [
        delayed(_rate_fold)(
            *(group, surrogate, fold, repeat, permutations, seed),
            learner_state(seed, str(repeat), str(number)),
        )
        for repeat, number, fold in system_folds(arenas, repeats, seed)
        for group in groups
    ]
    height = 1 + len(at_hand.features) * permutations
    gathered = {
        item.language: np.full((repeats, height, len(item.systems)), np.nan) for item in arenas
    }
    for done in run_tasks(tasks, n_jobs, progress):
        for item in done:
            gathered[item.language][item.repeat][:, item.places] = item.ratings
    return gathered


def _rate_fold(
    arenas: Sequence[LanguageArena],
    surrogate: Surrogate,
    held: Sequence[str],
    repeat: int,
    permutations: int,
    seed: int,
    state: int,
) -> list[_Rated]:
    fields: list[Field] = []
    for arena in arenas:
        try:
            fields.append(arena.field_without(held))
        except UsageError:
            continue
    try:
        fitted = surrogate.fit(fields, state) if fields else None
    except UsageError:
        fitted = None
    if fitted is None:
        return []
    known = {field.language: field for field in fields}
    return [
        _rate_permuted(arena, known[arena.language], fitted, held, repeat, permutations, seed)
        for arena in arenas
        if arena.language in known and set(arena.systems) & set(held)
    ]


def _rate_permuted(
    arena: LanguageArena,
    field: Field,
    fitted: FittedSurrogate,
    held: Sequence[str],
    repeat: int,
    permutations: int,
    seed: int,
) -> _Rated:
    judged = arena.judged
    places = [place for place, name in enumerate(arena.systems) if name in set(held)]
    own = judged.take(systems=[arena.systems[place] for place in places])
    ratings = [fitted.predict(own, field.answers)]
    for number, feature in enumerate(judged.features):
        for turn in range(permutations):
            donors = _donors(arena, feature, repeat, turn, seed)[places]
            altered = _with_values_of(own, judged.values[donors][:, :, number], number)
            ratings.append(fitted.predict(altered, field.answers))
    return _Rated(arena.language, repeat, places, np.array(ratings) + arena.origin_of(field))


def _donors(
    arena: LanguageArena, feature: str, repeat: int, turn: int, seed: int
) -> npt.NDArray[np.intp]:
    """Whose values of a feature each system gets: never its own, the same in every fold."""
    random = generator(seed, "permutation", arena.language, feature, str(repeat), str(turn))
    order = random.permutation(len(arena.systems))
    donors = np.empty_like(order)
    donors[order] = np.roll(order, 1)
    return donors


def _with_values_of(tensor: FeatureTensor, values: Floats, number: int) -> FeatureTensor:
    altered = tensor.values.copy()
    altered[:, :, number] = np.where(tensor.answered, values, np.nan)
    return replace(tensor, values=altered)


_Columns = Mapping[str, pd.DataFrame]
"""Language code to the columns of a measure, one row a feature."""

REPEATS = 5
PERMUTATIONS = 5
PERMUTATION = "permutation"
SHAP = "shap"
KINDS = (PERMUTATION, SHAP)
DEFAULT_KINDS = (PERMUTATION,)


def importances(
    arena: Arena,
    model: str = DEFAULT_SURROGATE,
    features: Sequence[Feature] = DEFAULT_FEATURES,
    *,
    kinds: Sequence[str] = DEFAULT_KINDS,
    permutations: int = PERMUTATIONS,
    judge: str | None = None,
    feature_table: pd.DataFrame | None = None,
    repeats: int = REPEATS,
    tournaments: TournamentSettings | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Study:
    """Say how much a surrogate's ranking rests on each feature.

    **Permutation** (Breiman, 2001, "Random forests"): each system is rated by a surrogate trained
    without it; once with its own values of a feature, and once with those of another system's
    answers to the same questions. The importance is the Kendall tau that is lost. Features that
    say the same stand in for each other, so that each of them seems to matter less.

    **SHAP** (Lundberg and Lee, 2017): mean size of the feature's Shapley values over systems, as
    a share of that of all features, in surrogates of single tournaments; what moves the ratings,
    whether or not it helps. See ``surrogate.validation.shapley_values``.

    **Share**: of the surrogate's own decisions, in surrogates of single tournaments; of a forest
    the mean decrease in impurity, as in the paper. See ``surrogate.judge.LanguageJudge``.

    All have the interval that holds 95% of the tournaments: the permutation's tau is held
    against the ratings of each tournament in turn.

    Args:
        arena: The arena.
        model: One of ``surrogate.surrogate_names.SURROGATE_NAMES``.
        features: Features to extract from every answer.
        kinds: Some of ``KINDS``; the share comes with each.
        permutations: How often each feature is permuted, at least once.
        judge: Whose judgments to learn from.
        feature_table: Features already at hand.
        repeats: How often to split the systems into folds anew.
        tournaments: How tournaments are held, and the seed of everything random.
        n_jobs: Processes to use.
        progress: Called as trainings end.

    Returns:
        Columns ``language, feature, permutation, permutation_low, permutation_high, shap,
        shap_low, shap_high, share, share_low, share_high``, without those of a kind that is not
        asked for; those that matter most by the first kind come first. Permutation is in Kendall
        tau; ``shap`` (median over tournaments) and ``share`` (mean) are shares that sum to 1 over
        the features of a tournament. NaN: a feature without values in the language, and the
        share in a model that has none.

    Raises:
        MissingDependencyError: For SHAP importances without the package ``shap``.
        UsageError: For an unknown model or kind, SHAP importances of a model that has none, fewer
            than one repeat, or too few systems.
    """
    asked = _checked_kinds(kinds)
    checked_repeats(repeats)
    if permutations < 1:
        raise UsageError("permutations must be at least 1")
    surrogate = find_surrogate(model)
    with_values = explained(model) if SHAP in asked else None
    at_hand = arrange(
        arena,
        features,
        judge=judge,
        feature_table=feature_table,
        tournaments=tournaments,
        n_jobs=n_jobs,
    )
    measured: dict[str, _Columns] = {}
    if PERMUTATION in asked:
        folds = permuted_ratings(at_hand, surrogate, repeats, permutations, n_jobs, progress)
        measured[PERMUTATION] = _permutation_columns(at_hand, folds)
    if with_values is not None:
        shares = shapley_shares(at_hand, with_values, n_jobs, progress)
        measured[SHAP] = {
            language: _spread(SHAP, found, _medians(found)) for language, found in shares.items()
        }
    table = pd.concat(
        [
            _table(item, [measured[kind] for kind in asked], surrogate, at_hand.how.seed)
            for item in at_hand.arenas
        ],
        ignore_index=True,
    )
    settings = [f"permutations:{permutations}"] if PERMUTATION in asked else []
    settings += [f"importances:{','.join(asked)}"] if asked != DEFAULT_KINDS else []
    return Study(table, at_hand.signature("importances", model, repeats, *settings))


def _checked_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        named = f"unknown importances {unknown[0]!r}" if unknown else "no importances are asked for"
        raise UsageError(f"{named}; use some of {', '.join(KINDS)}")
    return tuple(dict.fromkeys(kinds))


def _table(
    arena: LanguageArena, measured: Sequence[_Columns], surrogate: Surrogate, seed: int
) -> pd.DataFrame:
    """Importances of one language, those that matter most by the first measure first."""
    columns = [kind[arena.language] for kind in measured]
    shares = _shares(arena, surrogate, seed)
    share = _spread("share", shares, finite_means(shares))
    table = pd.concat([*columns, share], axis=1)
    table[~np.isfinite(arena.answers.values).any(axis=(0, 1))] = np.nan
    table.insert(0, "language", arena.language)
    table.insert(1, "feature", list(arena.answers.features))
    return table.sort_values(str(table.columns[2]), ascending=False, kind="stable")


def _permutation_columns(at_hand: Arranged, folds: Mapping[str, Floats]) -> _Columns:
    columns = {}
    for item in at_hand.arenas:
        ratings, size = folds[item.language], len(item.answers.features)
        against_all = _lost(ratings, item.truth[None], size)[:, 0]
        lost = _lost(ratings, item.tournaments.coefficients, size)
        columns[item.language] = _spread(PERMUTATION, lost.T, against_all)
    return columns


def _spread(name: str, values: Floats, middle: Floats) -> pd.DataFrame:
    """Arrange what stands for each feature and the interval of its values, shape (T, F)."""
    bounds = np.array([percentile_interval(column) for column in values.T])
    return pd.DataFrame({name: middle, f"{name}_low": bounds[:, 0], f"{name}_high": bounds[:, 1]})


def _medians(values: Floats) -> Floats:
    """Medians of the finite values of each column, shape (T, F) to (F,); NaN without."""
    return np.array([percentile_interval(column, (50, 50))[0] for column in values.T])


def _shares(arena: LanguageArena, surrogate: Surrogate, seed: int) -> Floats:
    """Share of each feature in forests of single tournaments, shape (T, F); NaN if not used."""
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
    return np.array([[shares.get(name, np.nan) for name in features] for shares in found])


def _lost(ratings: Floats, truth: Floats, size: int) -> Floats:
    """Tau that permuting each of F features costs, against each truth, shape (F, T)."""
    losses = []
    for repeat in ratings:
        taus = kendall_taus(repeat, truth)
        losses.append((taus[0] - taus[1:]).reshape(size, -1, len(truth)))
    every = np.concatenate(losses, axis=1)
    return np.array([finite_means(of_feature) for of_feature in every])
