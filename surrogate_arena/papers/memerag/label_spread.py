"""Spread of labels (tables 1, 3, 4, 8 and 9), and agreement of people (tables 2, 6 and 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from arena.data.schema import QUESTION_KEY
from arena.data.tables import plain_records
from surrogate_arena.papers.memerag.benchmark import NOTICE
from surrogate_arena.papers.memerag.sentences import (
    CHALLENGING,
    COARSE_OF_RELEVANCE,
    FACTUALITY,
    FINE_GRAINED,
    JUDGED_RELEVANCE,
    RELEVANCE,
)
from surrogate_arena.papers.rater_agreement import AgreementReport, agreement_report
from surrogate_arena.papers.reports import Report
from surrogate_arena.papers.settings import DEFAULTS, MetaevalSettings
from surrogate_arena.studies.study_table import StudyTable

QUALITIES = {
    "faithfulness, coarse": "factuality",
    "faithfulness, fine": "fine_grained_factuality",
    "relevance, coarse": "relevance",
    "relevance, fine": "relevance",
}
"""What people may agree on, and the field that says it."""

TITLES = {
    "general": "Sentences, and words on average",
    "factuality": "Percent of sentences by label of faithfulness",
    "relevance": "Percent of sentences by label of relevance",
    "fine_grained": "Percent of sentences by fine-grained label of faithfulness",
    "by_model": "Percent of sentences by model",
}


def label_distributions(sentences: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Count labels by language: tables 1 and 8 (``general``), 3, 4 and 9 (``by_model``).

    Percentages are of all sentences of a language. Tables are ``general, factuality, relevance,
    fine_grained, by_model``.
    """
    # Table 4 has a last block of the sentences that nobody could label further.
    challenging = sentences["factuality"] == CHALLENGING
    fine = sentences["fine_grained_factuality"].astype(object).where(~challenging, CHALLENGING)
    by_language = sentences.groupby("language", sort=False)
    answers = sentences.drop_duplicates(QUESTION_KEY).groupby("language", sort=False)
    general = {
        "questions": answers.size(),
        "sentences": by_language.size(),
        "answer_words": answers["answer"].apply(_mean_words),
        "context_words": answers["passages"].apply(lambda texts: _mean_words(texts.str.join(" "))),
    }
    # Table 9 is by model, which the public files do not name.
    with_model = sentences[sentences["model"].notna()]
    keys = ["model", "language"]
    by_model = with_model.groupby(keys, sort=False).size().rename("sentences").reset_index()
    for field, labels in (("factuality", FACTUALITY), ("relevance", RELEVANCE)):
        shares = _percentages(with_model, with_model[field], keys, labels)
        by_model = by_model.merge(shares, on=keys)
    language = ["language"]
    return {
        "general": pd.DataFrame(general).reset_index(),
        "factuality": _percentages(sentences, sentences["factuality"], language, FACTUALITY),
        "relevance": _percentages(sentences, sentences["relevance"], language, RELEVANCE),
        "fine_grained": _percentages(sentences, fine, language, (*FINE_GRAINED, CHALLENGING)),
        "by_model": by_model.sort_values("model", kind="stable", ignore_index=True),
    }


def _mean_words(texts: pd.Series) -> float:
    return float(texts.str.split().str.len().mean())


def _percentages(
    sentences: pd.DataFrame, labels: pd.Series, keys: list[str], columns: Sequence[str]
) -> pd.DataFrame:
    groups = [sentences[name] for name in keys]
    shares = {}
    for label in columns:
        shares[label] = 100 * (labels == label).groupby(groups, sort=False).mean()
    return pd.DataFrame(shares).reset_index()


def agreement_of_people(
    sentences: pd.DataFrame, settings: MetaevalSettings = DEFAULTS
) -> dict[str, dict[str, AgreementReport]]:
    """Measure how far people agree, by language and ``QUALITIES``, where several labeled.

    Intervals are over questions. A challenging sentence has that as the fine-grained label, too.
    """
    reports_by_language = {}
    for language, part in sentences.groupby("language", sort=False):
        if max(len(votes["factuality"]) for votes in part["votes"]) < 2:
            continue
        reports = {}
        questions = list(part["query_id"])
        for quality in QUALITIES:
            ratings = [_ratings(votes, quality) for votes in part["votes"]]
            # Chance agreement counts both labels, although few sentences are irrelevant.
            categories = JUDGED_RELEVANCE if quality == "relevance, coarse" else None
            reports[quality] = agreement_report(
                ratings, categories, settings.replicates, settings.seed, questions
            )
        reports_by_language[str(language)] = reports
    return reports_by_language


def _ratings(votes: Mapping[str, Sequence[str | None]], quality: str) -> list[str | None]:
    labels = list(votes[QUALITIES[quality]])
    if quality == "relevance, coarse":
        return [label and COARSE_OF_RELEVANCE[label] for label in labels]
    if quality != "faithfulness, fine":
        return labels
    for index, coarse in enumerate(votes["factuality"][: len(labels)]):
        # Who finds a sentence challenging gives no fine-grained label: that is one of its own.
        if labels[index] is None and coarse == CHALLENGING:
            labels[index] = CHALLENGING
    return labels


def statistics_report(sentences: pd.DataFrame, settings: MetaevalSettings) -> Report:
    """Report the statistics of sentences: a table for each of the paper's."""
    distributions = label_distributions(sentences)
    agreed = agreement_of_people(sentences, settings)
    rows = []
    for language, reports in agreed.items():
        for quality, report in reports.items():
            rows.append({"language": language, "quality": quality, **report.as_json()})
    content: dict[str, object] = {}
    tables = []
    for name, table in distributions.items():
        content[name] = plain_records(table)
        if len(table):
            tables.append(StudyTable(table.map(_one_decimal), title=TITLES[name]))
    content["agreement"] = rows
    content["notice"] = NOTICE
    if agreed:
        tables.append(_agreement_table(agreed))
    return Report(content, tables)


def _agreement_table(agreed: Mapping[str, Mapping[str, AgreementReport]]) -> StudyTable:
    rows = []
    for language, reports in agreed.items():
        for quality, report in reports.items():
            row = {"language": language, "quality": quality, "sentences": report.items_with_pairs}
            for name in ("ac1", "fleiss_kappa"):
                coefficient = report.coefficients[name]
                row[name] = coefficient.reason or f"{coefficient.value:.2f}"
            rows.append(row)
    return StudyTable(pd.DataFrame(rows), title="Agreement of people")


def _one_decimal(cell: object) -> object:
    return f"{cell:.1f}" if isinstance(cell, float) else cell
