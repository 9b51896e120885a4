"""Reading rows of other people's files, and counting what was left out."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field, fields
from typing import Annotated, Any, Generic, TypeVar

import pandas as pd
from pydantic import BaseModel, StringConstraints, ValidationError

from arena.data.arena import Arena
from arena.data.errors import (
    DataError,
    MissingDependencyError,
    Problem,
    UsageError,
    counted_problems,
)
from arena.data.folder import as_rows, checked_arena
from arena.data.rows import Rows
from arena.data.schema import ANSWERS, JUDGMENTS, QUERIES, ArenaInfo, validation_problems

Key = tuple[str, str]
"""Language and id of a question."""


@dataclass(frozen=True, order=True)
class Skip:
    """One thing left out.

    Attributes:
        source: File or data set it was in.
        item: What it is: ``judgment``, ``battle``, ``answer``, ``passage`` or ``column``.
        reason: Why it was left out.
    """

    source: str
    item: str
    reason: str


def skipped_table(skips: Iterable[Skip]) -> pd.DataFrame:
    """Count what was left out.

    Returns:
        Columns ``source, item, reason, count``, sorted; no row if nothing was left out.
    """
    counts = sorted(Counter(skips).items())
    columns = [field.name for field in fields(Skip)]
    rows = [(*astuple(skip), count) for skip, count in counts]
    table = pd.DataFrame(rows, columns=[*columns, "count"])
    return table.astype({**dict.fromkeys(columns, "str"), "count": int})


@dataclass(frozen=True)
class ForeignArena:
    """What others published, as an arena.

    Attributes:
        arena: Questions, answers, judgments and published ratings, as far as there are any.
        skipped: What was left out: ``source, item, reason, count``.
        features: Published features, one row an answer: ``language, system, query_id``, one float
            column a feature and one ``<feature>:missing`` with the reason of each NaN; empty
            where none are published.
    """

    arena: Arena
    skipped: pd.DataFrame
    features: pd.DataFrame = field(default_factory=pd.DataFrame)


StorableText = Annotated[str, StringConstraints(min_length=0)]
"""Any text but half a surrogate pair, which pydantic refuses in constrained strings alone."""

RecordT = TypeVar("RecordT", bound=BaseModel)


@dataclass(frozen=True)
class Checked(Generic[RecordT]):
    """The sound rows of a file and what is wrong with the others.

    Attributes:
        records: Sound rows by their position in the table.
        problems: Faults of the other rows, in line order.
    """

    records: dict[int, RecordT]
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Adapted:
    """Rows brought into one of our schemas.

    Attributes:
        rows: The rows, each with the line it comes from.
        problems: What was wrong, in line order.
        skips: What was left out on purpose, one entry a thing.
    """

    rows: Rows
    problems: tuple[Problem, ...]
    skips: tuple[Skip, ...]


def joined_rows(parts: Sequence[Rows]) -> Rows:
    """Put the rows of several files of one schema together; their source names all of them."""
    if len(parts) == 1:
        return parts[0]
    table = pd.concat([part.table for part in parts], ignore_index=True).astype(object)
    return Rows(
        table.where(table.notna(), None),
        pd.concat([part.lines for part in parts], ignore_index=True),
        " + ".join(part.source for part in parts),
        tuple(problem for part in parts for problem in part.problems),
    )


def checked_records(rows: Rows, record: type[RecordT]) -> Checked[RecordT]:
    """Check every row against a record whose fields say in their description how to fix them.

    Columns the record does not declare are not looked at.
    """
    missing = missing_columns(rows, [n for n, f in record.model_fields.items() if f.is_required()])
    if missing:
        return Checked({}, (*rows.problems, *missing))
    columns = [name for name in record.model_fields if name in rows.table.columns]
    records = {}
    problems = list(rows.problems)
    for position, values in enumerate(rows.table[columns].itertuples(index=False, name=None)):
        try:
            records[position] = record.model_validate(dict(zip(columns, values, strict=True)))
        except ValidationError as error:
            problems.extend(_row_problems(error, rows, position, record))
    in_order = sorted(problems, key=lambda problem: problem.line or 0)
    return Checked(records, tuple(counted_problems(in_order)))


def sound_records(
    rows: Rows, record: type[RecordT], problems: list[Problem]
) -> Iterator[tuple[int, RecordT]]:
    """Yield the sound rows of a file as records, each with its line; faults go to ``problems``."""
    checked = checked_records(rows, record)
    problems += checked.problems
    for position, item in checked.records.items():
        yield int(rows.lines.iloc[position]), item


def missing_columns(rows: Rows, columns: list[str]) -> list[Problem]:
    """List the columns that a file lacks; a file without any row lacks none."""
    if not len(rows.table.columns) and not len(rows.lines):
        return []
    return [
        Problem(rows.source, None, column, None, "this column is missing", "add it to every row")
        for column in columns
        if column not in rows.table.columns
    ]


def ignored_columns(rows: Rows, known: list[str]) -> tuple[Skip, ...]:
    """List the columns that an adapter does not read."""
    return tuple(
        Skip(rows.source, "column", f"{column!r} is no column of this schema")
        for column in rows.table.columns
        if column not in known
    )


def _row_problems(
    error: ValidationError, rows: Rows, position: int, record: type[BaseModel]
) -> list[Problem]:
    def hint(place: str) -> str:
        field = place.partition(".")[0]
        return f"give {field} as {record.model_fields[field].description}"

    return validation_problems(error, rows.source, int(rows.lines.iloc[position]), hint)


def load_rows(dataset: str, config: str, split: str) -> Rows:
    """Load a split of a data set from the hub, or from a local folder of the same layout.

    Args:
        dataset: Name on the hub, or a folder.
        config: Configuration, such as a language code.
        split: Split, such as ``dev``.

    Raises:
        MissingDependencyError: If ``datasets`` is not installed.
        UsageError: If the hub cannot be reached or has no such data.
    """
    datasets = _datasets()
    source = f"{dataset}/{config}/{split}"
    try:
        records = datasets.load_dataset(dataset, config, split=split).to_list()
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageError(f"cannot load {source}: {error}") from error
    columns = list(dict.fromkeys(key for record in records for key in record))
    table = pd.DataFrame(
        {
            column: pd.Series([record.get(column) for record in records], dtype=object)
            for column in columns
        }
    )
    return Rows(table, pd.Series(range(1, len(table) + 1), dtype=int), source)


def _datasets() -> Any:  # noqa: ANN401
    try:
        return importlib.import_module("datasets")
    except ImportError as error:
        purpose = "loading a published data set by name"
        raise MissingDependencyError(purpose, "datasets", "hub") from error


@dataclass
class GrowingArena:
    """Questions, answers and judgments as they are found, with what was wrong or left out.

    Attributes:
        queries: Rows of questions by language and id.
        answers: Rows of answers by language, id and system.
        judgments: Rows of judgments; columns that an arena does not need are kept.
    """

    queries: dict[Key, dict[str, Any]] = field(default_factory=dict)
    answers: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    judgments: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)

    def question(
        self, key: Key, text: str, passages: Iterable[str] = (), relevance: int | None = None
    ) -> None:
        """Add a question with numbered passages, if it is not there."""
        listed = [
            {"passage_id": str(number), "text": passage, "title": None, "relevance": relevance}
            for number, passage in enumerate(passages, start=1)
        ]
        row = {"query_id": key[1], "language": key[0], "query": text, "passages": listed}
        self.queries.setdefault(key, row)

    def answer(self, key: Key, system: str, text: str) -> bool:
        """Add a system's answer; False if it has one."""
        row = {"query_id": key[1], "language": key[0], "system": system, "answer": text}
        return self.answers.setdefault((*key, system), row) is row

    def foreign(
        self,
        name: str,
        reference: str | None,
        source: str,
        note: str = "",
        published: Rows | None = None,
    ) -> ForeignArena:
        """Put the arena together, and check it as any other.

        Raises:
            DataError: With every problem found so far, or of the arena.
        """
        if self.problems:
            raise DataError(self.problems)
        info = ArenaInfo(
            name=name,
            languages=tuple(sorted({code for code, _ in self.queries})),
            systems=tuple(sorted({system for *_, system in self.answers})),
            reference_system=reference,
            source=source,
            note=note,
        )
        arena = checked_arena(
            info,
            _rows(self.queries.values(), QUERIES.columns, "questions"),
            _rows(self.answers.values(), ANSWERS.columns, "answers"),
            _rows(self.judgments, JUDGMENTS.columns, "judgments"),
            published,
        )
        return ForeignArena(arena, skipped_table(self.skips))


def _rows(records: Iterable[dict[str, Any]], columns: Iterable[str], source: str) -> Rows:
    held = list(records)
    further = dict.fromkeys(name for record in held for name in record)
    whole = list(dict.fromkeys([*columns, *further]))
    return as_rows(pd.DataFrame(held, columns=whole, dtype=object), source)
