"""From answers to yes-or-no questions to a label of faithfulness (MEMERAG, appendix A, figure 3).

The labels, their two levels and the reason for a flow chart are the paper's; its figure is a
picture, so the wording and the order of the questions here are this project's. The order is that
of the grounds a sentence can be refuted on: what the passages deny comes before what they do not
mention.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from arena.errors import UsageError
from arena.metaevaluation.memerag.labels import (
    CHALLENGING,
    COARSE_OF_FINE,
    NOT_SUPPORTED,
    SUPPORTED,
)


@dataclass(frozen=True)
class Question:
    """A step of the flow chart.

    Attributes:
        name: Its name, as a column of a sheet.
        text: What the annotator is asked about a sentence and its passages.
        yes: The next question's name, or the label, if the answer is yes.
        no: The same if it is no.
    """

    name: str
    text: str
    yes: str
    no: str


@dataclass(frozen=True)
class Annotation:
    """The label that answers lead to.

    Attributes:
        factuality: ``Supported``, ``Not Supported`` or ``Challenging to determine``.
        fine_grained_factuality: The reason; None if challenging to determine.
    """

    factuality: str
    fine_grained_factuality: str | None


_STEPS = (
    Question(
        "can_be_determined",
        "Can you tell from the passages, without knowledge of your own, whether they support the "
        "sentence?",
        yes="all_supported",
        no=CHALLENGING,
    ),
    Question(
        "all_supported",
        "Does everything that the sentence says stand in the passages, or follow from them?",
        yes="says_the_same",
        no="is_contradicted",
    ),
    Question(
        "says_the_same",
        "Do the passages say the same, in the same or in other words?",
        yes="Direct paraphrase",
        no="follows_logically",
    ),
    Question(
        "follows_logically",
        "Is it a conclusion that follows logically from what the passages say?",
        yes="Logical conclusion",
        no="Other",
    ),
    Question(
        "is_contradicted",
        "Do the passages say the opposite, or something that cannot be true as well?",
        yes="Contradiction",
        no="mixes_up_references",
    ),
    Question(
        "mixes_up_references",
        "Does the sentence say of one person, thing, place or time what the passages say of "
        "another?",
        yes="Mis-referencing",
        no="shifts_nuance",
    ),
    Question(
        "shifts_nuance",
        "Does it say more or less certainly, generally or strongly what the passages say?",
        yes="Nuance shift",
        no="states_opinion",
    ),
    Question(
        "states_opinion",
        "Does it state as a fact what the passages give as somebody's opinion?",
        yes="Opinion as fact",
        no="reasons_wrongly",
    ),
    Question(
        "reasons_wrongly",
        "Does it draw a conclusion from the passages that does not follow from them?",
        yes="Wrong reasoning",
        no="adds_information",
    ),
    Question(
        "adds_information",
        "Does it say something that the passages do not mention?",
        yes="Adds new information",
        no="Other mistake",
    ),
)

QUESTIONS: Mapping[str, Question] = MappingProxyType({step.name: step for step in _STEPS})
"""The questions by name; the first one opens the chart."""

FIRST_QUESTION = _STEPS[0].name


def next_question(answers: Mapping[str, bool]) -> Question | None:
    """Return the question to ask next; None if the answers lead to a label.

    Args:
        answers: Answers so far, by the question's name; those off the path do not matter.

    Raises:
        UsageError: If an answer is to no question of the chart.
    """
    _check(answers)
    place = _follow(answers)
    return QUESTIONS.get(place)


def annotate(answers: Mapping[str, bool]) -> Annotation:
    """Return the label that answers lead to.

    Args:
        answers: Answers by the question's name; those off the path do not matter.

    Raises:
        UsageError: If an answer is missing on the path, or is to no question of the chart.
    """
    _check(answers)
    place = _follow(answers)
    if place in QUESTIONS:
        raise UsageError(f"{place} is not answered: {QUESTIONS[place].text}")
    return annotation_of(place)


def annotation_of(label: str) -> Annotation:
    """Return both levels of a fine-grained label, or of ``Challenging to determine``.

    Raises:
        UsageError: For any other label.
    """
    if label == CHALLENGING:
        return Annotation(CHALLENGING, None)
    if label not in COARSE_OF_FINE:
        known = ", ".join((*COARSE_OF_FINE, CHALLENGING))
        raise UsageError(f"{label!r} is no fine-grained label; use one of {known}")
    coarse = COARSE_OF_FINE[label]
    return Annotation(SUPPORTED if coarse == SUPPORTED else NOT_SUPPORTED, label)


def _check(answers: Mapping[str, bool]) -> None:
    unknown = [name for name in answers if name not in QUESTIONS]
    if unknown:
        raise UsageError(
            f"there is no question {unknown[0]!r}; questions are {', '.join(QUESTIONS)}"
        )


def _follow(answers: Mapping[str, bool]) -> str:
    """Return the label reached, or the first question on the path without an answer."""
    place = FIRST_QUESTION
    while place in QUESTIONS and place in answers:
        question = QUESTIONS[place]
        place = question.yes if answers[place] else question.no
    return place
