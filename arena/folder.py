"""The native arena folder: reading, checking and writing it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import pandera.pandas as pa
from pydantic import ValidationError

from arena.errors import DataError, Problem, UsageError
from arena.records import ArenaInfo
from arena.rows import SUFFIXES, Rows, atomic_path, read_rows, write_rows
from arena.tables import ANSWER_KEY, ANSWERS, JUDGMENTS, QUERIES, QUESTION_KEY, check_table

INFO_FILE = "arena.json"


@dataclass(frozen=True)
class Arena:
    """An arena: questions, the systems' answers, and pairwise judgments of them.

    Attributes:
        info: Name, languages, systems, reference system.
        queries: Columns ``query_id, language, query, passages``.
        answers: Columns ``query_id, language, system, answer`` (raw output).
        judgments: Columns ``query_id, language, system_a, system_b, winner, judge``.
    """

    info: ArenaInfo
    queries: pd.DataFrame
    answers: pd.DataFrame
    judgments: pd.DataFrame

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges, sorted."""
        return tuple(sorted(self.judgments["judge"].unique()))

    def judged_by(self, judge: str | None = None) -> Arena:
        """Keep one judge's judgments.

        Args:
            judge: Name of the judge; may be left out where the arena has only one.

        Raises:
            UsageError: If there is no judgment, no such judge, or a choice to be made.
        """
        if not self.judges:
            raise UsageError(f"arena {self.info.name!r} has no judgments to learn from")
        if judge is None and len(self.judges) > 1:
            raise UsageError(f"several judges, choose one: {', '.join(self.judges)}")
        chosen = self.judges[0] if judge is None else judge
        if chosen not in self.judges:
            raise UsageError(f"no judge {chosen!r} here; the judges are {', '.join(self.judges)}")
        kept = self.judgments[self.judgments["judge"] == chosen].reset_index(drop=True)
        return replace(self, judgments=kept)


def read_arena(folder: Path | str) -> Arena:
    """Read and check an arena folder.

    Args:
        folder: Holds ``arena.json`` and the files ``queries``, ``answers`` and ``judgments``
            (optional), each as ``.jsonl``, ``.jsonl.gz``, ``.jsonl.zst``, ``.csv`` (not
            queries) or ``.parquet``.

    Raises:
        UsageError: If the folder or one of its files is absent or there twice.
        DataError: If the content is at fault; lists all problems of all files.
    """
    folder = Path(folder)
    info = read_info(folder)
    queries = read_rows(_table_file(folder, "queries"))
    answers = read_rows(_table_file(folder, "answers"))
    judgments_file = _find_table_file(folder, "judgments")
    judgments = read_rows(judgments_file) if judgments_file else None
    return checked_arena(info, queries, answers, judgments)


def checked_arena(
    info: ArenaInfo, queries: Rows, answers: Rows, judgments: Rows | None = None
) -> Arena:
    """Build an arena from rows, checking each table and what ties them together.

    Raises:
        DataError: With every problem of every table.
    """
    judgments = empty_rows(JUDGMENTS) if judgments is None else judgments
    parts = [(queries, QUERIES), (answers, ANSWERS), (judgments, JUDGMENTS)]
    problems = [problem for rows, schema in parts for problem in _row_problems(rows, schema)]
    if not problems:
        problems = [
            *_duplicates(queries, QUESTION_KEY, "query"),
            *_duplicates(answers, ANSWER_KEY, "answer"),
            *_undeclared(queries, "language", info.languages, "languages"),
            *_undeclared(answers, "system", info.systems, "systems"),
            *_unknown_questions(answers, queries, "answer"),
            *_unknown_questions(judgments, queries, "judgment"),
            *_undeclared(judgments, "system_a", info.systems, "systems"),
            *_undeclared(judgments, "system_b", info.systems, "systems"),
            *_self_judgments(judgments),
            *_reference_problems(info),
        ]
    if problems:
        raise DataError(problems)
    return Arena(
        info,
        _typed(queries.table, QUERIES),
        _typed(answers.table, ANSWERS),
        _typed(judgments.table, JUDGMENTS),
    )


