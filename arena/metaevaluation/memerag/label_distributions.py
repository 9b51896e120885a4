"""How the labels are distributed: tables 1, 3 and 4 of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from arena.metaevaluation.memerag.labels import CHALLENGING, FACTUALITY, FINE_GRAINED, RELEVANCE


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
