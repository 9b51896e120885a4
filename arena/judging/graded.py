"""Judging without pairs: a score from 1 to 5 for each answer, or an order of all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self

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
from arena.judging.judging_settings import JudgingSettings
from arena.judging.judging_task import JudgingTask, Outcomes, PairOutcome
from arena.judging.prompt import SHOWN_QUESTION, TemplatePrompt
from arena.judging.verdict_parsing import PairVerdict, read_order
from arena.llm.ask import Asked, Llm, ask_table
from arena.llm.prompts import ReplaceablePrompt, Variable
from arena.llm.ratings import find_rating
from arena.llm.replies import UNPARSABLE, Completion, Reply
from arena.llm.requests import Prompt
from arena.statistics.bootstrap import generator

LOG_ODDS_OF_MARK = 2.0
"""Logits of a side whose mark is higher by 1, before the temperature that ratings divide by."""


class ShownAnswer(NamedTuple):
    """An answer with the passages and turns it was given."""

    text: str
    passages: tuple[ShownPassage, ...]
    history: tuple[ShownTurn, ...]


class AnswerGroup(NamedTuple):
    """The contents of one prompt: distinct answers in the order shown."""

    question: QuestionKey
    answers: tuple[ShownAnswer, ...]


@dataclass(frozen=True, slots=True)
class NumberedAnswer:
    """An answer with its number in a prompt, from 1."""

    number: int
    text: str


Scores = dict[tuple[QuestionKey, ShownAnswer], tuple[int | None, Reply[tuple[int, ...]]]]
"""By question and answer: its score, the higher the better, and the reply that named it."""


@dataclass(frozen=True)
class GradedPrompt(TemplatePrompt):
    """A form that gives answers scores: of two answers, the one with the higher score wins.

    Attributes:
        log_odds: Logits of a side whose score is higher by 1; None if scores have no scale.
    """

    log_odds: ClassVar[float | None] = None

    @staticmethod
    @abstractmethod
    def calls_on(n_answers: int) -> int:
        """Return the number of calls that a question with this many answers takes."""

    @abstractmethod
    def grouped(
        self, question: QuestionKey, answers: Sequence[ShownAnswer]
    ) -> list[tuple[ShownAnswer, ...]]:
        """Split the distinct answers into those that a prompt shows together, in its order.

        Answers whose scores are relative, such as places, belong into one group.
        """

    @abstractmethod
    def answer_values(self, answers: Sequence[str]) -> dict[str, object]:
        """Return the template's variables for a group's answers."""

    @abstractmethod
    def read(self, completion: Completion) -> tuple[int, ...]:
        """Read a score for each answer shown, the higher the better.

        Raises:
            UnparsableError: If there is none.
        """

    @classmethod
    def of(cls, settings: JudgingSettings) -> Self:
        """Return the form with the packaged template, or the user's."""
        (prompt,) = cls.replaceable
        return cls(prompt.template(settings.template))

    @classmethod
    def within(cls, pairs: ChosenPairs, n_calls: int) -> ChosenPairs:
        """Keep whole questions, by ``calls_on``."""
        return pairs.within_questions(n_calls, cls.calls_on)

    def ask(self, task: JudgingTask, llm: Llm, progress: Progress | None = None) -> Outcomes:
        """Ask for the scores of all groups, and compare those of each pair if readable."""
        texts = ArenaTexts(task.arena)
        answered = ask_table(
            self.groups(task, texts),
            lambda group: self.prompt_for(group, texts),
            self.read,
            llm,
            stage=task.judge,
            progress=progress,
        )
        scores = _scores(answered)
        outcomes = [self._outcome(key, scores, texts) for key in pair_keys(task.left.table)]
        return Outcomes(outcomes, answered.usage)

    def groups(self, task: JudgingTask, texts: ArenaTexts) -> list[AnswerGroup]:
        """Return what each prompt shows; answers that look the same once."""
        groups: list[AnswerGroup] = []
        for question, answers in self._answers_to_show(task, texts).items():
            # A set has no order of its own: sort by content before anything is drawn.
            ordered = sorted(answers, key=_by_content)
            groups += [AnswerGroup(question, group) for group in self.grouped(question, ordered)]
        return groups

    def prompt_for(self, group: AnswerGroup, texts: ArenaTexts) -> Prompt:
        """Make the prompt for a group; UsageError if the template cannot be filled."""
        question, shown = group
        passages: dict[str, tuple[ShownPassage, ...]] = {}
        history: dict[str, tuple[ShownTurn, ...]] = {}
        for number, answer in enumerate(shown, start=1):
            passages[f"answer {number}"] = answer.passages
            history[f"answer {number}"] = answer.history
        answers = [answer.text for answer in shown]
        values = self.values(
            question[0],
            texts.question(question),
            shown_of_all(passages),
            answers,
            shown_of_all(history),
        )
        values.update(self.answer_values(answers))
        return Prompt.of(self.template.fill(values), version=self.version)

    def _pairs_to_show(self, task: JudgingTask) -> ChosenPairs:
        return task.left

    def _answers_to_show(
        self, task: JudgingTask, texts: ArenaTexts
    ) -> dict[QuestionKey, set[ShownAnswer]]:
        open_questions = {key[:2] for key in pair_keys(task.left.table)}
        shown: dict[QuestionKey, set[ShownAnswer]] = {}
        for language, query_id, system_a, system_b in pair_keys(self._pairs_to_show(task).table):
            question = (language, query_id)
            if question not in open_questions:
                continue
            answers = shown.setdefault(question, set())
            answers.add(_shown_answer(texts, question, system_a))
            answers.add(_shown_answer(texts, question, system_b))
        return shown

    def _outcome(self, key: PairKey, scores: Scores, texts: ArenaTexts) -> PairOutcome:
        language, query_id, system_a, system_b = key
        question = (language, query_id)
        answer_a = _shown_answer(texts, question, system_a)
        answer_b = _shown_answer(texts, question, system_b)
        score_a, reply_a = scores[question, answer_a]
        score_b, reply_b = scores[question, answer_b]
        verdict = None
        if score_a is not None and score_b is not None:
            verdict = PairVerdict.of_scores(score_a, score_b, self.log_odds)
        # Of two replies the one that failed explains why there is no verdict.
        reply = reply_a if score_a is None else reply_b
        outcome = Reply(verdict, reply.reason, reply.detail, reply.key, reply.from_store)
        return PairOutcome(key, outcome, self.flags([answer_a.text, answer_b.text]))


