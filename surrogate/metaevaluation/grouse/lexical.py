"""Scores of grounded answers without a model: refusals, sentences, shared characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from types import MappingProxyType

from arena.text.citations import find_citations, strip_citations
from surrogate.metaevaluation.grouse.unit_tests import LIKERT, AnswerSample, JudgedMetric
from surrogate.metaevaluation.judges import LexicalJudge

_REFUSAL = re.compile(
    r"\W*(?:no (?:document|reference|passage|source)|none of the (?:document|reference|passage)s"
    r"|aucun(?:e des| des|e)? (?:document|référence|passage|source)s?"
    r"|kein(?:e|es)?(?: der)? (?:dokumente?|quellen?|textstellen?)"
    r"|ning[uú]n[oa]?(?: de los)? (?:documento|pasaje)s?"
    r"|nessuno? (?:dei )?document[oi]|nenhum (?:dos )?documentos?)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])(?<!\d\.)\s+(?=[^\s\[])")


def score_lexically(metric: JudgedMetric, sample: AnswerSample, judge: LexicalJudge) -> int | None:
    """Score an answer by the runs of characters that its sentences share with other texts."""
    return _RULES[metric](sample, judge)


def _answer_relevancy(sample: AnswerSample, judge: LexicalJudge) -> int | None:
    """Grade how many sentences are about the question or in the expected answer."""
    if refuses(sample.answer):
        return None
    wanted = f"{sample.question} {strip_citations(sample.expected)}"
    return _grade([_is_in(sentence, wanted, judge) for sentence in sentences(sample.answer)])


def _completeness(sample: AnswerSample, judge: LexicalJudge) -> int | None:
    """Grade how many sentences of the expected answer are in the answer."""
    if refuses(sample.expected):
        return None
    answer = strip_citations(sample.answer)
    return _grade([_is_in(sentence, answer, judge) for sentence in sentences(sample.expected)])


def _usefulness(sample: AnswerSample, judge: LexicalJudge) -> int | None:
    """Tell whether any sentence after the refusal is about the question."""
    added = facts_beside_refusal(sample.answer)
    if not refuses(sample.answer) or not added:
        return None
    wanted = f"{sample.question} {strip_citations(sample.expected)}"
    return int(any(_is_in(sentence, wanted, judge) for sentence in added))


def _faithfulness(sample: AnswerSample, judge: LexicalJudge) -> int | None:
    """Tell whether every sentence stands in the references that it cites."""
    stated = facts_beside_refusal(sample.answer)
    if not stated:
        return None
    return int(all(_is_cited(sentence, sample.references, judge) for sentence in stated))


_RULES: MappingProxyType[JudgedMetric, Callable[[AnswerSample, LexicalJudge], int | None]] = (
    MappingProxyType(
        {
            "answer_relevancy": _answer_relevancy,
            "completeness": _completeness,
            "usefulness": _usefulness,
            "faithfulness": _faithfulness,
        }
    )
)


def _is_cited(sentence: str, references: Sequence[str], judge: LexicalJudge) -> bool:
    by_number = {str(number): text for number, text in enumerate(references, start=1)}
    cited = [number for marker in find_citations(sentence, by_number) for number in marker.ids]
    known = " ".join(by_number.get(number, "") for number in cited)
    is_known = bool(cited) and all(number in by_number for number in cited)
    return is_known and _is_in(sentence, known, judge)


def _is_in(sentence: str, text: str, judge: LexicalJudge) -> bool:
    return judge.holds(strip_citations(sentence), text)


def refuses(answer: str) -> bool:
    """Tell whether an answer opens by saying that no document answers the question."""
    return _REFUSAL.match(answer) is not None


def sentences(text: str) -> list[str]:
    """Split a text where a sentence ends, but not after a number, as in ``14. Mai``.

    Citations after the stop stay with the sentence before them.
    """
    return [part for part in _SENTENCE_END.split(text.strip()) if part]


def facts_beside_refusal(answer: str) -> list[str]:
    """Return the sentences of an answer but for the refusal that it opens with."""
    return [sentence for sentence in sentences(answer) if not refuses(sentence)]


def _grade(holds: Sequence[bool]) -> int:
    lowest, highest = LIKERT[0], LIKERT[-1]
    share = sum(holds) / len(holds) if holds else 0.0
    return lowest + int(share * (highest - lowest))
