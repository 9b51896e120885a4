"""What a surrogate's ranking rests on: tau lost by permuting a feature, SHAP, own shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.statistics.bootstrap import percentile_interval
from arena.statistics.rank_agreement import kendall_taus
from surrogate.learning.cross_fitting import derived_seed, held_out_ratings
from surrogate.learning.languages import LanguageData
from surrogate.learning.names import DEFAULT_SURROGATE, as_surrogate
from surrogate.learning.surrogate import FEW_TREES, Surrogate, reseeded
from surrogate.learning.training import finite_means
from surrogate.validation.shapley import explained, shapley_shares
from surrogate.validation.study import Study, StudyOptions, StudyTable

Floats = npt.NDArray[np.float64]

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
    surrogate: str | Surrogate | BaseEstimator = DEFAULT_SURROGATE,
    *,
    kinds: Sequence[str] = DEFAULT_KINDS,
    permutations: int = PERMUTATIONS,
    repeats: int = REPEATS,
    **options: Unpack[StudyOptions],
) -> StudyTable:
    """Say how much a surrogate's ranking rests on each feature.

    **Permutation** (Breiman, 2001, "Random forests"): each system is rated by a surrogate trained
    without it; once with its own values of a feature, and once with those of another system's
    answers to the same questions. The importance is the Kendall tau that is lost. Features that
    say the same stand in for each other, so that each of them seems to matter less.

    **SHAP** (Lundberg and Lee, 2017): mean size of the feature's Shapley values over systems, as
    a share of that of all features, in surrogates of single tournaments; what moves the ratings,
    whether or not it helps. See ``surrogate.validation.shapley_values``.

    **Share**: of the surrogate's own decisions, in surrogates of single tournaments; of a forest
    the mean decrease in impurity, as in the paper. See ``Surrogate.importances``.

    All have the interval that holds 95% of the tournaments: the permutation's tau is held
    against the ratings of each tournament in turn.

    Arguments that are not told here are those of ``validate``.

    Args:
        kinds: Some of ``KINDS``; the share comes with each.
        permutations: How often each feature is permuted, at least once.
        repeats: How often to split the systems into folds.

    Returns:
        Columns ``language, feature, permutation, permutation_low, permutation_high, shap,
        shap_low, shap_high, share, share_low, share_high``, without those of a kind that is not
        asked for; those that matter most by the first kind come first. Permutation is in Kendall
        tau; ``shap`` (median over tournaments) and ``share`` (mean) are shares that sum to 1 over
        the features of a tournament. NaN: a feature without values in the language, and the
        share in a surrogate that has none.

    Raises:
        MissingDependencyError: For SHAP importances without the package ``shap``.
        UsageError: For an unknown surrogate or kind, SHAP importances of one that has none, fewer
            than one repeat, or too few systems.
    """
    asked = _checked_kinds(kinds)
    if permutations < 1:
        raise UsageError("permutations must be at least 1")
    explainable = explained(as_surrogate(surrogate).name) if SHAP in asked else None
    study = Study.of(arena, surrogate, repeats, **options)
    measured: dict[str, _Columns] = {}
    if PERMUTATION in asked:
        permuted = permuted_ratings(study, permutations)
        measured[PERMUTATION] = _permutation_columns(study, permuted)
    if explainable is not None:
        shares = shapley_shares(study, explainable)
        measured[SHAP] = {
            language: _spread(SHAP, found, _medians(found)) for language, found in shares.items()
        }
    table = pd.concat(
        [
            _table(item, study.features, [measured[kind] for kind in asked], study.surrogate)
            for item in study.languages
        ],
        ignore_index=True,
    )
    settings = [f"permutations:{permutations}"] if PERMUTATION in asked else []
    settings += [f"importances:{','.join(asked)}"] if asked != DEFAULT_KINDS else []
    return StudyTable(table, study.signature("importances", *settings))


def permuted_ratings(study: Study, permutations: int) -> dict[str, tuple[Floats, Floats]]:
    """Rate every system by surrogates trained without it, features plain and permuted.

    Args:
        study: The arena, the surrogate and the number of repeats (R).
        permutations: How often each feature is permuted (K).

    Returns:
        Language code to ratings of S systems, shape (R, 1 + F x K, S): first plain, then the
        permutations of the first feature, and so on; NaN where nothing could be trained. And to
        the fold of each system, shape (R, S).
    """
    rated = partial(
        permuted_answers,
        features=study.features,
        permutations=permutations,
        seed=study.settings.seed,
    )
    found = held_out_ratings(study.languages, study.surrogate, study.repeats, rated=rated)
    repeats, height = study.repeats.times, 1 + len(study.features) * permutations
    ratings = {}
    for item in study.languages:
        names = [_renamed(name, turn) for turn in range(height) for name in item.systems]
        matrix = found.matrix(item.language, names, repeats)
        folds = found.matrix(item.language, item.systems, repeats, "fold")
        ratings[item.language] = matrix.reshape(repeats, height, len(item.systems)), folds
    return ratings


def permuted_answers(
    data: LanguageData,
    held: Sequence[str],
    repeat: int,
    features: Sequence[str],
    permutations: int,
    seed: int,
) -> pd.DataFrame:
    """Return the held-out systems' answers, plain and with others' values of each feature.

    Every permutation is as of systems of its own, so that all are rated at once.
    """
    judged = data.rows().set_index(["system", "query_id"])
    own = judged.loc[judged.index.get_level_values("system").isin(list(held))]
    tables = [_as_system(own, 0)]
    for number, feature in enumerate(features):
        for turn in range(permutations):
            donor = _donors(data, feature, repeat, turn, seed)
            sources = pd.MultiIndex.from_arrays(
                [
                    own.index.get_level_values("system").map(donor),
                    own.index.get_level_values("query_id"),
                ]
            )
            values = judged[feature].reindex(sources).to_numpy()
            altered = own.assign(**{feature: values})
            tables.append(_as_system(altered, 1 + number * permutations + turn))
    return pd.concat(tables, ignore_index=True)


def _as_system(rows: pd.DataFrame, turn: int) -> pd.DataFrame:
    named = rows.reset_index()
    return named.assign(system=[_renamed(name, turn) for name in named["system"]])


def _renamed(system: str, turn: int) -> str:
    """Name a system with some permutation of its features; the plain one keeps its name."""
    return f"{system}\x1f{turn}" if turn else system


def _donors(data: LanguageData, feature: str, repeat: int, turn: int, seed: int) -> dict[str, str]:
    """Whose values of a feature each system gets: never its own, the same in every fold."""
    random = generator(seed, "permutation", data.language, feature, str(repeat), str(turn))
    systems = data.systems_by_content
    order = [systems[place] for place in random.permutation(len(systems))]
    return dict(zip(order, [order[-1], *order[:-1]], strict=True))


def _checked_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        named = f"unknown importances {unknown[0]!r}" if unknown else "no importances are asked for"
        raise UsageError(f"{named}; use some of {', '.join(KINDS)}")
    return tuple(dict.fromkeys(kinds))


def _table(
    data: LanguageData,
    features: Sequence[str],
    measured: Sequence[_Columns],
    surrogate: Surrogate,
) -> pd.DataFrame:
    """Importances of one language, those that matter most by the first measure first."""
    columns = [kind[data.language] for kind in measured]
    shares = _shares(data, features, surrogate)
    share = _spread("share", shares, finite_means(shares))
    table = pd.concat([*columns, share], axis=1)
    table[~data.X[list(features)].notna().any().to_numpy()] = np.nan
    table.insert(0, "language", data.language)
    table.insert(1, "feature", list(features))
    return table.sort_values(str(table.columns[2]), ascending=False, kind="stable")


def _permutation_columns(study: Study, permuted: Mapping[str, tuple[Floats, Floats]]) -> _Columns:
    columns = {}
    for item in study.languages:
        size = len(study.features)
        against_all = _lost(*permuted[item.language], item.truth[None], size)[:, 0]
        lost = _lost(*permuted[item.language], item.tournaments.coefficients, size)
        columns[item.language] = _spread(PERMUTATION, lost.T, against_all)
    return columns


def _spread(name: str, values: Floats, middle: Floats) -> pd.DataFrame:
    """Arrange what stands for each feature and the interval of its values, shape (T, F)."""
    bounds = np.array([percentile_interval(column) for column in values.T])
    return pd.DataFrame({name: middle, f"{name}_low": bounds[:, 0], f"{name}_high": bounds[:, 1]})


def _medians(values: Floats) -> Floats:
    """Medians of the finite values of each column, shape (T, F) to (F,); NaN without."""
    return np.array([percentile_interval(column, (50, 50))[0] for column in values.T])


def _shares(data: LanguageData, features: Sequence[str], surrogate: Surrogate) -> Floats:
    """Share of each feature in surrogates of single tournaments, shape (T, F); NaN if not used."""
    times = len(data.tournaments.draws)
    if surrogate.pooled:
        return np.full((times, len(features)), np.nan)
    found = []
    for index in range(times):
        state = derived_seed(data.settings.seed, "shares", data.language, str(index))
        ratings = {data.language: data.tournaments.single(index)}
        fitted = reseeded(surrogate, state, trees=FEW_TREES).fit(data.rows(), ratings)
        found.append(fitted.importances().set_index("feature")["importance"].reindex(features))
    return np.array(found)


def _lost(ratings: Floats, folds: Floats, truth: Floats, size: int) -> Floats:
    """Tau that permuting each of F features costs, against each truth, shape (F, T)."""
    losses = []
    for repeat, fold in zip(ratings, folds, strict=True):
        taus = kendall_taus(repeat, truth, groups=fold)
        losses.append((taus[0] - taus[1:]).reshape(size, -1, len(truth)))
    every = np.concatenate(losses, axis=1)
    return np.array([finite_means(of_feature) for of_feature in every])
