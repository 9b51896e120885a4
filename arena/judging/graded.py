"""Judging without pairs: a mark for each answer, or an order of all answers to a question.

MIRAGE-Bench (section 4.2) tried both before it chose pairs: marks cost one call an answer but are
often the same, and orders of many answers are hard for a judge. Marks and orders become verdicts on
the same pairs that a pairwise judge would be asked about: the answer with the higher mark, or the
earlier one, wins, and equal ones are tied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from arena.data.arena import Arena
from arena.data.errors import UsageError, checked_choice
from arena.data.seeds import generator
from arena.judging.choosing.drawn import ChosenPairs
from arena.judging.pairs import (
    SHOWS,
    ArenaTexts,
    PairKey,
    QuestionKey,
    Show,
    ShownPassage,
    pair_keys,
    passages_of_all,
)
from arena.judging.prompt import SHOWN_QUESTION, TRIMMED, question_values, side_flags, trimmed
from arena.judging.replies import Winner, read_order
from arena.llm.ask import Llm, Progress, ask_table
from arena.llm.replies import UNPARSABLE, Completion, Reply, find_rating
from arena.llm.settings import Prompt
from arena.llm.usage import Usage
from arena.text.prompts import PromptTemplate, ReplaceablePrompt, Variable

GradedForm = Literal["pointwise", "listwise"]
PAIRWISE: Literal["pairwise"] = "pairwise"
"""The form of a judge that is asked about pairs."""


def judge_name(model: str, form: str) -> str:
    """Name a judge by its model, and by its form where that is not of pairs."""
    return model if form == PAIRWISE else f"{model}:{form}"


@dataclass(frozen=True, slots=True)
class NumberedAnswer:
    """An answer as a listwise prompt shows it: its number in the list, from 1, and its text."""

    number: int
    text: str


GRADED_PROMPTS = MappingProxyType[GradedForm, ReplaceablePrompt](
    {
        "pointwise": ReplaceablePrompt(
            "pointwise",
            "A mark from 1 to 5 for one answer: judge with form = pointwise",
            "the last [[4]], or Rating: 4; 1 to 5",
            {
                **SHOWN_QUESTION,
                "answer": Variable("what is shown of a system", "sampleanswer", True),
            },
            "arena.judging",
            "pointwise.v1",
        ),
        "listwise": ReplaceablePrompt(
            "listwise",
            "An order of all answers to a question: judge with form = listwise",
            "the last [[2 > 1 = 3]], or [2] > [1] > [3]; every number once",
            {
                **SHOWN_QUESTION,
                "answers": Variable(
                    "the answers, each with number and text, in an order drawn by their content",
                    (NumberedAnswer(1, "sampleone"), NumberedAnswer(2, "sampletwo")),
                    True,
                ),
            },
            "arena.judging",
            "listwise.v1",
        ),
    }
)
"""What a judge is asked that gives marks or orders."""


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """An answer as a judge sees it: its text, and the passages it was given for."""

    text: str
    passages: tuple[ShownPassage, ...]

    @classmethod
    def of(cls, texts: ArenaTexts, question: QuestionKey, system: str, show: Show) -> ShownAnswer:
        """Find the answer of a system."""
        return cls(texts.shown(question, system, show), texts.passages(question, system))


@dataclass(frozen=True, slots=True)
class Group:
    """What one prompt shows.

    Attributes:
        question: Language, query_id.
        answers: What is shown of systems, each once, in the order shown; one for a mark.
    """

    question: QuestionKey
    answers: tuple[ShownAnswer, ...]


@dataclass(frozen=True)
class GradedPrompt:
    """Makes the prompts of one template.

    Attributes:
        form: ``pointwise`` or ``listwise``.
        template: The template.
        longest_answer: Characters that are shown of what a system wrote; None for all.
        longest_passage: Characters of a passage that are shown; None for all.
        show: What is shown of a system; see ``PairwisePrompt``.
        seed: Seed of the order of a list.
    """

    form: GradedForm
    template: PromptTemplate
    longest_answer: int | None = None
    longest_passage: int | None = None
    show: Show = "output"
    seed: int = 0

    def __post_init__(self) -> None:
        checked_choice(self.form, tuple(GRADED_PROMPTS), "form")
        checked_choice(self.show, SHOWS, "show")
        for longest in (self.longest_answer, self.longest_passage):
            if longest is not None and longest < 1:
                raise UsageError(f"cannot trim texts to {longest} characters; give 1 or more")

    @property
    def version(self) -> str:
        """The template's name and digest, what it shows, how it is trimmed, the seed of lists."""
        limits = (("answers", self.longest_answer), ("passages", self.longest_passage))
        cuts = [f"{name}:{longest}" for name, longest in limits if longest is not None]
        drawn = [f"order:{self.seed}"] if self.form == "listwise" else []
        return "|".join([self.template.version, f"shows:{self.show}", *cuts, *drawn])

    def groups(self, pairs: ChosenPairs, left: ChosenPairs, texts: ArenaTexts) -> list[Group]:
        """Return what is asked about: for marks each answer, for orders each question's answers.

        A list holds the systems of all pairs chosen on its question, those judged before too, so
        that a run that goes on asks what was asked before. Answers whose shown texts are the same
        stand in it once.

        Args:
            pairs: All pairs chosen.
            left: Those of them without a verdict.
            texts: Questions and answers.
        """
        asked = pairs if self.form == "listwise" else left
        open_questions = {key[:2] for key in pair_keys(left.table)}
        shown: dict[QuestionKey, set[ShownAnswer]] = {}
        for key in pair_keys(asked.table):
            if key[:2] in open_questions:
                both = (ShownAnswer.of(texts, key[:2], system, self.show) for system in key[2:])
                shown.setdefault(key[:2], set()).update(both)
        ordered = {key: sorted(found, key=_content) for key, found in shown.items()}
        if self.form == "pointwise":
            return [Group(key, (one,)) for key, found in ordered.items() for one in found]
        return [Group(key, self._drawn(key, found)) for key, found in ordered.items()]

    def _drawn(self, question: QuestionKey, found: list[ShownAnswer]) -> tuple[ShownAnswer, ...]:
        """Draw the order of a list, which rests on the question and the texts alone."""
        draw = generator(self.seed, "judging", "list", *question, *(one.text for one in found))
        return tuple(found[place] for place in draw.permutation(len(found)))

    def ask(self, group: Group, texts: ArenaTexts) -> Prompt:
        """Make the prompt.

        Raises:
            UsageError: If the template cannot be filled.
        """
        language, _ = group.question
        numbered = enumerate(group.answers, start=1)
        given = passages_of_all({f"answer {number}": one.passages for number, one in numbered})
        passages = tuple(
            replace(each, text=trimmed(each.text, self.longest_passage)) for each in given
        )
        answers = [trimmed(one.text, self.longest_answer) for one in group.answers]
        values = question_values(language, texts.question(group.question), passages, answers)
        if self.form == "pointwise":
            values["answer"] = answers[0]
        else:
            values["answers"] = tuple(map(NumberedAnswer, range(1, len(answers) + 1), answers))
        return Prompt.of(self.template.fill(values), version=self.version)

    def flags(self, shown: Sequence[str]) -> tuple[str, ...]:
        """Say what in the answers of a pair may steer the judge, and whether they are trimmed."""
        cut = [trimmed(text, self.longest_answer) for text in shown]
        flags = side_flags(*cut)
        return flags if cut == list(shown) else (*flags, TRIMMED)

    def read(self, completion: Completion) -> tuple[int, ...]:
        """Read the place of each text shown, the lower the better.

        Raises:
            UnparsableError: If there is no mark or order.
        """
        text = completion.text or ""
        if self.form == "pointwise":
            return (-find_rating(text, "brackets")[0],)
        return read_order(text)


