"""Importances of features: tau lost by permuting one, and its share in the surrogate."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from arena.data.types import Floats
from arena.statistics.agreement import kendall_taus
from arena.statistics.bootstrap import generator, percentile_interval
from arena.statistics.significance import finite_means
from surrogate.learning.cross_fitting import Repeats, derived_seed, held_out_ratings
from surrogate.learning.language_data import LanguageData
from surrogate.learning.surrogate import Surrogate, reseeded

PERMUTATIONS = 5
"""Of each feature."""


def importances(
    languages: Sequence[LanguageData],
    features: Sequence[str],
    surrogate: Surrogate,
    repeats: Repeats,
) -> pd.DataFrame:
    """Return how far each language's ranking rests on each feature."""
    rated = partial(_permuted_answers, features=features, seed=repeats.seed)
    predictions = held_out_ratings(languages, surrogate, repeats, rated=rated)
    times = repeats.times
    # The plain answers come first, then the permutations of each feature.
    height = 1 + len(features) * PERMUTATIONS
    tables = []
    for data in languages:
        names = [_permuted_name(name, turn) for turn in range(height) for name in data.systems]
        ratings = predictions.matrix(data.language, names, times).reshape(times, height, -1)
        folds = predictions.matrix(data.language, data.systems, times, "fold")
        tables.append(_importance_table(data, features, (ratings, folds), surrogate))
    return pd.concat(tables, ignore_index=True)


def _permuted_answers(
    data: LanguageData, held: Sequence[str], repeat: int, features: Sequence[str], seed: int
) -> pd.DataFrame:
    judged = data.rows().set_index(["system", "query_id"])
    held_rows = judged.loc[judged.index.get_level_values("system").isin(list(held))]
    systems, questions = map(held_rows.index.get_level_values, ["system", "query_id"])
    tables = [_as_system(held_rows, 0)]
    for number, feature in enumerate(features):
        for turn in range(PERMUTATIONS):
            donor = _donors(data, feature, repeat, turn, seed)
            sources = pd.MultiIndex.from_arrays([systems.map(donor), questions])
            altered = held_rows.assign(**{feature: judged[feature].reindex(sources).to_numpy()})
            tables.append(_as_system(altered, 1 + number * PERMUTATIONS + turn))
    return pd.concat(tables, ignore_index=True)


def _as_system(rows: pd.DataFrame, turn: int) -> pd.DataFrame:
    named = rows.reset_index()
    return named.assign(system=[_permuted_name(name, turn) for name in named["system"]])


def _permuted_name(system: str, turn: int) -> str:
    return f"{system}\x1f{turn}" if turn else system


def _donors(data: LanguageData, feature: str, repeat: int, turn: int, seed: int) -> dict[str, str]:
    random = generator(seed, "permutation", data.language, feature, str(repeat), str(turn))
    systems = data.systems_by_content
    order = [systems[index] for index in random.permutation(len(systems))]
    return dict(zip(order, [order[-1], *order[:-1]], strict=True))


def _importance_table(
    data: LanguageData,
    features: Sequence[str],
    permuted: tuple[Floats, Floats],
    surrogate: Surrogate,
) -> pd.DataFrame:
    """Tabulate the importances of a language's F features, highest first.

    ``permuted`` holds ratings, (R, 1 + F x K, S): plain ones, then after K permutations of each
    feature; and folds, (R, S).
    """
    shares = _shares(data, features, surrogate)
    against_all = _lost(*permuted, data.arena_ratings[None], len(features))[:, 0]
    lost = _lost(*permuted, data.tournaments.coefficients, len(features)).T
    table = pd.DataFrame(
        _spread("permutation", lost, against_all) | _spread("share", shares, finite_means(shares))
    )
    table[~data.X[list(features)].notna().any().to_numpy()] = np.nan
    table.insert(0, "language", data.language)
    table.insert(1, "feature", list(features))
    return table.sort_values("permutation", ascending=False, kind="stable")


def _spread(name: str, values: Floats, middle: Floats) -> dict[str, Floats]:
    """Return estimates, shape (F,), and bounds of values, shape (T, F)."""
    bounds = np.array([percentile_interval(column) for column in values.T])
    return {name: middle, f"{name}_low": bounds[:, 0], f"{name}_high": bounds[:, 1]}


def _shares(data: LanguageData, features: Sequence[str], surrogate: Surrogate) -> Floats:
    times = len(data.tournaments.draws)
    if surrogate.pooled:
        return np.full((times, len(features)), np.nan)
    shares = []
    for index in range(times):
        state = derived_seed(data.settings.seed, "shares", data.language, str(index))
        ratings = {data.language: data.tournaments.single(index)}
        # Few trees: each forest learns from one tournament, of which there are hundreds.
        fitted = reseeded(surrogate, state, trees=25).fit(data.rows(), ratings)
        shares.append(fitted.importances().set_index("feature")["importance"].reindex(features))
    return np.array(shares)


def _lost(ratings: Floats, folds: Floats, compared: Floats, size: int) -> Floats:
    losses = []
    for repeat, fold in zip(ratings, folds, strict=True):
        taus = kendall_taus(repeat, compared, groups=fold)
        losses.append((taus[0] - taus[1:]).reshape(size, -1, len(compared)))
    every = np.concatenate(losses, axis=1)
    return np.array([finite_means(of_feature) for of_feature in every])
