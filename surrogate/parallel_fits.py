"""Training all surrogates of a board in parallel, with the same result for any number of jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from arena import UsageError
from surrogate.holdout import TournamentFits, fit_tournaments
from surrogate.judge import LanguageJudge, Recipe
from surrogate.language_board import LanguageData, LanguageFit, fit_language

TOURNAMENTS_PER_TASK = 25


@dataclass(frozen=True)
class LanguageFits:
    """Everything trained for one language.

    Attributes:
        final: The surrogates trained on all tournaments, or None where none could be.
        tournaments: Surrogates of single tournaments, in order; empty without a holdout.
        failure: Why no surrogate could be trained.
    """

    final: LanguageFit | None
    tournaments: tuple[TournamentFits, ...] = field(default=())
    failure: str | None = None

    @property
    def judge(self) -> LanguageJudge | None:
        """The language's surrogate judge, if there is one."""
        return self.final.judge if self.final else None


def fit_languages(
    data: Sequence[LanguageData],
    recipe: Recipe,
    n_jobs: int,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[LanguageFits]:
    """Train the surrogates of every language.

    Args:
        data: One a language.
        recipe: Learner and kind of rows.
        n_jobs: Processes to use; -1 for all cores.
        progress: Called with ``"surrogates"``, the tasks done and the tasks in all.

    Returns:
        One a language, in the order given.
    """
    finals = [delayed(_fit_final)(item, recipe) for item in data]
    stretches = [
        (index, stretch) for index, item in enumerate(data) for stretch in _stretches(item)
    ]
    singles = [delayed(_fit_stretch)(data[index], recipe, stretch) for index, stretch in stretches]
    tasks = [*finals, *singles]
    with threadpool_limits(1), parallel_config("loky", inner_max_num_threads=1):
        done = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
        results = _counted(done, len(tasks), progress)
        fits: list[LanguageFits] = list(islice(results, len(finals)))
        by_language: list[list[TournamentFits]] = [[] for _ in data]
        for (index, _), result in zip(stretches, results, strict=True):
            if result is not None:
                by_language[index].append(result)
    return [
        LanguageFits(fit.final, tuple(parts), fit.failure)
        for fit, parts in zip(fits, by_language, strict=True)
    ]


def _stretches(data: LanguageData) -> list[range]:
    if not data.holdout:
        return []
    total = len(data.tournaments.draws)
    return [
        range(start, min(start + TOURNAMENTS_PER_TASK, total))
        for start in range(0, total, TOURNAMENTS_PER_TASK)
    ]


def _fit_final(data: LanguageData, recipe: Recipe) -> LanguageFits:
    try:
        return LanguageFits(fit_language(data, recipe))
    except UsageError as error:
        return LanguageFits(None, failure=str(error))


def _fit_stretch(data: LanguageData, recipe: Recipe, stretch: range) -> TournamentFits | None:
    try:
        return fit_tournaments(data.judged, data.tournaments, data.holdout, recipe, stretch)
    except UsageError:
        return None


def _counted(
    results: Iterator[Any], total: int, progress: Callable[[str, int, int], None] | None
) -> Iterator[Any]:
    for done, result in enumerate(results, start=1):
        if progress is not None:
            progress("surrogates", done, total)
        yield result
