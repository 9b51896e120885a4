"""Labels in files of MEMERAG's format: ratings by several people, and how labels are spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Literal, get_args

import pandas as pd
from pydantic import BaseModel, BeforeValidator, ValidationInfo

from arena.data.errors import DataError, Problem, checked_choice
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
from surrogate.metaevaluation.reading import in_order, raise_if, refuse, validated_records

Field = Literal["factuality", "fine_grained_factuality", "relevance"]
FIELDS: tuple[Field, ...] = get_args(Field)


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
    checked_choice(field, FIELDS, "field")
    rows = read_rows(Path(path))
    problems: list[Problem] = []
    ratings: list[list[str | None]] = []
    for line, rated in validated_records(rows, RatedAnswer, problems):
        for number, sentence in enumerate(rated.answer):
            where = (rows.source, line, f"answer.{number}.{field}")
            if field not in sentence.model_fields_set:
                problems.append(Problem(*where, None, "is missing", "add it, or write null"))
            labels = sentence.labels(field)
            unknown = [label for label in labels if not _has_coarse(label, field)] if coarse else []
            hint = f"use one of {', '.join(LABELS[field])}"
            problems += [Problem(*where, label, "has no coarse label", hint) for label in unknown]
            ratings.append(
                [label and coarse_label(field, label) for label in labels] if coarse else labels
            )
    raise_if(in_order(problems))
    if not ratings:
        raise DataError(
            [Problem(rows.source, None, None, None, "holds no sentences", "put answers in")]
        )
    return code_ratings(ratings)


def _labels(given: object, info: ValidationInfo) -> list[str | None]:
    several = given if isinstance(given, list) else [given]
    return [_label(label, str(info.field_name)) for label in several]


def _label(given: object, field: str) -> str | None:
    if given is None:
        return None
    is_number = isinstance(given, int) and not isinstance(given, bool)
    if not is_number and not (isinstance(given, str) and given.strip()):
        raise refuse("is no label", "write a text, or null for none")
    text = str(given).strip()
    return canonical_label(field, text) or canonical_label("factuality", text) or text


Labels = Annotated[list[str | None], BeforeValidator(_labels)]


class RatedSentence(BaseModel):
    """A sentence with a label a rater; None where a rater gave none."""

    factuality: Labels = []
    fine_grained_factuality: Labels = []
    relevance: Labels = []

    def labels(self, field: Field) -> list[str | None]:
        """Return a field's labels; a challenging sentence has no other fine-grained one."""
        labels: list[str | None] = getattr(self, field)
        if field != "fine_grained_factuality":
            return labels
        coarse = zip_longest(labels, self.factuality[: len(labels)])
        return [
            CHALLENGING if fine is None and factuality == CHALLENGING else fine
            for fine, factuality in coarse
        ]


class RatedAnswer(BaseModel):
    """One line: the sentences of an answer."""

    answer: list[RatedSentence]


def _has_coarse(label: str | None, field: Field) -> bool:
    return label in (None, CHALLENGING, *LABELS[field])


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
        factuality=_percentages(sentences["factuality"], sentences["language"], FACTUALITY),
        relevance=_percentages(sentences["relevance"], sentences["language"], RELEVANCE),
        fine_grained=_percentages(fine, sentences["language"], (*FINE_GRAINED, CHALLENGING)),
    )


def _general(sentences: pd.DataFrame) -> pd.DataFrame:
    answers = sentences.drop_duplicates(["language", "query_id"])
    words = pd.DataFrame(
        {
            "language": answers["language"],
            "answer_words": answers["answer"].str.split().str.len(),
            "context_words": answers["passages"].str.join(" ").str.split().str.len(),
        }
    )
    counts = {
        "questions": answers.groupby("language", sort=False).size(),
        "sentences": sentences.groupby("language", sort=False).size(),
    }
    means = words.groupby("language", sort=False).mean()
    return pd.concat([pd.DataFrame(counts), means], axis=1).reset_index()


def _percentages(labels: pd.Series, languages: pd.Series, columns: Sequence[str]) -> pd.DataFrame:
    shares = {
        label: 100 * (labels == label).groupby(languages, sort=False).mean() for label in columns
    }
    return pd.DataFrame(shares).reset_index()
