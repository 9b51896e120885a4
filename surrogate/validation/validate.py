"""Validating surrogates: how well they rank what they were not trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from features.declare.feature import Feature
from features.measures.registry import DEFAULT_FEATURES
from surrogate.learning.cross_fitting import Progress, Repeats, leave_systems_out
from surrogate.learning.languages import TournamentSettings
from surrogate.learning.names import DEFAULT_SURROGATE, as_surrogate, described
from surrogate.learning.outcomes import Outcome
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.training import DEFAULT_ROWS, RowKind
from surrogate.validation.protocols import (
    leave_families_out,
    leave_language_out,
    mirage,
    transfer,
)
from surrogate.validation.scores import Validation, score_outcomes
from surrogate.validation.study import StudyData, checked_repeats, study_data

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
        DEFAULT_PROTOCOL: _Protocol(leave_systems_out, 5),
        "leave-families-out": _Protocol(leave_families_out, 5),
        "leave-language-out": _Protocol(leave_language_out, 5),
        TRANSFER: _Protocol(transfer, 5),
    }
)
OTHER_PROTOCOLS = (
    *("table3", "table4", "ablation", "importances", "learning-curve", "frontier", "replication"),
)
"""Studies that the command line offers beside them."""


def validate(
    arena: Arena | Path | str,
    protocol: str = DEFAULT_PROTOCOL,
    surrogate: str | Surrogate = DEFAULT_SURROGATE,
    features: Sequence[Feature] = DEFAULT_FEATURES,
    *,
    rows: RowKind = DEFAULT_ROWS,
    judge: str | None = None,
    feature_table: pd.DataFrame | None = None,
    test_arena: Arena | Path | str | None = None,
    test_judge: str | None = None,
    test_feature_table: pd.DataFrame | None = None,
    holdout: Sequence[str] | None = None,
    repeats: int | None = None,
    tournaments: TournamentSettings | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Validation:
    """Say how well a surrogate ranks systems or languages it was not trained on.

    The same arguments give the same result, whatever ``n_jobs``.

    Args:
        arena: The arena, or the path of its folder.
        protocol: One of ``PROTOCOLS``: ``leave-systems-out`` (what to expect for new systems),
            ``leave-families-out`` (for new systems unlike all known ones), ``leave-language-out``,
            ``transfer`` (to ``test_arena``) or ``mirage`` (MIRAGE-Bench, section 4.3: two systems
            held out, all ranked).
        surrogate: One of ``surrogate.learning.names.SURROGATE_NAMES``, or one unfitted.
        features: Features to extract from every answer.
        rows: Training rows of a surrogate that is named; see ``find_surrogate``.
        judge: Whose judgments to learn from; may be left out where there is one judge.
        feature_table: Features already at hand, used instead of extracting ``features``.
        test_arena: Arena to rank after training on ``arena``; for ``transfer`` only.
        test_judge: Judge of the test arena.
        test_feature_table: Features of the test arena.
        holdout: For ``mirage``: the systems to hold out, instead of two drawn each time.
        repeats: How often to repeat with other folds, draws or seeds.
        tournaments: How tournaments are drawn, and the seed of everything random.
        n_jobs: Processes to use; -1 for all cores.
        progress: Called as trainings end.

    Raises:
        UsageError: For an unknown protocol or surrogate, or one the arena is too small for.
    """
    chosen = _find_protocol(protocol)
    trained = as_surrogate(surrogate, rows)
    times = checked_repeats(chosen.repeats if repeats is None else repeats)
    if (test_arena is None) == (protocol == TRANSFER):
        raise UsageError("a test arena is what the protocol transfer needs, and no other takes")
    if holdout is not None and protocol != MIRAGE:
        raise UsageError(f"only the protocol {MIRAGE} holds out systems by name")
    prepared = partial(study_data, features=features, tournaments=tournaments, n_jobs=n_jobs)
    data = prepared(arena, judge=judge, feature_table=feature_table)
    further = []
    tested = []
    if test_arena is not None:
        other = prepared(test_arena, judge=test_judge, feature_table=test_feature_table)
        data, other = _with_shared_features(data, other)
        tested = [other.languages]
        further.append(f"test:{other.name}")
    run = partial(chosen.run, holdout=holdout) if protocol == MIRAGE else chosen.run
    seed = data.settings.seed
    outcomes = run(data.languages, *tested, trained, Repeats(times, seed, n_jobs, progress))
    if holdout is not None:
        further.append(f"holdout:{','.join(sorted(holdout))}")
    signature = data.signature(protocol, described(trained), times, *further)
    return score_outcomes(outcomes, seed, protocol, trained.name, signature)


def _find_protocol(name: str) -> _Protocol:
    if name not in PROTOCOLS:
        known = ", ".join([*PROTOCOLS, *OTHER_PROTOCOLS])
        raise UsageError(f"unknown protocol {name!r}; use one of {known}")
    return PROTOCOLS[name]


def _with_shared_features(data: StudyData, other: StudyData) -> tuple[StudyData, StudyData]:
    shared = [name for name in data.features if name in set(other.features)]
    if not shared:
        raise UsageError("the two feature tables have no feature in common")
    return data.with_features(shared), other.with_features(shared)
