"""Does the answer cite the passages it should, and only such as exist?

Citations are read from the whole output, in order, as the method's prompt asks for them in the
reasoning; ``part=answer`` reads those after ``##Answer:`` only.
"""

from __future__ import annotations

from arena.citations import strip_citations
from features.feature import Feature, Value, choice, cutoff
from features.missing import (
    EMPTY_ANSWER,
    NO_PASSAGES,
    NO_RELEVANCE_LABELS,
    NO_RELEVANT_PASSAGE,
    Missing,
)
from features.sample import Part, Sample
from features.tokens import words

_PART = choice("part", "output", "answer")


def citation_recall(sample: Sample, k: int, part: Part) -> Value:
    """Return the share of relevant passages among the first k distinct citations."""
    relevant = sample.question.relevant_ids
    if isinstance(relevant, Missing):
        return relevant
    return len(relevant.intersection(sample.citations(part).ranking[:k])) / len(relevant)


def citation_map(sample: Sample, k: int, part: Part) -> Value:
    """Return the average precision at k of the distinct citations, as trec_eval's map_cut.

    An id that no passage has takes a rank and is not relevant; the sum of precisions is divided
    by the number of relevant passages, cited or not.
    """
    relevant = sample.question.relevant_ids
    if isinstance(relevant, Missing):
        return relevant
    precisions: list[float] = []
    for rank, cited in enumerate(sample.citations(part).ranking[:k], start=1):
        if cited in relevant:
            precisions.append((len(precisions) + 1) / rank)
    return sum(precisions) / len(relevant)


def citations(sample: Sample, part: Part) -> Value:
    """Return the number of distinct passages cited."""
    return float(len(sample.citations(part).known)) if sample.question.passages else NO_PASSAGES


def invalid_citations(sample: Sample, part: Part) -> Value:
    """Return the number of distinct ids cited that no passage has."""
    return float(len(sample.citations(part).unknown)) if sample.question.passages else NO_PASSAGES


def citation_density(sample: Sample, part: Part) -> Value:
    """Return citations of passages, repetitions included, per word."""
    if not sample.question.passages:
        return NO_PASSAGES
    length = len(words(strip_citations(sample.part(part), sample.question.passage_ids)))
    return sample.citations(part).mentions / length if length else EMPTY_ANSWER


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
CITATIONS = Feature(
    name="citations",
    summary="Number of distinct passages cited",
    source="surrogate-arena",
    needs=("answer", "passages"),
    measurement=citations,
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
CITATION_DENSITY = Feature(
    name="citation_density",
    summary="Citations of passages, repetitions included, per word",
    source="surrogate-arena",
    needs=("answer", "passages"),
    measurement=citation_density,
    parameters=(_PART,),
    missing=(NO_PASSAGES, EMPTY_ANSWER),
)
