"""The protocol of MIRAGE-Bench: Algorithm 1 with two systems held out, all systems ranked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from joblib import delayed

from arena.errors import UsageError
from arena.seeds import generator
from surrogate.holdout import check_holdout, held_out_r2
from surrogate.judge import FEWEST_SYSTEMS
from surrogate.surrogates import Surrogate
from surrogate.validation.language_arena import LanguageArena
from surrogate.validation.outcome import Outcome
from surrogate.validation.tasks import (
    Prediction,
    Progress,
    Trial,
    learner_state,
    run_tasks,
    train_and_rate,
)

Floats = npt.NDArray[np.float64]

HELD_OUT = 2


def mirage(
    arenas: Sequence[LanguageArena],
    surrogate: Surrogate,
    repeats: int,
    seed: int,
    n_jobs: int = 1,
    progress: Progress | None = None,
    holdout: Sequence[str] | None = None,
) -> list[Outcome]:
    """Hold two systems out of training, and rank all systems (MIRAGE-Bench, section 4.3).

    Each repeat holds out two systems, drawn by the seed unless they are chosen. A surrogate
    trained on the tournaments of all systems, but for the rows of those two, rates all of them.
    R² is that of surrogates of single tournaments on the held-out systems; every tournament has
    one, in one of the repeats. Its median is reported: with two systems the mean says little.

    Most of the systems ranked were trained on, so tau is higher than for new systems.

    Raises:
        UsageError: If a chosen system is not judged, or too few are left to train on.
    """
    systems = sorted({system for arena in arenas for system in arena.systems})
    groups = [list(arenas)] if surrogate.pooled else [[arena] for arena in arenas]
    places = [(repeat, group) for repeat in range(repeats) for group in groups]
    tasks = [
        delayed(_hold_out)(
            group, surrogate, _held_out(systems, holdout, seed, repeat), repeat, repeats, seed
        )
        for repeat, group in places
    ]
    done = run_tasks(tasks, n_jobs, progress)
    return [_outcome(arena, done) for arena in arenas]


def draw_systems(systems: Sequence[str], size: int, seed: int, *keys: str) -> list[str]:
    """Draw systems to hold out, sorted.

    Raises:
        UsageError: If fewer than three are left to train on.
    """
    if len(systems) < size + FEWEST_SYSTEMS:
        raise UsageError(
            f"holding out {size} of {len(systems)} systems leaves fewer than {FEWEST_SYSTEMS} "
            "to train on"
        )
    drawn = generator(seed, "validation holdout", *keys).choice(len(systems), size, replace=False)
    return [systems[index] for index in sorted(drawn)]


def _held_out(
    systems: Sequence[str], holdout: Sequence[str] | None, seed: int, repeat: int
) -> list[str]:
    if holdout is not None:
        return list(check_holdout(holdout, systems))
    return draw_systems(systems, HELD_OUT, seed, str(repeat))


def _hold_out(
    arenas: Sequence[LanguageArena],
    surrogate: Surrogate,
    held: Sequence[str],
    repeat: int,
    repeats: int,
    seed: int,
) -> list[tuple[Prediction, list[float]]]:
    fields = [arena.field_as_in_paper(held) for arena in arenas]
    everyone = [
        Trial(arena.judged, field.answers) for arena, field in zip(arenas, fields, strict=True)
    ]
    state = learner_state(seed, "mirage", str(repeat))
    ratings = train_and_rate(surrogate, fields, everyone, state)
    r2: list[list[float]] = [[] for _ in arenas]
    for index in range(repeat, arenas[0].settings.tournaments, repeats):
        singles = [field.one_tournament(index) for field in fields]
        trials = [
            Trial(arena.drawn(index), field.answers)
            for arena, field in zip(arenas, fields, strict=True)
        ]
        state = learner_state(seed, "mirage", str(repeat), str(index))
        for place, item in enumerate(train_and_rate(surrogate, singles, trials, state)):
            coefficients = arenas[place].tournaments.coefficients[index]
            is_held = np.isin(item.systems, list(held))
            r2[place].append(held_out_r2(coefficients[is_held], item.values[is_held]))
    return list(zip(ratings, r2, strict=True))


def _outcome(
    arena: LanguageArena, done: Sequence[Sequence[tuple[Prediction, list[float]]]]
) -> Outcome:
    own = [pair for pairs in done for pair in pairs if pair[0].language == arena.language]
    r2 = np.array([value for _, values in own for value in values])
    defined = r2[np.isfinite(r2)]
    return Outcome(
        arena.language,
        arena.systems,
        np.array([item.values for item, _ in own]),
        np.tile(arena.truth, (len(own), 1)),
        r2=float(np.median(defined)) if defined.size else float("nan"),
        reasons=tuple(dict.fromkeys(item.failure for item, _ in own if item.failure)),
    )
