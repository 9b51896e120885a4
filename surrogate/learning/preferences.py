"""Preferences of other arenas' judges: weights of ranked features, learned from open arenas.

The file ``preferences.json`` is written by ``benchmarks/judge_preferences.py`` and names the
arenas, judges and licenses that it was learned from. None of these arenas has passages, and judges
of answers with passages value other things, so the weights count only where there are none
(docs/reference/surrogate.md, section 1).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from arena.data.types import Flags, Floats
from features.engine.extraction import plain_name
from features.measures.registry import FEATURES


@cache
def shipped_preferences() -> Mapping[str, Any]:
    """Read the file that comes with this package.

    Returns:
        ``arenas``: records of ``arena, judge, source, license``. ``weights``: feature to the share
        of battles that an answer wins more on its question if its rank among the answers (-1 to 1)
        goes up by 1. Also ``script``, ``version`` and the day they were ``learned``.
    """
    text = files("surrogate.learning").joinpath("preferences.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def shipped_weights() -> dict[str, float]:
    """Return a copy of the weights that come with this package, by feature."""
    return dict(shipped_preferences()["weights"])


def preference_slopes(
    weights: Mapping[str, float], names: Sequence[str], has_values: Flags
) -> Floats:
    """Arrange weights in the order of an arena's features, shape (F,).

    A feature without a weight counts nothing; nor does any where a feature of the passages has
    values (``has_values``, shape (F,)).
    """
    for name, has_value in zip(names, has_values, strict=True):
        if has_value and reads_passages(name):
            return np.zeros(len(names))
    return np.array([weights.get(name, 0.0) for name in names])


def reads_passages(name: str) -> bool:
    """Whether a column holds a feature of answers and their passages."""
    feature = FEATURES.get(plain_name(name))
    return feature is not None and "passages" in feature.needs
