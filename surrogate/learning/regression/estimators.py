"""Estimators of scikit-learn written as text: ``sklearn.linear_model.Ridge(alpha=2.0)``.

By such a text a surrogate is named in settings, on the command line and in files, and made again.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator

from arena.data.errors import UsageError

KNOWN_PACKAGES = ("sklearn", "xgboost", "lightgbm")
"""What a file may name; in settings and on the command line any package may be."""
_PLAIN = (str, int, float, bool, type(None))
_CACHE = "memory"
"""Parameter of pipelines that makes them read and write pickles."""


def written(value: object) -> str:
    """Write an unfitted estimator, or a parameter of one, as text.

    Raises:
        UsageError: If it has a parameter that is no number, text, list or estimator.
    """
    if isinstance(value, BaseEstimator):
        defaults = inspect.signature(type(value)).parameters
        given = [
            f"{name}={written(item)}"
            for name, item in value.get_params(deep=False).items()
            if not _is_same(item, getattr(defaults.get(name), "default", None))
        ]
        return _path(type(value)) + (f"({', '.join(given)})" if given else "")
    if isinstance(value, list | tuple):
        inside = ", ".join(map(written, value))
        if isinstance(value, list):
            return f"[{inside}]"
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, dict):
        pairs = [f"{written(key)}: {written(item)}" for key, item in value.items()]
        return "{" + ", ".join(pairs) + "}"
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return repr(value.item())
    if isinstance(value, _PLAIN):
        return repr(value)
    raise UsageError(
        f"a surrogate cannot be named by {type(value).__name__}, only by estimators whose "
        "parameters are numbers, texts, lists and estimators"
    )


def read(text: str) -> Any:  # noqa: ANN401 - any estimator
    """Make the estimator that a text names.

    Raises:
        UsageError: If it is not written as ``written`` does, or names no estimator.
    """
    return _made(_parsed(text), text)


def check_packages(text: str) -> None:
    """Refuse a text that names estimators of other packages than the known ones.

    Raises:
        UsageError: If it does.
    """
    paths = [ast.unparse(node) for node in _paths(_parsed(text))]
    foreign = [path for path in paths if path.split(".")[0] not in KNOWN_PACKAGES]
    if foreign:
        raise UsageError(f"{foreign[0]} is of no package among {', '.join(KNOWN_PACKAGES)}")


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise UsageError(f"{text} does not name an estimator") from error


def _paths(tree: ast.expr) -> Iterator[ast.Attribute]:
    """Outermost dotted names."""
    if isinstance(tree, ast.Attribute):
        yield tree
        return
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.expr):
            yield from _paths(child)
        elif isinstance(child, ast.keyword):
            yield from _paths(child.value)


def _made(node: ast.expr, text: str) -> Any:  # noqa: ANN401
    if isinstance(node, ast.Call) and not node.args:
        named = {item.arg or "": _made(item.value, text) for item in node.keywords}
        if "" in named or _CACHE in named:
            raise UsageError(f"{text}: name parameters of estimators, other than {_CACHE}")
        try:
            return _class(node.func, text)(**named)
        except TypeError as error:
            raise UsageError(f"{text}: {error}") from error
    if isinstance(node, ast.Attribute):
        return _class(node, text)()
    if isinstance(node, ast.List | ast.Tuple):
        items = [_made(item, text) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{text} does not name an estimator") from error


def _class(node: ast.expr, text: str) -> type[BaseEstimator]:
    module, _, name = ast.unparse(node).rpartition(".")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"{text}: there is no {ast.unparse(node)}") from error
    if not (isinstance(found, type) and issubclass(found, BaseEstimator)):
        raise UsageError(f"{text}: {ast.unparse(node)} is no estimator of scikit-learn's kind")
    return found


def _path(kind: type) -> str:
    """Dotted name of a class: the shortest module that has it."""
    parts = kind.__module__.split(".")
    for size in range(1, len(parts) + 1):
        module = ".".join(parts[:size])
        if getattr(import_module(module), kind.__name__, None) is kind:
            return f"{module}.{kind.__name__}"
    raise UsageError(f"{kind.__name__} is not found in {kind.__module__}")


def _is_same(value: object, default: object) -> bool:
    if value is default or repr(value) in (repr(default), "nan"):
        return True
    return isinstance(value, _PLAIN) and isinstance(default, _PLAIN) and value == default
