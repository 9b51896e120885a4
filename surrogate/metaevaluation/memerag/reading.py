"""Labels of MEMERAG, coarse and fine-grained (the paper, sections 3.4 and 4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, ValidationInfo
from pydantic_core import PydanticCustomError

from arena.data.errors import DataError, Problem, UsageError
from arena.data.languages import LANGUAGE_CODE
from arena.data.rows import Rows, read_rows
from arena.data.schema import is_unstorable

SUPPORTED = "Supported"
NOT_SUPPORTED = "Not Supported"
CHALLENGING = "Challenging to determine"
FACTUALITY = (SUPPORTED, NOT_SUPPORTED, CHALLENGING)
"""Coarse labels of faithfulness. Challenging sentences are left out of a meta-evaluation."""

JUDGED = (SUPPORTED, NOT_SUPPORTED)
"""Coarse labels that judges are held against (the paper, section 5.1)."""

COARSE_OF_FINE = MappingProxyType(
    {
        "Direct paraphrase": SUPPORTED,
        "Logical conclusion": SUPPORTED,
        "Other": SUPPORTED,
        "Adds new information": NOT_SUPPORTED,
        "Contradiction": NOT_SUPPORTED,
        "Mis-referencing": NOT_SUPPORTED,
        "Nuance shift": NOT_SUPPORTED,
        "Opinion as fact": NOT_SUPPORTED,
        "Wrong reasoning": NOT_SUPPORTED,
        "Other mistake": NOT_SUPPORTED,
    }
)
"""Fine-grained labels in the order of table 4; a challenging sentence has none."""

FINE_GRAINED = tuple(COARSE_OF_FINE)

DIRECT = "Directly answers the question"
CONTEXT = "Adds context to the answer"
UNRELATED = "Unrelated to the question"
RELEVANCE = (DIRECT, CONTEXT, UNRELATED)

RELEVANT = "Relevant"
IRRELEVANT = "Irrelevant"
COARSE_OF_RELEVANCE = MappingProxyType({DIRECT: RELEVANT, CONTEXT: RELEVANT, UNRELATED: IRRELEVANT})
"""The first two describe relevant sentences, the last irrelevant ones (the paper, section 3.4)."""

LABELS = MappingProxyType(
    {
        "factuality": FACTUALITY,
        "fine_grained_factuality": FINE_GRAINED,
        "relevance": RELEVANCE,
    }
)
"""What each field of a sentence may say."""

_SPELLINGS = MappingProxyType(
    {label.casefold(): label for labels in LABELS.values() for label in labels}
)


def canonical_label(field: str, text: str) -> str | None:
    """Return a label as the paper spells it.

    Args:
        field: One of ``LABELS``.
        text: The label, in any case, with spaces around it or not.

    Returns:
        The label; None if the field knows no such label.
    """
    label = _SPELLINGS.get(text.strip().casefold())
    return label if label in LABELS[field] else None


def coarse_label(field: str, label: str) -> str:
    """Return the coarse label that a label of a field belongs to."""
    if field == "relevance":
        return COARSE_OF_RELEVANCE.get(label, label)
    return COARSE_OF_FINE.get(label, label)


def _filled(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        raise PydanticCustomError("empty", "is empty")
    return value


def _id(value: object) -> object:
    """Ids are numbers in some of the files and texts in others."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else value


def _label(value: object, info: ValidationInfo) -> object:
    field = str(info.field_name)
    if isinstance(value, list):
        raise PydanticCustomError("several", "holds several labels, one is wanted")
    if not isinstance(value, str):
        return value
    label = canonical_label(field, value)
    if label is None:
        known = ", ".join(LABELS[field])
        raise PydanticCustomError("label", "is no label of this field", {"known": known})
    return label


Text = Annotated[str, BeforeValidator(_filled)]
Label = Annotated[str, BeforeValidator(_label)]


class ContextPassage(BaseModel):
    """A passage that the answer was written from."""

    model_config = ConfigDict(strict=True, extra="ignore")

    text: Text


class LabeledSentence(BaseModel):
    """A sentence of an answer with its human labels."""

    model_config = ConfigDict(strict=True, extra="ignore")

    sentence_id: int
    sentence: Text
    factuality: Label
    fine_grained_factuality: Label | None = None
    relevance: Label | None = None
    comments: str | None = None


class LabeledAnswer(BaseModel):
    """One line: an answer to one question."""

    model_config = ConfigDict(strict=True, extra="ignore")

    query_id: Annotated[Text, BeforeValidator(_id)]
    query: Text
    context: list[ContextPassage] = Field(min_length=1)
    answer: list[LabeledSentence] = Field(min_length=1)


SENTENCE_KEY = ["language", "query_id", "sentence_id"]
COLUMNS = [
    *SENTENCE_KEY,
    *("query", "passages", "answer", "sentence"),
    *("factuality", "fine_grained_factuality", "relevance"),
]
"""Columns of a table of sentences."""

_SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
_CODE = re.compile(LANGUAGE_CODE)
_HINTS = {
    "missing": ("is missing", "add it"),
    "empty": ("is empty", "give it a value"),
    "too_short": ("is an empty list", "give one at least; leave answers without sentences out"),
    "several": (
        "holds several labels",
        "keep one, by majority; metaeval agreement reads files with all of them",
    ),
    "string_type": ("is not a string", "write it as a JSON string"),
    "int_type": ("is not a whole number", "write it as a JSON number"),
    "list_type": ("is not a list", "write it as a JSON array"),
    "model_type": ("is not an object", "write it as a JSON object"),
}


