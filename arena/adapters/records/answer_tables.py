"""Tables of answers that any program wrote: one row an answer, or one row a pair of answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from arena.adapters.files import (
    checked_language,
    columns_of,
    files_below,
    read_foreign_rows,
    shown_path,
)
from arena.adapters.foreign_rows import (
    ForeignArena,
    ignored_columns,
    joined_rows,
    skipped_table,
)
from arena.adapters.records.collected import ONE, PAIR, CollectedAnswers, Place
from arena.data.errors import DataError, UsageError, checked_choice
from arena.data.languages import UNDETERMINED
from arena.data.rows import Rows
from arena.data.schema import ArenaInfo

FIELDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "question": ("question", "query", "prompt", "instruction", "user_input", "input"),
        "query_id": ("query_id", "question_id"),
        "language": ("language", "lang"),
        "passages": (
            *("passages", "contexts", "context"),
            *("retrieved_contexts", "retrieval_context"),
        ),
        "reference": ("reference", "reference_answer", "ground_truth", "expected_output"),
        "judge": ("judge", "annotator"),
        "system": ("system", "model", "generator"),
        "answer": ("answer", "output", "response", "actual_output"),
        "verdict": ("verdict", "mark", "score"),
        "system_a": ("system_a", "model_a"),
        "answer_a": ("answer_a", "response_a"),
        "system_b": ("system_b", "model_b"),
        "answer_b": ("answer_b", "response_b"),
        "winner": ("winner",),
    }
)
"""What a column may hold, and the names by which it is known unless another is given.

Those of Ragas (``user_input``, ``response``, ``retrieved_contexts``) and DeepEval (``input``,
``actual_output``, ``retrieval_context``) are among them.
"""

ONE_ANSWER = ("question", "system", "answer")
ONE_PAIR = ("question", "system_a", "answer_a", "system_b", "answer_b")


def read_answer_tables(
    paths: Sequence[Path | str],
    *,
    columns: Mapping[str, str] = MappingProxyType({}),
    language: str | None = None,
    judge: str | None = None,
    name: str = "answers",
    reference_system: str | None = None,
    most_pairs: int | None = None,
) -> ForeignArena:
    """Read tables of answers: CSV, JSONL, Parquet, or a JSON array.

    A row is an answer (``question, system, answer``), with a ``verdict`` if it was marked (a
    number, the higher the better: the better of two answers to a question wins); or a pair
    (``question, system_a, answer_a, system_b, answer_b``) with its ``winner``. Further fields of
    both are ``query_id`` (else questions with the same text are one), ``language`` (a code or an
    English name), ``passages`` (a text, a list of texts or passages, or a list as JSON text; where
    rows of a question have different ones, each answer has its own and the question none),
    ``reference`` (the question's answer to compare with, which does not compete) and ``judge``.

    Args:
        paths: Files of one schema, or folders of them.
        columns: Field to the name of its column, where ``FIELDS`` does not have that name.
        language: Language of rows that name none; undetermined (``und``) if left out.
        judge: Judge of rows that name none.
        name: Name of the arena.
        reference_system: System whose answers serve as reference.
        most_pairs: Pairs of marked answers to keep of each question; None keeps all.

    Raises:
        UsageError: For an absent file, an unknown field or column, or columns of neither kind.
        DataError: With every problem of all files.
    """
    files = files_below(paths)
    parts = [read_foreign_rows(path, shown_path(path, paths)) for path in files]
    rows = joined_rows(parts)
    chosen = _chosen_columns(rows, columns)
    is_pairs = _holds_pairs(rows, chosen)
    found = CollectedAnswers(chosen, checked_language(language) or UNDETERMINED, judge)
    for part in parts:
        for line, record in zip(part.lines, part.table.to_dict(orient="records"), strict=True):
            values = {ours: record.get(column) for ours, column in chosen.items()}
            found.add(Place(part.source, int(line)), values, PAIR if is_pairs else ONE)
    problems = sorted([*rows.problems, *found.problems], key=lambda problem: problem.line or 0)
    if problems:
        raise DataError(problems)
    skips = [*found.skips, *ignored_columns(rows, list(chosen.values()))]
    note = f"Columns: {', '.join(f'{ours} from {column!r}' for ours, column in chosen.items())}."
    info = ArenaInfo(
        name=name,
        languages=tuple(sorted({code for code, _ in found.queries})),
        systems=tuple(sorted({system for *_, system in found.answers})),
        reference_system=reference_system,
        source=rows.source,
        note=note,
    )
    return ForeignArena(found.arena(info, most_pairs), skipped_table(skips))


def _chosen_columns(rows: Rows, named: Mapping[str, str]) -> dict[str, str]:
    """Return the column of each field that has one: the one named, else one of a known name."""
    there = columns_of(rows)
    for ours, column in named.items():
        checked_choice(ours, FIELDS, "field of a table of answers")
        if column not in there and not rows.problems:
            raise UsageError(f"{rows.source} has no column {column!r}; it has {_listed(there)}")
    chosen = {}
    for ours, names in FIELDS.items():
        free = [name for name in names if name in there and name not in named.values()]
        if ours in named or free:
            chosen[ours] = named.get(ours) or free[0]
    return chosen


def _holds_pairs(rows: Rows, chosen: Mapping[str, str]) -> bool:
    for kind in (ONE_PAIR, ONE_ANSWER):
        if all(ours in chosen for ours in kind):
            return kind == ONE_PAIR
    if rows.problems:
        raise DataError(rows.problems)
    raise UsageError(
        f"{rows.source} has the columns {_listed(columns_of(rows))}; a table of answers needs "
        f"{', '.join(ONE_ANSWER)}, one of pairs {', '.join(ONE_PAIR)}; say which is which with "
        "--column, such as --column question=title"
    )


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(sorted(columns)) or "none"
