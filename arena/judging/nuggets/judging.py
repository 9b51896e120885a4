"""Judging by nuggets: the facts of a question are made once, and every answer is marked once.

The reference is TREC's AutoNuggetizer (Pradeep et al., 2025, "The great nugget recall"). Facts stay
in the arena, where people can edit them and further judges mark by the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import pandas as pd

from arena.data.answer_digests import answer_digest
from arena.data.errors import UsageError, argument
from arena.data.types import Progress
from arena.judging.answer_pairs import ArenaTexts, PairKey, QuestionKey, ShownPassage, pair_keys
from arena.judging.choosing.chosen_pairs import ChosenPairs
from arena.judging.judging_settings import JudgingSettings
from arena.judging.judging_task import JudgingTask, Outcomes, PairOutcome
from arena.judging.nuggets.passages import PooledPassages, passage_remarks, pooled_passages
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
from arena.llm.prompts import PromptTemplate, read_templates
from arena.llm.replies import UNPARSABLE, Reply
from arena.llm.requests import Prompt
from arena.llm.trimming import Trimmer
from arena.llm.usage import Usage

NO_PASSAGES = "no_passages"
"""Reason of a pair without a verdict: nothing to take the facts of its question from."""
_STAND_INS = (
    Nugget("a fact of some fifteen words, which stands for one that is not made", "okay"),
) * 12
"""In a dry run, nuggets of a usual number and length."""


@dataclass(frozen=True)
class NuggetPrompt(TemplatePrompt):
    """Asks for the facts of a question, by ``template``, and which of them each answer states."""

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
        """Return the names and digests of both templates."""
        return f"{self.template.version}+{self.marks.version}"

    def ask(self, task: JudgingTask, llm: Llm, progress: Progress | None = None) -> Outcomes:
        """Make missing nuggets, mark the answers, and compare their scores.

        The arena's nuggets and marks are used as they are; an empty answer takes no call.
        """
        run = _Run(task, self)
        usages = [run.make_nuggets(llm, progress), run.mark_answers(llm, progress)]
        outcomes = [run.outcome(key) for key in pair_keys(task.left.table)]
        tables = run.tables(llm.settings.model)
        return Outcomes(
            outcomes=outcomes,
            usage=Usage.total(llm.settings.model, usages),
            records=(tables,) if tables else (),
            remarks=passage_remarks(list(run.passages.values())),
        )

    def nugget_prompt_for(
        self, question: QuestionKey, texts: ArenaTexts
    ) -> tuple[Prompt, PooledPassages]:
        """Return the prompt for a question's nuggets, and the passages that it shows."""
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
    def __init__(self, task: JudgingTask, prompt: NuggetPrompt) -> None:
        self._texts = ArenaTexts(task.arena)
        self._prompt = prompt
        self._judge = task.judge
        self._questions = list(dict.fromkeys(key[:2] for key in pair_keys(task.left.table)))
        self._answers = _distinct_answers(task.left, self._texts)
        # The systems that show an answer, with the digests of all that they wrote.
        self._digests: dict[AnswerKey, dict[str, str]] = {}
        for question in self._questions:
            for system in self._texts.systems(question):
                answer = (question, self._texts.shown(question, system))
                digest = answer_digest(self._texts.output(question, system))
                self._digests.setdefault(answer, {})[system] = digest
        stored = Nuggets.of(task.arena)
        self._nuggets = stored_nuggets(stored, set(self._questions))
        self._stored_marks = stored_marks(stored, task.judge)
        self._marks: dict[AnswerKey, tuple[str, ...]] = {}
        self._new_nuggets: list[QuestionKey] = []
        self._new_marks: list[AnswerKey] = []
        # What the prompts for nuggets showed.
        self.passages: dict[QuestionKey, PooledPassages] = {}
        # Why a question has no nuggets, or an answer no marks.
        self._failures: dict[QuestionKey | AnswerKey, Reply[Any]] = {}

    def _without_nuggets(self) -> list[QuestionKey]:
        questions = []
        for question in self._questions:
            if question not in self._nuggets and pooled_passages(self._texts, question):
                questions.append(question)
        return questions

    def make_nuggets(self, llm: Llm, progress: Progress | None) -> Usage:
        answered = ask_table(
            self._without_nuggets(),
            self._nugget_prompt,
            read_nuggets,
            replace(llm, settings=nugget_settings(llm.settings)),
            stage=f"{self._judge}, nuggets",
            progress=progress,
        )
        for question, reply in answered:
            if llm.dry_runs is not None:
                self._nuggets[question] = _STAND_INS
                continue
            if reply.value is None:
                self._failures[question] = reply
                continue
            nuggets = []
            for number, nugget in enumerate(reply.value, start=1):
                nuggets.append(replace(nugget, nugget_id=str(number)))
            self._nuggets[question] = tuple(nuggets)
            self._new_nuggets.append(question)
        for question in self._questions:
            if question not in self._nuggets and question not in self._failures:
                detail = "no passages to take nuggets from; write them into further/nuggets.jsonl"
                self._failures[question] = Reply(None, NO_PASSAGES, detail, "", from_store=False)
                answered.usage.prompts += 1
                answered.usage.count_failure(NO_PASSAGES, 1, detail)
        return answered.usage

    def _nugget_prompt(self, question: QuestionKey) -> Prompt:
        prompt, self.passages[question] = self._prompt.nugget_prompt_for(question, self._texts)
        return prompt

    def _without_marks(self) -> list[AnswerKey]:
        answers = []
        for answer in self._answers:
            question, text = answer
            if question not in self._nuggets:
                continue
            stored = self._stored_marks_of(answer)
            if stored is not None:
                self._marks[answer] = stored
            elif text:
                answers.append(answer)
            else:
                self._marks[answer] = ("not",) * len(self._nuggets[question])
                self._new_marks.append(answer)
        return answers

    def _stored_marks_of(self, answer: AnswerKey) -> tuple[str, ...] | None:
        question, _ = answer
        for digest in self._digests[answer].values():
            if (question, digest) in self._stored_marks:
                return self._stored_marks[question, digest]
        return None

    def mark_answers(self, llm: Llm, progress: Progress | None) -> Usage:
        answered = ask_table(
            self._without_marks(),
            lambda answer: self._prompt.mark_prompt_for(
                answer, self._nuggets[answer[0]], self._texts
            ),
            read_marks,
            replace(llm, settings=mark_settings(llm.settings)),
            stage=f"{self._judge}, marks",
            progress=progress,
        )
        for answer, reply in answered:
            marks = reply.value
            numbers = list(range(1, len(self._nuggets[answer[0]]) + 1))
            if marks is None:
                self._failures[answer] = reply
            elif sorted(marks) != numbers:
                # The reply is sound, but its marks are of other nuggets than were shown.
                shown = ", ".join(map(str, sorted(marks)[:20]))
                detail = f"the reply marks the nuggets {shown}; expected 1 to {len(numbers)}"
                answered.usage.count_failure(UNPARSABLE, 1, detail)
                failed = replace(reply, value=None, reason=UNPARSABLE, detail=detail)
                self._failures[answer] = failed
            else:
                self._marks[answer] = tuple(marks[number] for number in numbers)
                self._new_marks.append(answer)
        return answered.usage

    def outcome(self, key: PairKey) -> PairOutcome:
        language, query_id, system_a, system_b = key
        question = (language, query_id)
        text_a = self._texts.shown(question, system_a)
        text_b = self._texts.shown(question, system_b)
        flags = self._prompt.flags([text_a, text_b])
        answer_a, answer_b = (question, text_a), (question, text_b)
        for part in (question, answer_a, answer_b):
            if part in self._failures:
                return PairOutcome(key, self._failures[part], flags)
        verdict = _compared(self._marked(answer_a), self._marked(answer_b))
        return PairOutcome(key, Reply(verdict, None, "", "", from_store=False), flags)

    def _marked(self, answer: AnswerKey) -> list[tuple[str, Mark]]:
        marks = zip(self._nuggets[answer[0]], self._marks[answer], strict=True)
        return [(nugget.text, (nugget.importance, support)) for nugget, support in marks]

    def tables(self, model: str) -> Nuggets:
        nugget_columns = [*NUGGETS.columns, "source"]
        mark_columns = [*NUGGET_MARKS.columns, "prompt"]
        return Nuggets(
            table=pd.DataFrame(self._nugget_rows(model), columns=nugget_columns, dtype="str"),
            marks=pd.DataFrame(self._mark_rows(), columns=mark_columns, dtype="str"),
        )

    def _nugget_rows(self, model: str) -> Iterator[tuple[str, ...]]:
        for question in self._new_nuggets:
            language, query_id = question
            share = self.passages[question].share
            source = f"{model}, {self._prompt.template.version}"
            if share:
                source += f", from {share}"
            for nugget in self._nuggets[question]:
                key = (query_id, language, nugget.nugget_id)
                yield *key, nugget.text, nugget.importance, source

    def _mark_rows(self) -> Iterator[tuple[str, ...]]:
        for answer in sorted(self._new_marks):
            question, _ = answer
            language, query_id = question
            marks = list(zip(self._nuggets[question], self._marks[answer], strict=True))
            for system, digest in self._digests[answer].items():
                for nugget, support in marks:
                    mark = (query_id, language, system, nugget.nugget_id, nugget.text, support)
                    yield *mark, self._judge, digest, self._prompt.marks.version