def read_memerag(folder: Path | str, languages: Sequence[str] = ()) -> pd.DataFrame:
    """Read a folder of MEMERAG files (``data/memerag`` of the public repository).

    Args:
        folder: Holds ``LANGUAGE.jsonl`` for each language, plain or compressed.
        languages: Languages to read; all there are if left out.

    Returns:
        One row a sentence, columns ``COLUMNS``; ``passages`` holds a tuple of texts, ``answer``
        the whole answer. Sentences that are challenging to determine are there, too.

    Raises:
        UsageError: If there is no such folder, or it lacks a language.
        DataError: With every problem: file, line, field, value and hint.
    """
    files = _files(Path(folder))
    wanted = list(languages) or sorted(files)
    absent = [language for language in wanted if language not in files]
    if absent:
        there = ", ".join(sorted(files)) or "none"
        raise UsageError(f"{folder} has no file for {', '.join(absent)}; languages there: {there}")
    read = [_read_file(files[language], language) for language in dict.fromkeys(wanted)]
    problems = [problem for _, found in read for problem in found]
    if problems:
        raise DataError(problems)
    return pd.DataFrame([row for rows, _ in read for row in rows], columns=COLUMNS)


def _files(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; give the one with en.jsonl, de.jsonl, …")
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        stem, dot, rest = path.name.partition(".")
        if dot + rest in _SUFFIXES and _CODE.fullmatch(stem):
            found.setdefault(stem, path)
    if not found:
        raise UsageError(f"{folder} holds no LANGUAGE.jsonl, such as en.jsonl")
    return found


def _read_file(path: Path, language: str) -> tuple[list[dict[str, Any]], list[Problem]]:
    rows = read_rows(path)
    if rows.table.empty and not rows.problems:
        fault = "holds no answers"
        return [], [Problem(path.name, None, None, None, fault, "put one JSON object a line in")]
    problems = list(rows.problems)
    sentences: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    for line, record in _records(rows):
        answer = _checked(record, rows.source, line, problems)
        if answer is not None and _is_new(answer, seen, rows.source, line, problems):
            sentences += _sentences(answer, language)
    return sentences, sorted(problems, key=lambda problem: problem.line or 0)


def _records(rows: Rows) -> Iterable[tuple[int, dict[str, Any]]]:
    for line, record in zip(rows.lines, rows.table.to_dict(orient="records"), strict=True):
        yield int(line), {str(name): value for name, value in record.items()}


def _checked(
    record: Mapping[str, Any], source: str, line: int, problems: list[Problem]
) -> LabeledAnswer | None:
    if is_unstorable(dict(record)):
        fault, hint = "holds half a surrogate pair, which no file can store", "replace it by U+FFFD"
        problems.append(Problem(source, line, None, None, fault, hint))
        return None
    given = {name: value for name, value in record.items() if value is not None}
    try:
        return LabeledAnswer.model_validate(given)
    except ValidationError as error:
        problems += [_problem(dict(each), source, line) for each in error.errors()]
        return None


def _problem(error: Mapping[str, Any], source: str, line: int) -> Problem:
    place = ".".join(str(part) for part in error["loc"])
    kind = str(error["type"])
    value = None if kind == "missing" else error["input"]
    if kind == "label":
        field = str(error["loc"][-1])
        hint = f"use one of {', '.join(LABELS[field])}"
        return Problem(source, line, place, value, "is no label of this field", hint)
    if value is None and kind != "missing":
        return Problem(source, line, place, None, "is missing", "give it a value")
    fault, hint = _HINTS.get(kind, (str(error["msg"]), "see the format in the README of MEMERAG"))
    return Problem(source, line, place, value, fault, hint)


def _is_new(
    answer: LabeledAnswer, seen: dict[str, int], source: str, line: int, problems: list[Problem]
) -> bool:
    first = seen.setdefault(answer.query_id, line)
    if first != line:
        fault = f"stands on line {first} already"
        problems.append(
            Problem(source, line, "query_id", answer.query_id, fault, "keep one of them")
        )
    ids = [sentence.sentence_id for sentence in answer.answer]
    for repeated in sorted({each for each in ids if ids.count(each) > 1}):
        fault = "stands several times in one answer"
        problems.append(
            Problem(source, line, "answer.sentence_id", repeated, fault, "number the sentences")
        )
    return first == line and len(set(ids)) == len(ids)


def _sentences(answer: LabeledAnswer, language: str) -> list[dict[str, Any]]:
    passages = tuple(passage.text for passage in answer.context)
    whole = " ".join(sentence.sentence for sentence in answer.answer)
    return [
        {
            "language": language,
            "query_id": answer.query_id,
            "sentence_id": sentence.sentence_id,
            "query": answer.query,
            "passages": passages,
            "answer": whole,
            "sentence": sentence.sentence,
            "factuality": sentence.factuality,
            "fine_grained_factuality": sentence.fine_grained_factuality,
            "relevance": sentence.relevance,
        }
        for sentence in answer.answer
    ]
