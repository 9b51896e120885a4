"""The part of an arena that a board rests on: judges, slices, systems held out of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.published import no_published_ratings
from arena.data.rows import whole_digits
from arena.data.schema import CRITERION, HISTORY, OWN_PASSAGES, QUESTION_KEY, REFERENCE
from arena.data.wording import Remark, count_of, did_you_mean
from arena.rating.soft_verdicts import (
    Temperature,
    calibrated_judgments,
    learn_temperatures,
    values_by_judge,
)
from arena.statistics.bootstrap import generator
from surrogate.board.settings import NOBODY, BoardSettings, ResolvedSettings
from surrogate.learning.surrogate import FEWEST_SYSTEMS

LANGUAGE = "language"


def sliced(arena: Arena, by: str) -> Arena:
    """Slice an arena: a question column's values replace languages.

    Ratings published by language are left out.
    """
    if by == LANGUAGE:
        return arena
    not_parts = ["query_id", "query", OWN_PASSAGES, HISTORY, REFERENCE]
    columns = sorted(arena.queries.columns.difference(not_parts))
    if by not in columns:
        hint = f"{did_you_mean(by, columns)} there is {', '.join(columns)}".lstrip()
        raise UsageError(
            f"the questions have no column {by!r} to divide them by ({argument('by')}); {hint}"
        )
    queries = in_slices(arena.queries, arena.queries, by)
    parts = sorted(set(queries[LANGUAGE]))
    # A column with nearly as many values as questions identifies questions, not parts.
    if 2 * len(parts) > len(queries):
        raise UsageError(
            f"{by!r} has {len(parts)} values for {count_of(len(queries), 'question')} "
            f"({argument('by')}): parts "
            "of a board need several questions each; take a column with fewer values"
        )
    return replace(
        arena,
        info=arena.info.model_copy(update={"languages": tuple(parts)}),
        queries=queries,
        answers=in_slices(arena.answers, arena.queries, by),
        judgments=in_slices(arena.judgments, arena.queries, by),
        outdated=in_slices(arena.outdated, arena.queries, by),
        published_ratings=no_published_ratings(),
        further={
            name: in_slices(table, arena.queries, by) for name, table in arena.further.items()
        },
    )


def in_slices(table: pd.DataFrame, queries: pd.DataFrame, by: str) -> pd.DataFrame:
    """Replace a table's languages by values of a question column.

    Ids of several languages get the language before them (``en:17``).
    """
    if by == LANGUAGE:
        return table
    parts = part_names(queries[by]).to_numpy(object)
    ids = queries["query_id"]
    if ids.duplicated().any():
        ids = queries[LANGUAGE] + ":" + ids
    questions = pd.MultiIndex.from_frame(queries[QUESTION_KEY].astype(object))
    keys = pd.MultiIndex.from_frame(table[QUESTION_KEY].astype(object))
    rows = questions.get_indexer(keys)
    is_unknown = rows < 0
    languages = np.where(is_unknown, table[LANGUAGE], parts[rows])
    query_ids = np.where(is_unknown, table["query_id"], ids.to_numpy(object)[rows])
    sliced_table = table.assign(language=languages, query_id=query_ids)
    return sliced_table.astype(table.dtypes[QUESTION_KEY].to_dict())


def part_names(values: pd.Series) -> pd.Series:
    """Name rows' parts by a column's value; ``(none)`` without."""
    return values.map(lambda value: _part_name(value, str(values.name)))


def _part_name(value: object, by: str) -> str:
    if isinstance(value, list | dict):
        raise UsageError(
            f"{by!r} holds {value!r:.60} ({argument('by')}); each part needs a text as its name"
        )
    name = whole_digits(value)
    if not name and not pd.isna(value):
        name = str(value).strip()
    return name or "(none)"


def arena_view(
    arena: Arena, settings: BoardSettings, temperatures: Mapping[str, float] | None = None
) -> Arena:
    """Return an arena as a board has it: by criterion, in parts."""
    arena = arena.by_criterion(settings.criterion)
    judgments = arena.judgments
    if temperatures is None:
        temperatures = values_by_judge(judging_temperatures(judgments, settings))
    judgments = calibrated_judgments(judgments, temperatures, hard=settings.hard_verdicts)
    return sliced(replace(arena, judgments=judgments), settings.by)


def with_own_verdicts(arena: Arena, settings: ResolvedSettings) -> Arena:
    """Keep the verdicts that a board rests on."""
    if settings.judge == NOBODY:
        return replace(arena, judgments=arena.judgments.iloc[:0])
    return arena.judged_by(settings.judge)


def judgments_view(
    judgments: pd.DataFrame,
    queries: pd.DataFrame,
    settings: BoardSettings,
    temperatures: Mapping[str, float],
) -> pd.DataFrame:
    """Return further judgments as a board has them."""
    if settings.criterion is not None and CRITERION in judgments:
        judgments = judgments[judgments[CRITERION] == settings.criterion]
    judgments = calibrated_judgments(judgments, temperatures, hard=settings.hard_verdicts)
    return in_slices(judgments, queries, settings.by)


def judging_temperatures(
    judgments: pd.DataFrame, settings: BoardSettings
) -> tuple[Temperature, ...]:
    """Learn the temperatures of all judges whose probabilities count."""
    return () if settings.hard_verdicts else learn_temperatures(judgments)


def board_judges(arena: Arena, settings: BoardSettings) -> tuple[str, ...]:
    """Return the judges that a board rests on, then others."""
    arena = arena.by_criterion(settings.criterion)
    if settings.ratings == "consensus":
        if settings.judge is not None:
            raise UsageError(
                f"ratings by consensus look at no verdict; leave judge {settings.judge!r} out"
            )
        return ()
    if not arena.judges and settings.judge is None and settings.ratings == "posterior":
        return ()
    return resolved_judges(arena, settings)


def resolved_judges(arena: Arena, settings: BoardSettings) -> tuple[str, ...]:
    """Return whose verdicts are learned from, then other judges."""
    by_criterion = f"{settings.judge}:{settings.criterion}"
    return arena.chosen_judges(by_criterion if by_criterion in arena.judges else settings.judge)


def comparable_judges(
    arena: Arena, judges: Sequence[str]
) -> tuple[tuple[str, ...], tuple[Remark, ...]]:
    """Leave out judges of too few systems, with remarks."""
    compared = list(judges[:1])
    omissions = []
    for name in judges[1:]:
        judged = arena.judged_by(name)
        n_systems = len(judged.rated_systems)
        if n_systems >= FEWEST_SYSTEMS:
            compared.append(name)
            continue
        verdicts = count_of(len(judged.judgments), "verdict")
        sentence = (
            f"{name} is left out: {verdicts} on {count_of(n_systems, 'system')} of "
            f"{FEWEST_SYSTEMS} needed."
        )
        omissions.append(Remark("judges", "warning", sentence))
    return tuple(compared), tuple(omissions)


DEFAULT_HOLDOUT_SIZE = 2


def choose_holdout(
    systems: Sequence[str], seed: int, size: int = DEFAULT_HOLDOUT_SIZE, *keys: str
) -> tuple[str, ...]:
    """Draw the held-out systems, sorted; none if fewer than three would stay."""
    if len(systems) < size + FEWEST_SYSTEMS:
        return ()
    drawn = generator(seed, "holdout", *keys).choice(len(systems), size, replace=False)
    return tuple(sorted(systems[index] for index in drawn))


def check_holdout(holdout: Sequence[str], judged: Sequence[str]) -> tuple[str, ...]:
    """Check the systems a user wants held out."""
    unknown = [system for system in holdout if system not in judged]
    if unknown:
        raise UsageError(
            f"cannot hold out {', '.join(unknown)}: not judged; "
            f"the judged systems are {', '.join(sorted(judged))}"
        )
    chosen = tuple(sorted(set(holdout)))
    if len(chosen) < len(holdout):
        raise UsageError("a held-out system is named twice")
    n_trained = len(set(judged) - set(chosen))
    if n_trained < FEWEST_SYSTEMS:
        raise UsageError(
            f"holding out {len(chosen)} systems leaves fewer than {FEWEST_SYSTEMS} to train on"
        )
    return chosen
