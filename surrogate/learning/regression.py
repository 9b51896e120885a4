"""Regressors as surrogates: any of scikit-learn's form, those of MIRAGE-Bench by their names.

A regressor is written as text, ``sklearn.linear_model.Ridge(alpha=2.0)``: by it a surrogate is
named in settings, on the command line and in files, and made again.
"""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pandas as pd

from arena.data.errors import MissingDependencyError, UsageError
from arena.data.seeds import seed_sequence
from arena.data.types import Flags, Floats
from features.engine.columns import feature_columns
from features.engine.workers import work
from surrogate.learning.surrogate import (
    FEWEST_SYSTEMS,
    KEYS,
    NO_VALUE,
    TREES,
    Arrays,
    Asked,
    Surrogate,
    reseeded,
    too_few,
    with_features,
)
from surrogate.learning.training import (
    DEFAULT_ROWS,
    FeatureTensor,
    KnownRatings,
    MissingRule,
    RowKind,
    TrainingRatings,
    TrainingRows,
    feature_tensor,
    training_ratings,
    training_rows,
    zero_filled,
)

RANDOM_FOREST = "random-forest"
REGRESSORS: Mapping[str, str] = MappingProxyType(
    {
        RANDOM_FOREST: "sklearn.ensemble.RandomForestRegressor",
        "linear": "sklearn.linear_model.LinearRegression",
        "svr": "sklearn.svm.SVR",
        "mlp": "sklearn.neural_network.MLPRegressor",
        "xgboost": "xgboost.XGBRegressor",
    }
)
"""The surrogates that MIRAGE-Bench compares (table 3): name to the regressor it stands for."""
KNOWN_PACKAGES = ("sklearn", "xgboost", "lightgbm", "numpy")
"""What a file may name; in settings and on the command line any package may be."""
MOST_ROWS = 1000
"""Rows that a regressor is given at most whose time grows with their square or cube: of more a
random sample is taken."""
_SLOW = ("svm", "neural_network", "gaussian_process", "kernel_ridge", "neighbors")
"""Modules of scikit-learn that have them."""
_PLAIN = (str, int, float, bool, type(None))
_CACHE = "memory"
"""Parameter of pipelines that makes them read and write pickles."""
_LARGEST_STATE = 2**31
"""Of xgboost's seeds."""


Model = tuple[Any, Flags]
"""A regressor fitted to one language, and which features it uses, shape (F,)."""


@dataclass(eq=False)
class RegressionSurrogate(Surrogate):
    """A regressor of the systems' coefficients, a language at a time (MIRAGE-Bench, section 4.3).

    Attributes:
        name: One of ``REGRESSORS``, or a regressor as text.
        missing: ``nan``: a missing value does not count; ``zero``: it counts 0.
        trees: Trees of a forest; fewer do for the hundreds of surrogates of single tournaments.
        n_jobs: Processes to train languages in; -1 for all cores.
    """

    name: str
    rows: RowKind = DEFAULT_ROWS
    seed: int = 0
    missing: MissingRule = "nan"
    trees: int = TREES
    n_jobs: int = 1

    @property
    def signature(self) -> str:
        """The settings as part of a board's signature."""
        rule = "" if self.missing == "nan" else f"|missing:{self.missing}"
        return f"surrogate:{self.name}|rows:{self.rows}{rule}"

    def restore(self, X: pd.DataFrame, ratings: KnownRatings, arrays: Mapping[str, Arrays]) -> Self:
        """Train one model a language; see ``Surrogate.restore``."""
        if arrays:
            raise UsageError("a surrogate of features is learned again, not kept as arrays")
        self.features_ = tuple(X[feature_columns(X)].select_dtypes("number").columns)
        self.answers_, self.ratings_, self.failures_ = {}, {}, {}
        for language, rated in sorted(training_ratings(ratings).items()):
            own = X[X["language"] == language]
            systems = [name for name in rated.systems if name in set(own["system"])]
            if not systems:
                self.failures_[language] = f"{language}: {too_few(0, len(self.features_))}"
                continue
            asked = sorted({*own["query_id"], *rated.questions})
            answers = feature_tensor(own, language, self.features_, systems, asked)
            self.answers_[language] = self._filled(answers, answers.questions)
            self.ratings_[language] = rated.take(systems)
        pairs = {(language, name) for language, names in self.systems_.items() for name in names}
        kept = [pair in pairs for pair in zip(X["language"], X["system"], strict=True)]
        self.X_ = X.loc[kept, [*KEYS, *self.features_]].reset_index(drop=True)
        sets = [(self.answers_[name], rated) for name, rated in self.ratings_.items()]
        done = work(partial(_trained, reseeded(self, self.seed)), sets, self.n_jobs)
        self.models_: dict[str, Model] = {}
        for language, (model, failure) in zip(self.ratings_, done, strict=True):
            if model is None:
                self.failures_[language] = failure
            else:
                self.models_[language] = model
        return self

    @property
    def left_out_(self) -> dict[str, dict[str, str]]:
        """Language to feature to why it could not be used."""
        return {
            language: dict.fromkeys(np.array(self.features_)[~used].tolist(), NO_VALUE)
            for language, (_, used) in self.models_.items()
        }

    def predict(self, X: pd.DataFrame, questions: Asked | None = None) -> pd.DataFrame:
        """Rate every system by its mean features; see ``Surrogate.predict``."""
        table, parts = with_features(X, self), []
        for language in sorted(table["language"].unique()):
            known, model = self.answers_.get(language), self.models_.get(language)
            asked = () if known is None else known.questions
            if questions is not None:
                asked = tuple(questions.get(language, ()))
            tensor = self._filled(feature_tensor(table, language, self.features_), asked)
            rating = np.full(len(tensor.systems), np.nan)
            if model is not None:
                estimator, used = model
                means = tensor.means()[0][:, used]
                usable = np.isfinite(means).any(axis=1)
                if usable.any():
                    rating[usable] = estimator.predict(means[usable])
            columns = {"language": language, "system": tensor.systems, "rating": rating}
            parts.append(pd.DataFrame(columns).assign(answers=tensor.answered.sum(axis=1)))
        return pd.concat(parts, ignore_index=True)

    def importances(self) -> pd.DataFrame:
        """Mean decrease in impurity, or the size of coefficients; see ``Surrogate.importances``."""
        parts = [pd.DataFrame(columns=["language", "feature", "importance"])]
        for language, (estimator, used) in self.models_.items():
            shares = np.full(len(self.features_), np.nan)
            shares[used] = _shares(estimator, int(used.sum()))
            columns = {"language": language, "feature": self.features_, "importance": shares}
            parts.append(pd.DataFrame(columns))
        return pd.concat(parts[1:] or parts, ignore_index=True)

    def _filled(self, tensor: FeatureTensor, asked: Sequence[str]) -> FeatureTensor:
        return zero_filled(tensor, asked) if self.missing == "zero" else tensor


