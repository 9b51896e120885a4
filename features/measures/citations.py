"""Citations and retrieval: are relevant passages cited, and did the system's retriever find them?

Citations are read from the whole output, in order, as the method's prompt asks for them in the
reasoning; ``part=answer`` reads those after ``##Answer:`` only. Retrieval is measured where systems
have passages of their own; where all are given those of the question, nothing tells them apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from arena.text.citations import strip_citations
from features.declare.feature import SENTENCES, Feature, Value, choice, cutoff
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


def citation_recall(sample: Sample, k: int, part: Part) -> Value:
    """Return the share of relevant passages among the first k distinct passages cited."""
    relevant = sample.question.relevant_ids
    if isinstance(relevant, Missing):
        return relevant
    return len(relevant.intersection(sample.citations(part).known[:k])) / len(relevant)


def citation_map(sample: Sample, k: int, part: Part) -> Value:
    """Return the average precision at k of the distinct citations, as trec_eval's map_cut.

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


def citation_precision(sample: Sample, part: Part) -> Value:
    """Return the share of the distinct citations that are relevant, as trec_eval's set_P.

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


def distinct_citations(sample: Sample, part: Part) -> Value:
    """Return the number of distinct passages cited."""
    return float(len(sample.citations(part).known)) if sample.question.passages else NO_PASSAGES


def invalid_citations(sample: Sample, part: Part) -> Value:
    """Return the number of distinct ids cited that no passage has."""
    return float(len(sample.citations(part).unknown)) if sample.question.passages else NO_PASSAGES


def invalid_citation_share(sample: Sample, part: Part) -> Value:
    """Return the share of the distinct ids cited that no passage has."""
    if not sample.question.passages:
        return NO_PASSAGES
    cited = sample.citations(part)
    return len(cited.unknown) / len(cited.ranking) if cited.ranking else NO_CITATION


def cited_sentences(sample: Sample, part: Part) -> Value:
    """Return the share of sentences that cite a passage of the query.

    A citation after the full stop belongs to the sentence before it; see
    ``features.text.statements``.
    """
    if not sample.question.passages:
        return NO_PASSAGES
    statements = sample.statements(part)
    if not statements:
        return NO_STATEMENTS
    return sum(bool(statement.cited) for statement in statements) / len(statements)


def citation_density(sample: Sample, part: Part) -> Value:
    """Return citations of passages, repetitions included, per word."""
    if not sample.question.passages:
        return NO_PASSAGES
    length = len(words(strip_citations(sample.part(part), sample.question.passage_ids)))
    return sample.citations(part).mentions / length if length else EMPTY_ANSWER


def retrieval_recall(sample: Sample, k: int) -> Value:
    """Return the share of all relevant passages among the first k that the system was given."""
    relevant = _known_relevant(sample)
    if isinstance(relevant, Missing):
        return relevant
    return len(relevant.intersection(sample.question.passage_ids[:k])) / len(relevant)


def retrieval_map(sample: Sample, k: int) -> Value:
    """Return the average precision at k of the passages that the system was given.

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


_QUALITY = "MIRAGE-Bench, section 4.1, citation quality"
_UNJUDGED = (NO_PASSAGES, NO_RELEVANCE_LABELS, NO_RELEVANT_PASSAGE)

CITATION_RECALL = Feature(
    name="citation_recall",
    summary="Share of the relevant passages among the first k passages cited",
    source=_QUALITY,
    needs=("answer", "passages", "relevance labels"),
    measurement=citation_recall,
    parameters=(cutoff(10), _PART),
    missing=_UNJUDGED,
)
CITATION_MAP = Feature(
    name="citation_map",
    summary="Average precision of the first k passages cited",
    source=f"{_QUALITY}; trec_eval map_cut",
    needs=("answer", "passages", "relevance labels"),
    measurement=citation_map,
    parameters=(cutoff(10), _PART),
    missing=_UNJUDGED,
)
CITATION_PRECISION = Feature(
    name="citation_precision",
    summary="Share of the passages cited that are relevant",
    source=f"{_QUALITY}; trec_eval set_P",
    needs=("answer", "passages", "relevance labels"),
    measurement=citation_precision,
    parameters=(_PART,),
    missing=(NO_PASSAGES, NO_RELEVANCE_LABELS, NO_CITATION),
)
RETRIEVAL_RECALL = Feature(
    name="retrieval_recall",
    summary="Share of the relevant passages among the first k that the system retrieved",
    source="surrogate-arena; trec_eval recall",
    needs=("passages", "relevance labels"),
    measurement=retrieval_recall,
    parameters=(cutoff(10),),
    missing=(SHARED_PASSAGES, *_UNJUDGED),
)
RETRIEVAL_MAP = Feature(
    name="retrieval_map",
    summary="Average precision of the first k passages that the system retrieved",
    source="surrogate-arena; trec_eval map_cut",
    needs=("passages", "relevance labels"),
    measurement=retrieval_map,
    parameters=(cutoff(10),),
    missing=(SHARED_PASSAGES, *_UNJUDGED),
)
CITATIONS = Feature(
    name="citations",
    summary="Number of distinct passages cited",
    source="surrogate-arena",
    needs=("answer", "passages"),
    measurement=distinct_citations,
    parameters=(_PART,),
    missing=(NO_PASSAGES,),
)
INVALID_CITATIONS = Feature(
    name="invalid_citations",
    summary="Number of distinct ids cited that no passage of the query has",
    source="surrogate-arena",
    needs=("answer", "passages"),
    measurement=invalid_citations,
    parameters=(_PART,),
    missing=(NO_PASSAGES,),
)
INVALID_CITATION_SHARE = Feature(
    name="invalid_citation_share",
    summary="Share of the ids cited that no passage of the query has",
    source="surrogate-arena",
    needs=("answer", "passages"),
    measurement=invalid_citation_share,
    parameters=(_PART,),
    missing=(NO_PASSAGES, NO_CITATION),
)
CITED_SENTENCES = Feature(
    name="cited_sentences",
    summary="Share of the sentences that cite a passage",
    source="surrogate-arena",
    needs=("answer", SENTENCES, "passages"),
    measurement=cited_sentences,
    parameters=(_PART,),
    missing=(NO_PASSAGES, NO_STATEMENTS),
)
CITATION_DENSITY = Feature(
    name="citation_density",
    summary="Citations of passages, repetitions included, per word",
    source="surrogate-arena",
    needs=("answer", "passages"),
    measurement=citation_density,
    parameters=(_PART,),
    missing=(NO_PASSAGES, EMPTY_ANSWER),
)
