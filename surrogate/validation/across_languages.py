"""Protocols that rate where nothing was judged: another language, another arena."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from joblib import delayed

from arena.errors import UsageError
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

FEWEST_LANGUAGES = 2


def leave_language_out(
    arenas: Sequence[LanguageArena],
    surrogate: Surrogate,
    repeats: int,
    seed: int,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Rate the systems in each language by a surrogate trained on the other languages.

    Features are standardised within each language, in the one left out by all its answers, of
    which no judgment is known. Repeats differ by the learner's seed.

    Raises:
        UsageError: With fewer than two judged languages.
    """
    if len(arenas) < FEWEST_LANGUAGES:
        raise UsageError(
            f"leave-language-out needs at least {FEWEST_LANGUAGES} judged languages, "
            f"there is only {arenas[0].language}"
        )
    pooled = surrogate.for_all_languages()
    places = [(arena, repeat) for arena in arenas for repeat in range(repeats)]
    tasks = [
        delayed(_rate_elsewhere)(
            [other for other in arenas if other.language != arena.language],
            [arena],
            pooled,
            learner_state(seed, "language", arena.language, str(repeat)),
            known=(),
        )
        for arena, repeat in places
    ]
    done = run_tasks(tasks, n_jobs, progress)
    return [
        _outcome(arena, done[number * repeats : (number + 1) * repeats])
        for number, arena in enumerate(arenas)
    ]


def transfer(
    arenas: Sequence[LanguageArena],
    others: Sequence[LanguageArena],
    surrogate: Surrogate,
    repeats: int,
    seed: int,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Rate the systems of another arena by a surrogate trained on this one.

    Systems that are in both arenas are not trained on. Repeats differ by the learner's seed.

    Args:
        arenas: Languages to train on.
        others: Languages to rate, with the same features.
        surrogate: What to train; one for all languages.
        repeats: How often to train.
        seed: The user's seed.
        n_jobs: Processes to use.
        progress: Called as trainings end.
    """
    pooled = surrogate.for_all_languages()
    known = sorted({system for other in others for system in other.systems})
    tasks = [
        delayed(_rate_elsewhere)(
            list(arenas), list(others), pooled, learner_state(seed, "transfer", str(repeat)), known
        )
        for repeat in range(repeats)
    ]
    done = run_tasks(tasks, n_jobs, progress)
    return [
        _outcome(other, [[predictions[number]] for predictions in done])
        for number, other in enumerate(others)
    ]


def _rate_elsewhere(
    arenas: Sequence[LanguageArena],
    others: Sequence[LanguageArena],
    surrogate: Surrogate,
    state: int,
    known: Sequence[str],
) -> list[Prediction]:
    fields = [
        arena.field_without(known)
        for arena in arenas
        if len(set(arena.systems) - set(known)) >= FEWEST_SYSTEMS
    ]
    trials = [Trial(other.judged, other.answers) for other in others]
    return train_and_rate(surrogate, fields, trials, state)


def _outcome(arena: LanguageArena, done: Sequence[Sequence[Prediction]]) -> Outcome:
    predictions = [item for items in done for item in items]
    return Outcome(
        arena.language,
        arena.systems,
        np.array([item.values for item in predictions]),
        np.tile(arena.truth, (len(predictions), 1)),
        reasons=tuple(dict.fromkeys(item.failure for item in predictions if item.failure)),
    )
