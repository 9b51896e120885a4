"""Checking a forest that was read from a file, before it is asked anything.

A forest's trees are compiled objects that follow the indices they hold without looking; a crafted
file could make them read outside their memory or never end. Each tree is therefore checked to be
a tree: every inner node has two children further down and splits on a feature that exists.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from arena.errors import UsageError

TRUSTED_TYPES = ("sklearn.tree._tree.Tree",)
"""Types a judge file may hold beyond those that are harmless by themselves."""

_LEAF = -1


def check_forest(estimator: object, features: int) -> None:
    """Check a forest read from a file.

    Args:
        estimator: What the file holds.
        features: Number of features it is to be given.

    Raises:
        UsageError: If it is no forest of sound trees over that many features.
    """
    if not isinstance(estimator, RandomForestRegressor):
        raise UsageError(f"it holds a {type(estimator).__name__}, not a random forest")
    trees = getattr(estimator, "estimators_", [])
    if not trees or getattr(estimator, "n_features_in_", None) != features:
        raise UsageError("its forest is not fitted on the features it names")
    if not all(_is_sound(tree, features) for tree in trees):
        raise UsageError("its forest holds a broken tree")


def _is_sound(estimator: object, features: int) -> bool:
    if not isinstance(estimator, DecisionTreeRegressor):
        return False
    if getattr(estimator, "n_features_in_", None) != features or not hasattr(estimator, "tree_"):
        return False
    tree = estimator.tree_
    if not 1 <= tree.node_count <= tree.capacity or tree.n_outputs != 1:
        return False
    nodes = np.arange(tree.node_count)
    left, right = tree.children_left, tree.children_right
    inner = left != _LEAF
    return bool(
        (inner == (right != _LEAF)).all()
        and (left[inner] > nodes[inner]).all()
        and (right[inner] > nodes[inner]).all()
        and (left[inner] < tree.node_count).all()
        and (right[inner] < tree.node_count).all()
        and (tree.feature[inner] >= 0).all()
        and (tree.feature[inner] < features).all()
    )
