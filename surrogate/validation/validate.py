"""Validating a surrogate on an arena by one of several protocols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import pandas as pd

from arena import Arena, UsageError, __version__
from features import DEFAULT_FEATURES, Feature, extract, feature_columns
from surrogate.surrogate_names import DEFAULT_SURROGATE, find_surrogate
from surrogate.validation.across_languages import leave_language_out, transfer
from surrogate.validation.holding_out import leave_questions_out, leave_systems_out
from surrogate.validation.language_arena import (
    LanguageArena,
    TournamentSettings,
    language_arenas,
)
from surrogate.validation.mirage import mirage
from surrogate.validation.outcome import Outcome
from surrogate.validation.tasks import Progress
from surrogate.validation.validation import Validation, summarise

TRANSFER = "transfer"
MIRAGE = "mirage"
DEFAULT_PROTOCOL = "leave-systems-out"


@dataclass(frozen=True)
class _Protocol:
    run: Callable[..., list[Outcome]]
    repeats: int


PROTOCOLS: MappingProxyType[str, _Protocol] = MappingProxyType(
    {
        MIRAGE: _Protocol(mirage, 25),
        "leave-systems-out": _Protocol(leave_systems_out, 5),
        "leave-language-out": _Protocol(leave_language_out, 5),
        "leave-questions-out": _Protocol(leave_questions_out, 5),
        TRANSFER: _Protocol(transfer, 5),
    }
)


def validate(
    arena: Arena,
    protocol: str = DEFAULT_PROTOCOL,
    model: str = DEFAULT_SURROGATE,
    features: Sequence[Feature] = DEFAULT_FEATURES,
    *,
    judge: str | None = None,
    feature_table: pd.DataFrame | None = None,
    test_arena: Arena | None = None,
    test_judge: str | None = None,
    test_feature_table: pd.DataFrame | None = None,
    holdout: Sequence[str] | None = None,
    repeats: int | None = None,
    tournaments: TournamentSettings | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Validation:
    """Say how well a surrogate ranks systems, languages or questions it was not trained on.

    The same arguments give the same result, whatever ``n_jobs``.

    Args:
        arena: The arena.
        protocol: One of ``PROTOCOLS``: ``leave-systems-out`` (what to expect for new systems),
            ``leave-language-out``, ``leave-questions-out``, ``transfer`` (to ``test_arena``) or
            ``mirage`` (MIRAGE-Bench, section 4.3: two systems held out, all ranked).
        model: One of ``surrogate.surrogate_names.SURROGATE_NAMES``.
        features: Features to extract from every answer.
        judge: Whose judgments to learn from; may be left out where there is one judge.
        feature_table: Features already at hand, used instead of extracting ``features``.
        test_arena: Arena to rank after training on ``arena``; for ``transfer`` only.
        test_judge: Judge of the test arena.
        test_feature_table: Features of the test arena.
        holdout: For ``mirage``: the systems to hold out, instead of two drawn each time.
        repeats: How often to repeat with other folds, draws or learner seeds.
        tournaments: How tournaments are held, and the seed of everything random.
        n_jobs: Processes to use; -1 for all cores.
        progress: Called as trainings end.

    Raises:
        UsageError: For an unknown protocol or model, or one the arena is too small for.
    """
    chosen = _find_protocol(protocol)
    surrogate = find_surrogate(model)
    times = chosen.repeats if repeats is None else repeats
    _check(protocol, times, test_arena, holdout)
    how = TournamentSettings() if tournaments is None else tournaments
    judged = arena.judged_by(judge)
    table = _features_of(arena, features, feature_table, n_jobs)
    names = feature_columns(table)
    tested: list[list[LanguageArena]] = []
    if test_arena is not None:
        test_table = _features_of(test_arena, features, test_feature_table, n_jobs)
        names = _shared(names, feature_columns(test_table))
        tested = [language_arenas(test_arena.judged_by(test_judge), test_table, names, how)]
    run = partial(chosen.run, holdout=holdout) if protocol == MIRAGE else chosen.run
    arenas = language_arenas(judged, table, names, how)
    outcomes = run(arenas, *tested, surrogate, times, how.seed, n_jobs=n_jobs, progress=progress)
    signature = _signature(judged, names, protocol, model, times, how, test_arena, holdout)
    return summarise(outcomes, protocol, model, how.seed, signature)


def _find_protocol(name: str) -> _Protocol:
    if name not in PROTOCOLS:
        others = "table3, ablation, importances, learning-curve"
        raise UsageError(f"unknown protocol {name!r}; use one of {', '.join(PROTOCOLS)}, {others}")
    return PROTOCOLS[name]


def _check(
    protocol: str, repeats: int, test_arena: Arena | None, holdout: Sequence[str] | None
) -> None:
    if repeats < 1:
        raise UsageError("repeats must be at least 1")
    if (test_arena is None) == (protocol == TRANSFER):
        raise UsageError("a test arena is what the protocol transfer needs, and no other takes")
    if holdout is not None and protocol != MIRAGE:
        raise UsageError(f"only the protocol {MIRAGE} holds out systems by name")


def _features_of(
    arena: Arena, features: Sequence[Feature], table: pd.DataFrame | None, n_jobs: int
) -> pd.DataFrame:
    return extract(arena, features, n_jobs=n_jobs) if table is None else table


def _shared(names: Sequence[str], others: Sequence[str]) -> list[str]:
    shared = [name for name in names if name in set(others)]
    if not shared:
        raise UsageError("the two feature tables have no feature in common")
    return shared


def _signature(
    judged: Arena,
    features: Sequence[str],
    protocol: str,
    model: str,
    repeats: int,
    how: TournamentSettings,
    test_arena: Arena | None,
    holdout: Sequence[str] | None,
) -> str:
    test = [] if test_arena is None else [f"test:{test_arena.info.name}"]
    held = [] if holdout is None else [f"holdout:{','.join(sorted(holdout))}"]
    return "|".join(
        [
            f"protocol:{protocol}",
            f"arena:{judged.info.name}",
            *test,
            f"judge:{judged.judges[0]}",
            f"features:{','.join(features)}",
            f"model:{model}",
            *held,
            f"repeats:{repeats}",
            f"tournaments:{how.tournaments}",
            f"questions:{how.questions}",
            f"ties:{how.ties}",
            f"ridge:{how.ridge:g}",
            f"seed:{how.seed}",
            f"version:{__version__}",
        ]
    )
