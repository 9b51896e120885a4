"""The part of an arena that a board rests on: judges, and systems held out of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.wording import Remark, count_of
from arena.rating.soft_verdicts import (
    Temperature,
    calibrated_judgments,
    learn_temperatures,
    values_by_judge,
)
from arena.statistics.bootstrap import generator
from surrogate.board.settings import NOBODY, BoardSettings, ResolvedSettings
from surrogate.board.slices import sliced
from surrogate.learning.surrogate import FEWEST_SYSTEMS


def arena_view(
    arena: Arena, settings: BoardSettings, temperatures: Mapping[str, float] | None = None
) -> Arena:
    """Return an arena as a board has it: by criterion, in parts."""
    arena = arena.by_criterion(settings.criterion)
    judgments = arena.judgments
    if temperatures is None:
        temperatures = values_by_judge(judging_temperatures(judgments, settings))
    judgments = calibrated_judgments(judgments, temperatures, hard=settings.hard_verdicts)
    return sliced(replace(arena, judgments=judgments), settings.by)


def with_own_verdicts(arena: Arena, settings: ResolvedSettings) -> Arena:
    """Keep the verdicts that a board rests on."""
    if settings.judge == NOBODY:
        return replace(arena, judgments=arena.judgments.iloc[:0])
    return arena.judged_by(settings.judge)


def judging_temperatures(
    judgments: pd.DataFrame, settings: BoardSettings
) -> tuple[Temperature, ...]:
    """Learn the temperatures of all judges whose probabilities count."""
    return () if settings.hard_verdicts else learn_temperatures(judgments)


def board_judges(arena: Arena, settings: BoardSettings) -> tuple[str, ...]:
    """Return the judges that a board rests on, then others."""
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
    """Return whose verdicts are learned from, then other judges."""
    by_criterion = f"{settings.judge}:{settings.criterion}"
    return arena.chosen_judges(by_criterion if by_criterion in arena.judges else settings.judge)


def comparable_judges(
    arena: Arena, judges: Sequence[str]
) -> tuple[tuple[str, ...], tuple[Remark, ...]]:
    """Leave out judges of too few systems, with remarks."""
    compared = list(judges[:1])
    omissions = []
    for name in judges[1:]:
        judged = arena.judged_by(name)
        n_systems = len(judged.rated_systems)
        if n_systems >= FEWEST_SYSTEMS:
            compared.append(name)
            continue
        verdicts = count_of(len(judged.judgments), "verdict")
        sentence = (
            f"{name} is left out: {verdicts} on {count_of(n_systems, 'system')} of "
            f"{FEWEST_SYSTEMS} needed."
        )
        omissions.append(Remark("judges", "warning", sentence))
    return tuple(compared), tuple(omissions)


DEFAULT_HOLDOUT_SIZE = 2


def choose_holdout(
    systems: Sequence[str], seed: int, size: int = DEFAULT_HOLDOUT_SIZE, *keys: str
) -> tuple[str, ...]:
    """Draw the held-out systems, sorted; none if fewer than three would stay."""
    if len(systems) < size + FEWEST_SYSTEMS:
        return ()
    drawn = generator(seed, "holdout", *keys).choice(len(systems), size, replace=False)
    return tuple(sorted(systems[index] for index in drawn))


def check_holdout(holdout: Sequence[str], judged: Sequence[str]) -> tuple[str, ...]:
    """Check the systems a user wants held out."""
    unknown = [system for system in holdout if system not in judged]
    if unknown:
        raise UsageError(
            f"cannot hold out {', '.join(unknown)}: not judged; "
            f"the judged systems are {', '.join(sorted(judged))}"
        )
    chosen = tuple(sorted(set(holdout)))
    if len(chosen) < len(holdout):
        raise UsageError("a held-out system is named twice")
    n_trained = len(set(judged) - set(chosen))
    if n_trained < FEWEST_SYSTEMS:
        raise UsageError(
            f"holding out {len(chosen)} systems leaves fewer than {FEWEST_SYSTEMS} to train on"
        )
    return chosen
