"""Arenas made of collected rows, and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from arena.data.arena import Arena, checked_arena
from arena.data.checks import check_table
from arena.data.errors import DataError, Problem, UsageError, argument, counted_problems
from arena.data.rows import Rows, is_unstorable, plain_table
from arena.data.schema import (
    ANSWER_KEY,
    ANSWERS,
    BOTH_BAD,
    CRITERION,
    HISTORY,
    JUDGMENTS,
    OWN_PASSAGES,
    QUERIES,
    QUESTION_KEY,
    SIDES,
    SIDES_SHOWN,
    ArenaInfo,
    TableSchema,
)
from arena.data.types import Record
from arena.data.wording import first_of
from surrogate_arena.importers.collected import Collected, Place
from surrogate_arena.importers.contract import MOST_NAMED
from surrogate_arena.importers.score_columns import lowest_wins
from surrogate_arena.importers.values import option, short, storable


@dataclass(frozen=True)
class ForeignArena:
    """An arena read from others' files.

    Attributes:
        arena: Questions, answers and judgments, if any.
        skipped: Counts of what was left out: ``source`` (file or data set), ``item`` (``judgment``,
            ``battle``, ``answer``, ``passage``, ``column`` ...), ``reason, count``, sorted.
        features: Published features by answer: ``language, system, query_id``, a float column per
            feature and ``<feature>:missing`` with reasons of NaN.
        notes: Remarks for the user.
        shown: One row as it was understood, a line per field.
        tally: How many records became what; ``records`` is the sum.
        unread: Columns that are not read, and the reason of each in ``skipped``.
    """

    arena: Arena
    skipped: pd.DataFrame
    features: pd.DataFrame = field(default_factory=pd.DataFrame)
    notes: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    tally: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)


def foreign_arena(
    collected: Collected,
    name: str,
    *,
    source: str | None = None,
    note: str = "",
    with_judged: bool = False,
    features: pd.DataFrame | None = None,
) -> ForeignArena:
    """Put the arena together, and check it as any other."""
    _replace_half_surrogates(collected)
    collected.share(HISTORY)
    queries = collected_rows(collected.queries.values(), QUERIES)
    answers = collected_rows(collected.answers.values(), ANSWERS)
    # The winners of marks at fault would be wrong.
    if not collected.problems:
        _set_directions(collected)
    if collected.marks and not collected.problems:
        _add_judgments_of_marks(collected, f"verdicts of {answers.source}")
    judgments = collected_rows(_completed_judgments(collected), JUDGMENTS)
    if collected.problems:
        problems = [*collected.problems]
        for rows, schema in ((queries, QUERIES), (answers, ANSWERS), (judgments, JUDGMENTS)):
            problems += _by_file_names(collected, check_table(rows, schema))
        raise _error_of(problems)
    info = ArenaInfo(
        name=name,
        languages=tuple(sorted({language for language, _ in collected.queries})),
        systems=tuple(collected.systems(with_judged=with_judged)),
        source=answers.source if source is None else source,
        note=note,
    )
    try:
        arena = checked_arena(info, queries, answers, judgments)
    except DataError as error:
        raise _error_of(_by_file_names(collected, error.problems)) from None
    return ForeignArena(
        arena,
        skipped=collected.skipped(),
        unread=collected.unread,
        features=pd.DataFrame(features),
        notes=tuple(collected.notes),
        shown=shown_answer(collected),
        tally=collected.tally(),
    )


def in_file_order(problems: Sequence[Problem]) -> list[Problem]:
    """Sort problems by file, in their order, and by line."""
    ranks: dict[str, int] = {}
    for problem in problems:
        ranks.setdefault(problem.source, len(ranks))
    return sorted(problems, key=lambda problem: (ranks[problem.source], problem.line or 0))


def _error_of(problems: Sequence[Problem]) -> DataError:
    return DataError(counted_problems(in_file_order(problems)))


_SHOWN = ("query_id", "language", "question", "system", "answer", "reference")
"""Fields of an answer that are shown first, in this order."""


def shown_answer(collected: Collected) -> tuple[str, ...]:
    """Return the first answer as it was understood, a line per field, if any."""
    if not collected.answers:
        return ()
    key, answer = next(iter(collected.answers.items()))
    question = collected.queries.get(key[:2], {})
    row = {**question, **answer, "question": question.get("query")}
    fields = [name for name in row if name not in (*_SHOWN, "query", "place", OWN_PASSAGES)]
    shown = []
    for name in (*_SHOWN, *fields):
        if row.get(name) is not None:
            shown.append(f"{name}: {short(row[name])}")
    passages = answer.get(OWN_PASSAGES) or question.get(OWN_PASSAGES) or []
    # Passages of a new system may be ids among the question's
    texts = [item["text"] if isinstance(item, Mapping) else item for item in passages]
    first = f", the first: {short(texts[0])}" if texts else ""
    shown.append(f"passages: {len(texts)}{first}")
    for (*marked, judge), mark in collected.marks.items():
        if tuple(marked) == key:
            direction = ", the lower the better" if collected.lowest_wins[judge] else ""
            shown.append(f"judge {judge}: {mark:g}{direction}")
    return tuple(shown)


def _replace_half_surrogates(collected: Collected) -> None:
    for row in (*collected.queries.values(), *collected.answers.values()):
        for name, value in row.items():
            # Names and ids are refused instead: two of them could become one.
            if name not in ("place", *ANSWER_KEY) and is_unstorable(value):
                row[name] = storable(value)
                collected.skip(
                    row["place"],
                    "half a surrogate pair",
                    "read as U+FFFD in a text, as no file can store it",
                )


def _add_judgments_of_marks(collected: Collected, source: str) -> None:
    rows = [(*key, mark) for key, mark in collected.marks.items()]
    marks = pd.DataFrame(rows, columns=[*ANSWER_KEY, "judge", "mark"])
    collected.notes.append(_use_of_marks(marks, collected.lowest_wins))
    is_reversed = marks["judge"].map(collected.lowest_wins)
    marks.loc[is_reversed, "mark"] *= -1
    table = _judgments_of_marks(marks)
    for line, row in enumerate(table.to_dict(orient="records"), start=1):
        collected.judgments.append({**row, "place": Place(source, line)})


def _set_directions(collected: Collected) -> None:
    """Tell judges whose lowest marks win: as the user says, else by their names."""
    stated = collected.lowest_wins
    columns = {judge: collected.score_columns.get(judge, judge) for *_, judge in collected.marks}
    scores = {*columns, *columns.values()}
    for name in stated:
        if name not in scores:
            listed = first_of(list(columns), MOST_NAMED) or "none"
            raise UsageError(
                f"{argument('lowest_wins')} {name!r} is no score; the scores: {listed}"
            )
    for judge, column in columns.items():
        assumed = lowest_wins(column) or lowest_wins(judge)
        stated.setdefault(judge, stated.get(column, assumed))


def _use_of_marks(marks: pd.DataFrame, directions: Mapping[str, bool]) -> str:
    """Say how many marks become verdicts: those of answers to one question."""
    is_used = marks.duplicated([*QUESTION_KEY, "judge"], keep=False)
    uses = []
    for judge, used in is_used.groupby(marks["judge"], sort=False):
        best = "lowest" if directions[judge] else "highest"
        uses.append(f"{judge} (the {best} wins) {used.sum():,} of {len(used):,}")
    name = marks["judge"].iloc[0]
    reverse = option("lowest-wins", f"{name}=no" if directions[name] else name)
    return (
        "scores used in verdicts (which need two systems' scores on a question): "
        f"{first_of(uses, MOST_NAMED)}; to reverse one: {reverse}"
    )


def _completed_judgments(collected: Collected) -> list[Record]:
    judgments = collected.judgments
    if collected.criteria:
        for row in judgments:
            row[CRITERION] = collected.criteria.get(row["judge"])
    # A column that some rows have is true or false in all of them.
    if any(row.get(BOTH_BAD) for row in judgments):
        for row in judgments:
            row.setdefault(BOTH_BAD, False)
    return judgments


def _by_file_names(collected: Collected, problems: Iterable[Problem]) -> list[Problem]:
    return [
        replace(problem, field=collected.names.get(problem.field or "", problem.field))
        for problem in problems
    ]


def collected_rows(records: Iterable[Record], schema: TableSchema) -> Rows:
    """Return collected records as rows, with their places."""
    records = list(records)
    columns = dict.fromkeys(schema.columns)
    for record in records:
        columns |= dict.fromkeys(record)
    columns.pop("place", None)
    sources = [record["place"].source for record in records]
    distinct = dict.fromkeys(sources)
    name = " + ".join(distinct)
    most_named = 3
    if len(distinct) > most_named:
        name = f"{len(distinct)} files"
    return Rows(
        plain_table(pd.DataFrame(records, columns=list(columns), dtype=object)),
        pd.Series([record["place"].line for record in records], dtype=int),
        name or str(schema.name),
        sources=pd.Series(sources, dtype=object),
    )


def _judgments_of_marks(marks: pd.DataFrame) -> pd.DataFrame:
    """Turn marks of answers into sorted judgments without sides: the higher mark wins."""
    key = [*QUESTION_KEY, "judge"]
    pairs = marks.merge(marks, on=key, suffixes=("_a", "_b"))
    pairs = pairs[pairs["system_a"] < pairs["system_b"]]
    difference = pairs["mark_a"] - pairs["mark_b"]
    winner = np.select([difference > 0, difference < 0], ["a", "b"], default="tie")
    judgments = pairs.assign(winner=winner, **{SIDES: SIDES_SHOWN[1]})
    ordered = judgments.sort_values([*key, "system_a", "system_b"], ignore_index=True)
    return ordered[[*JUDGMENTS.columns, SIDES]].astype(object)