@dataclass(frozen=True)
class MarkPrompt(GradedPrompt):
    """Asks for a score from 1 to 5 for each answer, one prompt per answer."""

    form = "pointwise"
    replaceable = (
        ReplaceablePrompt(
            name="pointwise",
            asks="A score from 1 to 5 for one answer: judge with form = pointwise",
            reply="the last [[4]], or Rating: 4; 1 to 5",
            variables={
                **SHOWN_QUESTION,
                "answer": Variable("what is shown of a system", "sampleanswer", is_required=True),
            },
            package="arena.judging",
            packaged_name="pointwise.v1",
        ),
    )
    log_odds = LOG_ODDS_OF_MARK

    @staticmethod
    def calls_on(n_answers: int) -> int:
        """Return one call per answer."""
        return n_answers

    def grouped(
        self,
        question: QuestionKey,  # noqa: ARG002 - every answer is on its own
        answers: Sequence[ShownAnswer],
    ) -> list[tuple[ShownAnswer, ...]]:
        """Show every answer alone."""
        return [(answer,) for answer in answers]

    def answer_values(self, answers: Sequence[str]) -> dict[str, object]:
        """Return the value of ``answer``."""
        return {"answer": answers[0]}

    def read(self, completion: Completion) -> tuple[int, ...]:
        """Read the mark."""
        mark, _ = find_rating(completion.text or "", "brackets", completion.is_cut)
        return (mark,)


@dataclass(frozen=True)
class OrderPrompt(GradedPrompt):
    """Asks for an order of all answers to a question.

    Attributes:
        seed: Seed of the order in which answers are shown.
    """

    seed: int = 0

    form = "listwise"
    replaceable = (
        ReplaceablePrompt(
            name="listwise",
            asks="An order of all answers to a question: judge with form = listwise",
            reply="the last [[2 > 1 = 3]], or [2] > [1] > [3]; every number once",
            variables={
                **SHOWN_QUESTION,
                "answers": Variable(
                    "the answers, each with number and text, in an order drawn by their content",
                    (NumberedAnswer(1, "sampleone"), NumberedAnswer(2, "sampletwo")),
                    is_required=True,
                ),
            },
            package="arena.judging",
            packaged_name="listwise.v1",
        ),
    )

    @classmethod
    def of(cls, settings: JudgingSettings) -> Self:
        """Return the form with the packaged template, or the user's, and the settings' seed."""
        return replace(super().of(settings), seed=settings.seed)

    @property
    def version(self) -> str:
        """Return the template's name and digest, what it shows, and the seed of lists."""
        return f"{super().version}|order:{self.seed}"

    @staticmethod
    def calls_on(n_answers: int) -> int:  # noqa: ARG004 - any number fits into a prompt
        """Return one call per question."""
        return 1

    def grouped(
        self, question: QuestionKey, answers: Sequence[ShownAnswer]
    ) -> list[tuple[ShownAnswer, ...]]:
        """Show all answers, in an order by question, texts and seed."""
        content = [answer.text for answer in answers]
        draw = generator(self.seed, "judging", "list", *question, *content)
        order = draw.permutation(len(answers))
        return [tuple(answers[index] for index in order)]

    def answer_values(self, answers: Sequence[str]) -> dict[str, object]:
        """Return the value of ``answers``, numbered in the order shown."""
        numbered = [NumberedAnswer(number, text) for number, text in enumerate(answers, start=1)]
        return {"answers": tuple(numbered)}

    def read(self, completion: Completion) -> tuple[int, ...]:
        """Read the order: a score is the place, counted from the end."""
        places = read_order(completion.text or "", completion.is_cut)
        return tuple(-place for place in places)

    def _pairs_to_show(self, task: JudgingTask) -> ChosenPairs:
        # Those judged before too, so that a resumed run sends the same prompt.
        return task.pairs


def _shown_answer(texts: ArenaTexts, question: QuestionKey, system: str) -> ShownAnswer:
    return ShownAnswer(
        text=texts.shown(question, system),
        passages=texts.passages(question, system),
        history=texts.history(question, system),
    )


def _by_content(answer: ShownAnswer) -> tuple[str, str, str]:
    # Passages hold None if a title is unknown, which cannot be compared; their texts can.
    return answer.text, repr(answer.passages), repr(answer.history)


def _scores(answered: Asked[AnswerGroup, tuple[int, ...]]) -> Scores:
    scores: Scores = {}
    for (question, answers), group_reply in answered:
        reply = group_reply
        if reply.value is not None and len(reply.value) != len(answers):
            # The reply is sound, but it is on another number of answers than were shown.
            answered.usage.count_failure(UNPARSABLE, 1)
            detail = f"the reply names {len(reply.value)} answers; there are {len(answers)}"
            reply = replace(reply, value=None, reason=UNPARSABLE, detail=detail)
        for index, answer in enumerate(answers):
            score = None if reply.value is None else reply.value[index]
            scores[question, answer] = (score, reply)
    return scores
