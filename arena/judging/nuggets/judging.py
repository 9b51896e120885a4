"""Judging by nuggets: the facts of a question are made once, and every answer is marked once.

n answers to a question take n calls, and one for the facts, where pairs take n (n - 1) / 2 or twice
as many. The reference is TREC's AutoNuggetizer (Pradeep et al., 2025, "The great nugget recall").
The facts are of the question, not of a judge: they are made where the arena has none, and kept in
it, so that people can edit them and further judges mark by the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import pandas as pd

from arena.data.answer_digests import answer_digest
from arena.data.errors import UsageError, argument
from arena.data.types import Progress
from arena.judging.answer_pairs import (
    ArenaTexts,
    PairKey,
    QuestionKey,
    ShownPassage,
    pair_keys,
)
from arena.judging.choosing.chosen_pairs import ChosenPairs
from arena.judging.judging_settings import JudgingSettings
from arena.judging.judging_task import JudgingTask, Outcomes, PairOutcome, PlannedRequests
from arena.judging.nuggets.passages import PooledPassages, passage_notes, pooled_passages
from arena.judging.nuggets.prompts import (
    MARK_PROMPT,
    NUGGET_PROMPT,
    NUGGET_PROMPTS,
    Nugget,
    NumberedNugget,
    mark_settings,
    nugget_settings,
    read_marks,
    read_nuggets,
)
from arena.judging.nuggets.scores import LOG_ODDS, Mark, nugget_points
from arena.judging.nuggets.stored import AnswerKey, stored_marks, stored_nuggets
from arena.judging.nuggets.tables import NUGGET_MARKS, NUGGETS, Nuggets
from arena.judging.prompt import TemplatePrompt
from arena.judging.verdict_parsing import PairVerdict
from arena.llm.ask import Llm, ask_table
from arena.llm.llm_settings import LlmSettings
from arena.llm.prompts import PromptTemplate, read_templates
from arena.llm.replies import UNPARSABLE, Reply
from arena.llm.requests import Prompt
from arena.llm.trimming import Trimmer
from arena.llm.usage import Usage

NO_PASSAGES = "no_passages"
"""Reason of a pair without a verdict: nothing to take the facts of its question from."""
_NO_PASSAGES_DETAIL = "no passages to take nuggets from; write them into further/nuggets.jsonl"
_STAND_IN = "a fact of some fifteen words, which stands for one that is not made yet"


@dataclass(frozen=True)
class NuggetPrompt(TemplatePrompt):
    """Asks for the facts of a question, by ``template``, and which of them each answer states.

    Attributes:
        marks: The template of marks.
    """

    marks: PromptTemplate

    form = "nuggets"
    replaceable = NUGGET_PROMPTS
    renews_verdicts = True

    @classmethod
    def of(cls, settings: JudgingSettings) -> Self:
        """Return the packaged prompts, or the user's templates."""
        if settings.panel:
            raise UsageError(
                f"nuggets are made by one judge; leave {argument('panel')} out, and judge again "
                "with each further model: it marks by the same nuggets"
            )
        sources = () if settings.template is None else (settings.template,)
        templates = read_templates(sources, NUGGET_PROMPTS)
        return cls(templates.of(NUGGET_PROMPT), templates.of(MARK_PROMPT))

    @classmethod
    def within(cls, pairs: ChosenPairs, n_calls: int) -> ChosenPairs:
        """Keep whole questions: a call for the facts of each, and one per answer."""
        return pairs.within_questions(n_calls, lambda n_answers: n_answers + 1)

    @property
    def version(self) -> str:
        """The names and digests of both templates."""
        return f"{self.template.version}+{self.marks.version}"

    def ask(self, task: JudgingTask, llm: Llm, progress: Progress | None = None) -> Outcomes:
        """Make nuggets of the questions that have none, mark the answers, and compare their scores.

        Nuggets and marks that the arena holds are used as they are. An empty answer states nothing,
        without a call.
        """
        run = _Run(task, self, llm, progress)
        run.make_nuggets()
        run.mark_answers()
        outcomes = [run.outcome(key) for key in pair_keys(task.left.table)]
        tables = run.tables()
        records = (tables,) if tables else ()
        return Outcomes(outcomes, run.usage(), records, run.notes())

    def requests(self, task: JudgingTask, settings: LlmSettings) -> list[PlannedRequests]:
        """Return the prompts for nuggets, and those for marks.

        Nuggets that are not made yet are of a usual number and length in the prompts of marks.
        """
        n_stand_ins = 12
        texts = ArenaTexts(task.arena)
        questions = list(dict.fromkeys(key[:2] for key in pair_keys(task.left.table)))
        stored = Nuggets.of(task.arena)
        nuggets = stored_nuggets(stored, questions)
        marks = stored_marks(stored, task.judge)
        stand_ins = (Nugget(_STAND_IN, "okay"),) * n_stand_ins
        of_questions = []
        for question in questions:
            if question not in nuggets and pooled_passages(texts, question):
                nuggets[question] = stand_ins
                prompt, _ = self.nugget_prompt_for(question, texts)
                of_questions.append(prompt)
        of_answers = []
        for answer in answers_in(task.left, texts):
            question, text = answer
            is_marked = (question, answer_digest(text)) in marks
            if text and question in nuggets and not is_marked:
                of_answers.append(self.mark_prompt_for(answer, nuggets[question], texts))
        return [
            PlannedRequests(of_questions, nugget_settings(settings)),
            PlannedRequests(of_answers, mark_settings(settings)),
        ]

    def nugget_prompt_for(
        self, question: QuestionKey, texts: ArenaTexts
    ) -> tuple[Prompt, PooledPassages]:
        """Make the prompt for the nuggets of a question, and return the passages that it shows."""
        empty = self._nugget_prompt(question, (), texts)
        n_tokens = Trimmer().count(empty.messages[-1].content)
        passages = PooledPassages.fitting(pooled_passages(texts, question), n_tokens)
        return self._nugget_prompt(question, passages.shown, texts), passages

    def _nugget_prompt(
        self, question: QuestionKey, passages: Sequence[ShownPassage], texts: ArenaTexts
    ) -> Prompt:
        text = texts.question(question)
        values = self.values(question[0], text, passages, (), texts.history(question))
        return Prompt.of(self.template.fill(values), version=self.template.version)

    def mark_prompt_for(
        self, answer: AnswerKey, nuggets: Sequence[Nugget], texts: ArenaTexts
    ) -> Prompt:
        """Make the prompt for the marks of an answer."""
        question, text = answer
        # Nuggets are no passages, but must not be able to forge a delimiter either.
        shown = [ShownPassage("", nugget.text) for nugget in nuggets]
        values = self.values(
            question[0], texts.question(question), shown, (text,), texts.history(question)
        )
        values["answer"] = text
        values["nuggets"] = tuple(
            NumberedNugget(number, nugget.text) for number, nugget in enumerate(nuggets, start=1)
        )
        return Prompt.of(self.marks.fill(values), version=self.marks.version)


