"""What simulated systems write, and how good it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from arena.data.seeds import generator
from arena.simulation.facts import (
    FACTS_PER_ENTITY,
    LANGUAGES,
    Factbook,
    Kind,
    PosedQuestion,
    read_factbook,
)
from arena.simulation.systems import ErrorRates, SystemProfile

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


def draft_answer(question: PosedQuestion, system: str, rates: ErrorRates, seed: int) -> Draft:
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
    question: PosedQuestion, rates: ErrorRates, random: np.random.Generator
) -> list[str | None]:
    """Draw for each fact the right citation, none, or a wrong one."""
    draws = random.random(FACTS_PER_ENTITY)
    wrong = [_wrong_citation(question, random) for _ in range(FACTS_PER_ENTITY)]
    missing_or_wrong = rates.missing_citation + rates.wrong_citation
    return [
        None
        if drawn < rates.missing_citation
        else wrong[fact]
        if drawn < missing_or_wrong
        else question.supports[fact]
        for fact, drawn in enumerate(draws)
    ]


def _wrong_citation(question: PosedQuestion, random: np.random.Generator) -> str:
    """Draw a passage that is not relevant or, half of the time, a paragraph there is not."""
    is_invented = random.random() < 0.5
    invented = f"{question.article}#{random.integers(*_INVENTED_PARAGRAPHS)}"
    there = question.irrelevant[int(random.integers(len(question.irrelevant)))]
    return invented if is_invented else there


def write_output(draft: Draft, question: PosedQuestion, system: SystemProfile) -> str:
    """Write an answer: ``##Reason: … ##Answer: …`` with a citation in every sentence."""
    book = read_factbook(draft.language)
    kind = book.kinds[question.kind]
    values = kind.entities[question.entity]
    answer = f"##Answer: {book.space.join(_sentences(draft, book, values, kind, system))}"
    if not system.reasons:
        return answer
    return f"##Reason: {_reason(draft, book, kind.subject.format_map(values))} {answer}"


def _sentences(
    draft: Draft, book: Factbook, values: dict[str, str], kind: Kind, system: SystemProfile
) -> Iterator[str]:
    cited = list(_cited_sentences(draft, book, values, kind, system))
    if draft.cut is None:
        yield from (_with_citation(text, citation, book.space) for text, citation in cited)
        return
    yield from (_with_citation(text, citation, book.space) for text, citation in cited[:-1])
    yield _cut(cited[-1][0], draft.cut, book.space)


def _cited_sentences(
    draft: Draft, book: Factbook, values: dict[str, str], kind: Kind, system: SystemProfile
) -> list[tuple[str, str | None]]:
    """Return sentences and what they cite; an addition stands before the last fact."""
    sentences: list[tuple[str, str | None]] = []
    for fact, citation in zip(draft.facts, draft.citations, strict=True):
        wordings = kind.facts[fact]
        wording = wordings.passage if system.is_extractive else wordings.answer
        sentences.append((wording.format_map(values), citation))
    if draft.addition is not None:
        place = max(len(sentences) - 1, 0)
        sentences.insert(place, (kind.additions[draft.addition], draft.addition_citation))
    return sentences or [(book.refusal, None)]


def _with_citation(sentence: str, citation: str | None, space: str) -> str:
    """Put a citation before the full stop."""
    if citation is None:
        return sentence
    return f"{sentence[:-1]}{space}[{citation}]{sentence[-1]}"


def _cut(sentence: str, share: float, space: str) -> str:
    """Keep a share of a sentence's words, or of its characters where there is no space."""
    words = sentence[:-1].split(space) if space else list(sentence[:-1])
    kept = min(max(round(share * len(words)), 1), len(words) - 1)
    return space.join(words[:kept])


def _reason(draft: Draft, book: Factbook, subject: str) -> str:
    intact = draft.citations if draft.cut is None else draft.citations[:-1]
    cited = dict.fromkeys(citation for citation in intact if citation is not None)
    if not cited:
        return book.reason_without_citations.format(subject=subject)
    citations = book.comma.join(f"[{citation}]" for citation in cited)
    return book.reason.format(subject=subject, citations=citations)


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


def count_errors(draft: Draft, question: PosedQuestion) -> ErrorCounts:
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
