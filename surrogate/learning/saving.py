"""Checking a forest that was read from a file, before it is asked anything.

A forest's trees are compiled objects that follow the indices they hold without looking; a crafted
file could make them read outside their memory or never end. Each tree is therefore checked to be
a tree: every inner node has two children further down and splits on a feature that exists.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.tree._tree import Tree

from arena.data.errors import UsageError
from arena.data.files import atomic_path
from surrogate.learning.regressors import find_learner
from surrogate.learning.surrogates import (
    LanguageJudge,
    LinearForm,
    Recipe,
    SurrogateJudge,
    as_numbers,
    from_numbers,
    linear_form,
)
from surrogate.learning.training import RowKind

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


_KINDS: MappingProxyType[str, type] = MappingProxyType(
    {
        "random-forest": RandomForestRegressor,
        "extra-trees": ExtraTreesRegressor,
        "linear": LinearForm,
        "ridge": LinearForm,
        "elastic-net": LinearForm,
    }
)
SAVED_LEARNERS = tuple(_KINDS)
"""Learners that a board can be saved with."""


def check_savable(learner: str) -> None:
    """Check that a judge of a learner can be saved.

    Raises:
        UsageError: If there is no such learner, or what it learns could not be checked when it
            is read.
    """
    find_learner(learner)
    if learner not in _KINDS:
        raise UsageError(
            f"a judge of learner {learner} cannot be saved, as it could not be checked when it is "
            f"read; use one of {', '.join(SAVED_LEARNERS)}"
        )


def stored(estimator: object, learner: str) -> object:
    """Return what a file is to hold of a fitted regressor.

    Raises:
        UsageError: If a judge of that learner cannot be saved, or this is not one.
    """
    check_savable(learner)
    if _KINDS[learner] is not LinearForm:
        return estimator
    form = linear_form(estimator)
    if form is None:
        raise UsageError(f"a {type(estimator).__name__} is no regressor of learner {learner}")
    return as_numbers(form)


def trusted(content: object, learner: str, features: int) -> Any:  # noqa: ANN401 - any regressor
    """Return the regressor that a file holds, once it is checked.

    Args:
        content: What the file holds; see ``stored``.
        learner: The learner it is to be of.
        features: Number of features it is to be given.

    Raises:
        UsageError: If it is of another learner, unsound, or of one that no file can hold.
    """
    check_savable(learner)
    if _KINDS[learner] is LinearForm:
        return from_numbers(content, features)
    check_forest(content, _KINDS[learner], features)
    return content


FORMAT = 1


class _LanguageDescription(BaseModel):
    features: tuple[str, ...]
    systems: tuple[str, ...]
    learner: str
    rows: RowKind
    left_out: dict[str, str]


class _Description(BaseModel):
    features: tuple[str, ...]
    signature: str
    languages: dict[str, _LanguageDescription]


def save_judge(judge: SurrogateJudge, path: Path) -> None:
    """Write a judge to a file.

    Args:
        judge: Trained judge.
        path: Target, by custom ``judge.skops``.

    Raises:
        UsageError: If it is of a learner that could not be checked when it is read; see
            ``saved_learners``.
    """
    estimators = {
        language: stored(item.estimator, item.recipe.learner)
        for language, item in judge.languages.items()
    }

    import skops.io

    content = {
        "format": FORMAT,
        "description": _describe(judge).model_dump_json(),
        "estimators": estimators,
    }
    with atomic_path(path) as temporary:
        skops.io.dump(content, temporary, compression=zipfile.ZIP_DEFLATED)


def load_judge(path: Path) -> SurrogateJudge:
    """Read a judge from a file; nothing in the file is executed.

    Raises:
        UsageError: If the file is absent, no judge, of an unknown format, or holds types, trees
            or numbers that cannot be trusted.
    """
    content = _content(path)
    if content.get("format") != FORMAT:
        raise UsageError(
            f"{path.name} is of format {content.get('format')!r}; this version reads {FORMAT}"
        )
    try:
        description = _Description.model_validate_json(content["description"])
        languages = {
            language: _language_judge(language, item, content["estimators"][language])
            for language, item in description.languages.items()
        }
    except (KeyError, TypeError, ValidationError) as error:
        raise UsageError(f"{path.name} is not a trained judge: it is incomplete") from error
    except UsageError as error:
        raise UsageError(f"{path.name} is not a trained judge: {error}") from error
    return SurrogateJudge(description.features, languages, description.signature)


def _content(path: Path) -> dict[str, Any]:
    import skops.io

    if not path.is_file():
        raise UsageError(f"there is no trained judge at {path}")
    try:
        untrusted = set(skops.io.get_untrusted_types(file=path)) - set(TRUSTED_TYPES)
        content = None if untrusted else skops.io.load(path, trusted=list(TRUSTED_TYPES))
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path.name} is not a trained judge ({error})") from error
    if untrusted:
        raise UsageError(
            f"{path.name} holds types that are not trusted ({', '.join(sorted(untrusted))}); "
            "use a judge written by this project"
        )
    if not isinstance(content, dict):
        raise UsageError(f"{path.name} is not a trained judge: it holds something else")
    return content


def _describe(judge: SurrogateJudge) -> _Description:
    return _Description(
        features=judge.features,
        signature=judge.signature,
        languages={
            language: _LanguageDescription(
                features=item.features,
                systems=item.systems,
                learner=item.recipe.learner,
                rows=item.recipe.rows,
                left_out=dict(item.left_out),
            )
            for language, item in judge.languages.items()
        },
    )


def _language_judge(language: str, item: _LanguageDescription, content: object) -> LanguageJudge:
    estimator = trusted(content, item.learner, len(item.features))
    recipe = Recipe(item.learner, item.rows)
    return LanguageJudge(language, item.features, item.systems, recipe, estimator, item.left_out)
