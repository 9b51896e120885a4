"""Features of an answer relative to the field's answers to the same question.

What is hard or long about a question is so for every system; what remains when an answer is
compared with the others to its question is about the system.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from arena.errors import UsageError
from surrogate.tensor import FeatureTensor

Floats = npt.NDArray[np.float64]
View = Literal["raw", "rank", "both"]
VIEWS: tuple[View, ...] = ("raw", "rank", "both")
RANK_SUFFIX = ":rank"


def viewed(tensor: FeatureTensor, field: FeatureTensor, view: View) -> FeatureTensor:
    """Show features as they are, as ranks within their question, or both.

    Args:
        tensor: Features of S systems.
        field: Features of the systems to compare with, on at least the same questions.
        view: ``raw``, ``rank`` or ``both`` (first raw, then ranks).

    Returns:
        Values of shape (S, Q, F), or (S, Q, 2F) for ``both``.

    Raises:
        UsageError: If the view is unknown.
    """
    if view not in VIEWS:
        raise UsageError(f"unknown view {view!r}; use one of {', '.join(VIEWS)}")
    if view == "raw":
        return tensor
    names = tuple(f"{name}{RANK_SUFFIX}" for name in tensor.features)
    ranks = question_ranks(tensor, field)
    if view == "rank":
        return replace(tensor, features=names, values=ranks)
    values = np.concatenate([tensor.values, ranks], axis=2)
    return replace(tensor, features=(*tensor.features, *names), values=values)


def question_ranks(tensor: FeatureTensor, field: FeatureTensor) -> Floats:
    """Compare each answer with the field's answers to its question, feature by feature.

    A system is compared with the field alone: never with itself, nor with the other systems of
    ``tensor``, so what it gets does not depend on who is ranked beside it.

    Returns:
        Share of the field's values below minus share above, in [-1, 1], shape (S, Q, F); NaN
        where the answer or the whole field has no value.
    """
    aligned = field.take(questions=tensor.questions, features=tensor.features)
    ranks = np.full(tensor.values.shape, np.nan)
    for row, system in enumerate(tensor.systems):
        others = [place for place, name in enumerate(aligned.systems) if name != system]
        signs = np.sign(tensor.values[row] - aligned.values[others])
        present = np.isfinite(signs)
        totals = np.where(present, signs, 0.0).sum(axis=0)
        compared = present.sum(axis=0)
        np.divide(totals, compared, out=ranks[row], where=compared > 0)
    return ranks
