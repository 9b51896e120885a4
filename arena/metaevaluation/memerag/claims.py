"""What a judge of faithfulness sees, what it says, and what a judge is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import pandas as pd

from arena.errors import UsageError
from arena.metaevaluation.memerag.labels import JUDGED, canonical_label


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence to judge, without its human labels.

    Attributes:
        language: Language code of question and answer.
        question: The question.
        passages: The passages that the answer was written from.
        answer: The whole answer.
        sentence: The sentence of it that is to be judged.
    """

    language: str
    question: str
    passages: tuple[str, ...]
    answer: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of a claim.

    Attributes:
        label: ``Supported`` or ``Not Supported``; None if the judge gave none.
        failure: Why there is no label; None if there is one.
        was_asked: False where the judge could not be reached: the sentence is left out of the
            scores, and counted. A judge that was asked and gave no label is wrong.
    """

    label: str | None
    failure: str | None = None
    was_asked: bool = True


class Judge(Protocol):
    """Whoever tells supported sentences from others."""

    @property
    def name(self) -> str:
        """Name in tables, such as ``llm:gpt-4o-mini``."""

    @property
    def prompt(self) -> str:
        """Name of the prompt and its version, or the settings that verdicts depend on."""

    def judge(self, claims: Sequence[Claim]) -> Sequence[Verdict]:
        """Return a verdict for each claim, in their order."""


JudgeFunction = Callable[[str, Sequence[str], str, str], str | None]
"""From question, passages, answer and sentence to a label, or None where there is none."""


@dataclass(frozen=True)
class FunctionJudge:
    """Any function as a judge.

    Attributes:
        name: Its name in tables.
        function: From question, passages, answer and sentence to ``Supported``, ``Not Supported``
            or None.
        prompt: What the function's verdicts depend on, if anything.
    """

    name: str
    function: JudgeFunction
    prompt: str = ""

    def judge(self, claims: Sequence[Claim]) -> list[Verdict]:
        """Ask the function about each claim.

        Raises:
            UsageError: If it returns anything else than the two labels or None.
        """
        return [
            self._verdict(self.function(each.question, each.passages, each.answer, each.sentence))
            for each in claims
        ]

    def _verdict(self, said: object) -> Verdict:
        if said is None:
            return Verdict(None, "no_label")
        label = canonical_label("factuality", said) if isinstance(said, str) else None
        if label not in JUDGED:
            raise UsageError(
                f"the judge {self.name} returned {said!r}; return {' or '.join(JUDGED)}, "
                "or None where there is no verdict"
            )
        return Verdict(label)


def claims_of(sentences: pd.DataFrame) -> list[Claim]:
    """Return the claims of a table of sentences, as ``read_memerag`` gives it, in its order."""
    columns = ["language", "query", "passages", "answer", "sentence"]
    return [Claim(*row) for row in sentences[columns].itertuples(index=False, name=None)]
