"""The boards of a matrix: every combination of arenas, judges, features and surrogates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

from surrogate.regeneration.config_records import MatrixOptions

AXES = ("arenas", "judges", "feature_sets", "surrogates")

Stated = dict[str, Any]

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._]+")


def combinations(axes: MatrixOptions, with_judging: bool) -> Iterator[tuple[str, Stated]]:
    """Yield what distinguishes each board of a matrix.

    Args:
        axes: The matrix.
        with_judging: Whether an LLM judges first; judges are then the models that do.

    Yields:
        The end of the board's name, such as ``-rakuda-gpt-4o``, and the options it states.
    """
    chosen = [
        [(name, {"arena": folder}) for name, folder in (axes.arenas or {}).items()],
        [(name, _judge(name, with_judging)) for name in axes.judges or ()],
        [(name, {"features": names}) for name, names in (axes.feature_sets or {}).items()],
        [
            (name, {"surrogate": surrogate.model_dump(exclude_unset=True)})
            for name, surrogate in (axes.surrogates or {}).items()
        ],
    ]
    for parts in product(*(axis for axis in chosen if axis)):
        suffix = "".join(f"-{_part_of_name(name)}" for name, _ in parts)
        stated: Stated = {}
        for _, options in parts:
            stated |= options
        yield suffix, stated


def _judge(name: str, with_judging: bool) -> Stated:
    return {"judging": {"model": name}} if with_judging else {"judge": name}


def _part_of_name(name: str) -> str:
    return _NOT_IN_NAMES.sub("-", name).strip("-") or "unnamed"
