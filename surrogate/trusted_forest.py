"""Checking a forest that was read from a file, before it is asked anything.

A forest's trees are compiled objects that follow the indices they hold without looking; a crafted
file could make them read outside their memory or never end. Each tree is therefore checked to be
a tree: every inner node has two children further down and splits on a feature that exists.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.tree._tree import Tree

from arena.errors import UsageError

TRUSTED_TYPES = ("sklearn.tree._tree.Tree",)
"""Types a judge file may hold beyond those that are harmless by themselves."""

FOREST_TREES: MappingProxyType[type, type] = MappingProxyType(
    {RandomForestRegressor: DecisionTreeRegressor, ExtraTreesRegressor: ExtraTreeRegressor}
)
"""Each kind of forest and the trees it is made of."""

_LEAF = -1


def check_forest(estimator: object, kind: type, features: int) -> None:
    """Check a forest read from a file.

    Args:
        estimator: What the file holds.
        kind: What kind of forest it must be, one of ``FOREST_TREES``.
        features: Number of features it is to be given.

    Raises:
        UsageError: If it is no such forest of sound trees over that many features.
    """
    if type(estimator) is not kind:
        raise UsageError(f"it holds a {type(estimator).__name__}, not a {kind.__name__}")
    trees = getattr(estimator, "estimators_", None)
    if not isinstance(trees, list) or not trees or not _takes(estimator, features):
        raise UsageError("its forest is not fitted on the features it names")
    if getattr(estimator, "n_jobs", None) not in (None, 1) or _hides_a_method(estimator):
        raise UsageError("its forest holds what no forest of this project holds")
    if not all(_is_sound(tree, FOREST_TREES[kind], features) for tree in trees):
        raise UsageError("its forest holds a broken tree")


def _takes(estimator: object, features: int) -> bool:
    fitted = getattr(estimator, "n_features_in_", None), getattr(estimator, "n_outputs_", None)
    return fitted == (features, 1)


def _hides_a_method(estimator: object) -> bool:
    """Tell whether an attribute read from the file stands in the place of a method."""
    return any(callable(getattr(type(estimator), name, None)) for name in vars(estimator))


def _is_sound(estimator: object, kind: type, features: int) -> bool:
    if type(estimator) is not kind or not _takes(estimator, features):
        return False
    tree = getattr(estimator, "tree_", None)
    if type(tree) is not Tree or _hides_a_method(estimator):
        return False
    return _is_tree(tree, features)


def _is_tree(tree: Tree, features: int) -> bool:
    if not 1 <= tree.node_count <= tree.capacity or tree.n_outputs != 1:
        return False
    if tree.value.shape != (tree.node_count, 1, 1) or not np.isfinite(tree.value).all():
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
        and not np.isnan(tree.threshold[inner]).any()
    )
