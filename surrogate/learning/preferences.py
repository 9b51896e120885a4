"""Preferences of other arenas' judges: weights of ranked features, learned from open arenas.

The file ``preferences.json`` is written by ``benchmarks/judge_preferences.py`` and names the
arenas, judges and licenses that it was learned from. None of these arenas has passages, and judges
of answers with passages value other things, so the weights count only where there are none
(docs/reference/surrogate.md, section 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena.data.checks import validation_problems
from arena.data.errors import DataError
from arena.data.types import Flags, Floats
from features.engine.extraction import plain_name
from features.measures.registry import FEATURES

FILE = "preferences.json"
HINT = "learn it again with benchmarks/judge_preferences.py"
PASSAGES = "passages"

Weight = Annotated[float, Field(ge=-1.0, le=1.0)]
Text = Annotated[str, Field(min_length=1, max_length=200)]


class LearnedFrom(BaseModel):
    """An arena and a judge that weights were learned from."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    arena: Text
    judge: Text
    source: Text
    license: Text


class JudgePreferences(BaseModel):
    """The weights, and where they come from.

    Attributes:
        arenas: Arenas that the weights were learned from.
        script: Script that learned them.
        version: Version of this package at the time.
        learned: Day on which they were learned.
        weights: Feature to the share of battles that an answer wins more on its question if its
            rank among the answers goes up by 1 (ranks are from -1 to 1).
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    arenas: Annotated[tuple[LearnedFrom, ...], Field(min_length=1, max_length=100)]
    script: Text
    version: Text
    learned: date
    weights: Annotated[dict[Text, Weight], Field(min_length=1, max_length=1000)]


def read_preferences(text: str) -> JudgePreferences:
    """Read the content of such a file.

    Raises:
        DataError: If a field is absent, unknown or out of bounds.
    """
    try:
        return JudgePreferences.model_validate_json(text)
    except ValidationError as error:
        raise DataError(validation_problems(error, FILE, None, lambda _: HINT)) from error


@cache
def shipped_preferences() -> JudgePreferences:
    """Read the file that comes with this package, once."""
    text = files("surrogate.learning").joinpath(FILE).read_text(encoding="utf-8")
    return read_preferences(text)


def shipped_weights() -> dict[str, float]:
    """Return a copy of the weights that come with this package, by feature."""
    return dict(shipped_preferences().weights)


def preference_slopes(
    weights: Mapping[str, float], names: Sequence[str], has_values: Flags
) -> Floats:
    """Arrange weights in the order of an arena's features, shape (F,).

    A feature that the weights do not know counts nothing; nor does any where a feature of the
    passages has values.

    Args:
        weights: By feature.
        names: The arena's F features.
        has_values: Which of them have values, shape (F,).
    """
    for name, has_value in zip(names, has_values, strict=True):
        if has_value and reads_passages(name):
            return np.zeros(len(names))
    return np.array([weights.get(name, 0.0) for name in names])


def reads_passages(name: str) -> bool:
    """Whether a column holds a feature of answers and their passages."""
    feature = FEATURES.get(plain_name(name))
    return feature is not None and PASSAGES in feature.needs
