"""Drafts of answers: which facts, which citations and which errors, drawn from a system's rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arena.seeds import generator
from arena.simulation.factbook import FACTS_PER_ENTITY, LANGUAGES
from arena.simulation.questions import Question
from arena.simulation.systems import ErrorRates

_KEPT_OF_CUT_SENTENCE = (0.35, 0.75)
_INVENTED_PARAGRAPHS = (10, 100)


@dataclass(frozen=True)
class Draft:
    """What an answer is to say.

    Attributes:
        language: Language it is written in.
        facts: Places of the facts it states, in order.
        citations: The id each of them cites, or None.
        addition: Place of the unsupported addition, or None.
        addition_citation: The id the addition cites, or None.
        cut: Share of the last sentence that is kept; None if the answer ends properly.
    """

    language: str
    facts: tuple[int, ...]
    citations: tuple[str | None, ...]
    addition: int | None
    addition_citation: str | None
    cut: float | None


def draft_answer(question: Question, system: str, rates: ErrorRates, seed: int) -> Draft:
    """Draw what a system answers to a question.

    The draws are keyed by language, system and question. They are the same whatever the rates,
    so that a higher rate adds errors to those there are.
    """
    random = generator(seed, "simulation", "answer", question.language, system, question.query_id)
    is_wrong_language = random.random() < rates.wrong_language
    other_language = _other_language(question.language, random)
    is_stated = random.random(FACTS_PER_ENTITY) >= rates.omission
    citations = _citations(question, rates, random)
    has_addition = random.random() < rates.unsupported_addition
    addition = int(random.integers(2))
    is_addition_cited = random.random() >= rates.missing_citation
    is_cut = random.random() < rates.truncation
    cut = float(random.uniform(*_KEPT_OF_CUT_SENTENCE))
    facts = tuple(int(fact) for fact in np.flatnonzero(is_stated))
    return Draft(
        language=other_language if is_wrong_language else question.language,
        facts=facts,
        citations=tuple(citations[fact] for fact in facts),
        addition=addition if has_addition else None,
        addition_citation=question.supports[0] if has_addition and is_addition_cited else None,
        cut=cut if is_cut else None,
    )


def _other_language(language: str, random: np.random.Generator) -> str:
    others = [other for other in LANGUAGES if other != "en"]
    drawn = others[int(random.integers(len(others)))]
    return drawn if language == "en" else "en"


def _citations(
    question: Question, rates: ErrorRates, random: np.random.Generator
) -> list[str | None]:
    """Draw for each fact the right citation, none, or a wrong one."""
    chances = random.random(FACTS_PER_ENTITY)
    wrong = [_wrong_citation(question, random) for _ in range(FACTS_PER_ENTITY)]
    missing_or_wrong = rates.missing_citation + rates.wrong_citation
    return [
        None
        if chance < rates.missing_citation
        else wrong[fact]
        if chance < missing_or_wrong
        else question.supports[fact]
        for fact, chance in enumerate(chances)
    ]


def _wrong_citation(question: Question, random: np.random.Generator) -> str:
    """Draw a passage that is not relevant or, half of the time, a paragraph there is not."""
    is_invented = random.random() < 0.5
    invented = f"{question.article}#{random.integers(*_INVENTED_PARAGRAPHS)}"
    there = question.irrelevant[int(random.integers(len(question.irrelevant)))]
    return invented if is_invented else there
