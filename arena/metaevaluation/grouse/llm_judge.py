"""An LLM as a judge of grounded answers: one call a metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from arena.errors import UsageError
from arena.llm.client import complete
from arena.llm.completions import Completion
from arena.llm.failures import OVER_BUDGET, PASSING
from arena.llm.outcomes import Outcome
from arena.llm.settings import Endpoint, ModelSettings
from arena.llm.usage import Usage
from arena.metaevaluation.grouse.metric_prompts import MetricPrompt, all_versions
from arena.metaevaluation.grouse.metrics import JudgedMetric, Mark
from arena.metaevaluation.grouse.replies import REPLY_FORMS, ReplyForm, read_mark, response_format
from arena.metaevaluation.grouse.unit_tests import GroundedAnswer

if TYPE_CHECKING:
    from arena.llm.store import Store

_NOT_ASKED = PASSING | {OVER_BUDGET}

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class LlmJudge:
    """A judge.

    Attributes:
        settings: Model, temperature and so on; the response format is this judge's own.
        store: Keeps every reply: what it has is not asked again.
        endpoint: Where the model is asked.
        reply_form: How far the server holds the model to the form of the reply; see
            ``response_format``.
        max_calls: Most prompts to send, all metrics together; None for all.
        progress: Called with a stage's name, what is done of it, and all of it.
        usages: What was asked and used, an entry each time that a metric is asked for; grows as
            the judge is at work.
    """

    settings: ModelSettings
    store: Store = field(repr=False)
    endpoint: Endpoint = field(default_factory=Endpoint)
    reply_form: ReplyForm = "json_schema"
    max_calls: int | None = None
    progress: Progress | None = field(default=None, repr=False)
    usages: list[Usage] = field(default_factory=list, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.reply_form not in REPLY_FORMS:
            raise UsageError(
                f"unknown form of replies {self.reply_form!r}; use one of {', '.join(REPLY_FORMS)}"
            )
        if self.settings.response_format is not None:
            raise UsageError("the settings hold a response_format; choose a reply_form instead")

    @property
    def name(self) -> str:
        """``llm:`` and the model."""
        return f"llm:{self.settings.model}"

    @property
    def prompt(self) -> str:
        """Names and digests of the templates, and the form of replies."""
        return f"{all_versions()}|{self.reply_form}"

    def mark(self, metric: JudgedMetric, answers: Sequence[GroundedAnswer]) -> list[Mark]:
        """Ask the model about every answer.

        Returns:
            A mark an answer. One without a readable mark counts against the model; one that was
            not answered, because the server failed or ``max_calls`` was used up, was not asked:
            run again.

        Raises:
            UsageError: See ``arena.llm.complete``.
            MissingDependencyError: If Jinja, the SDK or SQLAlchemy is not installed.
        """
        prompt = MetricPrompt(metric)
        run = complete(
            [prompt.ask(each) for each in answers],
            replace(self.settings, response_format=response_format(metric, self.reply_form)),
            endpoint=self.endpoint,
            store=self.store,
            parse=partial(_read, metric=metric),
            max_calls=self._calls_left(),
        )
        self.usages.append(run.usage)
        marks: list[Mark] = []
        for outcome in run:
            marks.append(_mark(outcome))
            if self.progress is not None:
                self.progress(f"{self.name} {metric}", len(marks), len(answers))
        return marks

    def _calls_left(self) -> int | None:
        if self.max_calls is None:
            return None
        sent = sum(usage.calls - usage.retries for usage in self.usages)
        return max(0, self.max_calls - sent)


def _read(completion: Completion, metric: JudgedMetric) -> int | None:
    return read_mark(completion.text or "", metric)


def _mark(outcome: Outcome[int | None]) -> Mark:
    if outcome.failure is None:
        return Mark(outcome.value)
    return Mark(None, outcome.failure, was_asked=outcome.failure not in _NOT_ASKED)
