"""The view that features have of an answer, and the reasons why a value may be missing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal, TypeVar, cast

from arena.data.schema import Passage
from arena.text.answers import Citations, RagAnswer, cited_passages, parse_answer, strip_citations
from arena.text.reader import rendered
from features.text.sentences import Statement, cut_statements
from features.text.tokens import folded_words

Part = Literal["output", "answer", "reason"]
"""Part of an output: all of it, the text after ``##Answer:``, or that after ``##Reason:``."""
Result = TypeVar("Result")


@dataclass(frozen=True)
class Missing:
    """A feature has no value for an answer.

    Attributes:
        reason: The reason, as a clause.
    """

    reason: str

    def __str__(self) -> str:
        return self.reason


EMPTY_ANSWER = Missing("empty answer")
NO_LETTERS = Missing("no letters to tell a language by")
LANGUAGE_NOT_COVERED = Missing("language unknown to the identifier")
NO_PASSAGES = Missing("query without passages")
SHARED_PASSAGES = Missing("passages shared by all systems")
NO_RELEVANCE_LABELS = Missing("passages without relevance labels")
NO_RELEVANT_PASSAGE = Missing("no relevant passage")
NO_REFERENCE_SYSTEM = Missing("arena without reference system")
NO_REFERENCE_ANSWER = Missing("no reference answer to this question")
EMPTY_REFERENCE = Missing("empty reference answer")
EMPTY_PASSAGES = Missing("passages without words")
NO_CITED_PASSAGES = Missing("no passage cited")
SHORT_ANSWER = Missing("answer with fewer words than k")
NO_STATEMENTS = Missing("answer without statements")
NO_NUMBERS = Missing("answer without numbers")
NO_NAMES = Missing("answer without names")
NO_CAPITALS = Missing("script without capitals")
NO_KNOWN_QUERY_WORDS = Missing("no passage holds a word of the query")
NO_REASON = Missing("no reason given")
NO_CITATION = Missing("no citation")
NO_FULL_STOPS = Missing("language without full stops")


class Memo:
    """Results shared by a batch, such as one identification per text."""

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
        passages: The passages that the system saw.
        reference: The reference system's output, or why there is none.
        shared: Passages of the question, if the system saw others.
        reference_ids: Ids of the passages that the reference system saw, if others.
    """

    language: str
    query_id: str
    query: str
    passages: tuple[Passage, ...]
    reference: str | Missing
    shared: tuple[Passage, ...] | None = None
    reference_ids: tuple[str, ...] | None = None

    @cached_property
    def key(self) -> Hashable:
        """Return a key for memos: the question, with the passages that the system saw."""
        if self.shared is None:  # the id of the question stands for its passages
            return (self.language, self.query_id, None)
        digest = blake2b(repr(self.passages).encode()).digest()
        return (self.language, self.query_id, digest)

    @cached_property
    def passage_ids(self) -> tuple[str, ...]:
        """Return the ids of the passages, in their order."""
        return tuple(passage.passage_id for passage in self.passages)

    @cached_property
    def passage_texts(self) -> tuple[str, ...]:
        """Return title and text of each passage."""
        return tuple(map(passage_text, self.passages))

    def texts_of(self, ids: Collection[str]) -> tuple[str, ...]:
        """Return passages' texts in the order of ids, without those that have no words."""
        texts = dict(zip(self.passage_ids, self.passage_texts, strict=True))
        return tuple(texts[name] for name in ids if texts.get(name))

    @cached_property
    def relevant_ids(self) -> frozenset[str] | Missing:
        """Return the ids of the relevant passages, or why there are none."""
        return relevant_ids(self.passages)

    @cached_property
    def reference_text(self) -> str | Missing:
        """Return the reference without citations, or why there is none.

        These refer to the passages that the reference system saw.
        """
        if isinstance(self.reference, Missing):
            return self.reference
        passage_ids = self.reference_ids
        if passage_ids is None:
            passages = self.passages if self.shared is None else self.shared
            passage_ids = tuple(passage.passage_id for passage in passages)
        return strip_citations(parse_answer(self.reference).text, passage_ids)


Answer = tuple[Question, str]
"""A question, and what a system wrote."""


@dataclass(frozen=True)
class Sample:
    """One answer, parsed once for all features, which cannot see the system's name.

    Attributes:
        question: The question that it answers.
        output: The system's raw output.
        memo: Results shared with other samples.

    Examples:
        >>> Sample(Question("en", "q1", "Who wrote Faust?", (), "Goethe."), "Goethe did.").text
        'Goethe did.'
    """

    question: Question
    output: str
    memo: Memo = field(default_factory=Memo, repr=False, compare=False)

    @cached_property
    def parsed(self) -> RagAnswer:
        """Return the output taken apart."""
        return parse_answer(self.output)

    @cached_property
    def text(self) -> str:
        """Return the answer part without citations."""
        return strip_citations(self.parsed.text, self.question.passage_ids)

    @cached_property
    def wording(self) -> str:
        """Return the answer part without citations as a page shows it."""
        return rendered(self.text)

    @cached_property
    def folded_words(self) -> list[str]:
        """Return the words of the wording, case-folded."""
        return folded_words(self.wording)

    @cached_property
    def folded_text(self) -> list[str]:
        """Return the words of the text, marks of Markdown included, case-folded."""
        # They are cut once, where a page shows the text as it is.
        return self.folded_words if self.text == self.wording else folded_words(self.text)

    def part(self, part: Part) -> str:
        """Return a part, citations included; empty without one."""
        if part == "output":
            return self.parsed.output
        if part == "answer":
            return self.parsed.text
        return self.parsed.reason or ""

    @cached_property
    def citations(self) -> Citations:
        """Return the citations of the whole output, as prompts ask for them in the reasoning."""
        return cited_passages(self.part("output"), self.question.passage_ids)

    def statements(self, part: Part) -> tuple[Statement, ...]:
        """Return the sentences of a part, with the passages that each cites.

        Raises:
            MissingDependencyError: If the language needs a package that is not installed.
        """
        question = self.question
        text = self.part(part)
        return self.memo.get(
            ("statements", question.key, text),
            lambda: cut_statements(text, question.passage_ids, question.language),
        )


def relevant_ids(passages: Collection[Passage]) -> frozenset[str] | Missing:
    """Return the relevant passages' ids, or why there are none."""
    if not passages:
        return NO_PASSAGES
    if all(passage.relevance is None for passage in passages):
        return NO_RELEVANCE_LABELS
    ids = frozenset(passage.passage_id for passage in passages if passage.relevance == 1)
    return ids or NO_RELEVANT_PASSAGE


def passage_text(passage: Passage) -> str:
    """Return title and text on their own lines; empty without words."""
    lines = [(passage.title or "").strip(), passage.text.strip()]
    joined = "\n".join(filter(None, lines))
    return joined if any(map(str.isalnum, joined)) else ""
