"""Benchmarks of judges as arenas: the answers of MEMERAG, WikiEval and GroUSE.

An arena holds questions, passages, answers and verdicts on pairs; what else people said of an
answer stays in the benchmark's own files, which ``metaeval`` reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from arena.adapters.files import (
    checked_language,
    files_below,
    language_of,
    read_foreign_rows,
    shown_path,
    without_language,
)
from arena.adapters.foreign_rows import (
    ForeignArena,
    GrowingArena,
    Skip,
    StorableText,
    ignored_columns,
    sound_records,
)
from arena.adapters.records.collected import question_id
from arena.data.errors import Problem, UsageError
from arena.data.rows import Rows
from arena.data.schema import LanguageCode, Text

MEMERAG = "memerag"
"""The one system of MEMERAG's arena: its files do not say which of five models answered."""

GROUNDED, UNGROUNDED, POOR = "grounded", "ungrounded", "poor"
"""The systems of WikiEval's arena, by how their answers came about."""

EXPECTED = "expected"
"""System of GroUSE's arena that holds the answers that were expected."""


def _id(value: object) -> object:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else value


Id = Annotated[Text, BeforeValidator(_id)]


def _files(paths: Sequence[Path | str]) -> Iterator[tuple[str, Path, Rows]]:
    for path in files_below(paths):
        source = shown_path(path, paths)
        yield source, path, read_foreign_rows(path, source)


class ContextText(BaseModel):
    """A passage of MEMERAG."""

    text: Text


class AnswerSentence(BaseModel):
    """A sentence of an answer; its labels are not read."""

    sentence: Text


class MemeragRow(BaseModel):
    """A question of MEMERAG with its passages and the answer, sentence by sentence."""

    query_id: Id = Field(description="a string or number")
    query: Text = Field(description="a string")
    context: list[ContextText] = Field(min_length=1, description="a list of {text}")
    answer: list[AnswerSentence] = Field(min_length=1, description="a list of {sentence, …}")


def read_memerag_answers(
    paths: Sequence[Path | str], *, language: str | None = None, name: str = "memerag"
) -> ForeignArena:
    """Read the questions, passages and answers of MEMERAG, without their labels.

    Each question has one answer, by one of five models that the files do not name: there is one
    system, ``memerag``. Other systems can answer the same questions, and be compared with it.

    Args:
        paths: ``data/memerag`` of the clone, or files ``LANGUAGE.jsonl``.
        language: Language of all files, where names do not tell.
        name: Name of the arena.

    Raises:
        UsageError: If a path is absent, or the language of a file is not known.
        DataError: With every problem of all files.
    """
    read = GrowingArena()
    for source, path, rows in _files(paths):
        code = language_of(path, paths, checked_language(language))
        if code is None:
            raise without_language([source])
        read.skips += ignored_columns(rows, list(MemeragRow.model_fields))
        for line, row in sound_records(rows, MemeragRow, read.problems):
            key = (code, row.query_id)
            if key in read.queries:
                fault, hint = "stands in the files before", "give one variant of the data set"
                read.problems.append(Problem(source, line, "query_id", row.query_id, fault, hint))
                continue
            read.question(key, row.query, (passage.text for passage in row.context), None)
            answer = " ".join(part.sentence.strip() for part in row.answer)
            read.answer(key, MEMERAG, answer)
            read.skips += [
                Skip(source, "labels", "an arena has none; metaeval memerag reads them")
                for _ in row.answer
            ]
    return read.foreign(
        name,
        None,
        "MEMERAG (Cruz Blandón et al., ACL 2025)",
        "One system: the files do not name the model that answered. Labels are not in here.",
    )


class WikievalRow(BaseModel):
    """A question of WikiEval with answers made in three ways."""

    question: Text = Field(description="a string")
    answer: Text = Field(description="a string")
    ungrounded_answer: Text = Field(description="a string")
    poor_answer: Text = Field(description="a string")
    context_v1: list[Text] | Text = Field(description="a list of strings")


