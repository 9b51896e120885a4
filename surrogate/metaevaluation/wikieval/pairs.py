"""The three qualities that WikiEval is about, and the file each has."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, Protocol, get_args

from arena.data.errors import UsageError

Criterion = Literal["faithfulness", "answer_relevance", "context_relevance"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)

FAITHFULNESS: Literal["faithfulness"] = "faithfulness"
ANSWER_RELEVANCE: Literal["answer_relevance"] = "answer_relevance"
CONTEXT_RELEVANCE: Literal["context_relevance"] = "context_relevance"

FILES = MappingProxyType[Criterion, str](
    {FAITHFULNESS: "ff.csv", ANSWER_RELEVANCE: "ar.csv", CONTEXT_RELEVANCE: "cr.csv"}
)

COMPARED = MappingProxyType[Criterion, str](
    {FAITHFULNESS: "answer", ANSWER_RELEVANCE: "answer", CONTEXT_RELEVANCE: "context"}
)
"""The column that holds the texts that are compared."""


Winner = Literal["first", "second", "tie"]

NO_SCORE = "no_score"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts of one question, in an order that does not tell which is the better one.

    Attributes:
        criterion: The quality in question.
        question: The question.
        context: What both answers are held against; None but for faithfulness.
        first: An answer; for context relevance, a context.
        second: The other one.
    """

    criterion: Criterion
    question: str
    context: str | None
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Score:
    """What a judge gives one text.

    Attributes:
        value: The higher, the better; None if there is none.
        failure: Why there is none; None if there is one.
        was_asked: False where the judge could not be reached.
    """

    value: float | None
    failure: str | None = None
    was_asked: bool = True


@dataclass(frozen=True, slots=True)
class Preference:
    """What a judge says of a pair.

    Attributes:
        winner: ``first``, ``second`` or ``tie``; None if the judge did not choose.
        failure: Why it did not; None if it did.
        was_asked: False where the judge could not be reached: the pair is left out of the
            accuracy, and counted. A judge that was asked and did not choose is wrong.
        scores: What the first and the second text were given, where texts are scored.
    """

    winner: Winner | None
    failure: str | None = None
    was_asked: bool = True
    scores: tuple[float, float] | None = None


class PairJudge(Protocol):
    """Whoever tells the better one of two texts."""

    @property
    def name(self) -> str:
        """Name in tables, such as ``gpt-score:gpt-4o-mini``."""

    @property
    def prompt(self) -> str:
        """Name of the prompt and its version, or the settings that preferences depend on."""

    def judge(self, pairs: Sequence[Pair]) -> Sequence[Preference]:
        """Return a preference for each pair, in their order."""


ScoreFunction = Callable[[str, str, str | None, str], float | None]
"""From criterion, question, context and text to a score, or None where there is none."""


@dataclass(frozen=True)
class FunctionJudge:
    """Any function as a judge: the text with the higher score is preferred.

    Attributes:
        name: Its name in tables.
        function: From criterion, question, context (None but for faithfulness) and text to a
            score, or None where there is none.
        prompt: What the function's scores depend on, if anything.
    """

    name: str
    function: ScoreFunction
    prompt: str = ""

    def judge(self, pairs: Sequence[Pair]) -> list[Preference]:
        """Ask the function about both texts of each pair.

        Raises:
            UsageError: If it returns anything else than a finite number or None.
        """
        return [
            higher(self._score(pair, pair.first), self._score(pair, pair.second)) for pair in pairs
        ]

    def _score(self, pair: Pair, text: str) -> Score:
        value = self.function(pair.criterion, pair.question, pair.context, text)
        if value is None:
            return Score(None, NO_SCORE)
        if not isinstance(value, int | float) or not math.isfinite(value):
            raise UsageError(
                f"the judge {self.name} returned {value!r}; return a finite number, "
                "or None where there is no score"
            )
        return Score(float(value))


def higher(first: Score, second: Score) -> Preference:
    """Prefer the text with the higher score; there is no preference where a score is missing."""
    if first.value is None or second.value is None:
        failure = first.failure or second.failure or NO_SCORE
        return Preference(None, failure, first.was_asked and second.was_asked)
    scores = (first.value, second.value)
    if first.value == second.value:
        return Preference("tie", scores=scores)
    return Preference("first" if first.value > second.value else "second", scores=scores)
