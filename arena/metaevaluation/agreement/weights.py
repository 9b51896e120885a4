"""How much two different categories still agree: weights from 0 to 1, 1 on the diagonal.

Gwet, Handbook of Inter-Rater Reliability (4th ed.), section 3.5; the same as in irrCAC.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from arena.errors import UsageError
from arena.metaevaluation.agreement.ratings import FloatArray, Ratings

Weights = Literal["identity", "linear", "quadratic", "ordinal"]
WEIGHTS: tuple[Weights, ...] = get_args(Weights)


def agreement_weights(ratings: Ratings, weights: Weights) -> FloatArray:
    """Return the weight of each pair of categories, shape (categories, categories).

    ``linear`` and ``quadratic`` look at the distance of the categories' values (1, 2, 3, … for
    texts), ``ordinal`` at the number of pairs of categories from one to the other.

    Raises:
        UsageError: For unknown weights.
    """
    if weights not in WEIGHTS:
        raise UsageError(f"unknown weights {weights!r}; use one of {', '.join(WEIGHTS)}")
    size = len(ratings.categories)
    if weights == "identity" or size < 2:
        return np.eye(size)
    if weights == "ordinal":
        ranks = np.arange(size)
        between = np.abs(ranks[:, None] - ranks) + 1
        distances = between * (between - 1) / 2
    else:
        values = ratings.values
        distances = np.abs(values[:, None] - values)
        if weights == "quadratic":
            distances = distances**2
    return np.asarray(1 - distances / distances.max(), dtype=np.float64)
