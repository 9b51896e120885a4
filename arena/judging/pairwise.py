"""Judging pair by pair: which of two answers is better."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Self

from arena.data.errors import checked_choice
from arena.data.types import Progress
from arena.judging.answer_pairs import ArenaTexts, Comparison, pair_keys
from arena.judging.choosing.chosen_pairs import AskedKey, ChosenPairs, asked_keys
from arena.judging.judging_settings import JudgingSettings, VerdictForm
from arena.judging.judging_task import JudgingTask, Outcomes, PairOutcome
from arena.judging.prompt import SHOWN_QUESTION, JudgePrompt, TemplatePrompt
from arena.judging.verdict_parsing import PairVerdict, read_letter, read_verdict
from arena.llm.ask import Llm, ask_table
from arena.llm.llm_settings import LlmSettings
from arena.llm.prompts import ReplaceablePrompt, Variable
from arena.llm.replies import Completion
from arena.llm.requests import Prompt

VARIABLES = MappingProxyType(
    {
        **SHOWN_QUESTION,
        "answer_a": Variable(
            "what is shown of side A, citations included", "sampleone", is_required=True
        ),
        "answer_b": Variable("what is shown of side B", "sampletwo", is_required=True),
    }
)
"""Variables of a template of pairs."""


@dataclass(frozen=True)
class ReplyForm:
    """Form in which a judge of pairs states its verdict."""

    prompt: ReplaceablePrompt
    read: Callable[[Completion], PairVerdict]
    max_tokens: int | None = None
    fields: Mapping[str, object] = field(default_factory=dict)


REPLY_FORMS = MappingProxyType[VerdictForm, ReplyForm](
    {
        "text": ReplyForm(
            prompt=ReplaceablePrompt(
                name="pairwise",
                asks="Which of two answers is better (MIRAGE-Bench, figure 13)",
                reply="the last [[A]], [[B]] or [[C]]",
                variables=VARIABLES,
                package="arena.judging",
                packaged_name="pairwise.v1",
            ),
            read=read_verdict,
        ),
        "logprobs": ReplyForm(
            prompt=ReplaceablePrompt(
                name="pairwise-letter",
                asks="Which of two answers is better, in one token: judge with verdict = logprobs",
                reply="the likeliest of the letters A, B, C as the first token",
                variables=VARIABLES,
                package="arena.judging",
                packaged_name="pairwise-letter.v1",
            ),
            read=read_letter,
            max_tokens=1,
            # 20 alternatives are the most that OpenAI gives.
            fields=MappingProxyType({"logprobs": True, "top_logprobs": 20}),
        ),
    }
)
"""How verdicts on pairs are asked for and read, by the setting ``verdict``."""


class ComparisonPrompt(JudgePrompt):
    """A form that asks which of two answers is better."""

    form = "pairwise"

    @abstractmethod
    def prompt_for(self, comparison: Comparison) -> Prompt:
        """Make the prompt for a pair of answers."""

    @abstractmethod
    def read(self, completion: Completion) -> PairVerdict:
        """Read the verdict of a reply."""

    @classmethod
    def within(cls, pairs: ChosenPairs, n_calls: int) -> ChosenPairs:
        """Keep a pair for every call."""
        return pairs.within(n_calls)

    def ask(self, task: JudgingTask, llm: Llm, progress: Progress | None = None) -> Outcomes:
        """Ask about every pair."""
        texts = ArenaTexts(task.arena)
        flags: list[tuple[str, ...]] = []

        def flagged_prompt(key: AskedKey) -> Prompt:
            comparison = texts.comparison(key[:4])
            # Flags are noted as prompts are made, once per pair and in their order, so that no
            # answer's text has to be put together twice.
            flags.append(self.flags((comparison.answer_a, comparison.answer_b)))
            return self._vote_prompt(comparison, key)

        answered = ask_table(
            list(asked_keys(task.left.table)),
            flagged_prompt,
            self.read,
            llm,
            stage=task.judge,
            progress=progress,
        )
        rows = zip(pair_keys(task.left.table), answered.replies, flags, strict=True)
        return Outcomes([PairOutcome(*row) for row in rows], answered.usage)

    def _vote_prompt(self, comparison: Comparison, key: AskedKey) -> Prompt:
        prompt = self.prompt_for(comparison)
        repeat = key[-1]
        if not repeat:
            return prompt
        # Otherwise the store would answer with the first vote.
        return replace(prompt, purpose=f"repetition {repeat}")


@dataclass(frozen=True)
class PairwisePrompt(ComparisonPrompt, TemplatePrompt):
    """Asks an LLM for the better of two answers.

    Attributes:
        verdict: ``text``: the last of ``[[A]]``, ``[[B]]``, ``[[C]]`` in the reply. ``logprobs``:
            the likeliest of the letters A, B, C as its first and only token.
    """

    verdict: VerdictForm = "text"

    replaceable = tuple(reply_form.prompt for reply_form in REPLY_FORMS.values())

    @classmethod
    def of(cls, settings: JudgingSettings) -> Self:
        """Return the packaged prompt of a form of verdict, or the user's template."""
        prompt = REPLY_FORMS[settings.verdict].prompt
        return cls(prompt.template(settings.template), settings.verdict)

    def request_settings(self, settings: LlmSettings) -> LlmSettings:
        """Return the settings with what the form of verdict needs."""
        reply_form = REPLY_FORMS[self.verdict]
        if reply_form.max_tokens is not None:
            settings = settings.model_copy(update={"max_tokens": reply_form.max_tokens})
        if reply_form.fields:
            # The user's own fields win: an endpoint may allow fewer alternatives.
            settings = settings.sending(**{**reply_form.fields, **settings.body})
        return settings

    def prompt_for(self, comparison: Comparison) -> Prompt:
        """Make the prompt for a pair of answers; UsageError if the template cannot be filled."""
        answers = (comparison.answer_a, comparison.answer_b)
        values = self.values(
            comparison.key[0], comparison.question, comparison.passages, answers, comparison.history
        )
        values["answer_a"] = comparison.answer_a
        values["answer_b"] = comparison.answer_b
        return Prompt.of(self.template.fill(values), version=self.version)

    def read(self, completion: Completion) -> PairVerdict:
        """Read the verdict as its form states it."""
        return REPLY_FORMS[self.verdict].read(completion)


def pairwise_prompt(
    template: Path | str | None = None, verdict: VerdictForm = "text"
) -> PairwisePrompt:
    """Choose the prompt.

    Args:
        template: A user's Jinja template; None for the packaged one.
        verdict: One of ``REPLY_FORMS``.

    Returns:
        The prompt, to give to ``LlmJudge``.

    Raises:
        UsageError: If the template is unusable, or the form unknown.

    Examples:
        >>> pairwise_prompt(verdict="logprobs").verdict
        'logprobs'
    """
    checked_choice(verdict, tuple(REPLY_FORMS), "form of verdict")
    prompt = REPLY_FORMS[verdict].prompt
    return PairwisePrompt(prompt.template(template), verdict)
