"""Prompts' texts about answers: one record per kind of prompt."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import ClassVar, Self

from features.declare.feature import Item

PASSAGES = "passages"


@dataclass(frozen=True)
class LlmItem:
    """The texts that an LLM is asked about, with their template's signature."""

    kind: ClassVar[str]
    template: str

    @classmethod
    def of(cls, item: Item) -> Self:
        """Return the record of an item of this kind."""
        _, text = item
        values = json.loads(text)
        if PASSAGES in values:
            values[PASSAGES] = tuple(values[PASSAGES])
        return cls(**values)

    @property
    def item(self) -> Item:
        """Return the engine's texts: the kind, and fields as JSON."""
        return (self.kind, json.dumps(asdict(self)))


@dataclass(frozen=True)
class OverlapItem(LlmItem):
    """An answer to be rated by agreement with the reference."""

    kind = "overlap"
    language: str
    question: str
    answer: str
    reference: str


@dataclass(frozen=True)
class FluencyItem(LlmItem):
    """A whole output to be rated by fluency; passages begin with ids."""

    kind = "fluency"
    language: str
    question: str
    answer: str
    passages: tuple[str, ...]


RatingItem = OverlapItem | FluencyItem


@dataclass(frozen=True)
class FaithfulnessItem(LlmItem):
    """An answer whose statements passages may support."""

    kind = "faithfulness"
    question: str
    answer: str
    passages: tuple[str, ...]


@dataclass(frozen=True)
class ContextRelevanceItem(LlmItem):
    """Passages, some sentences of which may answer the question."""

    kind = "context_relevance"
    language: str
    question: str
    passages: tuple[str, ...]


@dataclass(frozen=True)
class AnswerRelevanceItem(LlmItem):
    """An answer of which questions are made, to compare with the one asked.

    ``label`` precedes a question where it is embedded, such as ``query: ``.
    """

    kind = "answer_relevance"
    n_questions: int
    label: str
    question: str
    answer: str
