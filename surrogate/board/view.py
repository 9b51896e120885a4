"""An arena as a board has it: whose verdicts count, by which criterion, and in which parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import CRITERION
from arena.rating.soft_verdicts import Temperature, calibrated_judgments, learn_temperatures
from surrogate.board.settings import BoardSettings
from surrogate.board.slices import in_slices, sliced


def arena_view(
    arena: Arena, settings: BoardSettings, temperatures: Mapping[str, float] | None = None
) -> Arena:
    """Return an arena as a board has it: judged by its criterion, and in its parts.

    Args:
        arena: The arena.
        settings: The board's.
        temperatures: By judge, by what logits are divided where probabilities count; by default
            they are learned from the arena's judgments.
    """
    arena = arena.by_criterion(settings.criterion)
    judgments = arena.judgments
    if temperatures is None:
        temperatures = values_by_judge(judging_temperatures(judgments, settings))
    judgments = calibrated_judgments(judgments, temperatures, hard=settings.hard_verdicts)
    return sliced(replace(arena, judgments=judgments), settings.by)


def judgments_view(
    judgments: pd.DataFrame,
    queries: pd.DataFrame,
    settings: BoardSettings,
    temperatures: Mapping[str, float],
) -> pd.DataFrame:
    """Return further judgments on an arena's questions as a board has them; see ``arena_view``."""
    if settings.criterion is not None and CRITERION in judgments:
        judgments = judgments[judgments[CRITERION] == settings.criterion]
    judgments = calibrated_judgments(judgments, temperatures, hard=settings.hard_verdicts)
    return in_slices(judgments, queries, settings.by)


def judging_temperatures(
    judgments: pd.DataFrame, settings: BoardSettings
) -> tuple[Temperature, ...]:
    """Learn the temperatures of all judges whose probabilities count."""
    return () if settings.hard_verdicts else learn_temperatures(judgments)


def values_by_judge(temperatures: tuple[Temperature, ...]) -> dict[str, float]:
    """Return by what each judge's logits are divided."""
    return {temperature.judge: temperature.value for temperature in temperatures}


def board_judges(arena: Arena, settings: BoardSettings) -> tuple[str, ...]:
    """Return whose verdicts a board rests on, then others; none for a first board, without any.

    Raises:
        UsageError: If there is no such judge, several to choose from, or none where the settings
            ask for ratings by verdicts.
    """
    arena = arena.by_criterion(settings.criterion)
    if settings.ratings == "consensus":
        if settings.judge is not None:
            raise UsageError(
                f"ratings by consensus look at no verdict; leave judge {settings.judge!r} out"
            )
        return ()
    if not arena.judges and settings.judge is None and settings.ratings == "posterior":
        return ()
    return resolved_judges(arena, settings)


def resolved_judges(arena: Arena, settings: BoardSettings) -> tuple[str, ...]:
    """Return whose verdicts are learned from, then other judges; see ``Arena.chosen_judges``.

    Args:
        arena: Judged by the settings' criterion, if they have one.
        settings: Name the judge.
    """
    by_criterion = f"{settings.judge}:{settings.criterion}"
    return arena.chosen_judges(by_criterion if by_criterion in arena.judges else settings.judge)
