"""The surrogates, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import MappingProxyType
from typing import Any

from arena.data.errors import UsageError, checked_choice
from surrogate.learning.gaussian_process.surrogate import GaussianProcessSurrogate
from surrogate.learning.regression.regressors import REGRESSORS
from surrogate.learning.regression.surrogate import RegressionSurrogate
from surrogate.learning.surrogate import Surrogate, reseeded
from surrogate.learning.tensor import MISSING_RULES, MissingRule
from surrogate.learning.training import DEFAULT_ROWS, ROW_KINDS, RowKind

DEFAULT_SURROGATE = "gaussian-process"
PAPERS_SURROGATE = "random-forest"
"""What MIRAGE-Bench builds its boards with (section 4.3)."""
TABLE_3_SURROGATES = ("random-forest", "linear", "mlp", "xgboost", "svr")
"""The surrogates that MIRAGE-Bench compares."""
PLAIN_TABLE_3_SURROGATES = ("random-forest", "plain-linear", "plain-mlp", "xgboost", "plain-svr")
"""The same with features as they are: neither imputed nor scaled."""


def _gaussian_process(**options: Any) -> GaussianProcessSurrogate:  # noqa: ANN401 - its parameters
    """It learns from all languages together, whatever is asked."""
    return GaussianProcessSurrogate(**{**options, "pooled": True})


_SURROGATES: MappingProxyType[str, Callable[..., Surrogate]] = MappingProxyType(
    {
        **{name: partial(RegressionSurrogate, regressor=name) for name in REGRESSORS},
        "relative-ridge": partial(RegressionSurrogate, regressor="ridge", view="rank"),
        "gaussian-process": _gaussian_process,
    }
)

SURROGATE_NAMES: tuple[str, ...] = tuple(_SURROGATES)
"""Names of all surrogates: any can be validated, built into a board, saved and loaded."""


def find_surrogate(
    name: str = DEFAULT_SURROGATE,
    *,
    rows: RowKind = DEFAULT_ROWS,
    missing: MissingRule = "nan",
    pooled: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
) -> Surrogate:
    """Return an unfitted surrogate by name.

    Args:
        name: One of ``SURROGATE_NAMES``.
        rows: One training row a ``system`` and tournament, a system ``overall``, or a
            ``question``.
        missing: Whether a missing value of a feature does not count (``nan``) or counts 0.
        pooled: Whether it learns from all languages together.
        seed: Seed of what it draws.
        n_jobs: Processes to train languages in; -1 for all cores.

    Raises:
        UsageError: If the name, the kind of rows or the rule is unknown, or the surrogate does
            not have the rule.
    """
    checked_choice(rows, ROW_KINDS, "rows")
    checked_choice(missing, MISSING_RULES, "rule of missing values")
    make = _SURROGATES[checked_surrogate(name)]
    if name != DEFAULT_SURROGATE:
        make = partial(make, missing=missing)
    elif missing != "nan":
        raise UsageError(f"{name} counts no missing value as 0; use random-forest, say")
    return make(name=name, rows=rows, pooled=pooled, seed=seed, n_jobs=n_jobs)


def as_surrogate(surrogate: str | Surrogate, rows: RowKind = DEFAULT_ROWS) -> Surrogate:
    """Return a surrogate by its name, or an unfitted copy of one.

    Raises:
        UsageError: If the name, or the kind of rows, is unknown.
    """
    if isinstance(surrogate, str):
        return find_surrogate(surrogate, rows=rows)
    return reseeded(surrogate, surrogate.seed)


def described(surrogate: Surrogate) -> str:
    """Return a surrogate's name with what differs from the default, as part of a signature."""
    rule = getattr(surrogate, "missing", "nan")
    return (
        surrogate.name
        + ("" if surrogate.rows == DEFAULT_ROWS else f"|rows:{surrogate.rows}")
        + ("" if rule == "nan" else f"|missing:{rule}")
    )


def compared_surrogate(name: str) -> str:
    """Return the surrogate a board compares its own with: the paper's, or else the default."""
    return PAPERS_SURROGATE if name == DEFAULT_SURROGATE else DEFAULT_SURROGATE


def checked_surrogate(name: str) -> str:
    """Return the name of a surrogate.

    Raises:
        UsageError: If it is unknown.
    """
    return checked_choice(name, SURROGATE_NAMES, "surrogate")
