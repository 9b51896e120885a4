"""Ratings of files in MEMERAG's format whose fields hold one label or a list of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

import pandas as pd

from arena.data.errors import DataError, Problem, UsageError
from arena.data.rows import read_rows
from arena.llm.replies import UnparsableError
from arena.statistics.raters import Ratings, code_ratings
from surrogate.metaevaluation.memerag.reading import (
    CHALLENGING,
    COARSE_OF_FINE,
    FACTUALITY,
    FINE_GRAINED,
    LABELS,
    NOT_SUPPORTED,
    RELEVANCE,
    SUPPORTED,
    canonical_label,
    coarse_label,
)

Field = Literal["factuality", "fine_grained_factuality", "relevance"]
FIELDS: tuple[Field, ...] = get_args(Field)

_FINE = "fine_grained_factuality"
_HINTS = MappingProxyType({name: f"use one of {', '.join(LABELS[name])}" for name in FIELDS})


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


_THOUGHTS = re.compile(
    r"<(think|thinking|rationale)>.*?</\1>|<think(?:ing)?>.*\Z", re.DOTALL | re.IGNORECASE
)
_OPENING = re.compile(r"<answer>", re.IGNORECASE)
_CLOSING = re.compile(r"</\s*answer\s*>", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+")
_NEGATIVE = ("unsupported", "notsupported", "nonsupported")
_SEPARATED_NEGATIVE = (("not", "supported"), ("non", "supported"), ("un", "supported"))
_ROOT = "support"


def parse_label(text: str) -> str | None:
    """Read the label of a reply.

    The last ``<answer>`` counts, outside of thoughts and rationales; where no tag was written, the
    whole reply may be the label. What stands there must begin with one of the labels and hold no
    further word on support: ``Not Supported``, ``unsupported``, ``**Supported**.``; case, marks
    and line breaks do not matter. Anything else is no label, never a guess.

    Args:
        text: What the model replied.

    Returns:
        ``Supported``, ``Not Supported`` or None.
    """
    own = _THOUGHTS.sub(" ", text)
    openings = list(_OPENING.finditer(own))
    stated = own[openings[-1].end() :] if openings else own
    if openings:
        return _label_answer_labels(_CLOSING.split(stated, maxsplit=1)[0], may_explain=True)
    return _label_answer_labels(stated, may_explain=False)


def read_label(text: str) -> str:
    """Read the label of a reply.

    Raises:
        UnparsableError: If it has none.
    """
    label = parse_label(text)
    if label is None:
        raise UnparsableError(
            f"the reply has no label; expected <answer>{SUPPORTED}</answer> "
            f"or <answer>{NOT_SUPPORTED}</answer>"
        )
    return label


def _label_answer_labels(text: str, *, may_explain: bool) -> str | None:
    words = [word.casefold() for word in _LETTERS.findall(unicodedata.normalize("NFKC", text))]
    label, length = _leading_label(words)
    rest = words[length:]
    if rest and (not may_explain or any(_ROOT in word for word in rest)):
        return None
    return label


def _leading_label(words: list[str]) -> tuple[str | None, int]:
    """Return the label that words begin with, and how many words it takes."""
    if tuple(words[:2]) in _SEPARATED_NEGATIVE:
        return NOT_SUPPORTED, 2
    if words[:1] and words[0] in _NEGATIVE:
        return NOT_SUPPORTED, 1
    if words[:1] == ["supported"]:
        return SUPPORTED, 1
    return None, 0


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


FINE_GRAINED_COLUMNS = [
    *("judge", "prompt", "language", "factuality", "fine_grained_factuality"),
    *("sentences", "accuracy", "errors", "share_of_errors"),
]


def fine_grained_accuracy(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Compute the accuracy of each judge on the sentences of each fine-grained label.

    Args:
        verdicts: As ``judge_sentences`` returns them.

    Returns:
        Columns ``FINE_GRAINED_COLUMNS``, one row a judge, language and label that occurs, in the
        order of table 4. ``share_of_errors`` is the label's share of the judge's errors on
        sentences of the same coarse label, missing where it made none. Sentences without a
        fine-grained label, or that the judge was not asked about, are left out.
    """
    asked = verdicts[verdicts["was_asked"] & verdicts["fine_grained_factuality"].notna()]
    rows = []
    keys = ["judge", "prompt", "language", "factuality"]
    for key, part in asked.groupby(keys, sort=False):
        wrong = part["label"] != part["factuality"]
        for label in _labels_in_order(part):
            is_label = part["fine_grained_factuality"] == label
            sentences, errors = int(is_label.sum()), int((wrong & is_label).sum())
            rows.append(
                (
                    *(*key, label, sentences, 1 - errors / sentences),
                    *(errors, errors / int(wrong.sum()) if wrong.any() else float("nan")),
                )
            )
    return pd.DataFrame(rows, columns=FINE_GRAINED_COLUMNS)


def _labels_in_order(verdicts: pd.DataFrame) -> list[str]:
    there = set(verdicts["fine_grained_factuality"])
    return [label for label in COARSE_OF_FINE if label in there]