def read_answers(path: Path | str, queries: pd.DataFrame) -> pd.DataFrame:
    """Read the answers of new systems to the questions of an arena.

    Args:
        path: File of answers in any row format.
        queries: Query table of the arena they answer.

    Returns:
        Columns ``query_id, language, system, answer``.

    Raises:
        DataError: For malformed or duplicate answers and answers to unknown questions.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no file of answers at {path}")
    answers = read_rows(path)
    problems = _row_problems(answers, ANSWERS)
    if not problems:
        problems = [
            *_duplicates(answers, ANSWER_KEY, "answer"),
            *_unknown_questions(answers, rows_of(queries, "queries"), "answer"),
        ]
    if problems:
        raise DataError(problems)
    return _typed(answers.table, ANSWERS)


def write_arena(arena: Arena, folder: Path | str, suffix: str = ".jsonl.gz") -> None:
    """Write an arena folder; the same arena gives the same bytes.

    Args:
        arena: What to write.
        folder: Created if absent; files of the same name are replaced.
        suffix: Format of the tables, one of ``.jsonl``, ``.jsonl.gz``, ``.jsonl.zst``,
            ``.parquet``.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / INFO_FILE) as path:
        text = json.dumps(arena.info.model_dump(mode="json"), indent=2, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
    for name, table in [
        ("queries", arena.queries),
        ("answers", arena.answers),
        ("judgments", arena.judgments),
    ]:
        write_rows(table, folder / f"{name}{suffix}")


def read_info(folder: Path) -> ArenaInfo:
    """Read ``arena.json``.

    Raises:
        UsageError: If the folder or the file is absent.
        DataError: If the file is malformed; names each field.
    """
    path = folder / INFO_FILE
    if not path.is_file():
        raise UsageError(f"{folder} is not an arena folder: it has no {INFO_FILE}")
    try:
        return ArenaInfo.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise DataError(
            [
                Problem(
                    INFO_FILE,
                    None,
                    ".".join(str(part) for part in item["loc"]) or "(file)",
                    item["input"],
                    item["msg"],
                    "see the README for what arena.json holds",
                )
                for item in error.errors()
            ]
        ) from error


def rows_of(table: pd.DataFrame, source: str) -> Rows:
    """Wrap a table already in memory so that it can be checked like a file."""
    return Rows(
        table.reset_index(drop=True), pd.Series(range(1, len(table) + 1), dtype=int), source
    )


def empty_rows(schema: pa.DataFrameSchema) -> Rows:
    """Rows of a table that has none."""
    return rows_of(pd.DataFrame(columns=list(schema.columns), dtype=object), str(schema.name))


def _find_table_file(folder: Path, name: str) -> Path | None:
    found = [path for suffix in SUFFIXES if (path := folder / f"{name}{suffix}").is_file()]
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise UsageError(f"{folder} holds the same table several times ({names}); keep one")
    return found[0] if found else None


def _table_file(folder: Path, name: str) -> Path:
    path = _find_table_file(folder, name)
    if path is None:
        raise UsageError(f"{folder} has no {name} file; expected {name}.jsonl or the like")
    return path


def _row_problems(rows: Rows, schema: pa.DataFrameSchema) -> list[Problem]:
    if rows.table.empty and rows.problems:
        return list(rows.problems)
    found = check_table(rows.table, schema, rows.source, rows.lines)
    return sorted([*rows.problems, *found], key=lambda problem: problem.line or 0)


def _typed(table: pd.DataFrame, schema: pa.DataFrameSchema) -> pd.DataFrame:
    texts = [column for column in schema.columns if column != "passages"]
    return table.reset_index(drop=True).astype(dict.fromkeys(texts, "str"))


def _duplicates(rows: Rows, key: Sequence[str], noun: str) -> list[Problem]:
    repeated = rows.table.duplicated(list(key))
    if not repeated.any():
        return []
    first_lines = rows.lines.groupby([rows.table[column] for column in key]).first()
    return [
        Problem(
            rows.source,
            int(rows.lines.loc[row]),
            "+".join(key),
            identity,
            f"this {noun} already stands on line {int(first_lines.loc[identity])}",
            "keep one of the two",
        )
        for row, identity in _identities(rows.table[repeated], key)
    ]


def _identities(
    table: pd.DataFrame, key: Sequence[str]
) -> Iterable[tuple[object, tuple[str, ...]]]:
    return zip(table.index, table[list(key)].itertuples(index=False, name=None), strict=True)


def _undeclared(rows: Rows, field: str, declared: Sequence[str], key: str) -> list[Problem]:
    unknown = rows.table[~rows.table[field].isin(declared)]
    return [
        Problem(
            rows.source,
            int(rows.lines.loc[row]),
            field,
            value,
            f"is not among the {key} of {INFO_FILE}",
            f"add it to {key} there or correct the name",
        )
        for row, value in unknown[field].items()
    ]


def _unknown_questions(rows: Rows, queries: Rows, noun: str) -> list[Problem]:
    known = pd.MultiIndex.from_frame(queries.table[QUESTION_KEY].astype(object))
    asked = pd.MultiIndex.from_frame(rows.table[QUESTION_KEY].astype(object))
    return [
        Problem(
            rows.source,
            int(rows.lines.loc[row]),
            "+".join(QUESTION_KEY),
            identity,
            f"this {noun} is to a question that {queries.source} does not hold",
            f"add the question there or leave the {noun} out",
        )
        for row, identity in _identities(rows.table[~asked.isin(known)], QUESTION_KEY)
    ]


def _self_judgments(judgments: Rows) -> list[Problem]:
    table = judgments.table
    same = table[table["system_a"] == table["system_b"]]
    return [
        Problem(
            judgments.source,
            int(judgments.lines.loc[row]),
            "system_b",
            value,
            "is judged against itself",
            "remove this judgment",
        )
        for row, value in same["system_b"].items()
    ]


def _reference_problems(info: ArenaInfo) -> list[Problem]:
    if info.reference_system is None or info.reference_system in info.systems:
        return []
    fault = f"is not among the systems of {INFO_FILE}"
    return [
        Problem(
            INFO_FILE,
            None,
            "reference_system",
            info.reference_system,
            fault,
            "name one of the systems or write null",
        )
    ]