def _trained(
    surrogate: RegressionSurrogate, known: tuple[FeatureTensor, TrainingRatings]
) -> tuple[Model | None, str]:
    """Train on one language; None with the reason where too few systems can be trained on."""
    answers, ratings = known
    rows = training_rows(answers, ratings, surrogate.rows)
    used = np.asarray(np.isfinite(rows.features).any(axis=0))
    if not used.any() or rows.systems < FEWEST_SYSTEMS:
        return None, f"{answers.language}: {too_few(rows.systems, int(used.sum()))}"
    keys = ("surrogate", answers.language, "final")
    state = int(seed_sequence(surrogate.seed, *keys).generate_state(1)[0])
    kept = replace(rows, features=rows.features[:, used])
    try:
        return (fit_regressor(surrogate.name, kept, state, surrogate.trees), used), ""
    except ValueError as error:  # five folds of four systems, say
        return None, f"{answers.language}: {surrogate.name} cannot learn from this: {error}"


def fit_regressor(name: str, rows: TrainingRows, random_state: int, trees: int = TREES) -> Any:  # noqa: ANN401 - any regressor
    """Fit what ``made`` makes; one that stops before it has converged is kept as it is."""
    from sklearn.exceptions import ConvergenceWarning

    estimator = made(name, random_state, trees)
    last = _steps(estimator)[-1][1]
    # By their values, so that what is drawn of them hangs on no system's name.
    order = np.lexsort((*rows.features.T, rows.targets))
    if any(part in _SLOW for part in type(last).__module__.split(".")) and len(order) > MOST_ROWS:
        random = np.random.default_rng(random_state)
        order = order[np.sort(random.choice(len(order), MOST_ROWS, replace=False))]
    # Weights of 1 change a forest's stream of random numbers, which published figures rest on.
    weights = {"sample_weight": np.ones(len(order))} if name == RANDOM_FOREST else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(rows.features[order], rows.targets[order], **weights)


def _shares(estimator: Any, size: int) -> Floats:  # noqa: ANN401 - any regressor
    """Share of each feature in a regressor's decisions, shape (F,); NaN where it has none."""
    last = _steps(estimator)[-1][1]
    sizes = np.abs(np.asarray(getattr(last, "coef_", np.nan), dtype=np.float64)).reshape(-1)
    found = getattr(last, "feature_importances_", sizes / max(float(sizes.sum()), 1e-300))
    shares = np.asarray(found, dtype=np.float64)
    return shares if shares.shape == (size,) else np.full(size, np.nan)