class _Run:
    def __init__(
        self, task: JudgingTask, prompt: NuggetPrompt, llm: Llm, progress: Progress | None
    ) -> None:
        self._texts = ArenaTexts(task.arena)
        self._prompt = prompt
        self._left = task.left
        self._llm = llm
        self._judge = task.judge
        self._progress = progress
        self._usages: list[Usage] = []
        self._questions = list(dict.fromkeys(key[:2] for key in pair_keys(task.left.table)))
        stored = Nuggets.of(task.arena)
        self._nuggets = stored_nuggets(stored, self._questions)
        self._stored_marks = stored_marks(stored, task.judge)
        self._marks: dict[AnswerKey, tuple[str, ...]] = {}
        self._new_nuggets: dict[QuestionKey, tuple[Nugget, ...]] = {}
        self._new_marks: set[AnswerKey] = set()
        # What the prompts for nuggets showed.
        self._passages: dict[QuestionKey, PooledPassages] = {}
        # Why a question has no nuggets, or an answer no marks.
        self._failures: dict[QuestionKey | AnswerKey, Reply[PairVerdict]] = {}

    def make_nuggets(self) -> None:
        """Ask for the nuggets of the questions that have none."""
        asked = []
        without_passages = Usage(self._llm.settings.model)
        for question in self._questions:
            if question in self._nuggets:
                continue
            if pooled_passages(self._texts, question):
                asked.append(question)
                continue
            self._failures[question] = Reply(
                None, NO_PASSAGES, _NO_PASSAGES_DETAIL, key="", from_store=False
            )
            without_passages.prompts += 1
            without_passages.count_failure(NO_PASSAGES, 1, _NO_PASSAGES_DETAIL)
        answered = ask_table(
            asked,
            self._nugget_prompt,
            read_nuggets,
            replace(self._llm, settings=nugget_settings(self._llm.settings)),
            stage=f"{self._judge}, nuggets",
            progress=self._progress,
        )
        self._usages += [without_passages, answered.usage]
        for question, reply in answered:
            if reply.value is None:
                self._failures[question] = _failure(reply)
                continue
            nuggets = []
            for number, nugget in enumerate(reply.value, start=1):
                nuggets.append(replace(nugget, nugget_id=str(number)))
            self._new_nuggets[question] = self._nuggets[question] = tuple(nuggets)

    def _nugget_prompt(self, question: QuestionKey) -> Prompt:
        prompt, self._passages[question] = self._prompt.nugget_prompt_for(question, self._texts)
        return prompt

    def mark_answers(self) -> None:
        """Ask for the marks of the answers that have none."""
        asked = []
        for answer in answers_in(self._left, self._texts):
            question, text = answer
            if question not in self._nuggets:
                continue
            stored = self._stored_marks.get((question, answer_digest(text)))
            if stored is not None:
                self._marks[answer] = stored
            elif text:
                asked.append(answer)
            else:
                self._marks[answer] = ("not",) * len(self._nuggets[question])
                self._new_marks.add(answer)
        answered = ask_table(
            asked,
            lambda answer: self._prompt.mark_prompt_for(
                answer, self._nuggets[answer[0]], self._texts
            ),
            read_marks,
            replace(self._llm, settings=mark_settings(self._llm.settings)),
            stage=f"{self._judge}, marks",
            progress=self._progress,
        )
        self._usages.append(answered.usage)
        for answer, reply in answered:
            if reply.value is None:
                self._failures[answer] = _failure(reply)
                continue
            n_nuggets = len(self._nuggets[answer[0]])
            if set(reply.value) != set(range(1, n_nuggets + 1)):
                # The reply is sound, but its marks are of other nuggets than were shown.
                numbers = ", ".join(map(str, sorted(reply.value)[:20]))
                detail = f"the reply marks the nuggets {numbers}; expected 1 to {n_nuggets}"
                answered.usage.count_failure(UNPARSABLE, 1, detail)
                failed = replace(reply, value=None, reason=UNPARSABLE, detail=detail)
                self._failures[answer] = _failure(failed)
                continue
            self._marks[answer] = tuple(reply.value[n] for n in range(1, n_nuggets + 1))
            self._new_marks.add(answer)

    def outcome(self, key: PairKey) -> PairOutcome:
        """Compare the scores of a pair of answers."""
        language, query_id, system_a, system_b = key
        question = (language, query_id)
        text_a = self._texts.shown(question, system_a)
        text_b = self._texts.shown(question, system_b)
        flags = self._prompt.flags([text_a, text_b])
        answer_a, answer_b = (question, text_a), (question, text_b)
        for asked in (question, answer_a, answer_b):
            if asked in self._failures:
                return PairOutcome(key, self._failures[asked], flags)
        verdict = self._verdict(answer_a, answer_b)
        reply = Reply(verdict, reason=None, detail="", key="", from_store=False)
        return PairOutcome(key, reply, flags)

    def _verdict(self, answer_a: AnswerKey, answer_b: AnswerKey) -> PairVerdict:
        marks_a = self._marked(answer_a)
        marks_b = self._marked(answer_b)
        points_a, possible = nugget_points(mark for _, mark in marks_a)
        points_b, _ = nugget_points(mark for _, mark in marks_b)
        reason = f"A {_missing(marks_a)}; B {_missing(marks_b)}"
        return PairVerdict.of_scores(points_a, points_b, LOG_ODDS / possible, reason)

    def _marked(self, answer: AnswerKey) -> list[tuple[str, Mark]]:
        nuggets = self._nuggets[answer[0]]
        marks = zip(nuggets, self._marks[answer], strict=True)
        return [(nugget.text, (nugget.importance, support)) for nugget, support in marks]

    def usage(self) -> Usage:
        """Return the calls of both steps."""
        return Usage.total(self._llm.settings.model, self._usages)

    def notes(self) -> tuple[str, ...]:
        """Say what limits the nuggets of this run."""
        return passage_notes(list(self._passages.values()))

    def tables(self) -> Nuggets:
        """Return the nuggets and marks of this run as an arena holds them."""
        nugget_columns = [*NUGGETS.columns, "source"]
        mark_columns = [*NUGGET_MARKS.columns, "prompt"]
        return Nuggets(
            table=pd.DataFrame(self._nugget_rows(), columns=nugget_columns, dtype="str"),
            marks=pd.DataFrame(self._mark_rows(), columns=mark_columns, dtype="str"),
        )

    def _nugget_rows(self) -> list[tuple[str, ...]]:
        model_and_prompt = f"{self._llm.settings.model}, {self._prompt.template.version}"
        rows: list[tuple[str, ...]] = []
        for question, nuggets in self._new_nuggets.items():
            language, query_id = question
            share = self._passages[question].share
            source = f"{model_and_prompt}, from {share}" if share else model_and_prompt
            for nugget in nuggets:
                key = (query_id, language, nugget.nugget_id)
                rows.append((*key, nugget.text, nugget.importance, source))
        return rows

    def _mark_rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for answer in sorted(self._new_marks):
            question, text = answer
            language, query_id = question
            digest = answer_digest(text)
            marks = list(zip(self._nuggets[question], self._marks[answer], strict=True))
            for system in self._texts.systems(question):
                if self._texts.shown(question, system) != text:
                    continue
                for nugget, support in marks:
                    mark = (query_id, language, system, nugget.nugget_id, nugget.text, support)
                    rows.append((*mark, self._judge, digest, self._prompt.marks.version))
        return rows


def _failure(reply: Reply[Any]) -> Reply[PairVerdict]:
    return Reply(None, reply.reason, reply.detail, reply.key, reply.from_store)


def _missing(marked: Sequence[tuple[str, Mark]]) -> str:
    """Return how many nuggets an answer states, and which ones it does not, in few words."""
    shown_missing = 5
    missing = [text for text, (_, support) in marked if support == "not"]
    n_supported = sum(support == "supported" for _, (_, support) in marked)
    stated = f"states {n_supported} of {len(marked)} facts"
    if not missing:
        return stated
    shown = "; ".join(missing[:shown_missing])
    return f"{stated}, not: {shown}{'; …' if len(missing) > shown_missing else ''}"


def answers_in(pairs: ChosenPairs, texts: ArenaTexts) -> list[AnswerKey]:
    """Return the distinct answers in some pairs, question by question, by their content."""
    answers: set[AnswerKey] = set()
    for language, query_id, system_a, system_b in pair_keys(pairs.table):
        question = (language, query_id)
        answers.add((question, texts.shown(question, system_a)))
        answers.add((question, texts.shown(question, system_b)))
    return sorted(answers)
