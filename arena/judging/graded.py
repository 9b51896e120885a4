"""Judging without pairs: a mark for each answer, or an order of all answers to a question.

MIRAGE-Bench (section 4.2) tried both before it chose pairs: marks cost one call an answer but are
often the same, and orders of many answers are hard for a judge. Marks and orders become verdicts on
the same pairs that a pairwise judge would be asked about: the answer with the higher mark, or the
earlier one, wins, and equal ones are tied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from arena.data.arena import Arena
from arena.data.errors import checked_choice
from arena.data.seeds import generator
from arena.data.types import Progress
from arena.judging.answer_pairs import (
    ArenaTexts,
    PairKey,
    QuestionKey,
    ShownPassage,
    ShownTurn,
    pair_keys,
    shown_of_all,
)
from arena.judging.choosing.chosen_pairs import ChosenPairs
from arena.judging.prompt import SHOWN_QUESTION, JudgePrompt
from arena.judging.verdict_parsing import PairVerdict, Winner, read_order
from arena.llm.ask import Llm, ask_table
from arena.llm.llm_settings import Prompt
from arena.llm.replies import UNPARSABLE, Completion, Reply, find_rating
from arena.llm.usage import Usage
from arena.text.prompts import ReplaceablePrompt, Variable

GradedForm = Literal["pointwise", "listwise"]
PAIRWISE: Literal["pairwise"] = "pairwise"
"""The form of a judge that is asked about pairs."""
ShownAnswer = tuple[str, tuple[ShownPassage, ...], tuple[ShownTurn, ...]]
"""An answer as a judge sees it: its text, the passages it was given for, the turns before it."""
Group = tuple[QuestionKey, tuple[ShownAnswer, ...]]
"""What one prompt shows: a question, and answers, each once, in the order shown."""


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


@dataclass(frozen=True)
class GradedPrompt(JudgePrompt):
    """Makes the prompts of marks and orders.

    Attributes:
        form: ``pointwise`` or ``listwise``.
        seed: Seed of the order of a list.
    """

    form: GradedForm = "pointwise"
    seed: int = 0

    def __post_init__(self) -> None:
        checked_choice(self.form, tuple(GRADED_PROMPTS), "form")

    @property
    def version(self) -> str:
        """The template's name and digest, what it shows, and the seed of lists."""
        whole = super().version
        return f"{whole}|order:{self.seed}" if self.form == "listwise" else whole

    def answer(self, texts: ArenaTexts, question: QuestionKey, system: str) -> ShownAnswer:
        """Return what is shown of a system."""
        given = texts.passages(question, system), texts.history(question, system)
        return texts.shown(question, system), *given

    def groups(self, pairs: ChosenPairs, left: ChosenPairs, texts: ArenaTexts) -> list[Group]:
        """Return what is asked about: for marks each answer, for orders each question's answers.

        A list holds the systems of all pairs chosen on its question, those judged before too, so
        that a run that goes on asks what was asked before. Answers whose shown texts are the same
        stand in it once, in an order that rests on the question and the texts alone.
        """
        asked = pairs if self.form == "listwise" else left
        open_questions = {key[:2] for key in pair_keys(left.table)}
        shown: dict[QuestionKey, set[ShownAnswer]] = {}
        for key in pair_keys(asked.table):
            if key[:2] in open_questions:
                both = (self.answer(texts, key[:2], system) for system in key[2:])
                shown.setdefault(key[:2], set()).update(both)
        groups: list[Group] = []
        for question, found in shown.items():
            ordered = sorted(found, key=lambda one: (one[0], *map(repr, one[1:])))
            if self.form == "pointwise":
                groups += [(question, (one,)) for one in ordered]
                continue
            draw = generator(
                self.seed, "judging", "list", *question, *(text for text, *_ in ordered)
            )
            order = draw.permutation(len(ordered))
            groups.append((question, tuple(ordered[place] for place in order)))
        return groups

    def ask(self, group: Group, texts: ArenaTexts) -> Prompt:
        """Make the prompt; UsageError if the template cannot be filled."""
        question, shown = group
        named = {f"answer {number}": one for number, one in enumerate(shown, start=1)}
        given = shown_of_all({name: passages for name, (_, passages, _) in named.items()})
        history = shown_of_all({name: turns for name, (_, _, turns) in named.items()})
        answers = [text for text, *_ in shown]
        values = self.values(question[0], texts.question(question), given, answers, history)
        if self.form == "pointwise":
            values["answer"] = answers[0]
        else:
            values["answers"] = tuple(map(NumberedAnswer, range(1, len(answers) + 1), answers))
        return Prompt.of(self.template.fill(values), version=self.version)

    def read(self, completion: Completion) -> tuple[int, ...]:
        """Read the place of each text shown, the lower the better; UnparsableError without."""
        text = completion.text or ""
        if self.form == "pointwise":
            return (-find_rating(text, "brackets", completion.is_cut)[0],)
        return read_order(text, completion.is_cut)


def judge_name(model: str, form: str) -> str:
    """Name a judge by its model, and by its form where that is not of pairs."""
    return model if form == PAIRWISE else f"{model}:{form}"


def judge_graded(
    arena: Arena,
    prompt: GradedPrompt,
    pairs: tuple[ChosenPairs, ChosenPairs],
    llm: Llm,
    stage: str = "",
    progress: Progress | None = None,
) -> tuple[list[tuple[PairKey, Reply[PairVerdict], tuple[str, ...]]], Usage]:
    """Ask for marks or orders, and make verdicts of them; see ``arena.llm.ask_table``.

    A pair has no verdict where one of its marks, or its order, has none.

    Of ``pairs`` the first are all that were chosen, the second those without a verdict.

    Returns:
        The pairs, each with its winner, or the reason why there is none, and what is odd; and
        calls, tokens, and failures of marks or orders by reason.
    """
    texts, left = ArenaTexts(arena), pairs[1]
    groups = prompt.groups(*pairs, texts)
    asked = ask_table(
        groups,
        lambda group: prompt.ask(group, texts),
        prompt.read,
        llm,
        stage=stage,
        progress=progress,
    )
    places: dict[tuple[QuestionKey, ShownAnswer], tuple[int | None, Reply[tuple[int, ...]]]] = {}
    for (question, answers), reply in asked:
        named, shown = reply.value, len(answers)
        if named is not None and len(named) != shown:
            asked.usage.count_failure(UNPARSABLE, 1)
            detail = f"the order names {len(named)} answers; there are {shown}"
            reply, named = replace(reply, value=None, reason=UNPARSABLE, detail=detail), None
        for number, one in enumerate(answers):
            places[question, one] = (None if named is None else named[number], reply)
    found = []
    for key in pair_keys(left.table):
        both = [prompt.answer(texts, key[:2], system) for system in key[2:]]
        (first, said), (second, too) = (places[key[:2], each] for each in both)
        told, verdict = (said if first is None else too), None
        if first is not None and second is not None:
            winner: Winner = "tie" if first == second else "a" if first < second else "b"
            verdict = PairVerdict(winner)
        outcome = Reply(verdict, told.reason, told.detail, told.key, told.from_store)
        found.append((key, outcome, prompt.flags([text for text, *_ in both])))
    return found, asked.usage


def graded_requests(
    arena: Arena, prompt: GradedPrompt, pairs: ChosenPairs, left: ChosenPairs
) -> Iterator[Prompt]:
    """Yield what ``judge_graded`` would ask."""
    texts = ArenaTexts(arena)
    for group in prompt.groups(pairs, left, texts):
        yield prompt.ask(group, texts)
