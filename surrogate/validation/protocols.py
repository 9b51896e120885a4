"""Protocols that hold out families, languages, arenas or, as in the paper, two systems.

``leave_systems_out``, the figure for new systems, is in ``surrogate.learning.cross_fitting``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import numpy as np
import pandas as pd
from joblib import delayed

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.diagnostics.families import own_family
from surrogate.board.holdout import (
    DEFAULT_HOLDOUT_SIZE,
    check_holdout,
    choose_holdout,
    fit_tournament,
)
from surrogate.learning.cross_fitting import (
    Fold,
    HeldOutRatings,
    Rating,
    Repeats,
    derived_seed,
    fold_count,
    grouped,
    leave_systems_out,
    systems_by_content,
    train_and_rate,
)
from surrogate.learning.languages import LanguageData, judged_questions
from surrogate.learning.outcomes import Outcome
from surrogate.learning.surrogate import FEWEST_SYSTEMS, Surrogate

FEWEST_LANGUAGES = 2
FEWEST_FAMILIES = 2
KNOWN_ELSEWHERE = "elsewhere:"
"""Put before the questions of another arena, which may have the ids of this one's."""


def leave_families_out(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    repeats: Repeats,
) -> list[Outcome]:
    """Rate every system by a surrogate that has seen no system of its family.

    As ``leave_systems_out``, but for the folds: what is new in a new system may be new in its
    relatives too. Families are read off names (``own_family``).

    Raises:
        UsageError: If all systems are of one family.
    """
    folds = family_folds(languages, repeats)
    return leave_systems_out(languages, surrogate, repeats, folds=folds)


def family_folds(languages: Sequence[LanguageData], repeats: Repeats) -> list[Fold]:
    """Split the families of the systems into folds, of sizes as even as they allow.

    The largest family goes first, each to the fold that is the smallest by then.

    Raises:
        UsageError: If all systems are of one family.
    """
    families: dict[str, list[str]] = {}
    for system in sorted({system for data in languages for system in data.systems}):
        families.setdefault(own_family(system), []).append(system)
    if len(families) < FEWEST_FAMILIES:
        raise UsageError(f"all systems are of the family {next(iter(families))}: none can be left")
    chosen = []
    size = sum(map(len, families.values()))
    for repeat in range(repeats.times):
        random = generator(repeats.seed, "validation folds", "families", str(repeat))
        drawn = [list(families.values())[place] for place in random.permutation(len(families))]
        folds: list[list[str]] = [[] for _ in range(min(fold_count(size), len(families)))]
        for family in sorted(drawn, key=len, reverse=True):
            min(folds, key=len).extend(family)
        chosen += [(repeat, number, sorted(fold)) for number, fold in enumerate(folds)]
    return chosen


def leave_language_out(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    repeats: Repeats,
) -> list[Outcome]:
    """Rate the systems in each language by a surrogate trained on the other languages.

    Features are standardized within each language, in the one left out by all its answers, of
    which no judgment is known. Repeats differ by the surrogate's seed.

    Raises:
        UsageError: With fewer than two judged languages.
    """
    if len(languages) < FEWEST_LANGUAGES:
        raise UsageError(
            f"leave-language-out needs at least {FEWEST_LANGUAGES} judged languages, "
            f"there is only {languages[0].language}"
        )
    tasks = [
        delayed(train_and_rate)(
            repeats.reseeded(surrogate, "language", data.language, str(repeat), pooled=True),
            [other for other in languages if other.language != data.language],
            data.rows(),
            judged_questions([data]),
        )
        for data in languages
        for repeat in range(repeats.times)
    ]
    done = iter(repeats.run(tasks))
    return [
        _gathered(islice(done, repeats.times)).outcome(data, repeats.times) for data in languages
    ]