def made(name: str, random_state: int, trees: int = TREES) -> Any:  # noqa: ANN401 - any regressor
    """Make a regressor by its name, or by a text that ``read`` takes.

    One that takes no missing values gets the medians of the training rows.

    Raises:
        MissingDependencyError: For xgboost, where it is not installed.
        UsageError: If the text names no regressor.
    """
    from sklearn.base import is_regressor  # loaded where a regressor is asked for: it is slow
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.utils import get_tags

    try:
        estimator = read(REGRESSORS.get(name, name))
    except UsageError as error:
        if name in REGRESSORS:
            raise MissingDependencyError(f"the surrogate {name}", name, name) from error
        raise
    if not is_regressor(estimator):
        raise UsageError(f"{name} is not a regressor")
    state = random_state % _LARGEST_STATE if name == "xgboost" else random_state
    drawn = [item for item in estimator.get_params() if item.split("__")[-1] == "random_state"]
    estimator.set_params(**dict.fromkeys(drawn, state))
    if name == RANDOM_FOREST:
        estimator.set_params(n_estimators=trees)
    if name in REGRESSORS and "n_jobs" in estimator.get_params():
        estimator.set_params(n_jobs=1)
    steps = _steps(estimator)
    for _, step in steps:
        if "Imputer" in type(step).__name__:
            return estimator
        if hasattr(step, "fit") and not get_tags(step).input_tags.allow_nan:
            medians = SimpleImputer(strategy="median", keep_empty_features=True)
            return Pipeline([("medians", medians), *steps])
    return estimator


def _steps(estimator: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - any regressor
    """Return the steps of a pipeline, or the regressor as the only one."""
    return list(getattr(estimator, "steps", [("regressor", estimator)]))


def _is_function(value: object) -> bool:
    """Tell what may be named: ufuncs of numpy, and scores that features are selected by."""
    if isinstance(value, np.ufunc):
        return getattr(np, value.__name__, None) is value
    return inspect.isfunction(value) and value.__module__.startswith("sklearn.feature_selection.")


def written(value: Any) -> str:  # noqa: ANN401 - an unfitted estimator, or a parameter of one
    """Write an estimator as text; a ``UsageError`` where a parameter is no plain value."""
    if _is_function(value):
        return f"numpy.{value.__name__}" if isinstance(value, np.ufunc) else _path(value)
    if hasattr(value, "get_params") and not isinstance(value, type):
        defaults = inspect.signature(type(value)).parameters
        given = [
            f"{name}={written(item)}"
            for name, item in value.get_params(deep=False).items()
            if repr(item) != repr(getattr(defaults.get(name), "default", None))
        ]
        return _path(type(value)) + (f"({', '.join(given)})" if given else "")
    if hasattr(value, "tolist"):  # numbers and arrays of numpy
        value = value.tolist()
    if isinstance(value, list | tuple):
        inside = "".join(f"{written(item)}, " for item in value)
        return f"[{inside[:-2]}]" if isinstance(value, list) else f"({inside.rstrip()})"
    if isinstance(value, dict):
        pairs = [f"{written(key)}: {written(item)}" for key, item in value.items()]
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, _PLAIN):
        return repr(value)
    raise UsageError(
        f"a surrogate cannot be named by {type(value).__name__}, only by estimators whose "
        "parameters are numbers, texts, lists, ufuncs of numpy and estimators"
    )


def check_packages(text: str) -> None:
    """Raise a ``UsageError`` for a text that names other packages than the known ones."""
    for node in ast.walk(_parsed(text)):
        path = ast.unparse(node) if isinstance(node, ast.Attribute) else KNOWN_PACKAGES[0]
        if path.split(".")[0] not in KNOWN_PACKAGES:
            raise UsageError(f"{path} is not from a package that a file may name: {KNOWN_PACKAGES}")


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise UsageError(f"{text} does not name an estimator") from error


def read(text: str, part: ast.expr | None = None) -> Any:  # noqa: ANN401 - any estimator
    """Make the estimator that ``written`` wrote; ``UsageError`` where a text is none."""
    node = _parsed(text) if part is None else part
    if isinstance(node, ast.Call) and not node.args:
        named = {item.arg or "": read(text, item.value) for item in node.keywords}
        if "" in named or _CACHE in named:
            raise UsageError(f"{text}: name parameters of estimators, other than {_CACHE}")
        try:
            return _class(node.func, text)(**named)
        except TypeError as error:
            raise UsageError(f"{text}: {error}") from error
    if isinstance(node, ast.Attribute):
        found = _class(node, text)
        return found() if isinstance(found, type) else found
    if isinstance(node, ast.List | ast.Tuple):
        items = [read(text, item) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{text} does not name an estimator") from error


def _class(node: ast.expr, text: str) -> Any:  # noqa: ANN401 - or a function
    module, _, name = ast.unparse(node).rpartition(".")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"{text}: there is no {ast.unparse(node)}") from error
    if not ((isinstance(found, type) and hasattr(found, "get_params")) or _is_function(found)):
        raise UsageError(f"{text}: {ast.unparse(node)} is not a scikit-learn estimator")
    return found


def _path(kind: type) -> str:
    """Dotted name of a class: the shortest module that has it."""
    parts = kind.__module__.split(".")
    for size in range(1, len(parts) + 1):
        module = ".".join(parts[:size])
        if getattr(import_module(module), kind.__name__, None) is kind:
            return f"{module}.{kind.__name__}"
    raise UsageError(f"{kind.__name__} is not found in {kind.__module__}")
