"""Does a passage support each statement of an answer, and is it the one cited?

The support of a statement by a passage is the share of the statement's distinct words that the
passage holds, each weighted by its inverse document frequency (``PassageIndex.weight``). The
statements are those of the answer part. Every feature that cuts statements may raise
``MissingDependencyError`` for Thai; see ``features.text.sentences.split_sentences``.
"""

from __future__ import annotations

from dataclasses import dataclass

from features.declare.feature import SENTENCES, Value, declared
from features.declare.sample import (
    EMPTY_ANSWER,
    EMPTY_PASSAGES,
    NO_CITED_PASSAGES,
    NO_PASSAGES,
    NO_STATEMENTS,
    Missing,
    Sample,
)
from features.measures.grounding import (
    CITED_OR_ALL,
    NO_EVIDENCE,
    Passages,
    distinct,
    passage_index,
    with_words,
)
from features.text.passage_index import members
from features.text.statements import Statement
from features.text.tokens import folded_words

_OWN = "surrogate-arena"
_NEEDS = ("answer", SENTENCES, "passages")
_MISSING = (*NO_EVIDENCE, EMPTY_ANSWER, NO_STATEMENTS)


@dataclass(frozen=True)
class Support:
    """How well passages support a statement.

    Attributes:
        best: Support by the passage that supports it best, 0..1.
        cited: Support by the best of the passages it cites; None if it cites none with words.
        rank: Rank of that cited passage among all by support, 1 the best, equals sharing the
            better rank; None where no cited passage shares a word with it.
    """

    best: float
    cited: float | None
    rank: int | None


@declared(_OWN, _NEEDS, _MISSING, CITED_OR_ALL)
def statement_support(sample: Sample, passages: Passages) -> Value:
    """Mean over statements of the share of words that the best passage cited there holds.

    By default its best cited passage, and statements that cite none are left out: how many those
    are is what ``cited_sentences`` says.
    """
    values = _values(sample, passages)
    return values if isinstance(values, Missing) else sum(values) / len(values)


@declared(_OWN, _NEEDS, _MISSING, CITED_OR_ALL)
def weakest_statement(sample: Sample, passages: Passages) -> Value:
    """Support of the statement that is supported least."""
    values = _values(sample, passages)
    return values if isinstance(values, Missing) else min(values)


@declared(_OWN, _NEEDS, _MISSING)
def best_passage_cited(sample: Sample) -> Value:
    """Share of the citing statements that cite the passage closest to them.

    A passage that ties with the best is as good; one that shares no word with the statement is
    never the best.
    """
    ranks = _ranks(sample)
    return ranks if isinstance(ranks, Missing) else sum(rank == 1 for rank in ranks) / len(ranks)


@declared(_OWN, _NEEDS, _MISSING)
def cited_passage_rank(sample: Sample) -> Value:
    """Mean reciprocal rank of the cited passage among all by closeness to the statement.

    Of several cited passages the best counts; one that shares no word with the statement has no
    rank, and 0 for its reciprocal.
    """
    ranks = _ranks(sample)
    if isinstance(ranks, Missing):
        return ranks
    return sum(1 / rank for rank in ranks if rank is not None) / len(ranks)


def _values(sample: Sample, passages: Passages) -> list[float] | Missing:
    by_statement = supports(sample)
    if isinstance(by_statement, Missing):
        return by_statement
    if passages == "all":
        return [support.best for support in by_statement]
    return [support.cited for support in by_statement if support.cited is not None] or _uncited(
        sample
    )


def _ranks(sample: Sample) -> list[int | None] | Missing:
    by_statement = supports(sample)
    if isinstance(by_statement, Missing):
        return by_statement
    return [support.rank for support in by_statement if support.cited is not None] or _uncited(
        sample
    )


def supports(sample: Sample) -> tuple[Support, ...] | Missing:
    """Return the support of each statement of the answer, or why there is none."""
    question = sample.question
    if not question.passages:
        return NO_PASSAGES
    return sample.memo.get(
        ("supports", question.key, sample.part("answer")),
        lambda: _supports(sample),
    )


def _supports(sample: Sample) -> tuple[Support, ...] | Missing:
    if not passage_index(sample).with_words:
        return EMPTY_PASSAGES
    supported = tuple(_support(sample, statement) for statement in sample.statements("answer"))
    absent = NO_STATEMENTS if sample.folded_words else EMPTY_ANSWER
    return tuple(support for support in supported if support is not None) or absent


def _support(sample: Sample, statement: Statement) -> Support | None:
    weights, total = passage_index(sample).passage_weights(distinct(folded_words(statement.text)))
    if not total:
        return None
    best = max(weights.values(), default=0.0)
    cited = with_words(sample, statement.cited)
    if not cited:
        return Support(best / total, None, None)
    reached = max(weights.get(passage, 0.0) for passage in members(cited))
    rank = 1 + sum(weight > reached for weight in weights.values()) if reached else None
    return Support(best / total, reached / total, rank)


def _uncited(sample: Sample) -> Missing:
    cites = any(statement.cited for statement in sample.statements("answer"))
    return EMPTY_PASSAGES if cites else NO_CITED_PASSAGES