def transfer(
    languages: Sequence[LanguageData],
    others: Sequence[LanguageData],
    surrogate: Surrogate,
    repeats: Repeats,
) -> list[Outcome]:
    """Rate the systems of another arena by a surrogate trained on this one.

    Systems that are in both arenas are not trained on. Repeats differ by the surrogate's seed.

    Args:
        languages: Languages to train on.
        others: Languages to rate, with the same features.
        surrogate: What to train; one for all languages.
        repeats: How often to train.
    """
    known = sorted({system for other in others for system in other.systems})
    parts = [
        data.without(known)
        for data in languages
        if len(set(data.systems) - set(known)) >= FEWEST_SYSTEMS
    ]
    rows = pd.concat([other.rows() for other in others])
    renamed = rows.assign(query_id=KNOWN_ELSEWHERE + rows["query_id"])
    asked = {
        language: [f"{KNOWN_ELSEWHERE}{name}" for name in names]
        for language, names in judged_questions(others).items()
    }
    tasks = [
        delayed(train_and_rate)(
            repeats.reseeded(surrogate, "transfer", str(repeat), pooled=True), parts, renamed, asked
        )
        for repeat in range(repeats.times)
    ]
    gathered = _gathered(repeats.run(tasks))
    return [gathered.outcome(other, repeats.times) for other in others]


def mirage(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    repeats: Repeats,
    holdout: Sequence[str] | None = None,
) -> list[Outcome]:
    """Hold two systems out of training, and rank all systems (MIRAGE-Bench, section 4.3).

    Each repeat holds out two systems, drawn by the seed unless they are chosen. A surrogate
    trained on the tournaments of all systems, but for the rows of those two, rates all of them.
    R² is that of surrogates of single tournaments on the held-out systems; every tournament has
    one, in one of the repeats. Its mean is reported, as in table 5; with two systems, whose R² has
    no lower bound, it is often that of a few tournaments.

    Most of the systems ranked were trained on, so tau is higher than for new systems.

    Raises:
        UsageError: If a chosen system is not judged, or too few are left to train on.
    """
    systems = systems_by_content(languages)

    def held_out(repeat: int) -> tuple[str, ...]:
        if holdout is not None:
            return check_holdout(holdout, systems)
        return drawn_holdout(systems, DEFAULT_HOLDOUT_SIZE, repeats.seed, str(repeat))

    tasks = [
        delayed(_hold_out)(
            group,
            repeats.reseeded(surrogate, "mirage", str(repeat)),
            held_out(repeat),
            {
                index: derived_seed(repeats.seed, "mirage", str(repeat), str(index))
                for index in range(repeat, group[0].settings.tournaments, repeats.times)
            },
        )
        for repeat in range(repeats.times)
        for group in grouped(languages, surrogate)
    ]
    done = repeats.run(tasks)
    outcomes = []
    for data in languages:
        own = [(rating, r2[data.language]) for rating, r2 in done if data.language in r2]
        r2 = np.array([value for _, values in own for value in values])
        defined = r2[np.isfinite(r2)]
        mean = float(defined.mean()) if defined.size else float("nan")
        gathered = _gathered(rating for rating, _ in own)
        outcomes.append(gathered.outcome(data, len(own), r2=mean))
    return outcomes


def _gathered(ratings: Iterable[Rating]) -> HeldOutRatings:
    """Put together the ratings of repeats that have no folds."""
    return HeldOutRatings.gathered((repeat, 0, rating) for repeat, rating in enumerate(ratings))


def drawn_holdout(systems: Sequence[str], size: int, seed: int, *keys: str) -> tuple[str, ...]:
    """Draw systems to hold out, of those in an order by content; sorted.

    Raises:
        UsageError: If fewer than three are left to train on.
    """
    drawn = choose_holdout(systems, seed, size, *keys)
    if not drawn:
        raise UsageError(
            f"holding out {size} of {len(systems)} systems leaves fewer than {FEWEST_SYSTEMS} "
            "to train on"
        )
    return drawn


def _hold_out(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    held: Sequence[str],
    seeds: Mapping[int, int],
) -> tuple[Rating, dict[str, list[float]]]:
    """Rate all systems, and find R² in the tournaments that have a seed."""
    everyone = pd.concat([data.rows() for data in languages])
    hidden = [data.hiding(held) for data in languages]
    rating = train_and_rate(surrogate, hidden, everyone, judged_questions(languages))
    r2: dict[str, list[float]] = {data.language: [] for data in languages}
    for index, seed in seeds.items():
        try:
            fits = fit_tournament(languages, surrogate, held, index, seed)
        except UsageError:
            continue
        for data, fit in zip(languages, fits, strict=True):
            r2[data.language].append(fit.holdout_r2)
    return rating, r2
