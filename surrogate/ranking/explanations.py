"""What moved a surrogate's rating: how much each feature adds to it.

A linear surrogate adds coefficient times standardized value. In a forest it is read off the trees:
on its way down a tree a system's expected rating changes at every split; the change is put down to
the feature that is split on (Saabas, 2014), and averaged over the trees. The contributions are
additive: the forest's mean at its roots plus all of them is the rating. Unlike Shapley values they
depend on the order of splits, and features split on further down get more of what they share with
others; they cost one walk down each tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from surrogate.board.neighbours import system_space
from surrogate.learning.surrogates import LanguageJudge, linear_form
from surrogate.learning.tensor import FeatureTensor, feature_tensor

Floats = npt.NDArray[np.float64]
Parts = Callable[[Floats], Floats]
"""Rows to what each of their features adds, both of shape (N, F)."""

DECIMALS = 6


@dataclass(frozen=True)
class Drivers:
    """How the ratings of S systems come about.

    Attributes:
        features: The F features.
        base: The rating of a system of which nothing is known: the mean at a forest's roots, the
            intercept of a linear surrogate.
        contributions: What each feature adds to it, in log-odds, shape (S, F); base and sum are
            the rating. NaN for a system without any feature value.
    """

    features: tuple[str, ...]
    base: float
    contributions: Floats

    def largest_first(self, system: int) -> list[dict[str, object]]:
        """Return the features that moved a system's rating, those that did most first.

        Args:
            system: Its place among the S systems.

        Returns:
            Entries ``feature, contribution``; without features that did nothing.
        """
        added = np.round(self.contributions[system], DECIMALS)
        order = np.argsort(-np.abs(added), kind="stable")
        return [
            {"feature": self.features[index], "contribution": float(added[index])}
            for index in order
            if np.isfinite(added[index]) and added[index] != 0
        ]


def rating_drivers(judge: LanguageJudge, tensor: FeatureTensor) -> Drivers | None:
    """Say how much each feature adds to the ratings of systems.

    Args:
        judge: A surrogate of one language.
        tensor: Features of the systems' answers; must hold the judge's features.

    Returns:
        None where the surrogate is neither a mean of trees nor linear.
    """
    found = _base_and_parts(judge.estimator)
    if found is None:
        return None
    base, parts = found
    own = tensor.take(features=judge.features)
    if judge.recipe.rows == "system":
        return Drivers(judge.features, base, _contributions(parts, own.means()[0]))
    owner, question = np.nonzero(own.answered)
    added = _contributions(parts, own.values[owner, question])
    return Drivers(judge.features, base, _mean_per_owner(added, owner, len(own.systems)))


def has_drivers(judge: LanguageJudge) -> bool:
    """Tell whether it can be said what moves a surrogate's ratings."""
    return _base_and_parts(judge.estimator) is not None


def _base_and_parts(estimator: object) -> tuple[float, Parts] | None:
    linear = linear_form(estimator)
    if linear is not None:
        return float(linear.intercept), linear.contributions
    if isinstance(estimator, RandomForestRegressor | ExtraTreesRegressor):
        trees = [tree.tree_ for tree in estimator.estimators_]
        return float(np.mean([tree.value[0, 0, 0] for tree in trees])), partial(_of_trees, trees)
    return None


def _contributions(parts: Parts, rows: Floats) -> Floats:
    """Contributions to each row's prediction, shape (N, F); NaN for a row without values."""
    added = np.full(rows.shape, np.nan)
    usable = np.isfinite(rows).any(axis=1)
    if usable.any():
        added[usable] = parts(rows[usable])
    return added


def _of_trees(trees: Sequence[Any], rows: Floats) -> Floats:
    values = rows.astype(np.float32)
    return np.asarray(np.mean([_along_paths(tree, values) for tree in trees], axis=0))


def _along_paths(tree: Any, rows: npt.NDArray[np.float32]) -> Floats:  # noqa: ANN401
    paths = tree.decision_path(rows)
    paths.sort_indices()  # a child's number is greater than its parent's
    row = np.repeat(np.arange(len(rows)), np.diff(paths.indptr))
    node, value = paths.indices, tree.value[:, 0, 0]
    is_step = row[1:] == row[:-1]
    start, end = node[:-1][is_step], node[1:][is_step]
    added = np.zeros(rows.shape)
    np.add.at(added, (row[1:][is_step], tree.feature[start]), value[end] - value[start])
    return added


def _mean_per_owner(added: Floats, owner: npt.NDArray[np.intp], size: int) -> Floats:
    usable = np.isfinite(added).all(axis=1)
    totals = np.zeros((size, added.shape[1]))
    np.add.at(totals, owner[usable], added[usable])
    held = np.bincount(owner[usable], minlength=size)[:, None]
    return np.asarray(np.divide(totals, held, out=np.full(totals.shape, np.nan), where=held > 0))


Entries = list[dict[str, object]]


@dataclass(frozen=True)
class Explanation:
    """What explains a rating in one language.

    Attributes:
        drivers: Entries ``feature, contribution``, largest first; see ``drivers.Drivers``. Empty
            where the learner has none.
        neighbours: Entries ``neighbour, distance``, nearest first; see ``system_space``.
        outside_field: None where the system is like those the surrogate was trained on, else the
            features in which it is not; see ``SystemSpace.outside``.
    """

    drivers: Entries = field(default_factory=list)
    neighbours: Entries = field(default_factory=list)
    outside_field: tuple[str, ...] | None = None


def explain_systems(
    judge: LanguageJudge, table: pd.DataFrame, known: pd.DataFrame | None
) -> dict[str, Explanation]:
    """Explain the ratings of new systems in a judge's language.

    Args:
        judge: The language's surrogate.
        table: Feature table of the new systems.
        known: Feature table of the board's systems; None where there is none, and then nothing
            is said of neighbours and field.

    Returns:
        System to its explanation; systems without answers in the language are not there.
    """
    newcomers = _tensor(judge, table)
    field_of_board = None if known is None else _tensor(judge, known)
    drivers = rating_drivers(judge, newcomers)
    found = {}
    for row, system in enumerate(newcomers.systems):
        moved = drivers.largest_first(row) if drivers else []
        one = newcomers.take(systems=[system])
        near, outside = _placed(judge, one, field_of_board)
        found[system] = Explanation(moved, near, outside)
    return found


def _tensor(judge: LanguageJudge, table: pd.DataFrame) -> FeatureTensor:
    rows = table[table["language"] == judge.language]
    systems, questions = sorted(rows["system"].unique()), sorted(rows["query_id"].unique())
    return feature_tensor(rows, judge.language, judge.features, systems, questions)


def _placed(
    judge: LanguageJudge, one: FeatureTensor, known: FeatureTensor | None
) -> tuple[Entries, tuple[str, ...] | None]:
    """Place a system among the board's, all on the questions that it answered."""
    means = one.means()[0, 0]
    if known is None or not np.isfinite(means).any():
        return [], None
    answered = set(np.array(one.questions)[one.answered[0]])
    same = known.take(questions=[name for name in known.questions if name in answered])
    space = system_space(same, judge.features, judge.systems)
    return space.neighbours(means), space.outside(means)
