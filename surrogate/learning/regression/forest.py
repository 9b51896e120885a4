"""An ensemble of regression trees as plain arrays: what a file may hold of one.

The trees of scikit-learn are compiled objects that follow the indices they hold without looking.
These are followed by numpy, which checks every index; that a child's number is greater than its
parent's makes sure that every walk ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from arena.data.errors import UsageError

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int32]

_LEAF = 0


@dataclass(frozen=True)
class Forest:
    """K trees of N nodes together, over F features.

    Attributes:
        roots: Node each tree starts at, shape (K,).
        right: Child of each node for values above the threshold, shape (N,); 0 at a leaf. The
            child for values up to it is the next node.
        feature: Feature that a node splits on, shape (N,).
        threshold: Where it splits, shape (N,).
        missing_left: Whether a missing value goes left, shape (N,).
        value: Mean target of a node's training rows, shape (N,).
        feature_importances_: Mean decrease in impurity as shares, shape (F,).
    """

    roots: Indices
    right: Indices
    feature: Indices
    threshold: Floats
    missing_left: npt.NDArray[np.bool_]
    value: Floats
    feature_importances_: Floats

    @property
    def base(self) -> float:
        """Mean at the roots: the prediction of a row of which nothing is known."""
        return float(self.value[self.roots].mean())

    def predict(self, rows: npt.ArrayLike) -> Floats:
        """Predict from features that may be missing, shape (R, F) to (R,)."""
        values = np.asarray(rows, dtype=np.float32)
        node = np.tile(self.roots, (len(values), 1))
        for row, tree, child in self._steps(values):
            node[row, tree] = child
        return np.asarray(self.value[node].mean(axis=1))

    def contributions(self, rows: npt.ArrayLike) -> Floats:
        """Return what each feature adds to the base on the way down the trees, shape (R, F).

        Each change of a tree's expected rating at a split is put down to the feature that is
        split on (Saabas, 2014), and averaged over the trees.
        """
        values = np.asarray(rows, dtype=np.float32)
        node = np.tile(self.roots, (len(values), 1))
        added = np.zeros(values.shape)
        for row, tree, child in self._steps(values):
            parent = node[row, tree]
            change = self.value[child] - self.value[parent]
            np.add.at(added, (row, self.feature[parent]), change)
            node[row, tree] = child
        return added / len(self.roots)

    def _steps(
        self, values: npt.NDArray[np.float32]
    ) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], Indices]]:
        """Walk all rows down all trees, a level at a time: row, tree and the child stepped to."""
        row, tree = np.divmod(np.arange(len(values) * len(self.roots)), len(self.roots))
        node = self.roots[tree]
        while True:
            inner = self.right[node] != _LEAF
            row, tree, node = row[inner], tree[inner], node[inner]
            if not node.size:
                return
            value = values[row, self.feature[node]]
            below = np.where(
                np.isnan(value), self.missing_left[node], value <= self.threshold[node]
            )
            node = np.where(below, node + 1, self.right[node])
            yield row, tree, node


def forest_of(estimator: object) -> Forest | None:
    """Return a fitted ensemble of trees as arrays; None if it is none."""
    if isinstance(estimator, Forest):
        return estimator
    if not isinstance(estimator, RandomForestRegressor | ExtraTreesRegressor):
        return None
    trees = [tree.tree_ for tree in estimator.estimators_]
    sizes = [tree.node_count for tree in trees]
    roots = np.cumsum([0, *sizes[:-1]]).astype(np.int32)

    def joined(name: str) -> Any:  # noqa: ANN401 - an array of any type
        return np.concatenate([getattr(tree, name) for tree in trees])

    shift = np.repeat(roots, sizes)
    right = joined("children_right")
    inner = right >= 0
    if (joined("children_left")[inner] + shift[inner] != np.flatnonzero(inner) + 1).any():
        raise ValueError("a tree that was not grown depth first")
    return Forest(
        roots=roots,
        right=np.where(inner, right + shift, _LEAF).astype(np.int32),
        feature=np.where(inner, joined("feature"), 0).astype(np.int32),
        threshold=np.where(inner, joined("threshold"), 0.0),
        missing_left=joined("missing_go_to_left").astype(np.bool_),
        value=joined("value")[:, 0, 0],
        feature_importances_=np.asarray(estimator.feature_importances_, dtype=np.float64),
    )


def as_arrays(forest: Forest) -> dict[str, npt.NDArray[Any]]:
    """Return a forest's arrays by name."""
    return {item.name: getattr(forest, item.name) for item in fields(Forest)}


def checked_forest(arrays: Mapping[str, npt.NDArray[Any]], features: int) -> Forest:
    """Return the forest of arrays that were read from a file, once they are checked.

    Args:
        arrays: See ``as_arrays``.
        features: Number of features it is to be given.

    Raises:
        UsageError: If they are not the arrays of a sound forest over that many features.
    """
    if set(arrays) != {item.name for item in fields(Forest)}:
        raise UsageError("it holds other arrays than those of a forest")
    forest = Forest(**arrays)
    nodes = len(forest.value)
    types: dict[str, tuple[type, int]] = {
        **dict.fromkeys(("right", "feature"), (np.int32, nodes)),
        **dict.fromkeys(("threshold", "value"), (np.float64, nodes)),
        "roots": (np.int32, forest.roots.size),
        "missing_left": (np.bool_, nodes),
        "feature_importances_": (np.float64, features),
    }
    for name, (dtype, size) in types.items():
        if arrays[name].dtype != dtype or arrays[name].shape != (size,):
            raise UsageError(f"the {name} of its forest have the wrong type or shape")
    if not _is_sound(forest, features):
        raise UsageError("its forest holds a broken tree")
    return forest


def _is_sound(forest: Forest, features: int) -> bool:
    size = len(forest.value)
    inner = np.flatnonzero(forest.right != _LEAF)
    children = forest.right[inner]
    return bool(
        forest.roots.size
        and ((forest.roots >= 0) & (forest.roots < size)).all()
        and ((children > inner + 1) & (children < size)).all()
        and ((forest.feature >= 0) & (forest.feature < features)).all()
        and not np.isnan(forest.threshold).any()
        and np.isfinite(forest.value).all()
        and np.isfinite(forest.feature_importances_).all()
    )