def read_wikieval_answers(
    paths: Sequence[Path | str], *, language: str = "en", name: str = "wikieval"
) -> ForeignArena:
    """Read WikiEval as published: ``question, context_v1, answer, ungrounded_answer, poor_answer``.

    The three answers are three systems: ``grounded`` was written from the context, ``ungrounded``
    without it, ``poor`` made incomplete. People preferred the first nearly always (Ragas, section
    4), and how the answers were made says so: by the judge ``faithfulness`` it wins over the
    second, by ``answer_relevance`` over the third.

    Args:
        paths: Files of the data set (Parquet, JSONL).
        language: Code of the questions.
        name: Name of the arena.

    Raises:
        UsageError: If a path is absent.
        DataError: With every problem of all files.
    """
    read = GrowingArena()
    code = checked_language(language) or language
    for source, _, rows in _files(paths):
        renamed = _named_answer(rows)
        read.skips += ignored_columns(renamed, list(WikievalRow.model_fields))
        for line, row in sound_records(renamed, WikievalRow, read.problems):
            key = (code, question_id(row.question))
            if key in read.queries:
                fault, hint = "stands in the file before", "keep one of the two"
                read.problems.append(Problem(source, line, "question", row.question, fault, hint))
                continue
            context = row.context_v1 if isinstance(row.context_v1, list) else [row.context_v1]
            read.question(key, row.question, context, 1)
            texts = {
                GROUNDED: row.answer,
                UNGROUNDED: row.ungrounded_answer,
                POOR: row.poor_answer,
            }
            for system, text in texts.items():
                read.answer(key, system, text)
            for worse, judge in ((UNGROUNDED, "faithfulness"), (POOR, "answer_relevance")):
                read.judgments.append(_wins(key, GROUNDED, worse, judge))
    return read.foreign(
        name,
        GROUNDED,
        "WikiEval (Es et al., 2024)",
        "Judgments say how the answers were made: written from the context, without it, or "
        "incomplete.",
    )


def _named_answer(rows: Rows) -> Rows:
    """Call the column ``answer`` where an edition calls it ``grounded_answer``."""
    if "answer" in rows.table.columns or "grounded_answer" not in rows.table.columns:
        return rows
    table = rows.table.rename(columns={"grounded_answer": "answer"})
    return Rows(table, rows.lines, rows.source, rows.problems)


def _wins(key: tuple[str, str], better: str, worse: str, judge: str) -> dict[str, Any]:
    """Return a judgment whose sides are drawn from the question."""
    is_first = int(question_id(f"{judge} {key[1]}"), 16) % 2 == 0
    sides = (better, worse) if is_first else (worse, better)
    return {
        "query_id": key[1],
        "language": key[0],
        "system_a": sides[0],
        "system_b": sides[1],
        "winner": "a" if is_first else "b",
        "judge": judge,
    }


def _metadata(value: object) -> object:
    return {} if value is None else value


class GrouseMetadata(BaseModel):
    """What is said of a test."""

    test_type: StorableText | int | None = None
    language: LanguageCode | None = None


class GrouseRow(BaseModel):
    """A unit test of GroUSE; its conditions are not read."""

    input: Text = Field(description="a string")
    actual_output: StorableText = Field(description="a string")
    expected_output: Text = Field(description="a string")
    references: list[Text] = Field(min_length=1, description="a list of strings")
    metadata: Annotated[GrouseMetadata, BeforeValidator(_metadata)] = Field(
        default_factory=GrouseMetadata, description="an object"
    )


def read_grouse_tests(
    paths: Sequence[Path | str], *, language: str = "en", name: str = "grouse"
) -> ForeignArena:
    """Read GroUSE's unit tests as published, without their conditions.

    A system is a type of test, which says what is wrong with its answers, and ``expected`` holds
    the answers that were expected. Tests with the same text, references and expected
    answer are of one question. There are no judgments: conditions on scores compare no answers.

    Args:
        paths: Files of unit tests (JSONL, Parquet).
        language: Code of tests that name none.
        name: Name of the arena.

    Raises:
        UsageError: If a path is absent.
        DataError: With every problem of all files.
    """
    read = GrowingArena()
    default = checked_language(language) or language
    for source, _, rows in _files(paths):
        read.skips += ignored_columns(rows, [*GrouseRow.model_fields, "conditions"])
        for line, row in sound_records(rows, GrouseRow, read.problems):
            code = row.metadata.language or default
            identity = "\x00".join((row.input, row.expected_output, *row.references))
            key = (code, question_id(identity))
            kind = "untyped" if row.metadata.test_type is None else str(row.metadata.test_type)
            system = kind if kind.strip() and kind != EXPECTED else "untyped"
            if (*key, system) in read.answers:
                fault = "is the type of another test of the same question"
                hint = "give each test of a question a type of its own"
                read.problems.append(Problem(source, line, "metadata.test_type", kind, fault, hint))
                continue
            read.question(key, row.input, row.references, None)
            read.answer(key, EXPECTED, row.expected_output)
            read.answer(key, system, row.actual_output)
            read.skips.append(
                Skip(source, "conditions", "an arena has none; metaeval grouse reads them")
            )
    if not read.answers and not read.problems:
        raise UsageError(f"there is no unit test in {', '.join(map(str, paths))}")
    return read.foreign(
        name,
        EXPECTED,
        "GroUSE (Muller et al., 2024)",
        "Systems are types of unit tests, and the answers expected. Conditions are not in here.",
    )
