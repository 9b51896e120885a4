"""The paper's two baselines (section 5): an LLM that scores texts, and one that picks the better.

``GptScore`` asks for a score from 0 to 10 of each text, by a definition of the quality.
``GptRanking`` shows both texts, in an order drawn by their content, and asks for the better one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from arena.llm.client import complete
from arena.llm.completions import Completion
from arena.llm.failures import OVER_BUDGET, PASSING
from arena.llm.outcomes import Outcome
from arena.llm.prompts import Prompt
from arena.llm.settings import Endpoint, ModelSettings
from arena.llm.usage import Usage
from arena.metaevaluation.wikieval.gpt_prompts import (
    RANKING,
    SCORE,
    prompt_version,
    ranking_prompt,
    score_prompt,
)
from arena.metaevaluation.wikieval.gpt_replies import read_choice, read_score
from arena.metaevaluation.wikieval.pairs import Pair, Preference, Score, higher

if TYPE_CHECKING:
    from arena.llm.store import Store

NOT_ASKED = PASSING | {OVER_BUDGET}
"""Failures after which a later run may bring an answer."""

Progress = Callable[[str, int, int], None]
T = TypeVar("T")


@dataclass(frozen=True)
class _LlmPairJudge:
    """What both baselines need.

    Attributes:
        settings: Model, temperature and so on.
        store: Keeps every reply: what it has is not asked again.
        endpoint: Where the model is asked.
        max_calls: Most prompts to send in a run; None for all.
        progress: Called with a stage's name, what is done of it, and all of it.
        usages: What was asked and used; grows as the judge is at work.
    """

    settings: ModelSettings
    store: Store = field(repr=False)
    endpoint: Endpoint = field(default_factory=Endpoint)
    max_calls: int | None = None
    progress: Progress | None = field(default=None, repr=False)
    usages: list[Usage] = field(default_factory=list, repr=False, compare=False)

    @property
    def name(self) -> str:
        raise NotImplementedError

    def _ask(self, prompts: Sequence[Prompt], parse: Callable[[Completion], T]) -> list[Outcome[T]]:
        run = complete(
            prompts,
            self.settings,
            endpoint=self.endpoint,
            store=self.store,
            parse=parse,
            max_calls=self.max_calls,
        )
        self.usages.append(run.usage)
        outcomes: list[Outcome[T]] = []
        with run:
            for outcome in run:
                outcomes.append(outcome)
                if self.progress is not None:
                    self.progress(self.name, len(outcomes), len(prompts))
        return outcomes


@dataclass(frozen=True)
class GptScore(_LlmPairJudge):
    """Prefers the text that an LLM gives the higher score, from 0 to 10."""

    @property
    def name(self) -> str:
        """``gpt-score:`` and the model."""
        return f"gpt-score:{self.settings.model}"

    @property
    def prompt(self) -> str:
        """Name and digest of the template."""
        return prompt_version(SCORE)

    def judge(self, pairs: Sequence[Pair]) -> list[Preference]:
        """Ask for two scores a pair; the same score is a tie.

        Raises:
            UsageError: See ``arena.llm.complete``.
            MissingDependencyError: If Jinja, the SDK or SQLAlchemy is not installed.
        """
        texts = [(pair, text) for pair in pairs for text in (pair.first, pair.second)]
        outcomes = self._ask([score_prompt(pair, text) for pair, text in texts], read_score)
        scores = [
            Score(each.value, each.failure, each.failure not in NOT_ASKED) for each in outcomes
        ]
        return [higher(*two) for two in zip(scores[::2], scores[1::2], strict=True)]


@dataclass(frozen=True)
class GptRanking(_LlmPairJudge):
    """Prefers the text that an LLM calls the better of the two."""

    @property
    def name(self) -> str:
        """``gpt-ranking:`` and the model."""
        return f"gpt-ranking:{self.settings.model}"

    @property
    def prompt(self) -> str:
        """Name and digest of the template."""
        return prompt_version(RANKING)

    def judge(self, pairs: Sequence[Pair]) -> list[Preference]:
        """Ask for the better text of each pair.

        Raises:
            UsageError: See ``arena.llm.complete``.
            MissingDependencyError: If Jinja, the SDK or SQLAlchemy is not installed.
        """
        return [
            Preference(None, each.failure, each.failure not in NOT_ASKED)
            if each.value is None
            else Preference("first" if each.value == 1 else "second")
            for each in self._ask([ranking_prompt(pair) for pair in pairs], read_choice)
        ]
