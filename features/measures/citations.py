"""Citations and retrieval: are relevant passages cited, and did the system's retriever find them?

Citations are read from the whole output, as the method's prompt asks for them in the reasoning.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.text.answers import strip_citations
from features.declare.feature import SENTENCES, THIS_PACKAGE, Value, cutoff, declared
from features.declare.sample import (
    EMPTY_ANSWER,
    NO_CITATION,
    NO_PASSAGES,
    NO_RELEVANCE_LABELS,
    NO_STATEMENTS,
    SHARED_PASSAGES,
    Missing,
    Sample,
    relevant_ids,
)
from features.text.tokens import words

_QUALITY = "MIRAGE-Bench, section 4.1, citation quality"
_CITED = ("answer", "passages")
_LABELED = ("answer", "passages", "relevance labels")
_RETRIEVED = ("passages", "relevance labels")


@declared(source=_QUALITY, needs=_LABELED, parameters=(cutoff(10),))
def citation_recall(sample: Sample, k: int) -> Value:
    """Share of the relevant passages among the first k passages cited."""
    return _recall(sample.citations.matched[:k], sample.question.relevant_ids)


@declared(source=f"{_QUALITY}; trec_eval map_cut", needs=_LABELED, parameters=(cutoff(10),))
def citation_map(sample: Sample, k: int) -> Value:
    """Average precision of the first k passages cited.

    Unknown ids take no rank; ``invalid_citations`` counts them. The sum of precisions is divided by
    the number of relevant passages, cited or not.
    """
    return _average_precision(sample.citations.matched[:k], sample.question.relevant_ids)


@declared(source=f"{_QUALITY}; trec_eval set_P", needs=_LABELED)
def citation_precision(sample: Sample) -> Value:
    """Share of the passages cited that are relevant.

    Without a cutoff: how many passages to cite is the system's choice. Unknown ids and unlabeled
    passages count as not relevant.
    """
    relevant = sample.question.relevant_ids
    if relevant in (NO_PASSAGES, NO_RELEVANCE_LABELS):
        return relevant
    cited = sample.citations.ranking
    if not cited:
        return NO_CITATION
    if isinstance(relevant, Missing):  # labels exist, and all of them say "not relevant"
        return 0.0
    return len(relevant.intersection(cited)) / len(cited)


@declared(source=THIS_PACKAGE, needs=_CITED)
def citations(sample: Sample) -> Value:
    """Number of distinct passages cited."""
    if not sample.question.passages:
        return NO_PASSAGES
    return float(len(sample.citations.matched))


@declared(source=THIS_PACKAGE, needs=_CITED)
def invalid_citations(sample: Sample) -> Value:
    """Number of distinct ids cited that no passage for the question has."""
    if not sample.question.passages:
        return NO_PASSAGES
    return float(len(sample.citations.unmatched))


@declared(source=THIS_PACKAGE, needs=_CITED)
def invalid_citation_share(sample: Sample) -> Value:
    """Share of the ids cited that no passage for the question has."""
    if not sample.question.passages:
        return NO_PASSAGES
    cited = sample.citations
    if not cited.ranking:
        return NO_CITATION
    return len(cited.unmatched) / len(cited.ranking)


@declared(source=THIS_PACKAGE, needs=("answer", SENTENCES, "passages"))
def cited_sentences(sample: Sample) -> Value:
    """Share of the sentences that cite a passage.

    A citation after the full stop belongs to the sentence before it.
    """
    if not sample.question.passages:
        return NO_PASSAGES
    statements = sample.statements("output")
    if not statements:
        return NO_STATEMENTS
    return sum(bool(statement.cited) for statement in statements) / len(statements)


@declared(source=THIS_PACKAGE, needs=_CITED)
def citation_density(sample: Sample) -> Value:
    """Citations of passages, repetitions included, per word."""
    if not sample.question.passages:
        return NO_PASSAGES
    if sample.parsed.output == sample.parsed.text:
        # Without a reason the answer is the whole output, and its words are at hand.
        n_words = len(sample.folded_words)
    else:
        n_words = len(words(strip_citations(sample.part("output"), sample.question.passage_ids)))
    if not n_words:
        return EMPTY_ANSWER
    return sample.citations.mentions / n_words


@declared(source=f"{THIS_PACKAGE}; trec_eval recall", needs=_RETRIEVED, parameters=(cutoff(10),))
def retrieval_recall(sample: Sample, k: int) -> Value:
    """Share of the relevant passages among the first k that the system retrieved."""
    return _recall(sample.question.passage_ids[:k], _known_relevant(sample))


@declared(source=f"{THIS_PACKAGE}; trec_eval map_cut", needs=_RETRIEVED, parameters=(cutoff(10),))
def retrieval_map(sample: Sample, k: int) -> Value:
    """Average precision of the first k passages that the system retrieved.

    Passages without a label take a rank and are not relevant.
    """
    return _average_precision(sample.question.passage_ids[:k], _known_relevant(sample))


def _recall(ranking: Sequence[str], relevant: frozenset[str] | Missing) -> Value:
    if isinstance(relevant, Missing):
        return relevant
    return len(relevant.intersection(ranking)) / len(relevant)


def _average_precision(ranking: Sequence[str], relevant: frozenset[str] | Missing) -> Value:
    if isinstance(relevant, Missing):
        return relevant
    precisions: list[float] = []
    for rank, passage_id in enumerate(ranking, start=1):
        if passage_id in relevant:
            precisions.append((len(precisions) + 1) / rank)
    return sum(precisions) / len(relevant)


def _known_relevant(sample: Sample) -> frozenset[str] | Missing:
    question = sample.question
    if question.shared is None:
        return SHARED_PASSAGES
    return relevant_ids((*question.shared, *question.passages))
