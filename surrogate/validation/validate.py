"""Validating surrogates: how well they rank what they were not trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Unpack

from sklearn.base import BaseEstimator

from arena.data.arena import Arena
from arena.data.errors import UsageError
from surrogate.learning.cross_fitting import leave_systems_out
from surrogate.learning.names import DEFAULT_SURROGATE
from surrogate.learning.outcomes import Outcome
from surrogate.learning.surrogate import Surrogate
from surrogate.validation.protocols import (
    leave_families_out,
    leave_language_out,
    mirage,
    transfer,
)
from surrogate.validation.scores import Validation, score_outcomes
from surrogate.validation.study import Study, StudyOptions

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
    surrogate: str | Surrogate | BaseEstimator = DEFAULT_SURROGATE,
    *,
    test_arena: Arena | Path | str | None = None,
    test: StudyOptions | None = None,
    holdout: Sequence[str] | None = None,
    repeats: int | None = None,
    **options: Unpack[StudyOptions],
) -> Validation:
    """Say how well a surrogate ranks systems or languages it was not trained on.

    The same arguments give the same result, whatever ``n_jobs``.

    Args:
        arena: The arena, or the path of its folder.
        protocol: One of ``PROTOCOLS``: ``leave-systems-out`` (what to expect for new systems),
            ``leave-families-out`` (for new systems unlike all known ones), ``leave-language-out``,
            ``transfer`` (to ``test_arena``) or ``mirage`` (MIRAGE-Bench, section 4.3: two systems
            held out, all ranked).
        surrogate: One of ``surrogate.learning.names.SURROGATE_NAMES``, one unfitted, or a
            regressor of scikit-learn's form.
        test_arena: Arena to rank after training on ``arena``; for ``transfer`` only.
        test: Its judge and features, where they differ; see ``StudyOptions``.
        holdout: For ``mirage``: the systems to hold out, instead of two drawn each time.
        repeats: How often to repeat with other folds, draws or seeds.
        options: See ``StudyOptions``.

    Raises:
        UsageError: For an unknown protocol or surrogate, or one the arena is too small for.
    """
    chosen = _find_protocol(protocol)
    if (test_arena is None) == (protocol == TRANSFER):
        raise UsageError("a test arena is what the protocol transfer needs, and no other takes")
    if holdout is not None and protocol != MIRAGE:
        raise UsageError(f"only the protocol {MIRAGE} holds out systems by name")
    study = Study.of(arena, surrogate, chosen.repeats if repeats is None else repeats, **options)
    further = []
    tested = []
    if test_arena is not None:
        shared = StudyOptions(**{**options, "judge": None, "feature_table": None, **(test or {})})
        other = Study.of(test_arena, surrogate, **shared)
        study, other = _with_shared_features(study, other)
        tested = [other.languages]
        further.append(f"test:{other.name}")
    run = partial(chosen.run, holdout=holdout) if protocol == MIRAGE else chosen.run
    outcomes = run(study.languages, *tested, study.surrogate, study.repeats)
    if holdout is not None:
        further.append(f"holdout:{','.join(sorted(holdout))}")
    signature = study.signature(protocol, *further)
    return score_outcomes(outcomes, study.settings.seed, protocol, study.surrogate.name, signature)


def _find_protocol(name: str) -> _Protocol:
    if name not in PROTOCOLS:
        known = ", ".join([*PROTOCOLS, *OTHER_PROTOCOLS])
        raise UsageError(f"unknown protocol {name!r}; use one of {known}")
    return PROTOCOLS[name]


def _with_shared_features(data: Study, other: Study) -> tuple[Study, Study]:
    shared = [name for name in data.features if name in set(other.features)]
    if not shared:
        raise UsageError("the two feature tables have no feature in common")
    return data.with_features(shared), other.with_features(shared)
