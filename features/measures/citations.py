"""Citations and retrieval: are relevant passages cited, and did the system's retriever find them?

Citations are read from the whole output, in order, as the method's prompt asks for them in the
reasoning; ``part=answer`` reads those after ``##Answer:`` only. Retrieval is measured where systems
have passages of their own; where all are given those of the question, nothing tells them apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.text.citations import strip_citations
from features.declare.feature import SENTENCES, Value, choice, cutoff, declared
from features.declare.sample import (
    EMPTY_ANSWER,
    NO_CITATION,
    NO_PASSAGES,
    NO_RELEVANCE_LABELS,
    NO_RELEVANT_PASSAGE,
    NO_STATEMENTS,
    SHARED_PASSAGES,
    Missing,
    Part,
    Sample,
    relevant_ids,
)
from features.text.tokens import words

_PART = choice("part", "output", "answer")


_QUALITY = "MIRAGE-Bench, section 4.1, citation quality"
_OWN = "surrogate-arena"
_CITED = ("answer", "passages")
_LABELED = (*_CITED, "relevance labels")
_RETRIEVED = ("passages", "relevance labels")
_UNJUDGED = (NO_PASSAGES, NO_RELEVANCE_LABELS, NO_RELEVANT_PASSAGE)
_UNRETRIEVED = (SHARED_PASSAGES, *_UNJUDGED)


@declared(_QUALITY, _LABELED, _UNJUDGED, cutoff(10), _PART)
def citation_recall(sample: Sample, k: int, part: Part) -> Value:
    """Share of the relevant passages among the first k passages cited."""
    relevant = sample.question.relevant_ids
    if isinstance(relevant, Missing):
        return relevant
    return len(relevant.intersection(sample.citations(part).known[:k])) / len(relevant)


@declared(
    f"{_QUALITY}; trec_eval map_cut",
    _LABELED,
    _UNJUDGED,
    cutoff(10),
    _PART,
)
def citation_map(sample: Sample, k: int, part: Part) -> Value:
    """Average precision of the first k passages cited.

    Ids that no passage has take no rank: the method ranks the passages cited, and
    ``invalid_citations`` counts the others. The sum of precisions is divided by the number of
    relevant passages, cited or not.
    """
    relevant = sample.question.relevant_ids
    if isinstance(relevant, Missing):
        return relevant
    return _average_precision(sample.citations(part).known[:k], relevant)


def _average_precision(ranking: Sequence[str], relevant: frozenset[str]) -> float:
    precisions: list[float] = []
    for rank, passage_id in enumerate(ranking, start=1):
        if passage_id in relevant:
            precisions.append((len(precisions) + 1) / rank)
    return sum(precisions) / len(relevant)


@declared(
    f"{_QUALITY}; trec_eval set_P",
    _LABELED,
    (NO_PASSAGES, NO_RELEVANCE_LABELS, NO_CITATION),
    _PART,
)
def citation_precision(sample: Sample, part: Part) -> Value:
    """Share of the passages cited that are relevant.

    Not cut off at a rank: how many passages to cite is the system's choice. Citations of unknown
    ids and of passages without a label count as not relevant, as does every citation where no
    passage is relevant.
    """
    relevant = sample.question.relevant_ids
    if relevant in (NO_PASSAGES, NO_RELEVANCE_LABELS):
        return relevant
    cited = sample.citations(part).ranking
    if not cited:
        return NO_CITATION
    return 0.0 if isinstance(relevant, Missing) else len(relevant.intersection(cited)) / len(cited)


@declared(_OWN, _CITED, (NO_PASSAGES,), _PART)
def citations(sample: Sample, part: Part) -> Value:
    """Number of distinct passages cited."""
    return float(len(sample.citations(part).known)) if sample.question.passages else NO_PASSAGES


@declared(_OWN, _CITED, (NO_PASSAGES,), _PART)
def invalid_citations(sample: Sample, part: Part) -> Value:
    """Number of distinct ids cited that no passage of the query has."""
    return float(len(sample.citations(part).unknown)) if sample.question.passages else NO_PASSAGES


@declared(_OWN, _CITED, (NO_PASSAGES, NO_CITATION), _PART)
def invalid_citation_share(sample: Sample, part: Part) -> Value:
    """Share of the ids cited that no passage of the query has."""
    if not sample.question.passages:
        return NO_PASSAGES
    cited = sample.citations(part)
    return len(cited.unknown) / len(cited.ranking) if cited.ranking else NO_CITATION


@declared(_OWN, ("answer", SENTENCES, "passages"), (NO_PASSAGES, NO_STATEMENTS), _PART)
def cited_sentences(sample: Sample, part: Part) -> Value:
    """Share of the sentences that cite a passage.

    A citation after the full stop belongs to the sentence before it; see
    ``features.text.statements``.
    """
    if not sample.question.passages:
        return NO_PASSAGES
    statements = sample.statements(part)
    if not statements:
        return NO_STATEMENTS
    return sum(bool(statement.cited) for statement in statements) / len(statements)


@declared(_OWN, _CITED, (NO_PASSAGES, EMPTY_ANSWER), _PART)
def citation_density(sample: Sample, part: Part) -> Value:
    """Citations of passages, repetitions included, per word."""
    if not sample.question.passages:
        return NO_PASSAGES
    length = len(words(strip_citations(sample.part(part), sample.question.passage_ids)))
    return sample.citations(part).mentions / length if length else EMPTY_ANSWER


@declared(
    "surrogate-arena; trec_eval recall",
    _RETRIEVED,
    _UNRETRIEVED,
    cutoff(10),
)
def retrieval_recall(sample: Sample, k: int) -> Value:
    """Share of the relevant passages among the first k that the system retrieved."""
    relevant = _known_relevant(sample)
    if isinstance(relevant, Missing):
        return relevant
    return len(relevant.intersection(sample.question.passage_ids[:k])) / len(relevant)


@declared(
    "surrogate-arena; trec_eval map_cut",
    _RETRIEVED,
    _UNRETRIEVED,
    cutoff(10),
)
def retrieval_map(sample: Sample, k: int) -> Value:
    """Average precision of the first k passages that the system retrieved.

    Passages without a label take a rank and are not relevant.
    """
    relevant = _known_relevant(sample)
    if isinstance(relevant, Missing):
        return relevant
    return _average_precision(sample.question.passage_ids[:k], relevant)


def _known_relevant(sample: Sample) -> frozenset[str] | Missing:
    """Ids of the passages labeled relevant, among the question's and the system's own."""
    question = sample.question
    if question.shared is None:
        return SHARED_PASSAGES
    return relevant_ids((*question.shared, *question.passages))
