"""Slices of an arena: a question column's values in the place of languages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.published import no_published_ratings
from arena.data.rows import whole_digits
from arena.data.schema import HISTORY, OWN_PASSAGES, QUESTION_KEY, REFERENCE
from arena.data.wording import count_of, did_you_mean

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
