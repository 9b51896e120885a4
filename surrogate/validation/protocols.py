"""What a protocol predicted in one language, before it is scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np
import numpy.typing as npt
from joblib import delayed

from arena.data.errors import UsageError
from arena.data.seeds import generator
from surrogate.learning.surrogates import FEWEST_SYSTEMS, Surrogate
from surrogate.learning.training import Field
from surrogate.validation.study import LanguageArena
from surrogate.validation.tasks import (
    Prediction,
    Progress,
    Trial,
    learner_state,
    run_tasks,
    train_and_rate,
)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """Predicted and arena ratings of the systems of one language, several times over.

    Attributes:
        language: Language code.
        systems: The S systems.
        predicted: Predicted ratings of each repeat, shape (R, S); NaN where there is none.
        truth: The arena's ratings to compare with, shape (R, S).
        r2: R² where a protocol defines its own; None for that of ``predicted``.
        reasons: Why predictions are missing, without duplicates.
    """

    language: str
    systems: tuple[str, ...]
    predicted: Floats
    truth: Floats
    r2: float | None = None
    reasons: tuple[str, ...] = ()


FOLDS = 5
FEWEST_SYSTEMS_TO_FOLD = FEWEST_SYSTEMS + 2
FEWEST_QUESTIONS_TO_FOLD = 2


class FieldOf(Protocol):
    """Chooses what may be learned from in one language, without the held-out systems."""

    def __call__(self, arena: LanguageArena, held: Sequence[str], repeat: int) -> Field:
        """Return the field; raises ``UsageError`` if no judgment is left."""


def leave_systems_out(
    arenas: Sequence[LanguageArena],
    surrogate: Surrogate,
    repeats: int,
    seed: int,
    n_jobs: int = 1,
    progress: Progress | None = None,
    field_of: FieldOf | None = None,
) -> list[Outcome]:
    """Rate every system by a surrogate that has seen neither its answers nor its judgments.

    Systems are split into five seeded folds, the same in every language; each fold is rated by a
    surrogate trained on a field of the others, their tournaments held anew without it. What it
    rates is moved to the arena's scale as a whole, by where the others lie on it.

    Args:
        arenas: Languages.
        surrogate: What to train.
        repeats: How often to split the systems anew.
        seed: The user's seed.
        n_jobs: Processes to use.
        progress: Called as trainings end.
        field_of: What may be learned from, where it is less than all that is left; must not look
            at the held-out systems.

    Raises:
        UsageError: With fewer than five systems.
    """
    folds = system_folds(arenas, repeats, seed)
    learned_from = whole_field if field_of is None else field_of
    groups = [list(arenas)] if surrogate.pooled else [[arena] for arena in arenas]
    tasks = [
        delayed(_rate_fold)(
            group,
            surrogate,
            fold,
            learner_state(seed, str(repeat), str(number)),
            partial(learned_from, repeat=repeat),
        )
        for repeat, number, fold in folds
        for group in groups
    ]
    done = run_tasks(tasks, n_jobs, progress)
    owners = [repeat for repeat, _, _ in folds for _ in groups]
    return [_gathered(arena, owners, done, repeats) for arena in arenas]


def system_folds(
    arenas: Sequence[LanguageArena], repeats: int, seed: int
) -> list[tuple[int, int, list[str]]]:
    """Split the systems into folds to hold out, the same in every language.

    Returns:
        Repeat, number of the fold and its systems, sorted.

    Raises:
        UsageError: With fewer than five systems.
    """
    systems = sorted({system for arena in arenas for system in arena.systems})
    if len(systems) < FEWEST_SYSTEMS_TO_FOLD:
        raise UsageError(
            f"{len(systems)} judged systems are too few to leave some out: "
            f"at least {FEWEST_SYSTEMS_TO_FOLD} are needed"
        )
    return [
        (repeat, number, fold)
        for repeat in range(repeats)
        for number, fold in enumerate(_folds(systems, seed, "systems", str(repeat)))
    ]


def whole_field(arena: LanguageArena, held: Sequence[str], repeat: int) -> Field:  # noqa: ARG001
    """Learn from everything that is left without the held-out systems."""
    return arena.field_without(held)


def _folds(items: Sequence[str], seed: int, *keys: str) -> list[list[str]]:
    order = generator(seed, "validation folds", *keys).permutation(len(items))
    parts = np.array_split(order, min(FOLDS, len(items)))
    return [sorted(items[index] for index in part) for part in parts]


def _rate_fold(
    arenas: Sequence[LanguageArena],
    surrogate: Surrogate,
    held: Sequence[str],
    state: int,
    field_of: Callable[[LanguageArena, Sequence[str]], Field],
) -> list[Prediction]:
    fields, trials, failures = [], [], []
    origins: dict[str, float] = {}
    for arena in arenas:
        unseen = [system for system in arena.systems if system in held]
        if not unseen:
            continue
        try:
            field = field_of(arena, unseen)
        except UsageError as error:
            nothing = np.full(len(unseen), np.nan)
            failures.append(Prediction(arena.language, tuple(unseen), nothing, str(error)))
            continue
        fields.append(field)
        trials.append(Trial(arena.judged.take(systems=unseen), field.answers))
        origins[arena.language] = arena.origin_of(field)
    rated = train_and_rate(surrogate, fields, trials, state)
    moved = [replace(item, values=item.values + origins[item.language]) for item in rated]
    return [*failures, *moved]


def _gathered(
    arena: LanguageArena, owners: Sequence[int], done: Sequence[list[Prediction]], repeats: int
) -> Outcome:
    """Put the folds of each repeat together in one vector of ratings."""
    predicted = np.full((repeats, len(arena.systems)), np.nan)
    reasons: dict[str, None] = {}
    for repeat, predictions in zip(owners, done, strict=True):
        for item in predictions:
            if item.language != arena.language:
                continue
            places = [arena.systems.index(system) for system in item.systems]
            predicted[repeat, places] = item.values
            if item.failure:
                reasons[item.failure] = None
    truth = np.tile(arena.truth, (repeats, 1))
    return Outcome(arena.language, arena.systems, predicted, truth, reasons=tuple(reasons))


def leave_questions_out(
    arenas: Sequence[LanguageArena],
    surrogate: Surrogate,
    repeats: int,
    seed: int,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Rate systems on questions whose judgments were not learned from.

    Each language's judged questions are split into five seeded folds; the systems' answers to
    each fold are rated by a surrogate trained on the other folds' judgments, and compared with
    the ratings that the fold's own judgments give.

    Raises:
        UsageError: With fewer than two judged questions in a language.
    """
    for arena in arenas:
        if len(arena.judged.questions) < FEWEST_QUESTIONS_TO_FOLD:
            raise UsageError(f"{arena.language}: one judged question cannot be split")
    groups = [list(arenas)] if surrogate.pooled else [[arena] for arena in arenas]
    places = [(repeat, number) for repeat in range(repeats) for number in range(FOLDS)]
    tasks = [
        delayed(_rate_questions)(group, surrogate, repeat, number, seed)
        for repeat, number in places
        for group in groups
    ]
    done = [pair for pairs in run_tasks(tasks, n_jobs, progress) for pair in pairs]
    outcomes = []
    for arena in arenas:
        own = [(item, truth) for item, truth in done if item.language == arena.language]
        outcomes.append(
            Outcome(
                arena.language,
                arena.systems,
                np.array([item.values for item, _ in own]),
                np.array([truth for _, truth in own]),
                reasons=tuple(dict.fromkeys(item.failure for item, _ in own if item.failure)),
            )
        )
    return outcomes


def _rate_questions(
    arenas: Sequence[LanguageArena], surrogate: Surrogate, repeat: int, number: int, seed: int
) -> list[tuple[Prediction, Floats]]:
    fields, trials, truths = [], [], []
    for arena in arenas:
        folds = _folds(arena.judged.questions, seed, "questions", arena.language, str(repeat))
        if number >= len(folds):
            continue
        held = folds[number]
        kept = [question for question in arena.judged.questions if question not in set(held)]
        field = arena.field_on(kept)
        fields.append(field)
        trials.append(Trial(arena.answers.take(questions=held), field.answers))
        truths.append(arena.ratings_on(held))
    state = learner_state(seed, "questions", str(repeat), str(number))
    return list(zip(train_and_rate(surrogate, fields, trials, state), truths, strict=True))


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

    Features are standardized within each language, in the one left out by all its answers, of
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
