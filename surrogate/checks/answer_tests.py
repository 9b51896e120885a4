"""What is tested of two systems' answers, and how a difference is worded."""

from __future__ import annotations

from typing import NamedTuple


class FaultTest(NamedTuple):
    """How a fault of answers is tested, and worded.

    Attributes:
        singular: What one answer does, as a clause.
        plural: What several do.
        skipped: Why it could not be told.
        least: Share of the candidate's answers that raises an alarm; 0 for any significant one.
        unclear: Column of ``measure_faults`` that is 1 for an answer that may have the fault, even
            where it is counted as without; empty where there is none.
        unclear_reason: Why that cannot be told.
    """

    singular: str
    plural: str
    skipped: str
    least: float = 0.0
    unclear: str = ""
    unclear_reason: str = ""


NO_PASSAGES = "questions and answers have no passages"
FAULT_TESTS = {
    "empty": FaultTest("is empty", "are empty", "there is no answer"),
    "cut": FaultTest(
        "ends in mid-sentence",
        "end in mid-sentence",
        "the script does not mark the ends of sentences",
        unclear="open end",
        unclear_reason="they are phrases without a full stop",
    ),
    "other language": FaultTest(
        "is in another language",
        "are in another language",
        "answers are too short to tell, or the language is not known",
    ),
    "dead citation": FaultTest(
        "cites a passage that is not there", "cite a passage that is not there", NO_PASSAGES
    ),
    "repetition": FaultTest("repeats itself", "repeat themselves", "there is no answer"),
    # Honest systems differ in these: only one that does nothing else is broken.
    "misplaced": FaultTest(
        "is on another question",
        "are on other questions",
        "answers are too short, or there is one question",
        least=0.7,
    ),
    "refusal": FaultTest(
        "refuses to answer",
        "refuse to answer",
        "refusals in the language are not known",
        least=0.9,
    ),
    "stock": FaultTest(
        "is one and the same text",
        "are one and the same text",
        "there is no answer",
        least=0.9,
    ),
}
"""Faults by the name of their column in ``measure_faults``."""


class AmountTest(NamedTuple):
    """How an amount is worded where two systems differ in it."""

    more: str
    less: str
    average: str
    form: str
    unit: str
    skipped: str


AMOUNT_TESTS = {
    "length": AmountTest(
        "are longer", "are shorter", "median", "{:,.0f}", " words", "there is no answer"
    ),
    "cited": AmountTest(
        "have more citations", "have fewer citations", "mean", "{:.1f}", "", NO_PASSAGES
    ),
    "support": AmountTest(
        "are closer to the passages",
        "are further from the passages",
        "mean",
        "{:.0%}",
        " of the content in them",
        NO_PASSAGES,
    ),
}
