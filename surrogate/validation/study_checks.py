"""Checks of a study's arguments, before features cost anything."""

from __future__ import annotations

from collections.abc import Sequence

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from surrogate.board.holdout import check_holdout
from surrogate.board.settings import PRESET, BoardSettings
from surrogate.learning.names import as_surrogate
from surrogate.learning.surrogate import Surrogate
from surrogate.validation.study_options import StudyOptions, SurrogateLike, judged_view


def check_rated_systems(
    arena: Arena,
    settings: BoardSettings,
    protocol: str,
    fewest: int,
    holdout: Sequence[str] | None = None,
) -> Arena:
    """Check that a study has enough judged systems, before features cost anything.

    Args:
        arena: The arena.
        settings: Whose judgments count.
        protocol: Name of the protocol, for the error.
        fewest: Judged systems that it needs.
        holdout: Systems to hold out, if some are named; then these are checked instead.

    Returns:
        The arena as a study sees it, see ``judged_view``.

    Raises:
        UsageError: If there are too few systems, or some cannot be held out.
    """
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


def is_chosen(name: str, options: StudyOptions) -> bool:
    """Return whether an option, the settings or a preset choose a value."""
    settings = options.get("settings")
    is_set = settings is not None and name in settings.model_fields_set
    return name in options or is_set or options.get(PRESET) is not None


def surrogate_with_rules(
    surrogate: SurrogateLike, settings: BoardSettings, options: StudyOptions
) -> Surrogate:
    """Return an unfitted surrogate, one by name with the rules of the settings."""
    if isinstance(surrogate, Surrogate):
        for name in ("rows", "missing"):
            if name in options:
                raise UsageError(
                    f"{argument(name)} is for surrogates by name; {surrogate.name!r} was "
                    "made with its own"
                )
    return as_surrogate(surrogate, settings.rows, settings.missing)
