"""Prompts of the paper's two baselines (section 5), in words of our own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from arena.data.errors import UsageError
from arena.llm.client import complete
from arena.llm.replies import OVER_BUDGET, PASSING, Completion, Outcome, UnparsableError
from arena.llm.settings import Endpoint, ModelSettings, Prompt
from arena.llm.usage import Usage
from arena.text.prompts import PromptTemplate, fence_code, packaged_prompt
from surrogate.metaevaluation.memerag.judges import RUN, character_runs
from surrogate.metaevaluation.wikieval.pairs import (
    ANSWER_RELEVANCE,
    COMPARED,
    CONTEXT_RELEVANCE,
    FAITHFULNESS,
    Criterion,
    Pair,
    Preference,
    Score,
    higher,
)

SCORE = "gpt-score.v1"
RANKING = "gpt-ranking.v1"

DEFINITIONS = MappingProxyType[Criterion, str](
    {
        FAITHFULNESS: "Faithfulness means that the answer says only what the context says. Each "
        "claim of the answer that cannot be deduced from the context makes it less faithful.",
        ANSWER_RELEVANCE: "Answer relevance means that the answer addresses the question, "
        "directly and fittingly. Whether it is true does not count. An answer that leaves out "
        "part of what is asked, or says more than is asked, is less relevant.",
        CONTEXT_RELEVANCE: "Context relevance means that the context holds what it takes to "
        "answer the question, and nothing else. Each piece of information in the context that "
        "the answer does not need makes it less relevant.",
    }
)

_PACKAGE = "surrogate.metaevaluation.wikieval"
_VARIABLES = ("code", "quality", "definition", "question", "context", "kind", "text", "other")


def score_prompt(pair: Pair, text: str) -> Prompt:
    """Ask for a score from 0 to 10 of one text of a pair."""
    return _prompt(SCORE, pair, text, "")


def ranking_prompt(pair: Pair) -> Prompt:
    """Ask which text of a pair is the better one."""
    return _prompt(RANKING, pair, pair.first, pair.second)


def prompt_version(name: str) -> str:
    """Return name and digest of ``SCORE`` or ``RANKING``."""
    return _template(name).version


def _template(name: str) -> PromptTemplate:
    return packaged_prompt(_PACKAGE, name, _VARIABLES)


def _prompt(name: str, pair: Pair, text: str, other: str) -> Prompt:
    template = _template(name)
    # As in the paper, faithfulness is judged by the context, relevance by the question.
    question = "" if pair.criterion == FAITHFULNESS else pair.question
    context = pair.context or ""
    values = {
        "code": fence_code(question, context, text, other),
        "quality": pair.criterion.replace("_", " "),
        "definition": DEFINITIONS[pair.criterion],
        "question": question,
        "context": context,
        "kind": COMPARED[pair.criterion],
        "text": text,
        "other": other,
    }
    return Prompt.of(template.fill(values), version=template.version)


LOWEST, HIGHEST = 0, 10

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_NUMBER = r"(-?\d{1,6}(?:[.,]\d{1,6})?)"
_TAIL = r"(?!\s?[-‐–—~]\s?\d)(?:\s?/\s?(\d{1,6}))?"
_SCORE = re.compile(rf"\bscore\b\W{{0,6}}?(?:is\W{{1,3}})?{_NUMBER}{_TAIL}", re.IGNORECASE)
_BARE_SCORE = re.compile(rf"[^\w-]{{0,6}}{_NUMBER}{_TAIL}\W{{0,6}}")
_CHOICE = re.compile(
    r"\bbetter\b\W{0,6}(?:is\W{1,3})?(?:(?:answer|context)\W{1,3})?([12])\b", re.IGNORECASE
)
_BARE_CHOICE = re.compile(r"\W{0,6}(?:(?:answer|context)\W{1,3})?([12])\W{0,6}", re.IGNORECASE)


def read_score(completion: Completion) -> float:
    """Read the last ``Score: 7``, or a reply that is nothing but a number.

    Returns:
        From 0 to 10.

    Raises:
        UnparsableError: If there is no score, it is beyond that, or it is on another scale.
    """
    text = _THOUGHTS.sub(" ", completion.text or "")
    found = list(_SCORE.finditer(text))
    last = found[-1] if found else _BARE_SCORE.fullmatch(text)
    if last is None:
        raise UnparsableError("the reply has no score")
    value = float(last[1].replace(",", "."))
    if not LOWEST <= value <= HIGHEST or last[2] not in (None, str(HIGHEST)):
        raise UnparsableError(f"the score is {last[0].strip()!r}; expected {LOWEST} to {HIGHEST}")
    return value


def read_choice(completion: Completion) -> int:
    """Read the last ``Better: 1`` or ``Better: 2``, or a reply that is nothing but the number.

    Returns:
        1 or 2.

    Raises:
        UnparsableError: If there is none.
    """
    text = _THOUGHTS.sub(" ", completion.text or "")
    found = list(_CHOICE.finditer(text))
    last = found[-1] if found else _BARE_CHOICE.fullmatch(text)
    if last is None:
        raise UnparsableError("the reply does not say which is better: 1 or 2")
    return int(last[1])


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
            MissingDependencyError: If the extra ``llm`` is not installed.
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
            MissingDependencyError: If the extra ``llm`` is not installed.
        """
        return [
            Preference(None, each.failure, each.failure not in NOT_ASKED)
            if each.value is None
            else Preference("first" if each.value == 1 else "second")
            for each in self._ask([ranking_prompt(pair) for pair in pairs], read_choice)
        ]


@dataclass(frozen=True)
class LexicalPairJudge:
    """Prefers the text that shares more with what it should be near to.

    Faithfulness is the share of the answer's runs of characters that stand in the context.
    Relevance, of answers and of contexts, is the Dice coefficient of the text's runs and the
    question's: what the text holds besides lowers it.

    Attributes:
        length: Characters of a run.
    """

    length: int = RUN

    def __post_init__(self) -> None:
        if self.length < 1:
            raise UsageError(f"the length of a run is {self.length}; give 1 or more")

    @property
    def name(self) -> str:
        """``lexical``."""
        return "lexical"

    @property
    def prompt(self) -> str:
        """The settings."""
        return f"characters:{self.length}"

    def judge(self, pairs: Sequence[Pair]) -> list[Preference]:
        """Judge each pair by itself."""
        return [
            higher(Score(self.score(pair, pair.first)), Score(self.score(pair, pair.second)))
            for pair in pairs
        ]

    def score(self, pair: Pair, text: str) -> float:
        """Return the score of one text of a pair, 0 to 1."""
        if pair.criterion == FAITHFULNESS:
            return self._held(text, pair.context or "")
        return self._dice(text, pair.question)

    def _held(self, text: str, context: str) -> float:
        runs, known = character_runs(text, self.length), set(character_runs(context, self.length))
        return sum(run in known for run in runs) / len(runs)

    def _dice(self, one: str, other: str) -> float:
        first, second = (Counter(character_runs(text, self.length)) for text in (one, other))
        return 2 * (first & second).total() / (first.total() + second.total())
