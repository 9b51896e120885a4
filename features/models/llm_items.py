"""What LLMs are asked about answers: one record per kind of prompt.

The engine keeps items as texts alone, and scores by these texts; a record names them.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import Any, ClassVar, Self

from features.declare.feature import Item

PASSAGES = "passages"


@dataclass(frozen=True)
class LlmItem:
    """The texts that an LLM is asked about.

    Attributes:
        kind: The first text of the item, by which it is known what the others are.
        template: Signature of the templates; see ``arena.llm.prompts.Templates.signature``.
    """

    kind: ClassVar[str]
    template: str

    @classmethod
    def of(cls, item: Item) -> Self:
        """Return the record of an item of this kind."""
        _, *texts = item
        names = [field.name for field in fields(cls)]
        values: dict[str, Any] = {}
        if names[-1] == PASSAGES:
            names.pop()
            values[PASSAGES] = tuple(texts[len(names) :])
            del texts[len(names) :]
        values.update(zip(names, texts, strict=True))
        return cls(**values)

    @property
    def item(self) -> Item:
        """The texts as the engine keeps them: the kind, then all fields, passages one by one."""
        texts = [self.kind]
        for value in astuple(self):
            texts += [value] if isinstance(value, str) else value
        return tuple(texts)


@dataclass(frozen=True)
class OverlapItem(LlmItem):
    """An answer that is rated by how well it agrees with the reference answer."""

    kind = "overlap"
    language: str
    question: str
    answer: str
    reference: str


@dataclass(frozen=True)
class FluencyItem(LlmItem):
    """A whole output that is rated by its fluency; each passage begins with its id."""

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
    """An answer that questions are made of.

    Attributes:
        n_questions: Their number, in digits.
        label: Text before a question where it is embedded, such as ``query: ``.
        question: The question that they are compared with.
        answer: The answer.
    """

    kind = "answer_relevance"
    n_questions: str
    label: str
    question: str
    answer: str


@dataclass(frozen=True)
class UseItem(LlmItem):
    """A passage that may have been of use in arriving at an answer."""

    kind = "use"
    question: str
    answer: str
    passage: str

    @property
    def shown(self) -> dict[str, str]:
        """The values of the template."""
        return {"question": self.question, "answer": self.answer, "passage": self.passage}


@dataclass(frozen=True)
class EvasionItem(LlmItem):
    """An answer that may not commit itself."""

    kind = "evasion"
    question: str
    answer: str

    @property
    def shown(self) -> dict[str, str]:
        """The values of the template."""
        return {"question": self.question, "answer": self.answer}
