"""An LLM as a judge of faithfulness, asked again where it gives no label (section 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from arena.errors import UsageError
from arena.llm.client import complete
from arena.llm.completions import Completion
from arena.llm.failures import EMPTY, OVER_BUDGET, PASSING, REFUSAL, UNPARSABLE
from arena.llm.outcomes import Outcome
from arena.llm.prompts import Prompt
from arena.llm.settings import Endpoint, ModelSettings
from arena.llm.usage import Usage
from arena.metaevaluation.memerag.answer_labels import read_label
from arena.metaevaluation.memerag.claims import Claim, Verdict
from arena.metaevaluation.memerag.faithfulness_prompts import FaithfulnessPrompt, PromptName

if TYPE_CHECKING:
    from arena.llm.store import Store

RETRIES = 5
TEMPERATURE = 0.1
TOP_P = 0.1

_ASKED_AGAIN = frozenset({UNPARSABLE, EMPTY, REFUSAL})
_NOT_ASKED = PASSING | {OVER_BUDGET}

Progress = Callable[[str, int, int], None]


def paper_settings(model: str, max_tokens: int | None = 1024) -> ModelSettings:
    """Return a model's settings as in the paper: temperature and top_p of 0.1."""
    return ModelSettings(
        model, temperature=TEMPERATURE, max_tokens=max_tokens, extra_body={"top_p": TOP_P}
    )


@dataclass(frozen=True)
class LlmFaithfulnessJudge:
    """A judge.

    Attributes:
        settings: Model, temperature and so on; see ``paper_settings``.
        store: Keeps every reply: what it has is not asked again.
        endpoint: Where the model is asked.
        prompt_name: Which of the paper's prompts.
        retries: How often a claim is asked again, at most, where the reply has no label. Each try
            has a purpose of its own in the store, and the next seed where the settings have one.
        max_calls: Most prompts to send in a run, retries included; None for all.
        progress: Called with a stage's name, what is done of it, and all of it.
        usages: What each try asked and used; grows as the judge is at work.
    """

    settings: ModelSettings
    store: Store = field(repr=False)
    endpoint: Endpoint = field(default_factory=Endpoint)
    prompt_name: PromptName = "ag_cot"
    retries: int = RETRIES
    max_calls: int | None = None
    progress: Progress | None = field(default=None, repr=False)
    usages: list[Usage] = field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.retries < 0:
            raise UsageError(f"retries is {self.retries}; give 0 or more")

    @property
    def name(self) -> str:
        """``llm:`` and the model."""
        return f"llm:{self.settings.model}"

    @property
    def prompt(self) -> str:
        """Names and digests of the templates."""
        return FaithfulnessPrompt(self.prompt_name).version

    def judge(self, claims: Sequence[Claim]) -> list[Verdict]:
        """Ask the model about every claim.

        Returns:
            A verdict a claim. A claim without a label after all retries counts against the model;
            one that was not answered, because the server failed or ``max_calls`` was used up, was
            not asked: run again.

        Raises:
            UsageError: See ``arena.llm.complete``.
            MissingDependencyError: If Jinja, the SDK or SQLAlchemy is not installed.
        """
        prompt = FaithfulnessPrompt(self.prompt_name)
        asked = [prompt.ask(claim) for claim in claims]
        verdicts: list[Verdict] = [Verdict(None, OVER_BUDGET, was_asked=False)] * len(claims)
        pending = list(range(len(claims)))
        calls_left = self.max_calls
        for attempt in range(self.retries + 1):
            outcomes = self._ask([asked[place] for place in pending], attempt, calls_left)
            for place, outcome in zip(pending, outcomes, strict=True):
                verdicts[place] = _verdict(outcome)
            if calls_left is not None:
                calls_left -= min(calls_left, sum(map(_was_sent, outcomes)))
            pending = [place for place in pending if verdicts[place].failure in _ASKED_AGAIN]
            if not pending:
                break
        return verdicts

    def _ask(
        self, prompts: Sequence[Prompt], attempt: int, max_calls: int | None
    ) -> list[Outcome[str]]:
        seed = self.settings.seed
        settings = replace(self.settings, seed=None if seed is None else seed + attempt)
        purpose = f"retry {attempt}" if attempt else ""
        stage = f"{self.name} {purpose}".strip()
        run = complete(
            [replace(prompt, purpose=purpose) for prompt in prompts],
            settings,
            endpoint=self.endpoint,
            store=self.store,
            parse=_read,
            max_calls=max_calls,
        )
        self.usages.append(run.usage)
        outcomes: list[Outcome[str]] = []
        for outcome in run:
            outcomes.append(outcome)
            if self.progress is not None:
                self.progress(stage, len(outcomes), len(prompts))
        return outcomes


def _read(completion: Completion) -> str:
    return read_label(completion.text or "")


def _verdict(outcome: Outcome[str]) -> Verdict:
    if outcome.failure is None:
        return Verdict(outcome.value)
    return Verdict(None, outcome.failure, was_asked=outcome.failure not in _NOT_ASKED)


def _was_sent(outcome: Outcome[str]) -> bool:
    return not outcome.from_store and outcome.failure != OVER_BUDGET
