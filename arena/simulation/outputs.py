"""Writing a drafted answer out as the raw output of a RAG system."""

from __future__ import annotations

from collections.abc import Iterator

from arena.simulation.drafts import Draft
from arena.simulation.factbook import Factbook, Kind, read_factbook
from arena.simulation.questions import Question
from arena.simulation.systems import SystemProfile


def write_output(draft: Draft, question: Question, system: SystemProfile) -> str:
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
