"""Regressors written as text, such as ``Ridge(alpha=2.0)``, and read without evaluating it."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from typing import Any

from arena.data.errors import UsageError


def written(value: Any) -> str:  # noqa: ANN401 - an unfitted estimator, or a parameter of one
    """Write an estimator as text."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        return _written_estimator(value)
    if hasattr(value, "tolist"):  # numbers and arrays of numpy
        value = value.tolist()
    if isinstance(value, list):
        return f"[{', '.join(written(element) for element in value)}]"
    if isinstance(value, tuple):
        elements = "".join(f"{written(element)}, " for element in value)
        return f"({elements.rstrip()})"  # the last comma tells a tuple of one from a number
    if isinstance(value, dict):
        pairs = [f"{written(key)}: {written(element)}" for key, element in value.items()]
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, str | int | float | bool | None):
        return repr(value)
    raise UsageError(
        f"a surrogate cannot be named by {type(value).__name__}, only by estimators whose "
        "parameters are numbers, texts, lists and estimators"
    )


def _written_estimator(estimator: Any) -> str:  # noqa: ANN401 - any estimator
    # Parameters with default values are left out.
    defaults = inspect.signature(type(estimator)).parameters
    parameters = []
    for name, value in estimator.get_params(deep=False).items():
        default = getattr(defaults.get(name), "default", None)
        if repr(value) != repr(default):
            parameters.append(f"{name}={written(value)}")
    path = _path(type(estimator))
    return f"{path}({', '.join(parameters)})" if parameters else path


def read(text: str, part: ast.expr | None = None) -> Any:  # noqa: ANN401 - any estimator
    """Make the estimator that ``written`` wrote, without evaluating the text."""
    node = part
    if node is None:
        try:
            node = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError) as error:
            raise UsageError(f"{text} does not name an estimator") from error
    if isinstance(node, ast.Call) and not node.args:
        return _called(node, text)
    if isinstance(node, ast.Attribute):
        return _estimator_class(node, text)()
    if isinstance(node, ast.List):
        return [read(text, element) for element in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple(read(text, element) for element in node.elts)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{text} does not name an estimator") from error


def _called(node: ast.Call, text: str) -> Any:  # noqa: ANN401 - any estimator
    cache = "memory"  # makes pipelines read and write pickles
    parameters = {}
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg == cache:
            raise UsageError(f"{text}: name parameters of estimators, other than {cache}")
        parameters[keyword.arg] = read(text, keyword.value)
    try:
        return _estimator_class(node.func, text)(**parameters)
    except TypeError as error:
        raise UsageError(f"{text}: {error}") from error


def _estimator_class(node: ast.expr, text: str) -> Any:  # noqa: ANN401 - an estimator's class
    path = ast.unparse(node)
    module, _, name = path.rpartition(".")
    try:
        named = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"{text}: there is no {path}") from error
    if not isinstance(named, type) or not hasattr(named, "get_params"):
        raise UsageError(f"{text}: {path} is not a scikit-learn estimator")
    return named


def _path(kind: type) -> str:
    parts = kind.__module__.split(".")
    for length in range(1, len(parts) + 1):
        module = ".".join(parts[:length])
        if getattr(import_module(module), kind.__name__, None) is kind:
            return f"{module}.{kind.__name__}"
    raise UsageError(f"{kind.__name__} is not found in {kind.__module__}")
