"""Ratings of files in MEMERAG's format whose fields hold one label or a list of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from arena.errors import DataError, Problem, UsageError
from arena.metaevaluation.agreement.ratings import Ratings, code_ratings
from arena.metaevaluation.memerag.labels import CHALLENGING, LABELS, canonical_label, coarse_label
from arena.rows import read_rows

Field = Literal["factuality", "fine_grained_factuality", "relevance"]
FIELDS: tuple[Field, ...] = get_args(Field)

_FINE = "fine_grained_factuality"
_MENDS = MappingProxyType({name: f"use one of {', '.join(LABELS[name])}" for name in FIELDS})


def read_ratings(path: Path | str, field: Field, coarse: bool = False) -> Ratings:
    """Read the ratings of one field of a file.

    Args:
        path: JSONL, plain or compressed, one answer a line with its sentences under ``answer``.
            A field holds one label, a list of labels (one a rater; null where one gave none), or
            null. Labels need not be MEMERAG's; case does not matter to those that are.
        field: ``factuality``, ``fine_grained_factuality`` or ``relevance``.
        coarse: Put fine-grained labels together to coarse ones, and those of relevance to
            relevant and irrelevant (tables 6 and 7 of the paper); all must be MEMERAG's.

    Returns:
        Items are sentences. Where ``factuality`` says that a sentence is challenging to determine,
        that is its fine-grained label, too.

    Raises:
        UsageError: If there is no such file, or the field is none of the three.
        DataError: With every problem: file, line, field, value and mend.
    """
    if field not in FIELDS:
        raise UsageError(f"unknown field {field!r}; use one of {', '.join(FIELDS)}")
    rows = read_rows(Path(path))
    problems = list(rows.problems)
    ratings: list[list[str | None]] = []
    for line, record in zip(rows.lines, rows.table.to_dict(orient="records"), strict=True):
        for place, sentence in _sentences(record, rows.source, int(line), problems):
            where = f"{place}.{field}"
            found = _labels(sentence, field, (rows.source, int(line), where), problems)
            ratings.append(
                _coarse(found, field, (rows.source, int(line), where), problems)
                if coarse
                else found
            )
    if problems:
        raise DataError(sorted(problems, key=lambda problem: problem.line or 0))
    if not ratings:
        fault = "holds no sentences"
        raise DataError([Problem(rows.source, None, None, None, fault, "put answers in")])
    return code_ratings(ratings)


def _sentences(
    record: Mapping[Any, Any], source: str, line: int, problems: list[Problem]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    answer = record.get("answer")
    if not isinstance(answer, list):
        fault = "is missing" if answer is None else "is no list of sentences"
        mend = "write [{sentence, factuality, …}, …]"
        problems.append(Problem(source, line, "answer", answer, fault, mend))
        return
    for number, sentence in enumerate(answer):
        if isinstance(sentence, dict):
            yield f"answer.{number}", sentence
        else:
            mend = "write {sentence, factuality, …}"
            problems.append(
                Problem(source, line, f"answer.{number}", sentence, "is no object", mend)
            )


def _labels(
    sentence: Mapping[str, Any], field: Field, where: tuple[str, int, str], problems: list[Problem]
) -> list[str | None]:
    if field not in sentence:
        problems.append(Problem(*where, None, "is missing", "add it, or write null"))
        return []
    labels = [_label(given, field, where, problems) for given in _as_list(sentence[field])]
    if field != _FINE:
        return labels
    coarse = _as_list(sentence.get("factuality"))
    return [
        _challenging(coarse, place) if label is None else label
        for place, label in enumerate(labels)
    ]


def _as_list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]


def _label(
    given: object, field: Field, where: tuple[str, int, str], problems: list[Problem]
) -> str | None:
    if given is None:
        return None
    is_number = isinstance(given, int) and not isinstance(given, bool)
    if not is_number and not (isinstance(given, str) and given.strip()):
        problems.append(Problem(*where, given, "is no label", "write a text, or null for none"))
        return None
    text = str(given).strip()
    return canonical_label(field, text) or canonical_label("factuality", text) or text


def _coarse(
    labels: Sequence[str | None],
    field: Field,
    where: tuple[str, int, str],
    problems: list[Problem],
) -> list[str | None]:
    unknown = [label for label in labels if label not in (None, CHALLENGING, *LABELS[field])]
    for label in unknown:
        problems.append(Problem(*where, label, "has no coarse label", _MENDS[field]))
    return [
        None if label is None or label in unknown else coarse_label(field, label)
        for label in labels
    ]


def _challenging(coarse: Sequence[object], place: int) -> str | None:
    said = coarse[place] if place < len(coarse) else None
    is_challenging = isinstance(said, str) and canonical_label("factuality", said) == CHALLENGING
    return CHALLENGING if is_challenging else None
