"""Checking what the keys of a configuration say together, and names that other parts define."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arena.errors import Problem, UsageError
from surrogate.regeneration.feature_choice import chosen_features
from surrogate.saved_learners import check_savable
from surrogate.surrogate_names import find_surrogate

if TYPE_CHECKING:
    from surrogate.regeneration.config_file import ConfiguredBoard

Fault = tuple[str, object, str, str]
"""A key, its value, what is wrong with it, and the mend."""

_FEATURES = "features"


def board_problems(boards: Sequence[ConfiguredBoard], path: Path) -> list[Problem]:
    """Find what pydantic cannot: what is missing, contradicts itself, or has no such name.

    Args:
        boards: The boards, defaults laid under them.
        path: The configuration file.
    """
    return [
        Problem(path.name, None, f"{board.name}.{key}", value, fault, mend)
        for board in boards
        for key, value, fault, mend in _faults(board)
    ]


def _faults(board: ConfiguredBoard) -> Iterator[Fault]:
    options = board.options
    if not options.arena:
        yield "arena", options.arena, "is missing", "name the arena folder"
    if options.judging is not None and not options.judging.model:
        yield "judging.model", None, "is missing", "name the model that judges"
    if options.judging is not None and options.judge not in (None, options.judging.judge):
        yield (
            *("judge", options.judge, f"is not the judge that judges ({options.judging.judge})"),
            "leave judge or judging out",
        )
    yield from _feature_faults(board)
    yield from _surrogate_faults(board)


def _feature_faults(board: ConfiguredBoard) -> Iterator[Fault]:
    options = board.options
    sources = {
        "features": options.features,
        "feature_file": options.feature_file,
        "feature_table": options.feature_table,
    }
    stated = [name for name, value in sources.items() if value is not None]
    if len(stated) > 1:
        yield stated[1], sources[stated[1]], f"stands beside {stated[0]}", "keep one of them"
    elif stated != ["feature_table"]:
        key = stated[0] if stated else _FEATURES
        yield from _refused(key, sources[key], lambda: chosen_features(board))


def _surrogate_faults(board: ConfiguredBoard) -> Iterator[Fault]:
    learner = board.options.surrogate.learner
    yield from _refused("surrogate.learner", learner, lambda: check_savable(learner))
    validation = board.options.after.validation
    if validation is not None:
        model = validation.model
        yield from _refused("after.validation.model", model, lambda: find_surrogate(model))


def _refused(key: str, value: object, find: Callable[[], object]) -> Iterator[Fault]:
    """Yield what the owner of a name says against it."""
    try:
        find()
    except UsageError as error:
        fault, _, mend = str(error).partition("; ")
        yield key, value, f"cannot be used: {fault}", mend or "name another one"