def judge_graded(
    arena: Arena,
    prompt: GradedPrompt,
    pairs: ChosenPairs,
    left: ChosenPairs,
    llm: Llm,
    stage: str = "",
    progress: Progress | None = None,
) -> tuple[list[tuple[PairKey, Reply[Winner], tuple[str, ...]]], Usage]:
    """Ask for marks or orders, and make verdicts of them.

    A pair has no verdict where one of its marks, or its order, has none.

    Args:
        arena: Questions and answers.
        prompt: What is asked.
        pairs: All pairs chosen; see ``choose_pairs``.
        left: Those of them without a verdict.
        llm: Who is asked, with which store and budget.
        stage: Name that is passed to ``progress``.
        progress: Called with the stage, the prompts done, and all.

    Returns:
        The pairs, each with its winner, or the reason why there is none, and what is odd; and
        calls, tokens, and failures of marks or orders by reason.

    Raises:
        UsageError: If the settings or the template cannot be used.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    texts = ArenaTexts(arena)
    asked = ask_table(
        prompt.groups(pairs, left, texts),
        lambda group: prompt.ask(group, texts),
        prompt.read,
        llm,
        stage=stage,
        progress=progress,
    )
    places: dict[tuple[QuestionKey, ShownAnswer], Reply[int]] = {}
    for group, reply in asked:
        named, shown = reply.value, len(group.answers)
        if named is not None and len(named) != shown:
            asked.usage.count_failure(UNPARSABLE, 1)
            detail = f"the order names {len(named)} answers; there are {shown}"
            reply, named = replace(reply, value=None, reason=UNPARSABLE, detail=detail), None
        for number, one in enumerate(group.answers):
            place = None if named is None else named[number]
            places[group.question, one] = Reply(
                place, reply.reason, reply.detail, reply.key, reply.from_store
            )
    found = []
    for key in pair_keys(left.table):
        both = [ShownAnswer.of(texts, key[:2], system, prompt.show) for system in key[2:]]
        first, second = (places[key[:2], each] for each in both)
        found.append((key, _winner(first, second), prompt.flags([each.text for each in both])))
    return found, asked.usage


def graded_requests(
    arena: Arena, prompt: GradedPrompt, pairs: ChosenPairs, left: ChosenPairs
) -> Iterator[Prompt]:
    """Yield what ``judge_graded`` would ask."""
    texts = ArenaTexts(arena)
    for group in prompt.groups(pairs, left, texts):
        yield prompt.ask(group, texts)


def _content(answer: ShownAnswer) -> tuple[str, str]:
    return answer.text, repr(answer.passages)


def _winner(one: Reply[int], other: Reply[int]) -> Reply[Winner]:
    winner: Winner | None = None
    if one.value is not None and other.value is not None:
        winner = "tie" if one.value == other.value else "a" if one.value < other.value else "b"
    told = other if one.value is not None and other.value is None else one
    return Reply(winner, told.reason, told.detail, told.key, told.from_store)
