"""Labels in files of MEMERAG's format: ratings by several people, and how labels are spread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

import pandas as pd

from arena.data.errors import DataError, Problem, UsageError
from arena.data.rows import read_rows
from arena.statistics.raters import RatedItems, code_ratings
from surrogate.metaevaluation.memerag.reading import (
    CHALLENGING,
    FACTUALITY,
    FINE_GRAINED,
    LABELS,
    RELEVANCE,
    canonical_label,
    coarse_label,
)

Field = Literal["factuality", "fine_grained_factuality", "relevance"]
FIELDS: tuple[Field, ...] = get_args(Field)

_FINE = "fine_grained_factuality"
_HINTS = MappingProxyType({name: f"use one of {', '.join(LABELS[name])}" for name in FIELDS})


def read_ratings(path: Path | str, field: Field, coarse: bool = False) -> RatedItems:
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
        DataError: With every problem: file, line, field, value and hint.
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
        hint = "write [{sentence, factuality, …}, …]"
        problems.append(Problem(source, line, "answer", answer, fault, hint))
        return
    for number, sentence in enumerate(answer):
        if isinstance(sentence, dict):
            yield f"answer.{number}", sentence
        else:
            hint = "write {sentence, factuality, …}"
            problems.append(
                Problem(source, line, f"answer.{number}", sentence, "is no object", hint)
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
        problems.append(Problem(*where, label, "has no coarse label", _HINTS[field]))
    return [
        None if label is None or label in unknown else coarse_label(field, label)
        for label in labels
    ]


def _challenging(coarse: Sequence[object], place: int) -> str | None:
    said = coarse[place] if place < len(coarse) else None
    is_challenging = isinstance(said, str) and canonical_label("factuality", said) == CHALLENGING
    return CHALLENGING if is_challenging else None


@dataclass(frozen=True)
class LabelDistributions:
    """Statistics by language, in the order of the sentences given.

    Attributes:
        general: Table 1: ``language, questions, sentences, answer_words, context_words``, the
            words between white space, on average of a question.
        factuality: Table 3, left: percent of a language's sentences with each label.
        relevance: Table 3, right.
        fine_grained: Table 4: percent with each fine-grained label, those challenging to
            determine last.
    """

    general: pd.DataFrame
    factuality: pd.DataFrame
    relevance: pd.DataFrame
    fine_grained: pd.DataFrame


def label_distributions(sentences: pd.DataFrame) -> LabelDistributions:
    """Count labels.

    Args:
        sentences: As ``read_memerag`` returns them.

    Returns:
        Percentages of all sentences of a language, unrounded; a sentence without a label counts
        among all.
    """
    challenging = sentences["factuality"] == CHALLENGING
    fine = sentences["fine_grained_factuality"].astype(object).where(~challenging, CHALLENGING)
    return LabelDistributions(
        general=_general(sentences),
        factuality=_percentages(sentences, sentences["factuality"], FACTUALITY),
        relevance=_percentages(sentences, sentences["relevance"], RELEVANCE),
        fine_grained=_percentages(sentences, fine, (*FINE_GRAINED, CHALLENGING)),
    )


def _general(sentences: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for language, group in sentences.groupby("language", sort=False):
        answers = group.drop_duplicates("query_id")
        rows.append(
            {
                "language": language,
                "questions": len(answers),
                "sentences": len(group),
                "answer_words": answers["answer"].map(_words).mean(),
                "context_words": answers["passages"]
                .map(lambda texts: sum(map(_words, texts)))
                .mean(),
            }
        )
    return pd.DataFrame(
        rows, columns=["language", "questions", "sentences", "answer_words", "context_words"]
    )


def _words(text: str) -> int:
    return len(text.split())


def _percentages(
    sentences: pd.DataFrame, labels: pd.Series, columns: Sequence[str]
) -> pd.DataFrame:
    rows = []
    for language, places in sentences.groupby("language", sort=False).groups.items():
        counts = labels.loc[places].value_counts()
        shares = {label: 100 * int(counts.get(label, 0)) / len(places) for label in columns}
        rows.append({"language": language, **shares})
    return pd.DataFrame(rows, columns=["language", *columns])
