"""Judging without pairs: a mark for each answer, or an order of all answers to a question.

MIRAGE-Bench (section 4.2) tried both before it chose pairs: marks cost one call per answer but are
often the same, and orders of many answers are hard for a judge. Marks and orders become verdicts on
the same pairs that a pairwise judge would be asked about: the answer with the higher mark, or the
earlier one, wins, and equal ones are tied. How much higher a mark is becomes a probability.
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
from arena.judging.verdict_parsing import PairVerdict, read_order
from arena.llm.ask import Asked, Llm, ask_table
from arena.llm.replies import UNPARSABLE, Completion, Reply, find_rating
from arena.llm.requests import Prompt
from arena.llm.usage import Usage
from arena.text.prompts import ReplaceablePrompt, Variable

GradedForm = Literal["pointwise", "listwise"]
LOG_ODDS_OF_MARK = 2.0
"""Logits of a side whose mark is higher by 1, before the temperature that ratings divide by."""


@dataclass(frozen=True)
class ShownAnswer:
    """An answer as a judge sees it: its text, the passages and the turns it was given."""

    text: str
    passages: tuple[ShownPassage, ...]
    history: tuple[ShownTurn, ...]


Group = tuple[QuestionKey, tuple[ShownAnswer, ...]]
"""The contents of one prompt: a question, and distinct answers in the order shown."""
Outcome = tuple[PairKey, Reply[PairVerdict], tuple[str, ...]]
"""A pair, the judge's verdict or why there is none, and flags of what in the answers is odd."""


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
        version = super().version
        return f"{version}|order:{self.seed}" if self.form == "listwise" else version

    def answer(self, texts: ArenaTexts, question: QuestionKey, system: str) -> ShownAnswer:
        """Return what is shown of a system."""
        return ShownAnswer(
            text=texts.shown(question, system),
            passages=texts.passages(question, system),
            history=texts.history(question, system),
        )

    def groups(self, pairs: ChosenPairs, left: ChosenPairs, texts: ArenaTexts) -> list[Group]:
        """Return what each prompt shows: one answer for a mark, a question's answers for an order.

        A list holds the systems of all pairs chosen on its question, those judged before too, so
        that a resumed run sends the same prompt. Answers that look the same are shown once, in an
        order that depends on the question and the texts alone.

        Args:
            pairs: All pairs chosen.
            left: Those of them without a verdict.
            texts: Texts of the questions and answers to show.
        """
        groups: list[Group] = []
        for question, answers in self._shown(pairs, left, texts).items():
            # A set has no order of its own: sort by content before anything is drawn.
            ordered = sorted(answers, key=_by_content)
            if self.form == "pointwise":
                groups += [(question, (answer,)) for answer in ordered]
                continue
            content = [answer.text for answer in ordered]
            draw = generator(self.seed, "judging", "list", *question, *content)
            order = draw.permutation(len(ordered))
            groups.append((question, tuple(ordered[index] for index in order)))
        return groups

    def _shown(
        self, pairs: ChosenPairs, left: ChosenPairs, texts: ArenaTexts
    ) -> dict[QuestionKey, set[ShownAnswer]]:
        """Collect the distinct answers to show on each question that has a pair left."""
        open_questions = {key[:2] for key in pair_keys(left.table)}
        relevant = pairs if self.form == "listwise" else left
        shown: dict[QuestionKey, set[ShownAnswer]] = {}
        for language, query_id, system_a, system_b in pair_keys(relevant.table):
            question = (language, query_id)
            if question not in open_questions:
                continue
            answers = shown.setdefault(question, set())
            answers.add(self.answer(texts, question, system_a))
            answers.add(self.answer(texts, question, system_b))
        return shown

    def ask(self, group: Group, texts: ArenaTexts) -> Prompt:
        """Make the prompt; UsageError if the template cannot be filled."""
        question, shown = group
        names = [f"answer {number}" for number in range(1, len(shown) + 1)]
        passages = shown_of_all(
            {name: answer.passages for name, answer in zip(names, shown, strict=True)}
        )
        history = shown_of_all(
            {name: answer.history for name, answer in zip(names, shown, strict=True)}
        )
        answers = [answer.text for answer in shown]
        values = self.values(question[0], texts.question(question), passages, answers, history)
        if self.form == "pointwise":
            values["answer"] = answers[0]
        else:
            values["answers"] = tuple(
                NumberedAnswer(number, text) for number, text in enumerate(answers, start=1)
            )
        return Prompt.of(self.template.fill(values), version=self.version)

    def read(self, completion: Completion) -> tuple[int, ...]:
        """Read the place of each answer shown, the lower the better; UnparsableError if absent."""
        text = completion.text or ""
        if self.form == "pointwise":
            mark, _ = find_rating(text, "brackets", completion.is_cut)
            return (-mark,)
        return read_order(text, completion.is_cut)


