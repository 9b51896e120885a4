"""What a feature may look at: one answer, its question, the reference answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar, cast

from arena.answers import RagAnswer, parse_answer
from arena.citations import Citations, cited_passages, strip_citations
from arena.records import Passage
from features.missing import NO_PASSAGES, NO_RELEVANCE_LABELS, NO_RELEVANT_PASSAGE, Missing
from features.statements import Statement, cut_statements
from features.tokens import words

Part = Literal["output", "answer"]
"""Part of what a system wrote: all of it, or only what follows ``##Answer:``."""

Result = TypeVar("Result")


class Memo:
    """Results that the samples of a batch share, such as one identification per text."""

    def __init__(self) -> None:
        self._results: dict[Hashable, Any] = {}

    def get(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        """Return the result for a key, computing it the first time."""
        if key not in self._results:
            self._results[key] = compute()
        return cast(Result, self._results[key])


@dataclass(frozen=True)
class Question:
    """A question of an arena.

    Attributes:
        language: Language code of the question, the one to answer in.
        query_id: Its id within the language.
        query: The question itself.
        passages: What the systems were given.
        reference: The reference system's output, or why there is none.
    """

    language: str
    query_id: str
    query: str
    passages: tuple[Passage, ...]
    reference: str | Missing

    @cached_property
    def passage_ids(self) -> tuple[str, ...]:
        """Ids of the passages, in their order."""
        return tuple(passage.passage_id for passage in self.passages)

    @cached_property
    def relevant_ids(self) -> frozenset[str] | Missing:
        """Ids of the passages labelled relevant, or why there are none."""
        if not self.passages:
            return NO_PASSAGES
        if all(passage.relevance is None for passage in self.passages):
            return NO_RELEVANCE_LABELS
        relevant = frozenset(
            passage.passage_id for passage in self.passages if passage.relevance == 1
        )
        return relevant or NO_RELEVANT_PASSAGE

    @cached_property
    def reference_text(self) -> str | Missing:
        """The answer part of the reference, without citations, or why there is none."""
        if isinstance(self.reference, Missing):
            return self.reference
        return strip_citations(parse_answer(self.reference).text, self.passage_ids)


@dataclass(frozen=True)
class Sample:
    """One answer, parsed once, however many features look at it; whose it is, they cannot see.

    Attributes:
        question: What it answers.
        output: What the system wrote, as it wrote it.
        memo: Results shared with other samples.
    """

    question: Question
    output: str
    memo: Memo = field(default_factory=Memo, repr=False, compare=False)

    @cached_property
    def parsed(self) -> RagAnswer:
        """The output taken apart."""
        return parse_answer(self.output)

    @cached_property
    def text(self) -> str:
        """The answer part without citations."""
        return strip_citations(self.parsed.text, self.question.passage_ids)

    @cached_property
    def words(self) -> list[str]:
        """Words of the answer part without citations."""
        return words(self.text)

    @cached_property
    def folded_words(self) -> list[str]:
        """Words of the answer part without citations, case-folded."""
        return [word.casefold() for word in self.words]

    def part(self, part: Part) -> str:
        """Return the whole output or the answer part, citations included."""
        return self.parsed.output if part == "output" else self.parsed.text

    def citations(self, part: Part) -> Citations:
        """Return what the output or its answer part cites."""
        key = ("citations", self.question.language, self.question.query_id, self.part(part))
        return self.memo.get(
            key, lambda: cited_passages(self.part(part), self.question.passage_ids)
        )

    def statements(self, part: Part) -> tuple[Statement, ...]:
        """Return the sentences of the output or its answer part, with what each cites.

        Raises:
            MissingDependencyError: See ``features.sentences.split_sentences``.
        """
        question, text = self.question, self.part(part)
        return self.memo.get(
            ("statements", question.language, question.query_id, text),
            lambda: cut_statements(text, question.passage_ids, question.language),
        )
