"""The facts the simulated arena is made of: fictional entities, in each language."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

LANGUAGES = ("ar", "en", "es", "hi", "ja", "sw")
"""The languages that questions and answers can be simulated in."""

FACTS_PER_ENTITY = 4
ENTITIES_PER_KIND = 4

Template = Annotated[str, Field(min_length=1)]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Fact(_Record):
    """One fact about an entity, as templates over its values.

    Attributes:
        passage: The sentence that a passage states it in.
        answer: The sentence that a good answer states it in.
    """

    passage: Template
    answer: Template


class GeneralPassage(_Record):
    """A passage about a kind of entity in general, which answers no question.

    Attributes:
        article: Number of the article it opens.
        title: Title of that article.
        text: The passage.
    """

    article: str
    title: str
    text: str


class Kind(_Record):
    """A kind of entity, such as lighthouses; templates hold names of values in braces.

    Attributes:
        title: Title of an entity's article.
        subject: The entity within a sentence.
        query: The question asked about it.
        facts: What the passages state about it.
        additions: Plausible sentences that no passage supports.
        distractors: Passages about the kind in general.
        entities: The values of each entity: its ``article``, its ``name`` and those of the facts.
    """

    title: Template
    subject: Template
    query: Template
    facts: Annotated[
        tuple[Fact, ...], Field(min_length=FACTS_PER_ENTITY, max_length=FACTS_PER_ENTITY)
    ]
    additions: Annotated[tuple[str, ...], Field(min_length=2, max_length=2)]
    distractors: Annotated[tuple[GeneralPassage, ...], Field(min_length=2, max_length=2)]
    entities: Annotated[
        tuple[dict[str, str], ...],
        Field(min_length=ENTITIES_PER_KIND, max_length=ENTITIES_PER_KIND),
    ]


class Factbook(_Record):
    """All facts in one language.

    Attributes:
        language: Its code.
        reason: How a system says where it found the answer, over ``subject`` and ``citations``.
        reason_without_citations: The same for an answer that cites nothing.
        refusal: How a system says that it cannot answer.
        comma: What stands between two citations in a list.
        space: What stands between two sentences, and between a sentence and its citation.
        kinds: The kinds of entity by name; the same names in every language.
    """

    language: str
    reason: Template
    reason_without_citations: Template
    refusal: str
    comma: str
    space: str
    kinds: dict[str, Kind]


@lru_cache(maxsize=len(LANGUAGES))
def read_factbook(language: str) -> Factbook:
    """Read the facts of one of ``LANGUAGES``."""
    path = files("arena.simulation") / "facts" / f"{language}.json"
    return Factbook.model_validate_json(path.read_text(encoding="utf-8"))
