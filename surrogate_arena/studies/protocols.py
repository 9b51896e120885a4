"""Protocols that hold out languages, families, the best, or part of what is learned from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

import pandas as pd

from arena.data.errors import UsageError
from arena.statistics.bootstrap import generator
from surrogate.board.view import (
    DEFAULT_HOLDOUT_SIZE,
    check_holdout,
    choose_holdout,
)
from surrogate.learning.cross_fitting import (
    Fold,
    HeldOutRatings,
    Rating,
    Repeats,
    systems_by_content,
    train_and_rate,
)
from surrogate.learning.language_data import LanguageData, judged_questions
from surrogate.learning.outcomes import Outcome
from surrogate.learning.surrogate import FEWEST_SYSTEMS, Surrogate

LANGUAGE, FEWEST_LANGUAGES = "leave-language-out", 2
BEST_SHARE, FEWEST_BEST = 0.2, 3
AXES = ("systems", "questions", "judgments")
"""Dimensions of a learning curve."""


def leave_language_out(
    languages: Sequence[LanguageData], surrogate: Surrogate, repeats: Repeats
) -> list[Outcome]:
    """Rate the systems in each language by a surrogate trained on the others.

    Its features are standardized by all its answers.
    """
    check_languages([data.language for data in languages], surrogate)
    tasks = []
    for data in languages:
        others = [other for other in languages if other.language != data.language]
        for repeat in range(repeats.times):
            reseeded = repeats.reseeded(surrogate, "language", data.language, str(repeat))
            task = partial(train_and_rate, reseeded, others, data.rows(), judged_questions([data]))
            tasks.append(task)
    ratings = repeats.run(tasks)
    outcomes = []
    for index, data in enumerate(languages):
        first = index * repeats.times
        own_ratings = ratings[first : first + repeats.times]
        outcomes.append(_gathered(own_ratings).outcome(data, repeats.times))
    return outcomes


def check_languages(languages: Collection[str], surrogate: Surrogate) -> None:
    """Check that a surrogate can learn from some languages and rate in others."""
    if not surrogate.pooled:
        raise UsageError(f"{surrogate.name} learns each language alone: it cannot rate in others")
    if len(languages) < FEWEST_LANGUAGES:
        raise UsageError(f"{LANGUAGE} needs at least {FEWEST_LANGUAGES} judged languages")


def family_folds(
    languages: Sequence[LanguageData], families: Mapping[str, Collection[str]]
) -> list[Fold]:
    """Hold out one family after the other, and systems without one by one."""
    groups: dict[str, list[str]] = {}
    for system in systems_by_content(languages):
        groups.setdefault(min(families[system], default=system), []).append(system)
    return [Fold(0, number, sorted(group)) for number, group in enumerate(groups.values())]


def best_fold(languages: Sequence[LanguageData]) -> list[Fold]:
    """Hold out the best fifth by mean rank, at least three, without the reference system."""
    ranks = [pd.Series(data.arena_ratings, data.systems).rank() for data in languages]
    order = pd.concat(ranks).groupby(level=0).mean().reindex(systems_by_content(languages))
    order = order.drop([data.reference for data in languages], errors="ignore")
    count = max(round(BEST_SHARE * len(order)), FEWEST_BEST)
    # Fold 0 has the systems that are learned from.
    return [Fold(0, 1, sorted(order.nlargest(count).index))]


def _gathered(ratings: Iterable[Rating]) -> HeldOutRatings:
    numbered = []
    for repeat, (table, reasons) in enumerate(ratings):
        numbered.append((table.assign(repeat=repeat, fold=0), reasons))
    return HeldOutRatings.gathered(numbered)


def drawn_holdout(
    systems: Sequence[str], holdout: Sequence[str] | int | None, seed: int, *keys: str
) -> tuple[str, ...]:
    """Return the systems to hold out, or draw so many by content; sorted."""
    if isinstance(holdout, Sequence):
        return check_holdout(holdout, systems)
    size = DEFAULT_HOLDOUT_SIZE if holdout is None else holdout
    drawn = choose_holdout(systems, seed, size, *keys)
    if not drawn:
        raise UsageError(
            f"holding out {size} of {len(systems)} systems leaves fewer than {FEWEST_SYSTEMS} "
            "to train on"
        )
    return drawn


def part_left(
    data: LanguageData, held: Sequence[str], repeat: int, axis: str, share: float, seed: int
) -> LanguageData:
    """Draw a share, along an axis, of data without held-out systems; larger ones hold smaller."""
    random = generator(seed, "learning curve", axis, data.language, str(repeat))

    def dropped(names: Sequence[object]) -> list[object]:
        order = random.permutation(len(names))
        return [names[index] for index in order[max(1, round(share * len(names))) :]]

    if axis == "systems":
        left = [name for name in data.systems_by_content if name not in set(held)]
        return data.without_systems([*held, *map(str, dropped(left))])
    rows = data.judgments
    judged = rows[~rows["system_a"].isin(held) & ~rows["system_b"].isin(held)]
    if axis == "questions":
        judgments = judged[~judged["query_id"].isin(dropped(sorted(judged["query_id"].unique())))]
    else:
        judgments = judged.drop(index=dropped(list(judged.index)))
    return data.without_answers_of(held).with_judgments(judgments)