def _by_content(answer: ShownAnswer) -> tuple[str, str, str]:
    # Passages hold None if a title is unknown, which cannot be compared; their texts can.
    return answer.text, repr(answer.passages), repr(answer.history)


def judge_graded(
    arena: Arena,
    prompt: GradedPrompt,
    pairs: ChosenPairs,
    left: ChosenPairs,
    llm: Llm,
    stage: str = "",
    progress: Progress | None = None,
) -> tuple[list[Outcome], Usage]:
    """Ask for marks or orders, and make verdicts of them; see ``arena.llm.ask_table``.

    A pair has no verdict if one of its marks, or its order, could not be read.

    Args:
        arena: Questions and answers.
        prompt: Prompt of the judge.
        pairs: All pairs chosen.
        left: Those of them without a verdict.
        llm: Who is asked.
        stage: Name for ``progress``.
        progress: Called as groups are done.

    Returns:
        For each pair left its winner, or the reason why there is none, and what is odd; and
        calls, tokens, and failures of marks or orders by reason.
    """
    texts = ArenaTexts(arena)
    answered = ask_table(
        prompt.groups(pairs, left, texts),
        lambda group: prompt.ask(group, texts),
        prompt.read,
        llm,
        stage=stage,
        progress=progress,
    )
    places = _places(answered)
    outcomes: list[Outcome] = []
    for key in pair_keys(left.table):
        language, query_id, system_a, system_b = key
        question = (language, query_id)
        answer_a = prompt.answer(texts, question, system_a)
        answer_b = prompt.answer(texts, question, system_b)
        place_a, reply_a = places[question, answer_a]
        place_b, reply_b = places[question, answer_b]
        verdict = None
        if place_a is not None and place_b is not None:
            verdict = PairVerdict.of_scores(-place_a, -place_b, LOG_ODDS_OF_MARK)
            if prompt.form == "listwise":
                # A place says nothing of how much better an answer is.
                verdict = PairVerdict(verdict.winner)
        # Of two replies the one that failed explains why there is no verdict.
        reply = reply_a if place_a is None else reply_b
        outcome = Reply(verdict, reply.reason, reply.detail, reply.key, reply.from_store)
        outcomes.append((key, outcome, prompt.flags([answer_a.text, answer_b.text])))
    return outcomes, answered.usage


Places = dict[tuple[QuestionKey, ShownAnswer], tuple[int | None, Reply[tuple[int, ...]]]]
"""By question and answer: its place, the lower the better, and the reply that named it."""


def _places(answered: Asked[Group, tuple[int, ...]]) -> Places:
    places: Places = {}
    for (question, answers), group_reply in answered:
        reply = group_reply
        if reply.value is not None and len(reply.value) != len(answers):
            # The reply is a sound order, but of another number of answers than were shown.
            answered.usage.count_failure(UNPARSABLE, 1)
            detail = f"the order names {len(reply.value)} answers; there are {len(answers)}"
            reply = replace(reply, value=None, reason=UNPARSABLE, detail=detail)
        for index, answer in enumerate(answers):
            place = None if reply.value is None else reply.value[index]
            places[question, answer] = (place, reply)
    return places


def graded_requests(
    arena: Arena, prompt: GradedPrompt, pairs: ChosenPairs, left: ChosenPairs
) -> Iterator[Prompt]:
    """Yield what ``judge_graded`` would ask."""
    texts = ArenaTexts(arena)
    for group in prompt.groups(pairs, left, texts):
        yield prompt.ask(group, texts)
