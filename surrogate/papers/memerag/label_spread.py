"""How labels are spread (tables 1, 3, 4, 8 and 9), and how far people agree (tables 2, 6 and 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType

import pandas as pd

from arena.data.schema import QUESTION_KEY
from arena.data.tables import plain_records
from arena.statistics.agreement import REPLICATES, AgreementReport, agreement_report
from surrogate.papers.memerag.benchmark import NOTICE
from surrogate.papers.memerag.sentences import (
    CHALLENGING,
    COARSE_OF_RELEVANCE,
    FACTUALITY,
    FINE_GRAINED,
    JUDGED_RELEVANCE,
    RELEVANCE,
)
from surrogate.papers.reports import NO_VALUE, Report, ReportTable

QUALITIES = {
    "faithfulness, coarse": "factuality",
    "faithfulness, fine": "fine_grained_factuality",
    "relevance, coarse": "relevance",
    "relevance, fine": "relevance",
}
"""What people may agree on, and the field that says it."""

_LABELS = MappingProxyType({"faithfulness": FACTUALITY, "relevance": RELEVANCE})


def label_distributions(sentences: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Count labels by language, in the order of the sentences given.

    Returns:
        ``general`` (tables 1 and 8): ``language, questions, sentences, answer_words,
        context_words``, the words between white space, on average of a question. ``factuality``
        and ``relevance`` (table 3), ``fine_grained`` (table 4, those challenging to determine
        last): percent of all sentences of a language with each label, unrounded. ``by_model``
        (table 9): ``model, language, sentences`` and percent with each label of factuality and
        relevance; empty where no answer names its model, as in the public files.
    """
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
    named = sentences[sentences["model"].notna()]
    by = ["model", "language"]
    by_model = named.groupby(by, sort=False).size().rename("sentences").reset_index()
    for field, labels in (("factuality", FACTUALITY), ("relevance", RELEVANCE)):
        by_model = by_model.merge(_percentages(named, named[field], by, labels), on=by)
    one = ["language"]
    return {
        "general": pd.DataFrame(general).reset_index(),
        "factuality": _percentages(sentences, sentences["factuality"], one, FACTUALITY),
        "relevance": _percentages(sentences, sentences["relevance"], one, RELEVANCE),
        "fine_grained": _percentages(sentences, fine, one, (*FINE_GRAINED, CHALLENGING)),
        "by_model": by_model.sort_values("model", kind="stable", ignore_index=True),
    }


def _mean_words(texts: pd.Series) -> float:
    return float(texts.str.split().str.len().mean())


def _percentages(
    sentences: pd.DataFrame, labels: pd.Series, by: list[str], columns: Sequence[str]
) -> pd.DataFrame:
    keys = [sentences[name] for name in by]
    shares = {label: 100 * (labels == label).groupby(keys, sort=False).mean() for label in columns}
    return pd.DataFrame(shares).reset_index()


def agreement_of_people(
    sentences: pd.DataFrame, replicates: int = REPLICATES, seed: int = 0
) -> dict[str, dict[str, AgreementReport]]:
    """Measure how far people agree, where several labeled the same sentences.

    Returns:
        By language, then by ``QUALITIES``; nothing for a language with one label per sentence. A
        sentence that somebody found challenging to determine has that as the fine-grained label,
        too.
    """
    return {
        str(language): {
            name: agreement_report(
                [_ratings(votes, name) for votes in part["votes"]],
                JUDGED_RELEVANCE if name == "relevance, coarse" else None,
                replicates,
                seed,
            )
            for name in QUALITIES
        }
        for language, part in sentences.groupby("language", sort=False)
        if part["votes"].map(lambda votes: len(votes["factuality"])).max() > 1
    }


def _ratings(votes: Mapping[str, Sequence[str | None]], quality: str) -> list[str | None]:
    labels = list(votes[QUALITIES[quality]])
    if quality == "relevance, coarse":
        return [label and COARSE_OF_RELEVANCE[label] for label in labels]
    if quality != "faithfulness, fine":
        return labels
    return [
        CHALLENGING if fine is None and coarse == CHALLENGING else fine
        for fine, coarse in zip_longest(labels, votes["factuality"][: len(labels)])
    ]


def statistics_report(
    sentences: pd.DataFrame, replicates: int = REPLICATES, seed: int = 0
) -> Report:
    """Report the statistics of sentences as the paper's tables have them."""
    distributions = label_distributions(sentences)
    agreed = agreement_of_people(sentences, replicates, seed)
    content: dict[str, object] = {
        name: plain_records(table) for name, table in distributions.items()
    }
    content["agreement"] = [
        {"language": language, "quality": name} | report.as_json()
        for language, reports in agreed.items()
        for name, report in reports.items()
    ]
    general = distributions["general"]
    total = general[["questions", "sentences"]].sum()
    general = pd.concat([_rounded(general), pd.DataFrame([{"language": "total", **total}])])
    labels = distributions["factuality"].merge(distributions["relevance"], on="language")
    fine = distributions["fine_grained"].set_index("language").T.reset_index(names="label")
    percent = "Percent of sentences by"
    tables = [
        ReportTable("Sentences, and words on average", general.fillna("")),
        ReportTable(f"{percent} label: faithfulness, relevance", _rounded(labels)),
        ReportTable(f"{percent} fine-grained label of faithfulness", _rounded(fine)),
    ]
    tables += [] if distributions["by_model"].empty else [_model_table(distributions["by_model"])]
    tables += [_agreement_table(agreed)] if agreed else []
    return Report({**content, "notice": NOTICE}, tables)


def _agreement_table(agreed: Mapping[str, Mapping[str, AgreementReport]]) -> ReportTable:
    rows, notes = [], []
    for language, reports in agreed.items():
        first = reports["faithfulness, coarse"]
        cells = []
        for name, report in reports.items():
            shown = [report.coefficients[which] for which in ("ac1", "fleiss_kappa")]
            cells.append(" / ".join(NO_VALUE if c.reason else f"{c.value:.2f}" for c in shown))
            reasons = dict.fromkeys(
                coefficient.reason for coefficient in report.coefficients.values()
            )
            notes += [f"{language}, {name}: {reason}" for reason in reasons if reason]
        rows.append([language, first.items_with_pairs, first.raters, *cells])
    table = pd.DataFrame(rows, columns=["language", "sentences", "raters", *QUALITIES])
    return ReportTable("Agreement of people: Gwet's AC1 / Fleiss' kappa", table, notes)


def _rounded(table: pd.DataFrame) -> pd.DataFrame:
    return table.map(lambda cell: f"{cell:.1f}" if isinstance(cell, float) else cell)


def _model_table(by_model: pd.DataFrame) -> ReportTable:
    """Show table 9: one row per model and quality, percent of each label by language."""
    languages, rows = list(by_model["language"].drop_duplicates()), []
    for model, part in by_model.groupby("model", sort=False):
        for quality, labels in _LABELS.items():
            shares = part.set_index("language")[list(labels)].reindex(languages)
            cells = [
                NO_VALUE if row.isna().all() else " / ".join(f"{share:.1f}" for share in row)
                for _, row in shares.iterrows()
            ]
            rows.append([model, int(part["sentences"].sum()), quality, *cells])
    title = "; ".join(" / ".join(labels) for labels in _LABELS.values())
    table = pd.DataFrame(rows, columns=["model", "sentences", "quality", *languages])
    return ReportTable(f"Percent of sentences by model: {title}", table)
