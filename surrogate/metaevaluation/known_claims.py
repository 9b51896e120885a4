"""Claims whose support is known because of how they were made: no human label is needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from arena.metaevaluation.memerag.claims import Claim
from arena.records import Passage
from features.passage_texts import passage_text

SHOWN_PASSAGES = 5
"""Passages of a claim, as many as MEMERAG shows."""


@dataclass(frozen=True, slots=True)
class KnownClaim:
    """A claim of known support.

    Attributes:
        claim: The claim.
        is_supported: Whether its passages support it.
        kind: How it was made.
    """

    claim: Claim
    is_supported: bool
    kind: str


@dataclass(frozen=True)
class KnownClaims:
    """Claims made from one arena.

    Attributes:
        claims: The claims.
        passages: All passages of the arena by language, to count how rare something is; claims
            may show them with something taken out.
    """

    claims: tuple[KnownClaim, ...]
    passages: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class KnownQuestion:
    """A question with its passages as texts.

    Attributes:
        language: Its language code.
        query_id: Its id within the language.
        query: The question.
        passages: Texts of the passages by id, titles included; empty ones are left out.
    """

    language: str
    query_id: str
    query: str
    passages: dict[str, str]


def passages_by_language(questions: Iterable[KnownQuestion]) -> dict[str, tuple[str, ...]]:
    """Return all passages of each language."""
    found: dict[str, list[str]] = {}
    for question in questions:
        found.setdefault(question.language, []).extend(question.passages.values())
    return {language: tuple(texts) for language, texts in found.items()}


def questions_of(queries: pd.DataFrame) -> Iterator[KnownQuestion]:
    """Yield the questions of an arena."""
    for row in queries.itertuples():
        read = [Passage.model_validate(passage) for passage in row.passages]
        texts = {passage.passage_id: passage_text(passage) for passage in read}
        held = {name: text for name, text in texts.items() if text}
        yield KnownQuestion(str(row.language), str(row.query_id), str(row.query), held)
