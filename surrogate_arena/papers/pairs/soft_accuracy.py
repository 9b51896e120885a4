"""Soft pairwise accuracy: do two judges see the same differences between systems as sure?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import ndtr

from arena.data.types import Floats, Integers
from arena.quality.agreement import PAIR, QUESTION_PAIR, oriented_verdicts
from arena.statistics.bootstrap import bootstrap_weights, generator, percentile_interval
from arena.statistics.significance import mean_of
from surrogate_arena.papers.pairs.pair_accuracy import Estimate, estimate_of
from surrogate_arena.studies.scores import spread

FEWEST_SYSTEMS = 3
"""Systems below which two judges have no ranking to agree on."""


def soft_pairwise_accuracy(
    judgments: pd.DataFrame, reference: pd.DataFrame, replicates: int = 1000, seed: int = 0
) -> Estimate:
    """Compare how sure a judge and a reference are which of two systems is better.

    SPA = mean over pairs of systems of 1 - |p - p_reference|, where p is the p-value of the
    hypothesis that the second system is at least as good (Thompson et al., 2024, arXiv 2409.09598,
    equation 3), by the paired permutation test in its normal limit: Φ(Σd / √Σd²) for differences d
    of mean points on a question. Languages have equal weight; NaN with fewer than
    ``FEWEST_SYSTEMS`` shared systems in every language.
    """
    values = []
    resampled = []
    n_pairs = n_questions = 0
    for language, items, systems in _shared_items(judgments, reference):
        scores = _question_scores(items, systems, "points")
        reference_scores = _question_scores(items, systems, "points_reference")
        once = np.ones((1, len(scores)), dtype=np.int64)
        value, n_compared = _agreement(scores, reference_scores, once)
        random = generator(seed, "soft pairwise accuracy", language)
        weights = bootstrap_weights(len(scores), replicates, random)
        values.append(value[0])
        resampled.append(_agreement(scores, reference_scores, weights)[0])
        n_pairs += n_compared
        n_questions += len(scores)
    if not values:
        return estimate_of(np.nan, np.empty(0), 0, 0, np.nan)
    means = np.mean(resampled, axis=0)
    return estimate_of(float(np.mean(values)), means, n_pairs, n_questions, n_questions - 1)


def soft_accuracy_by_chance(
    judgments: pd.DataFrame, reference: pd.DataFrame, replicates: int = 200, seed: int = 0
) -> Estimate:
    """Return the soft pairwise accuracy of a judge's verdicts turned by coin flips.

    The estimate is its mean, and the interval that holds 95% of the flips.
    """
    values = []
    n_pairs = 0
    for language, items, systems in _shared_items(judgments, reference):
        random = generator(seed, "soft pairwise accuracy by chance", language)
        reference_scores = _question_scores(items, systems, "points_reference")
        once = np.ones((1, len(reference_scores)), dtype=np.int64)
        of_language = []
        for _ in range(replicates):
            is_turned = random.random(len(items)) < 0.5
            turned = items.assign(points=items["points"].where(~is_turned, 1 - items["points"]))
            scores = _question_scores(turned, systems, "points")
            value, n_compared = _agreement(scores, reference_scores, once)
            of_language.append(value[0])
        values.append(of_language)
        n_pairs += n_compared
    if not values:
        return estimate_of(np.nan, np.empty(0), 0, 0, np.nan)
    means = np.mean(values, axis=0)
    low, high = percentile_interval(means)
    return Estimate(float(means.mean()), spread(means), low, high, n_pairs)


def _shared_items(
    judgments: pd.DataFrame, reference: pd.DataFrame
) -> Iterator[tuple[str, pd.DataFrame, pd.Index]]:
    """Yield the pairs on questions that both judged, and their systems, of each language."""
    shared = _mean_points(judgments).merge(
        _mean_points(reference), on=QUESTION_PAIR, suffixes=("", "_reference")
    )
    for language, items in shared.groupby("language"):
        systems = pd.Index(sorted(set(items["first"]) | set(items["second"])))
        if len(systems) >= FEWEST_SYSTEMS:
            yield str(language), items, systems


def _mean_points(judgments: pd.DataFrame) -> pd.DataFrame:
    table = oriented_verdicts(judgments)
    # A win is 1 point, a tie half of one.
    points = (table["outcome"] + 1) / 2
    return table.assign(points=points).groupby(QUESTION_PAIR)["points"].mean().reset_index()


def _question_scores(items: pd.DataFrame, systems: pd.Index, points: str) -> Floats:
    """Return the mean points of systems on questions, shape (Q, S); NaN where not judged."""
    sides = []
    for side, sign in zip(PAIR, (1.0, -1.0), strict=True):
        scores = 0.5 + sign * (items[points] - 0.5)
        columns = {"query_id": items["query_id"], "system": items[side], "score": scores}
        sides.append(pd.DataFrame(columns))
    means = pd.concat(sides).groupby(["query_id", "system"])["score"].mean()
    table = means.unstack("system").reindex(columns=systems)
    return np.asarray(table, dtype=np.float64)


def _agreement(scores: Floats, reference: Floats, weights: Integers) -> tuple[Floats, int]:
    """Return SPA of scores, (Q, S), for weights (B, Q), shape (B,); and the number of pairs."""
    first, second = np.triu_indices(scores.shape[1], 1)
    differences = scores[:, first] - scores[:, second]
    reference_differences = reference[:, first] - reference[:, second]
    is_compared = weights @ np.isfinite(differences) > 0
    agreement = 1.0 - np.abs(
        _p_values(differences, weights) - _p_values(reference_differences, weights)
    )
    n_compared = is_compared.sum(axis=1)
    totals = np.where(is_compared, agreement, 0.0).sum(axis=1)
    return mean_of(totals, n_compared), int(np.isfinite(differences).any(axis=0).sum())


def _p_values(differences: Floats, weights: Integers) -> Floats:
    """Return Φ(Σd / √Σd²) of weighted questions, shape (B, pairs); one half without any d."""
    filled = np.nan_to_num(differences, nan=0.0)
    sums = weights @ filled
    deviations = np.sqrt(weights @ filled**2)
    ratios = np.divide(sums, deviations, out=np.zeros_like(sums), where=deviations > 0)
    return np.asarray(ndtr(ratios))
