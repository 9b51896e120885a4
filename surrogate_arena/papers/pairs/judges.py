"""Judges of pairs: LLMs with the prompt of ``judge``, functions, and verdicts that are recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from arena.data.schema import WINNERS
from arena.judging.answer_pairs import ArenaTexts, Comparison, PairKey, pair_keys
from arena.judging.pairwise import REPLY_FORMS, PairwisePrompt
from arena.judging.verdict_parsing import read_verdict
from arena.llm.prompts import ReplaceablePrompt, Templates
from arena.llm.replies import Completion
from arena.llm.requests import Prompt
from arena.quality.agreement import QUESTION_PAIR, majorities, oriented_verdicts
from surrogate_arena.papers.judges import FunctionJudge, JudgePrompts
from surrogate_arena.papers.verdict import Verdict

NO_VERDICT = "no_verdict"
NOT_RECORDED = "not_recorded"
PAIRWISE: ReplaceablePrompt = REPLY_FORMS["text"].prompt
"""The prompt of ``judge``."""


@dataclass(frozen=True)
class AskedPair:
    """A pair of answers in one order; a verdict on it is ``a``, ``b`` or ``tie``."""

    key: PairKey
    texts: ArenaTexts = field(repr=False, compare=False)

    @property
    def comparison(self) -> Comparison:
        """The texts that a judge sees."""
        return self.texts.comparison(self.key)

    def ask(self, judge: FunctionJudge) -> Verdict:
        """Ask a function for the winner."""
        shown = self.comparison
        passages = [passage.text for passage in shown.passages]
        winner = judge.function(shown.question, passages, shown.answer_a, shown.answer_b)
        if winner is None:
            return Verdict(None, NO_VERDICT)
        if winner not in WINNERS:
            raise judge.refuse(winner, "return a, b or tie, or None if there is no verdict")
        return Verdict(str(winner))


@dataclass(frozen=True)
class PairPrompts(JudgePrompts[AskedPair]):
    """Asks which of two answers is better, as ``judge`` does."""

    templates: Templates
    max_tokens = 2048

    @property
    def version(self) -> str:
        """Name and digest of the template, and what it shows of the systems."""
        return self._prompt.version

    def prompts_for(self, item: AskedPair) -> list[Prompt]:
        """Show both answers."""
        return [self._prompt.prompt_for(item.comparison)]

    def read(self, completion: Completion, task: str) -> str:  # noqa: ARG002
        """Read the last verdict of the reply."""
        return read_verdict(completion).winner

    @cached_property
    def _prompt(self) -> PairwisePrompt:
        return PairwisePrompt(self.templates.of(PAIRWISE))


@dataclass(frozen=True)
class RecordedJudge:
    """The verdicts of a judge in an arena; of several in the same order the majority counts."""

    name: str
    judgments: pd.DataFrame = field(repr=False, compare=False)
    prompt: str = ""

    def judge(self, items: Sequence[AskedPair]) -> list[Verdict]:
        """Look up the verdict in the order that is asked about."""
        verdicts = []
        for item in items:
            verdict = Verdict(None, NOT_RECORDED, was_asked=False)
            if item.key in self._winners:
                verdict = Verdict(self._winners[item.key])
            verdicts.append(verdict)
        return verdicts

    @cached_property
    def _winners(self) -> Mapping[PairKey, str]:
        by_order = majorities(oriented_verdicts(self.judgments), [*QUESTION_PAIR, "first_on_a"])
        first_on_a = by_order["first_on_a"]
        sides = by_order.assign(
            system_a=by_order["first"].where(first_on_a, by_order["second"]),
            system_b=by_order["second"].where(first_on_a, by_order["first"]),
        )
        outcomes = by_order["outcome"].where(first_on_a, -by_order["outcome"])
        winners = outcomes.map({1: "a", -1: "b", 0: "tie"})
        return dict(zip(pair_keys(sides), winners, strict=True))
