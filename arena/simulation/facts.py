"""What simulated questions are about: kinds of entities, their facts, passages that state them.

``facts/LANGUAGE.json`` holds a factbook: ``kinds`` by name, the same in every language, each with
templates over the values of an entity (``title, subject, query``; ``facts`` as a passage and as a
good answer states them), ``additions`` that no passage supports, ``distractors`` (passages about
the kind in general) and ``entities``; and how answers are put together (``reason, refusal, comma,
space``, and ``reason_without_citations``).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from arena.data.seeds import generator

LANGUAGES = ("ar", "en", "es", "hi", "ja", "sw")
"""The languages that questions and answers can be simulated in."""

FACTS_PER_ENTITY = 4
ENTITIES_PER_KIND = 4
QUESTIONS = 24
"""Number of questions there are in each language."""

_PARAGRAPHS = (((0, 1), (2, 3)), ((0, 1), (2,), (3,)))
"""Which facts stand together: in two passages or, for every other entity, three."""
_PASSAGES_ABOUT_ENTITIES = 4

Record = dict[str, Any]


@cache
def read_factbook(language: str) -> Record:
    """Read the facts of one of ``LANGUAGES``."""
    path = files("arena.simulation") / "facts" / f"{language}.json"
    book: Record = json.loads(path.read_text(encoding="utf-8"))
    return book


@dataclass(frozen=True)
class PosedQuestion:
    """A question about one entity.

    Attributes:
        query_id: The kind and the number of the entity; the same in every language.
        language: Language it is asked in.
        kind: Kind of the entity.
        entity: Place of the entity within its kind, from 0.
        query: The question.
        passages: The passages retrieved for it, in the order retrieved, as tables hold them.
        supports: For each fact about the entity, the id of the passage that states it.
    """

    query_id: str
    language: str
    kind: str
    entity: int
    query: str
    passages: list[Record]
    supports: tuple[str, ...]


def pose_questions(language: str, questions: int, seed: int) -> list[PosedQuestion]:
    """Pose the first questions of a language, one of each kind in turn."""
    kinds = list(read_factbook(language)["kinds"])
    return [
        _question(language, kinds[place % len(kinds)], place // len(kinds), seed)
        for place in range(questions)
    ]


def _question(language: str, name: str, entity: int, seed: int) -> PosedQuestion:
    book = read_factbook(language)
    kind, query_id = book["kinds"][name], f"{name}-{entity + 1}"
    relevant = _entity_passages(book, kind, entity, 1)
    others = range(entity + 1, entity + 1 + _PASSAGES_ABOUT_ENTITIES - len(relevant))
    passages = [
        *relevant,  # the first passages of the next entities look relevant, and are not
        *(_entity_passages(book, kind, other % ENTITIES_PER_KIND, 0)[0] for other in others),
        *(
            {"passage_id": f"{it['article']}#0", "text": it["text"], "title": it["title"]}
            | {"relevance": 0}
            for it in kind["distractors"]
        ),
    ]
    order = generator(seed, "simulation", "passages", language, query_id).permutation(len(passages))
    return PosedQuestion(
        query_id=query_id,
        language=language,
        kind=name,
        entity=entity,
        query=kind["query"].format_map(kind["entities"][entity]),
        passages=[passages[place] for place in order],
        supports=tuple(
            passage["passage_id"]
            for passage, facts in zip(relevant, _PARAGRAPHS[entity % len(_PARAGRAPHS)], strict=True)
            for _ in facts
        ),
    )


def _entity_passages(book: Record, kind: Record, entity: int, relevance: int) -> list[Record]:
    values, wordings = kind["entities"][entity], [each["passage"] for each in kind["facts"]]
    return [
        {
            "passage_id": f"{values['article']}#{facts[0]}",
            "text": book["space"].join(wordings[fact].format_map(values) for fact in facts),
            "title": kind["title"].format_map(values),
            "relevance": relevance,
        }
        for facts in _PARAGRAPHS[entity % len(_PARAGRAPHS)]
    ]
