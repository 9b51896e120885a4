"""``validate``: any protocol by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument, checked_choice
from arena.data.folder import open_arena
from arena.data.wording import all_of
from surrogate.board.settings import BoardSettings, check_option_names, lists_options
from surrogate.learning.cross_fitting import FEWEST_SYSTEMS_TO_FOLD
from surrogate_arena.cli.folders import imported
from surrogate_arena.studies.protocols import LANGUAGE, check_languages
from surrogate_arena.studies.sampling import FEWEST_SYSTEMS as FEWEST_TO_SAMPLE
from surrogate_arena.studies.sampling import study_sampling
from surrogate_arena.studies.scores import needed_repeats
from surrogate_arena.studies.study import (
    BEST,
    DEFAULT_PROTOCOL,
    FAMILIES,
    REPEATS,
    REPLICATION,
    Study,
)
from surrogate_arena.studies.study_options import (
    LEARNING_OPTIONS,
    STUDY_DEFAULTS,
    STUDY_OPTIONS,
    SurrogateLike,
    check_rated_systems,
    chosen_surrogates,
    judged_view,
    study_settings,
)
from surrogate_arena.studies.study_table import StudyTable

SAMPLING = "sampling"
TABLE_3, TABLE_4 = "table3", "table4"
PROTOCOL_WITH = {"holdout": TABLE_4, "judged": REPLICATION}
"""Argument to the protocol that takes it; all protocols take the others."""


@dataclass(frozen=True)
class Protocol:
    """A way of validating a surrogate, perhaps a method of ``Study``.

    Those with ``takes_several`` compare surrogates.
    """

    study: Callable[..., StudyTable] | None
    repeats: int
    fewest_systems: int
    takes_several: bool = False


def _sampling(
    arena: Arena | Path | str, repeats: int, settings: BoardSettings, options: Mapping[str, object]
) -> StudyTable:
    options_of_surrogates = (
        "surrogate",
        "features",
        "feature_table",
        "rows",
        "missing",
        "tournaments",
        "questions",
    )
    for name in options_of_surrogates:
        if options.get(name) is not None:
            raise UsageError(f"{SAMPLING} ranks by verdicts alone; leave {argument(name)} out")
    judgments = judged_view(open_arena(arena), settings).judgments
    return study_sampling(
        judgments, repeats=repeats, ties=settings.ties, ridge=settings.ridge, seed=settings.seed
    )


PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {
        DEFAULT_PROTOCOL: Protocol(Study.leave_systems_out, REPEATS, FEWEST_SYSTEMS_TO_FOLD, True),
        FAMILIES: Protocol(Study.leave_families_out, 1, 1, True),
        BEST: Protocol(Study.leave_best_out, 1, 1, True),
        LANGUAGE: Protocol(Study.leave_language_out, REPEATS, 1, True),
        "ablation": Protocol(Study.ablate, REPEATS, FEWEST_SYSTEMS_TO_FOLD),
        "learning-curve": Protocol(Study.learning_curves, REPEATS, FEWEST_SYSTEMS_TO_FOLD),
        REPLICATION: Protocol(Study.replicate, 10, 1),
        SAMPLING: Protocol(None, 100, FEWEST_TO_SAMPLE),
        TABLE_3: Protocol(None, 50, FEWEST_SYSTEMS_TO_FOLD, True),
        TABLE_4: Protocol(None, 1, FEWEST_SYSTEMS_TO_FOLD),
    }
)
"""The protocols by name."""


@lists_options(LEARNING_OPTIONS, STUDY_DEFAULTS)
def validate(
    arena: Arena | Path | str,
    protocol: str = DEFAULT_PROTOCOL,
    surrogate: SurrogateLike | Sequence[SurrogateLike] | None = None,
    repeats: int | None = None,
    *,
    holdout: str | Sequence[str] | None = None,
    judged: Sequence[int | None] | None = None,
    **options: Any,  # noqa: ANN401 - of STUDY_OPTIONS
) -> StudyTable:
    """Measure how well a surrogate ranks systems, with systems, languages or questions held out.

    Args:
        arena: The arena, or its folder.
        protocol: One of ``PROTOCOLS``; see the method of ``Study``.
        surrogate: By default the settings'. Protocols that hold something out, and ``table3``,
            compare several.
        repeats: By default the protocol's, or as the second decimal of tau needs.
        holdout: For ``table4``: systems to hold out.
        judged: For ``replication``: numbers of judged questions to learn from.
        options: See ``STUDY_OPTIONS``, and below.

    Returns:
        A table as of the method of ``Study``, of several surrogates with paired ``differences`` of
        taus.

    Raises:
        UsageError: For an unknown or unsuitable option, protocol or surrogate.

    Examples:
        >>> from surrogate_arena import sample_arena
        >>> study = validate(sample_arena(), "sampling", judge="gpt-4o", repeats=3)
        >>> study.table["design"].unique().tolist()
        ['questions', 'pairs', 'halves']
    """
    check_option_names(options, STUDY_OPTIONS, ["surrogate", "repeats", "holdout", "judged"])
    rules = PROTOCOLS[checked_choice(protocol, list(PROTOCOLS), "protocol")]
    n_repeats = rules.repeats if repeats is None else repeats
    settings = study_settings(options)
    _check_arguments(protocol, surrogate, {"holdout": holdout, "judged": judged})
    if protocol == SAMPLING:
        return _sampling(arena, n_repeats, settings, {**options, "surrogate": surrogate})
    if protocol == TABLE_3:
        study = imported("papers.mirage.tables:validate_table_3")
        return cast(StudyTable, study(arena, surrogate, n_repeats, **options))
    if rules.study is None:
        study = imported("papers.mirage.tables:validate_table_4")
        return cast(StudyTable, study(arena, surrogate, n_repeats, holdout, **options))

    chosen = chosen_surrogates(surrogate, settings, options)
    opened = open_arena(arena)
    judged_arena = check_rated_systems(opened, settings, protocol, rules.fewest_systems)
    if protocol == LANGUAGE:
        # Checked here, too, before features cost anything.
        rated = {*judged_arena.judgments["language"], *judged_arena.published_ratings["language"]}
        for untrained in chosen:
            check_languages(rated, untrained)

    prepared = Study.of(opened, surrogate, n_repeats, **options)
    study = rules.study(prepared, **({} if judged is None else {"judged": judged}))
    if protocol == DEFAULT_PROTOCOL and repeats is None:
        needed = needed_repeats(study.table, n_repeats)
        if needed > n_repeats:
            return prepared.repeated(needed).leave_systems_out()
    return study


def _check_arguments(
    protocol: str,
    surrogate: SurrogateLike | Sequence[SurrogateLike] | None,
    further: Mapping[str, object],
) -> None:
    for name, value in further.items():
        if value is not None and protocol != PROTOCOL_WITH[name]:
            raise UsageError(f"{argument(name)} is for {PROTOCOL_WITH[name]}, not for {protocol}")
    n_surrogates = 1
    if isinstance(surrogate, Sequence) and not isinstance(surrogate, str):
        n_surrogates = len(surrogate)
    # Sampling takes no surrogate at all, and says so itself.
    if n_surrogates != 1 and not PROTOCOLS[protocol].takes_several and protocol != SAMPLING:
        several = [name for name, rules in PROTOCOLS.items() if rules.takes_several]
        raise UsageError(f"{protocol} studies one surrogate; {all_of(several)} compare several")
