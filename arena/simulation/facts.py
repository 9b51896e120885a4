"""What simulated questions are about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from arena.data.schema import Passage
from arena.data.seeds import generator

LANGUAGES = ("ar", "en", "es", "hi", "ja", "sw")
"""The languages that questions and answers can be simulated in."""

FACTS_PER_ENTITY = 4
ENTITIES_PER_KIND = 4

Template = Annotated[str, Field(min_length=1)]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KnownFact(_Record):
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
        tuple[KnownFact, ...], Field(min_length=FACTS_PER_ENTITY, max_length=FACTS_PER_ENTITY)
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


QUESTIONS = 24
"""Number of questions there are in each language."""

_PARAGRAPHS = (((0, 1), (2, 3)), ((0, 1), (2,), (3,)))
_PASSAGES_ABOUT_ENTITIES = 4


@dataclass(frozen=True)
class PosedQuestion:
    """A question about one entity.

    Attributes:
        query_id: The kind and the number of the entity; the same in every language.
        language: Language it is asked in.
        kind: Kind of the entity.
        entity: Place of the entity within its kind, from 0.
        query: The question.
        passages: The passages retrieved for it, in the order retrieved.
        supports: For each fact about the entity, the id of the passage that states it.
    """

    query_id: str
    language: str
    kind: str
    entity: int
    query: str
    passages: tuple[Passage, ...]
    supports: tuple[str, ...]

    @property
    def article(self) -> str:
        """Number of the article about the entity, which ids of its passages begin with."""
        return self.supports[0].partition("#")[0]

    @property
    def irrelevant(self) -> tuple[str, ...]:
        """Ids of the passages that do not help to answer."""
        return tuple(passage.passage_id for passage in self.passages if not passage.relevance)


def pose_questions(language: str, questions: int, seed: int) -> list[PosedQuestion]:
    """Pose the first questions of a language, one of each kind in turn."""
    kinds = list(read_factbook(language).kinds)
    return [
        _question(language, kinds[place % len(kinds)], place // len(kinds), seed)
        for place in range(questions)
    ]


def _question(language: str, name: str, entity: int, seed: int) -> PosedQuestion:
    book = read_factbook(language)
    kind = book.kinds[name]
    query_id = f"{name}-{entity + 1}"
    relevant = _entity_passages(book, kind, entity, relevance=1)
    passages = [
        *relevant,
        *_other_entities(book, kind, entity, len(relevant)),
        *_general_passages(kind),
    ]
    order = generator(seed, "simulation", "passages", language, query_id).permutation(len(passages))
    return PosedQuestion(
        query_id=query_id,
        language=language,
        kind=name,
        entity=entity,
        query=kind.query.format_map(kind.entities[entity]),
        passages=tuple(passages[place] for place in order),
        supports=_supports(kind, entity),
    )


def _entity_passages(
    book: Factbook, kind: Kind, entity: int, relevance: Literal[0, 1]
) -> list[Passage]:
    values = kind.entities[entity]
    return [
        Passage(
            passage_id=_passage_id(kind, entity, facts),
            text=book.space.join(kind.facts[fact].passage.format_map(values) for fact in facts),
            title=kind.title.format_map(values),
            relevance=relevance,
        )
        for facts in _paragraphs(entity)
    ]


def _paragraphs(entity: int) -> tuple[tuple[int, ...], ...]:
    """Tell which facts stand together: in two passages or, for every other entity, three."""
    return _PARAGRAPHS[entity % len(_PARAGRAPHS)]


def _passage_id(kind: Kind, entity: int, facts: tuple[int, ...]) -> str:
    return f"{kind.entities[entity]['article']}#{facts[0]}"


def _supports(kind: Kind, entity: int) -> tuple[str, ...]:
    return tuple(_passage_id(kind, entity, facts) for facts in _paragraphs(entity) for _ in facts)


def _other_entities(book: Factbook, kind: Kind, entity: int, relevant: int) -> list[Passage]:
    """Return the first passage of the next entities, which look relevant and are not."""
    others = range(entity + 1, entity + 1 + _PASSAGES_ABOUT_ENTITIES - relevant)
    return [
        _entity_passages(book, kind, other % ENTITIES_PER_KIND, relevance=0)[0] for other in others
    ]


def _general_passages(kind: Kind) -> list[Passage]:
    return [
        Passage(
            passage_id=f"{general.article}#0", text=general.text, title=general.title, relevance=0
        )
        for general in kind.distractors
    ]
