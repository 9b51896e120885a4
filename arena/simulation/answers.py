"""What simulated systems write, and how good it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from arena.data.seeds import generator
from arena.simulation.facts import FACTS_PER_ENTITY, LANGUAGES, PosedQuestion, Record, read_factbook
from arena.simulation.systems import ErrorRates, SystemProfile

WEIGHTS = MappingProxyType(
    {"wrong_language": 0.35, "omission": 0.35, "missing_citation": 0.1, "wrong_citation": 0.2}
    | {"unsupported_addition": 0.15, "truncation": 0.15}
)
"""What each error takes from an answer's utility; omissions and citations by share of the facts."""

_KEPT_OF_CUT_SENTENCE = (0.35, 0.75)
_INVENTED_PARAGRAPHS = (10, 100)


@dataclass(frozen=True)
class Draft:
    """What an answer is to say: facts and what each cites, by their places in the factbook.

    Attributes:
        addition: Place of the unsupported addition, or None.
        cut: Share of the last sentence that is kept; None if the answer ends properly.
    """

    language: str
    facts: tuple[int, ...]
    citations: tuple[str | None, ...]
    addition: int | None
    addition_citation: str | None
    cut: float | None

    @property
    def intact(self) -> tuple[str | None, ...]:
        """Citations of the facts whose sentences are whole."""
        return self.citations if self.cut is None else self.citations[:-1]


def draft_answer(question: PosedQuestion, system: str, rates: ErrorRates, seed: int) -> Draft:
    """Draw what a system answers to a question.

    The draws are keyed by language, system and question. They are the same whatever the rates,
    so that a higher rate adds errors to those there are.
    """
    random = generator(seed, "simulation", "answer", question.language, system, question.query_id)
    is_wrong_language = random.random() < rates.wrong_language
    others = [other for other in LANGUAGES if other != "en"]
    drawn = others[int(random.integers(len(others)))]
    other_language = drawn if question.language == "en" else "en"
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


def _citations(
    question: PosedQuestion, rates: ErrorRates, random: np.random.Generator
) -> list[str | None]:
    """Draw for each fact the right citation, none, or a wrong one: irrelevant, or invented."""
    article, _, _ = question.supports[0].partition("#")
    there = [str(each["passage_id"]) for each in question.passages if not each["relevance"]]
    citations: list[str | None] = list(question.supports)
    draws = random.random(FACTS_PER_ENTITY)
    for fact, drawn in enumerate(draws):
        is_invented = random.random() < 0.5
        invented = f"{article}#{random.integers(*_INVENTED_PARAGRAPHS)}"
        irrelevant = there[int(random.integers(len(there)))]
        if drawn < rates.missing_citation:
            citations[fact] = None
        elif drawn < rates.missing_citation + rates.wrong_citation:
            citations[fact] = invented if is_invented else irrelevant
    return citations


def write_output(draft: Draft, question: PosedQuestion, system: SystemProfile) -> str:
    """Write an answer: ``##Reason: … ##Answer: …`` with a citation in every sentence."""
    book = read_factbook(draft.language)
    kind, space = book["kinds"][question.kind], book["space"]
    values = kind["entities"][question.entity]
    said = _sentences(draft, book, kind, values, "passage" if system.is_extractive else "answer")
    texts = [  # a citation stands before the full stop
        text if cited is None else f"{text[:-1]}{space}[{cited}]{text[-1]}" for text, cited in said
    ]
    if draft.cut is not None:
        texts[-1] = _cut(said[-1][0], draft.cut, space)
    answer = f"##Answer: {space.join(texts)}"
    if not system.reasons:
        return answer
    given = dict.fromkeys(citation for citation in draft.intact if citation is not None)
    citations = book["comma"].join(f"[{citation}]" for citation in given)
    form, subject = book["reason" if given else "reason_without_citations"], kind["subject"]
    reason = form.format(subject=subject.format_map(values), citations=citations)
    return f"##Reason: {reason} {answer}"


def _sentences(
    draft: Draft, book: Record, kind: Record, values: Record, wording: str
) -> list[tuple[str, str | None]]:
    """Return sentences and what they cite; an addition stands before the last fact."""
    sentences: list[tuple[str, str | None]] = [
        (kind["facts"][fact][wording].format_map(values), citation)
        for fact, citation in zip(draft.facts, draft.citations, strict=True)
    ]
    if draft.addition is not None:
        place = max(len(sentences) - 1, 0)
        sentences.insert(place, (kind["additions"][draft.addition], draft.addition_citation))
    return sentences or [(book["refusal"], None)]


def _cut(sentence: str, share: float, space: str) -> str:
    """Keep a share of a sentence's words, or of its characters where there is no space."""
    words = sentence[:-1].split(space) if space else list(sentence[:-1])
    kept = min(max(round(share * len(words)), 1), len(words) - 1)
    return space.join(words[:kept])


def count_errors(draft: Draft, question: PosedQuestion) -> dict[str, int]:
    """Count the errors of an answer, by the names of ``ErrorRates``; omissions are of facts."""
    given = [citation for citation in draft.intact if citation is not None]
    return {
        "wrong_language": int(draft.language != question.language),
        "missing_citation": len(draft.intact) - len(given),
        "wrong_citation": sum(citation not in question.supports for citation in given),
        "unsupported_addition": int(draft.addition is not None),
        "omission": FACTS_PER_ENTITY - len(draft.facts),
        "truncation": int(draft.cut is not None),
    }


def utility(errors: Mapping[str, int]) -> float:
    """Return the utility of an answer, from 0 to 1: 1 without errors, less their weights."""

    def lost(*names: str) -> float:
        return sum(WEIGHTS[name] * errors[name] for name in names)

    of_facts = lost("omission", "missing_citation", "wrong_citation")
    of_answer = lost("wrong_language", "unsupported_addition", "truncation")
    return 1.0 - of_facts / FACTS_PER_ENTITY - of_answer


def expected_utility(rates: ErrorRates) -> float:
    """Return the true quality of a system with these rates: the mean of ``utility``."""
    any_stated = 1.0 - rates.omission**FACTS_PER_ENTITY
    cited_share = (1.0 - rates.omission) - rates.truncation * any_stated / FACTS_PER_ENTITY
    lost: dict[str, float] = {
        error: weight * getattr(rates, error) for error, weight in WEIGHTS.items()
    }
    of_citations = lost.pop("missing_citation") + lost.pop("wrong_citation")
    return 1.0 - sum(lost.values()) - of_citations * cited_share
