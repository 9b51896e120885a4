"""Options of studies, and checks of their arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.wording import repeated
from surrogate.board.settings import (
    PRESET,
    BoardSettings,
    chosen_settings,
)
from surrogate.board.view import arena_view, check_holdout, resolved_judges
from surrogate.learning.surrogate import Surrogate, find_surrogate, reseeded, surrogate_name

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

SurrogateLike: TypeAlias = "str | Surrogate | BaseEstimator"
"""A surrogate's name, an unfitted one, or a regressor of scikit-learn's form."""


STUDY_DEFAULTS = MappingProxyType({"tournaments": 50})
"""A study trains many times; its table hardly changes with more tournaments."""
OF_BOARDS = (
    "surrogate",
    "ratings",
    "unjudged",
    "arena_ratings",
    "holdout",
)
"""Settings of a board that a study does not take as options."""
LEARNING_OPTIONS = (
    PRESET,
    *(name for name in BoardSettings.model_fields if name not in OF_BOARDS),
)
"""Settings that boards and studies share: what a surrogate learns from, and how."""
STUDY_OPTIONS = ("settings", "feature_table", "n_jobs", "progress", *LEARNING_OPTIONS)
"""Options of every study besides the arena, the surrogate and the number of repeats.

``settings`` of a board count where a study has them too; ``feature_table`` holds features already
measured: of ``features``, only those that it lacks are measured, and none without ``features``;
``n_jobs`` are processes, -1 for all cores; and ``progress`` is called as trainings end.
"""


def study_settings(options: Mapping[str, Any]) -> BoardSettings:
    """Return settings of options, by default with fewer tournaments than a board."""
    settings = options.get("settings")
    values = {name: value for name, value in options.items() if name in LEARNING_OPTIONS}
    values.pop("features", None)
    is_set = settings is not None and "tournaments" in settings.model_fields_set
    if values.get(PRESET) is None and not is_set:
        values.setdefault("tournaments", STUDY_DEFAULTS["tournaments"])
    return chosen_settings(settings, values)


def judged_view(arena: Arena, settings: BoardSettings) -> Arena:
    """Return an arena by one criterion and judge."""
    view = arena_view(arena, settings)
    return view.judged_by(resolved_judges(view, settings)[0])


def check_rated_systems(
    arena: Arena,
    settings: BoardSettings,
    protocol: str,
    fewest: int,
    holdout: Sequence[str] | None = None,
) -> Arena:
    """Check that a study has enough judged systems, or those to hold out; return its view."""
    judged_arena = judged_view(arena, settings)
    if holdout is not None:
        check_holdout(holdout, judged_arena.rated_systems)
    elif len(judged_arena.rated_systems) < fewest:
        raise UsageError(f"{protocol} needs at least {fewest} judged systems")
    return judged_arena


def holdout_names(names: str | Sequence[str]) -> tuple[str, ...]:
    """Return names that may be given as one text with commas."""
    if isinstance(names, str):
        return tuple(name.strip() for name in names.split(","))
    return tuple(names)


def is_chosen(name: str, options: Mapping[str, Any]) -> bool:
    """Return whether options choose a value."""
    settings = options.get("settings")
    is_set = settings is not None and name in settings.model_fields_set
    return name in options or is_set or options.get(PRESET) is not None


def chosen_surrogates(
    surrogates: SurrogateLike | Sequence[SurrogateLike] | None,
    settings: BoardSettings,
    options: Mapping[str, Any],
) -> tuple[Surrogate, ...]:
    """Return unfitted surrogates, by default the settings'."""
    if surrogates is None:
        surrogates = settings.surrogate
    if not isinstance(surrogates, Sequence) or isinstance(surrogates, str):
        surrogates = [surrogates]
    chosen = []
    for surrogate in surrogates:
        if isinstance(surrogate, Surrogate):
            for name in ("rows", "missing"):
                if name in options:
                    raise UsageError(
                        f"{argument(name)} is for surrogates by name; {surrogate.name!r} was "
                        "made with its own"
                    )
        chosen.append(_unfitted(surrogate, settings))
    twice = repeated([surrogate.name for surrogate in chosen])
    if twice:
        raise UsageError(f"name each surrogate once: {', '.join(twice)}")
    return tuple(chosen)


def _unfitted(surrogate: SurrogateLike, settings: BoardSettings) -> Surrogate:
    named: str | Surrogate = surrogate_name(surrogate)
    if isinstance(named, str):
        return find_surrogate(named, rows=settings.rows, missing=settings.missing)
    return reseeded(named, named.seed)
