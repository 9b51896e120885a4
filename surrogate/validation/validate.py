"""``validate``: any protocol by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Unpack

from arena.data.arena import Arena
from arena.data.errors import UsageError, checked_choice
from arena.data.folder import open_arena
from features.measures.registry import PAPER_FEATURES
from surrogate.board.study import check_holdout
from surrogate.learning.cross_fitting import FEWEST_SYSTEMS_TO_FOLD
from surrogate.learning.names import DEFAULT_SURROGATE, PAPERS_SURROGATE, as_surrogate
from surrogate.learning.surrogate import FEWEST_SYSTEMS
from surrogate.validation.protocols import HELD_OUT, LANGUAGE, check_languages
from surrogate.validation.study import (
    BEST,
    DEFAULT_PROTOCOL,
    FAMILIES,
    MIRAGE,
    REPEATS,
    REPLICATION,
    TABLE_3,
    TABLE_4,
    Study,
    StudyOptions,
    StudyTable,
    SurrogateLike,
)

PROTOCOLS: Mapping[str, tuple[str, int, int]] = MappingProxyType(
    {
        DEFAULT_PROTOCOL: ("leave_systems_out", REPEATS, FEWEST_SYSTEMS_TO_FOLD),
        FAMILIES: ("leave_families_out", 1, 1),
        BEST: ("leave_best_out", 1, 1),
        LANGUAGE: ("leave_language_out", REPEATS, 1),
        MIRAGE: ("mirage", 25, FEWEST_SYSTEMS_TO_FOLD),
        TABLE_3: ("table3", 50, FEWEST_SYSTEMS + HELD_OUT),
        TABLE_4: ("table4", 1, FEWEST_SYSTEMS_TO_FOLD),
        "ablation": ("ablate", REPEATS, FEWEST_SYSTEMS_TO_FOLD),
        "importances": ("importances", REPEATS, FEWEST_SYSTEMS_TO_FOLD),
        "learning-curve": ("learning_curves", REPEATS, FEWEST_SYSTEMS_TO_FOLD),
        REPLICATION: ("replicate", 10, 1),
    }
)
"""Name to the method of ``Study``, how often it repeats, and how many judged systems it needs."""


def validate(
    arena: Arena | Path | str,
    protocol: str = DEFAULT_PROTOCOL,
    surrogate: SurrogateLike | Sequence[SurrogateLike] | None = None,
    repeats: int | None = None,
    *,
    holdout: Sequence[str] | None = None,
    judged: Sequence[int | None] | None = None,
    **options: Unpack[StudyOptions],
) -> StudyTable:
    """Say how well a surrogate ranks systems, languages or questions it was not trained on.

    The same arguments give the same result, whatever ``n_jobs``.

    Args:
        arena: The arena, or the path of its folder.
        protocol: One of ``PROTOCOLS``; see the method of ``Study`` that it names.
        surrogate: What to validate, ``answers`` by default; for ``table3`` several.
        repeats: How often to repeat with other folds, draws or seeds; the protocol's own number
            if None.
        holdout: For ``mirage`` and ``table4``: systems to hold out.
        judged: For ``replication``: numbers of judged questions to learn from.
        options: See ``StudyOptions``.

    Raises:
        UsageError: For an unknown protocol or surrogate, one the arena is too small for, or an
            argument that the protocol does not take.
    """
    method, own_repeats, fewest = PROTOCOLS[checked_choice(protocol, list(PROTOCOLS), "protocol")]
    given: dict[str, object] = {"holdout": holdout, "judged": judged}
    given = {name: value for name, value in given.items() if value is not None}
    takers = {"holdout": (MIRAGE, TABLE_4), "judged": (REPLICATION,)}
    for name in given:
        if protocol not in takers[name]:
            raise UsageError(f"`{name}` is for {' and '.join(takers[name])}, not for {protocol}")
    several = isinstance(surrogate, Sequence) and not isinstance(surrogate, str)
    if protocol == TABLE_3 and surrogate is not None:
        given["surrogates"] = surrogate if several else [surrogate]
        surrogate = None
    elif several:
        raise UsageError(f"several surrogates are for {TABLE_3}, not for {protocol}")
    if protocol == TABLE_4:
        options.setdefault("features", PAPER_FEATURES)
    default = PAPERS_SURROGATE if protocol == TABLE_4 else DEFAULT_SURROGATE
    trained = as_surrogate(default if surrogate is None else surrogate)
    own = open_arena(arena).judged_by(options.get("judge"))  # before an LLM is paid for features
    if protocol == LANGUAGE:
        check_languages({*own.judgments["language"], *own.published_ratings["language"]}, trained)
    if holdout is not None:
        check_holdout(holdout, own.rated_systems)
    elif len(own.rated_systems) < fewest:
        raise UsageError(f"{protocol} needs at least {fewest} judged systems")
    study = Study.of(arena, trained, own_repeats if repeats is None else repeats, **options)
    found: StudyTable = getattr(study, method)(**given)
    return found