def _compared(
    marks_a: Sequence[tuple[str, Mark]], marks_b: Sequence[tuple[str, Mark]]
) -> PairVerdict:
    points_a, possible = nugget_points(mark for _, mark in marks_a)
    points_b, _ = nugget_points(mark for _, mark in marks_b)
    reason = f"A {_missing(marks_a)}; B {_missing(marks_b)}"
    return PairVerdict.of_scores(points_a, points_b, LOG_ODDS / possible, reason)


def _missing(marked: Sequence[tuple[str, Mark]]) -> str:
    shown_missing = 5
    missing = [text for text, (_, support) in marked if support == "not"]
    n_supported = sum(support == "supported" for _, (_, support) in marked)
    stated = f"states {n_supported} of {len(marked)} facts"
    if not missing:
        return stated
    shown = "; ".join(missing[:shown_missing])
    return f"{stated}, not: {shown}{'; …' if len(missing) > shown_missing else ''}"


def _distinct_answers(pairs: ChosenPairs, texts: ArenaTexts) -> list[AnswerKey]:
    answers: set[AnswerKey] = set()
    for language, query_id, system_a, system_b in pair_keys(pairs.table):
        question = (language, query_id)
        answers.add((question, texts.shown(question, system_a)))
        answers.add((question, texts.shown(question, system_b)))
    return sorted(answers)
