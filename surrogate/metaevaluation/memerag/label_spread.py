"""How labels are spread (tables 1, 3, 4, 8 and 9), and how far people agree (tables 2, 6 and 7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from types import MappingProxyType

import pandas as pd

from arena.data.rows import plain_records
from arena.data.schema import QUESTION_KEY
from arena.statistics.agreement import (
    AgreementReport,
    Resampling,
    agreement_report,
    code_ratings,
)
from surrogate.metaevaluation.memerag.memerag import NOTICE
from surrogate.metaevaluation.memerag.sentences import (
    CHALLENGING,
    COARSE_OF_RELEVANCE,
    FACTUALITY,
    FINE_GRAINED,
    JUDGED_RELEVANCE,
    RELEVANCE,
)
from surrogate.metaevaluation.report import NO_VALUE, Report, ReportTable, spaced

_NO_MODEL = "No answer names the model that wrote it, so there is no table by model"
QUALITIES = MappingProxyType(
    {
        "faithfulness, coarse": "factuality",
        "faithfulness, fine": "fine_grained_factuality",
        "relevance, coarse": "relevance",
        "relevance, fine": "relevance",
    }
)
"""What people may agree on, and the field that says it."""


@dataclass(frozen=True)
class LabelDistributions:
    """Statistics by language, in the order of the sentences given.

    Attributes:
        general: Tables 1 and 8: ``language, questions, sentences, answer_words, context_words``,
            the words between white space, on average of a question.
        factuality: Table 3, left: percent of a language's sentences with each label.
        relevance: Table 3, right.
        fine_grained: Table 4: percent with each fine-grained label, those challenging to
            determine last.
        by_model: Table 9: ``model, language, sentences``, and percent with each label of
            factuality and of relevance. Empty where no answer names its model, as in the public
            files.
    """

    general: pd.DataFrame
    factuality: pd.DataFrame
    relevance: pd.DataFrame
    fine_grained: pd.DataFrame
    by_model: pd.DataFrame


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
    languages = [sentences["language"]]
    return LabelDistributions(
        general=_general(sentences),
        factuality=_percentages(sentences["factuality"], languages, FACTUALITY),
        relevance=_percentages(sentences["relevance"], languages, RELEVANCE),
        fine_grained=_percentages(fine, languages, (*FINE_GRAINED, CHALLENGING)),
        by_model=_by_model(sentences[sentences["model"].notna()]),
    )


def _general(sentences: pd.DataFrame) -> pd.DataFrame:
    answers = sentences.drop_duplicates(QUESTION_KEY)
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


def _by_model(named: pd.DataFrame) -> pd.DataFrame:
    by = [named["model"], named["language"]]
    sizes = named.groupby(by, sort=False).size().rename("sentences").reset_index()
    for field, labels in (("factuality", FACTUALITY), ("relevance", RELEVANCE)):
        sizes = sizes.merge(_percentages(named[field], by, labels), on=["model", "language"])
    return sizes.sort_values("model", kind="stable", ignore_index=True)


def _percentages(
    labels: pd.Series, by: Sequence[pd.Series], columns: Sequence[str]
) -> pd.DataFrame:
    shares = {
        label: 100 * (labels == label).groupby(list(by), sort=False).mean() for label in columns
    }
    return pd.DataFrame(shares).reset_index()


def agreement_of_people(
    sentences: pd.DataFrame, resampling: Resampling | None = None
) -> dict[str, dict[str, AgreementReport]]:
    """Measure how far people agree, where several labeled the same sentences.

    Args:
        sentences: As ``read_memerag`` returns them.
        resampling: How intervals are drawn.

    Returns:
        By language, then by ``QUALITIES``; nothing for a language with one label a sentence. A
        sentence that somebody found challenging to determine has that as the fine-grained label,
        too.
    """
    return {
        str(language): {
            name: agreement_report(
                code_ratings(
                    [_ratings(each, name) for each in part["votes"]],
                    JUDGED_RELEVANCE if name == "relevance, coarse" else None,
                ),
                resampling or Resampling(),
            )
            for name in QUALITIES
        }
        for language, part in sentences.groupby("language", sort=False)
        if part["votes"].map(lambda votes: len(votes["factuality"])).max() > 1
    }


def _ratings(votes: Mapping[str, Sequence[str | None]], quality: str) -> list[str | None]:
    given = list(votes[QUALITIES[quality]])
    if quality == "relevance, coarse":
        return [label and COARSE_OF_RELEVANCE[label] for label in given]
    if quality != "faithfulness, fine":
        return given
    return [
        CHALLENGING if fine is None and coarse == CHALLENGING else fine
        for fine, coarse in zip_longest(given, votes["factuality"][: len(given)])
    ]


def statistics_report(sentences: pd.DataFrame, resampling: Resampling | None = None) -> Report:
    """Report the statistics of sentences as the paper's tables have them.

    Args:
        sentences: As ``read_memerag`` returns them.
        resampling: How intervals of agreement are drawn.
    """
    found = label_distributions(sentences)
    agreed = agreement_of_people(sentences, resampling)
    content = {name: plain_records(table) for name, table in asdict(found).items()}
    content["agreement"] = [
        {"language": language, "quality": name} | report.as_json()
        for language, reports in agreed.items()
        for name, report in reports.items()
    ]
    tables = [*_tables(found), *([_agreement_table(agreed)] if agreed else [])]
    return Report({**content, "notice": NOTICE}, tables)


def _agreement_table(agreed: Mapping[str, Mapping[str, AgreementReport]]) -> ReportTable:
    rows, notes = [], []
    for language, reports in agreed.items():
        first = reports["faithfulness, coarse"]
        rows.append([language, first.items_with_pairs, first.raters, *map(_both, reports.values())])
        for name, report in reports.items():
            reasons = dict.fromkeys(each.reason for each in report.coefficients.values())
            notes += [f"{language}, {name}: {reason}" for reason in reasons if reason]
    header = ["language", "sentences", "raters", *QUALITIES]
    return ReportTable("Agreement of people: Gwet's AC1 / Fleiss' kappa", header, rows, notes)


def _both(report: AgreementReport) -> str:
    shown = [report.coefficients[name] for name in ("ac1", "fleiss_kappa")]
    return " / ".join(NO_VALUE if each.reason else f"{each.value:.2f}" for each in shown)


def _tables(found: LabelDistributions) -> Iterator[ReportTable]:
    total = found.general[["questions", "sentences"]].sum()
    rows = [*_rows(found.general), ["total", *map(int, total), "", ""]]
    header = [spaced(name) for name in found.general]
    yield ReportTable("Sentences, and words on average", header, rows)
    labels = found.factuality.merge(found.relevance, on="language")
    yield ReportTable(
        "Percent of sentences by label: faithfulness, relevance", list(labels), _rows(labels)
    )
    fine = found.fine_grained.set_index("language").T
    rows = [[label, *(f"{share:.1f}" for share in shares)] for label, shares in _items(fine)]
    title = "Percent of sentences by fine-grained label of faithfulness"
    notes = [_NO_MODEL] if found.by_model.empty else []
    yield ReportTable(title, ["label", *fine.columns], rows, notes)
    if found.by_model.empty:
        return
    yield ReportTable(
        "Percent of sentences by model: "
        + "; ".join(" / ".join(labels) for labels in (FACTUALITY, RELEVANCE)),
        ["model", "sentences", "quality", *found.by_model["language"].drop_duplicates()],
        [*_model_rows(found.by_model)],
    )


def _rows(table: pd.DataFrame) -> list[list[object]]:
    return [
        [f"{cell:.1f}" if isinstance(cell, float) else cell for cell in row]
        for row in table.itertuples(index=False, name=None)
    ]


def _items(table: pd.DataFrame) -> Iterator[tuple[str, Sequence[float]]]:
    for label, row in zip(table.index, table.to_numpy(float), strict=True):
        yield str(label), row


def _model_rows(by_model: pd.DataFrame) -> Iterator[list[object]]:
    languages = list(by_model["language"].drop_duplicates())
    for model, part in by_model.groupby("model", sort=False):
        known: Mapping[str, pd.Series] = {row["language"]: row for _, row in part.iterrows()}
        for quality, labels in (("faithfulness", FACTUALITY), ("relevance", RELEVANCE)):
            cells = [
                " / ".join(f"{known[name][label]:.1f}" for label in labels)
                if name in known
                else NO_VALUE
                for name in languages
            ]
            yield [model, int(part["sentences"].sum()), quality, *cells]
