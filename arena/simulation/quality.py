"""The quality of a simulated answer, and the true quality of a system: its expectation.

The utility of an answer is 1 less a weighted sum of its errors. With K facts to state, S the
facts stated, M and W those of them without and with a wrong citation, and L, U and T telling
(1 or 0) whether the answer is in a wrong language, has an unsupported addition and is truncated::

    utility = 1 - 0.35 L - 0.35 (K - S)/K - 0.10 M/K - 0.20 W/K - 0.15 U - 0.15 T

It lies between 0 and 1. Truncation cuts the last fact stated and takes away its citation; that
fact counts as stated, and neither in M nor in W.

All draws are independent, so the expectation follows from the rates. With the rates l, o, m, w,
u and t of the six errors, S is binomial with mean K (1 - o) and is 0 with probability o^K::

    E[M]/K = m c,  E[W]/K = w c,  c = (1 - o) - t (1 - o^K)/K
    E[utility] = 1 - 0.35 l - 0.35 o - (0.10 m + 0.20 w) c - 0.15 u - 0.15 t
"""

from __future__ import annotations

from dataclasses import dataclass

from arena.simulation.drafts import Draft
from arena.simulation.factbook import FACTS_PER_ENTITY
from arena.simulation.questions import Question
from arena.simulation.systems import ErrorRates

WRONG_LANGUAGE_WEIGHT = 0.35
OMISSION_WEIGHT = 0.35
MISSING_CITATION_WEIGHT = 0.10
WRONG_CITATION_WEIGHT = 0.20
UNSUPPORTED_ADDITION_WEIGHT = 0.15
TRUNCATION_WEIGHT = 0.15


@dataclass(frozen=True)
class ErrorCounts:
    """The errors of one answer.

    Attributes:
        wrong_language: 1 if it is written in another language.
        missing_citation: Facts stated without a citation.
        wrong_citation: Facts stated with a wrong citation.
        unsupported_addition: Sentences that no passage supports.
        omission: Facts left out.
        truncation: 1 if it ends in the middle of a sentence.
    """

    wrong_language: int
    missing_citation: int
    wrong_citation: int
    unsupported_addition: int
    omission: int
    truncation: int


def count_errors(draft: Draft, question: Question) -> ErrorCounts:
    """Count the errors of an answer."""
    intact = draft.citations if draft.cut is None else draft.citations[:-1]
    return ErrorCounts(
        wrong_language=int(draft.language != question.language),
        missing_citation=sum(citation is None for citation in intact),
        wrong_citation=sum(
            citation is not None and citation not in question.supports for citation in intact
        ),
        unsupported_addition=int(draft.addition is not None),
        omission=FACTS_PER_ENTITY - len(draft.facts),
        truncation=int(draft.cut is not None),
    )


def utility(errors: ErrorCounts) -> float:
    """Return the utility of an answer, from 0 to 1; see the module for the formula."""
    of_facts = (
        OMISSION_WEIGHT * errors.omission
        + MISSING_CITATION_WEIGHT * errors.missing_citation
        + WRONG_CITATION_WEIGHT * errors.wrong_citation
    )
    of_answer = (
        WRONG_LANGUAGE_WEIGHT * errors.wrong_language
        + UNSUPPORTED_ADDITION_WEIGHT * errors.unsupported_addition
        + TRUNCATION_WEIGHT * errors.truncation
    )
    return 1.0 - of_facts / FACTS_PER_ENTITY - of_answer


def expected_utility(rates: ErrorRates) -> float:
    """Return the true quality of a system with these rates; see the module for the formula."""
    any_stated = 1.0 - rates.omission**FACTS_PER_ENTITY
    cited_share = (1.0 - rates.omission) - rates.truncation * any_stated / FACTS_PER_ENTITY
    of_citations = (
        MISSING_CITATION_WEIGHT * rates.missing_citation
        + WRONG_CITATION_WEIGHT * rates.wrong_citation
    )
    return (
        1.0
        - WRONG_LANGUAGE_WEIGHT * rates.wrong_language
        - OMISSION_WEIGHT * rates.omission
        - of_citations * cited_share
        - UNSUPPORTED_ADDITION_WEIGHT * rates.unsupported_addition
        - TRUNCATION_WEIGHT * rates.truncation
    )
