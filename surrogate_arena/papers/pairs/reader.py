"""Read pairs with a better answer: of arenas with votes, and tables as ContextualJudgeBench's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BeforeValidator, Field

from arena.data.arena import Arena
from arena.data.cells import name_text
from arena.data.errors import Problem, UsageError
from arena.data.folder import read_arena
from arena.data.languages import UNDETERMINED, language_code
from arena.data.passages import passages_of
from arena.data.schema import INFO_FILE
from arena.data.tables import SUFFIXES, read_rows
from surrogate_arena.importers.columns import NO_COLUMNS, chosen_columns, field_names
from surrogate_arena.importers.winner_columns import NoWinner
from surrogate_arena.importers.winners import UndecidableWinnersError, read_winners
from surrogate_arena.papers.pairs.gold_pairs import GOLD_COLUMNS, GoldPairs, gold_pairs_of_arena
from surrogate_arena.papers.records import (
    FilledText,
    StrictRecord,
    files_of_rows,
    raise_if,
    read_records,
    refuse,
)

BETTER, WORSE = "better", "worse"
"""Systems of a table that names none."""
_PART = re.compile(r"-\d{5}-of-\d{5}$")


def _passages(value: object) -> object:
    """Read passages in any form that arenas take; a plain text is one."""
    try:
        return passages_of(value)
    except ValueError as error:
        raise refuse(str(error), "give a text, or a list of texts") from error


def _code(value: object) -> object:
    code = language_code(value) if isinstance(value, str) else None
    if code is None:
        raise refuse("is not the code or name of a language", "write one such as en")
    return code


class GoldRow(StrictRecord):
    """A row of a table of pairs."""

    query_id: Annotated[str | None, BeforeValidator(name_text)] = None
    language: Annotated[str, BeforeValidator(_code)] = UNDETERMINED
    question: FilledText
    passages: Annotated[list[dict[str, Any]], BeforeValidator(_passages)] = Field(
        default_factory=list
    )
    split: Annotated[str | None, BeforeValidator(name_text)] = None
    better_answer: FilledText | None = None
    worse_answer: FilledText | None = None
    answer_a: FilledText | None = None
    answer_b: FilledText | None = None
    winner: Annotated[object, BeforeValidator(name_text)] = None

    @property
    def names_better(self) -> bool:
        """Whether a column holds the better answer, so that no winner is needed."""
        return self.better_answer is not None

    @property
    def answers(self) -> tuple[str | None, str | None]:
        """The two answers; the better one first where a column holds it."""
        if self.names_better:
            return self.better_answer, self.worse_answer
        return self.answer_a, self.answer_b


@dataclass(frozen=True)
class TablePair:
    """A pair of a table: its row, the id of its question, and its answers."""

    split: str
    query_id: str
    row: GoldRow
    better: str
    worse: str


def read_gold_pairs(
    path: Path | str,
    columns: Mapping[str, str] = NO_COLUMNS,
    reference: str | None = None,
    languages: Sequence[str] = (),
) -> GoldPairs:
    """Read pairs with a known better answer.

    A table has a question and two answers a row: ``positive_response`` and ``negative_response``,
    as ContextualJudgeBench is published, or ``answer_a``, ``answer_b`` and ``winner``; and may have
    ``problem_id``, ``context``, ``split`` and ``language``. Other names of these columns are in
    ``columns.toml``. Without a column, the split is the name of the file.

    Args:
        path: An arena folder, whose reference judges say which answer is better; else a file in
            any format of tables, or a folder of such files.
        columns: Field to the column it is read from, where its name is another. Tables only.
        reference: Judges of an arena who are right, by majority; by default its people.
        languages: Languages to keep; by default all.

    Raises:
        UsageError: If there is no such file, judge or language, or no pair of which one answer is
            better.
        DataError: With every problem: file, line, field, value and hint.
    """
    path = Path(path)
    if path.is_dir() and (path / INFO_FILE).is_file():
        return gold_pairs_of_arena(read_arena(path).select(languages or None), reference)
    if reference is not None:
        raise UsageError("a reference is a judge of an arena; the table says who is better")
    return read_pair_table(path, columns, languages)


def read_pair_table(path: Path, columns: Mapping[str, str], languages: Sequence[str]) -> GoldPairs:
    """Read the pairs of a file of rows, or of a folder of such files; see ``read_gold_pairs``."""
    problems: list[Problem] = []
    skipped: Counter[str] = Counter()
    pairs: list[TablePair] = []
    files = files_of_rows(path)
    if not files:
        raise UsageError(f"{path} holds no file of rows: one of {', '.join(SUFFIXES)}")
    for file in files:
        pairs += _pairs_of_file(file, columns, languages, problems, skipped)
    raise_if(problems)
    if not pairs:
        noun = f"pair in {' or '.join(languages)}" if languages else "pair"
        raise UsageError(f"{path} holds no {noun} of which one answer is known to be better")
    query_ids = _distinct([pair.query_id for pair in pairs])
    rows = [
        [pair.split, pair.row.question, pair.row.language, query_id, BETTER, WORSE, "a"]
        for pair, query_id in zip(pairs, query_ids, strict=True)
    ]
    return GoldPairs(
        name=path.name if path.is_dir() else _split_name(path),
        pairs=pd.DataFrame(rows, columns=GOLD_COLUMNS),
        arena=_arena_of(pairs, query_ids),
        skipped=dict(skipped),
    )


def _arena_of(pairs: Sequence[TablePair], query_ids: Sequence[str]) -> Arena:
    """Make an arena of the texts: a question and two answers for each pair."""
    questions = []
    answers = []
    for pair, query_id in zip(pairs, query_ids, strict=True):
        key = {"query_id": query_id, "language": pair.row.language}
        questions.append({**key, "query": pair.row.question, "passages": pair.row.passages})
        answers.append({**key, "system": BETTER, "answer": pair.better})
        answers.append({**key, "system": WORSE, "answer": pair.worse})
    return Arena.from_frames(pd.DataFrame(questions), pd.DataFrame(answers))


def _pairs_of_file(
    file: Path,
    columns: Mapping[str, str],
    languages: Sequence[str],
    problems: list[Problem],
    skipped: Counter[str],
) -> Iterator[TablePair]:
    """Yield the pairs of which one answer is better; count others, and note what is wrong."""
    rows = read_rows(file)
    records = read_records(rows, GoldRow, problems, _columns_of(rows.table, columns))
    sides = _better_sides(file.name, records, problems)
    for (line, row), side in zip(records, sides, strict=True):
        if languages and row.language not in languages:
            continue
        first, second = row.answers
        if first is None or second is None:
            problems.append(_no_answers(file.name, line))
        elif side is None:
            skipped["no winner"] += 1
        elif side == "tie":
            skipped["a tie"] += 1
        elif first == second:
            skipped["equal answers"] += 1
        else:
            split = row.split or _split_name(file)
            query_id = f"{split}/{row.query_id or line}"
            if side == "b":
                first, second = second, first
            yield TablePair(split, query_id, row, better=first, worse=second)


def _columns_of(table: pd.DataFrame, columns: Mapping[str, str]) -> dict[str, str]:
    """Return the column of each field that a table has."""
    chosen = chosen_columns([table], field_names("gold_pairs"), columns).names
    return {field: column for field, column in chosen.items() if field in GoldRow.model_fields}


def _better_sides(
    source: str, rows: Sequence[tuple[int, GoldRow]], problems: list[Problem]
) -> list[str | None]:
    """Return the side of the better answer of each row: ``a``, ``b``, ``tie``, or None."""
    cells = [None if row.names_better else row.winner for _, row in rows]
    try:
        winners = read_winners(cells, [("", "")] * len(rows))
    except UndecidableWinnersError as error:
        problems.append(Problem(source, None, "winner", None, str(error), error.hint))
        return [None] * len(rows)
    sides: list[str | None] = []
    for (line, row), winner in zip(rows, winners, strict=True):
        if row.names_better:
            sides.append("a")
            continue
        if not isinstance(winner, NoWinner):
            sides.append(winner.winner)
            continue
        sides.append(None)
        # A winner that is merely absent has no hint, and is no fault.
        if winner.hint:
            problem = Problem(source, line, "winner", row.winner, winner.reason, winner.hint)
            problems.append(problem)
    return sides


def _no_answers(source: str, line: int) -> Problem:
    hint = (
        "give positive_response and negative_response, or answer_a, answer_b and winner; "
        "--column FIELD=NAME says which is which"
    )
    return Problem(source, line, None, None, "has not two answers", hint)


def _distinct(names: Sequence[str]) -> list[str]:
    """Number repeated names: several pairs of one question have answers of their own."""
    counts: Counter[str] = Counter()
    taken = set(names)
    distinct = []
    for name in names:
        counts[name] += 1
        unique = name
        if counts[name] > 1:
            number = counts[name]
            # The data may have a name such as q#2, too.
            while f"{name}#{number}" in taken:
                number += 1
            unique = f"{name}#{number}"
            taken.add(unique)
        distinct.append(unique)
    return distinct


def _split_name(file: Path) -> str:
    """Return the name of a file without its format and its number among parts."""
    stem, _, _ = file.name.partition(".")
    return _PART.sub("", stem)
