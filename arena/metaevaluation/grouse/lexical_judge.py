"""A baseline without any model: runs of characters that answer and references share.

It compares with the expected answer, and finds a refusal by its opening words, so it knows refusals
in a few languages only. Its settings are those of MEMERAG's baseline, not tuned. It is here to be
beaten.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from arena.citations import find_citations, strip_citations
from arena.errors import UsageError
from arena.metaevaluation.grouse.metrics import LIKERT, JudgedMetric, Mark
from arena.metaevaluation.grouse.unit_tests import GroundedAnswer
from arena.metaevaluation.memerag.lexical_judge import RUN, THRESHOLD, character_runs

_REFUSAL = re.compile(
    r"\W*(?:no (?:document|reference|passage|source)|none of the (?:document|reference|passage)s"
    r"|aucun(?:e des| des|e)? (?:document|référence|passage|source)s?"
    r"|kein(?:e|es)?(?: der)? (?:dokumente?|quellen?|textstellen?)"
    r"|ning[uú]n[oa]?(?: de los)? (?:documento|pasaje)s?"
    r"|nessuno? (?:dei )?document[oi]|nenhum (?:dos )?documentos?)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])(?<!\d\.)\s+(?=[^\s\[])")


@dataclass(frozen=True)
class LexicalJudge:
    """Marks answers by the runs of characters that they share with other texts.

    Attributes:
        threshold: Share of a sentence's runs from which on another text holds the sentence.
        length: Characters of a run.
    """

    threshold: float = THRESHOLD
    length: int = RUN

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1 or self.length < 1:
            raise UsageError("give a threshold from 0 to 1 and a length of 1 or more")

    @property
    def name(self) -> str:
        """``lexical``."""
        return "lexical"

    @property
    def prompt(self) -> str:
        """The settings."""
        return f"characters:{self.length}|threshold:{self.threshold}"

    def mark(self, metric: JudgedMetric, answers: Sequence[GroundedAnswer]) -> list[Mark]:
        """Mark each answer by itself."""
        rule = {
            "answer_relevancy": self._answer_relevancy,
            "completeness": self._completeness,
            "usefulness": self._usefulness,
            "faithfulness": self._faithfulness,
        }[metric]
        return [Mark(rule(each)) for each in answers]

    def _answer_relevancy(self, sample: GroundedAnswer) -> int | None:
        """Grade how many sentences are about the question or in the expected answer."""
        if refuses(sample.answer):
            return None
        wanted = f"{sample.question} {strip_citations(sample.expected)}"
        return _grade([self._is_in(each, wanted) for each in sentences(sample.answer)])

    def _completeness(self, sample: GroundedAnswer) -> int | None:
        """Grade how many sentences of the expected answer are in the answer."""
        if refuses(sample.expected):
            return None
        answer = strip_citations(sample.answer)
        return _grade([self._is_in(each, answer) for each in sentences(sample.expected)])

    def _usefulness(self, sample: GroundedAnswer) -> int | None:
        """Tell whether any sentence after the refusal is about the question."""
        added = information(sample.answer)
        if not refuses(sample.answer) or not added:
            return None
        wanted = f"{sample.question} {strip_citations(sample.expected)}"
        return int(any(self._is_in(each, wanted) for each in added))

    def _faithfulness(self, sample: GroundedAnswer) -> int | None:
        """Tell whether every sentence stands in the references that it cites."""
        stated = information(sample.answer)
        if not stated:
            return None
        return int(all(self._is_cited(each, sample.references) for each in stated))

    def _is_cited(self, sentence: str, references: Sequence[str]) -> bool:
        by_number = {str(number): text for number, text in enumerate(references, start=1)}
        cited = [each for marker in find_citations(sentence, by_number) for each in marker.ids]
        known = " ".join(by_number.get(each, "") for each in cited)
        is_known = bool(cited) and all(each in by_number for each in cited)
        return is_known and self._is_in(sentence, known)

    def _is_in(self, sentence: str, text: str) -> bool:
        runs = character_runs(strip_citations(sentence), self.length)
        held = set(character_runs(text, self.length))
        return sum(run in held for run in runs) / len(runs) >= self.threshold


def refuses(answer: str) -> bool:
    """Tell whether an answer opens by saying that no document answers the question."""
    return _REFUSAL.match(answer) is not None


def sentences(text: str) -> list[str]:
    """Split a text where a sentence ends, but not after a number, as in ``14. Mai``.

    Citations after the stop stay with the sentence before them.
    """
    return [part for part in _SENTENCE_END.split(text.strip()) if part]


def information(answer: str) -> list[str]:
    """Return the sentences of an answer but for the refusal that it opens with."""
    return [each for each in sentences(answer) if not refuses(each)]


def _grade(found: Sequence[bool]) -> int:
    lowest, highest = LIKERT[0], LIKERT[-1]
    share = sum(found) / len(found) if found else 0.0
    return lowest + int(share * (highest - lowest))
