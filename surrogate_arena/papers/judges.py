"""Judges: whoever gives a verdict on each item of a benchmark."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

from arena.data.errors import UsageError
from arena.data.types import Progress
from arena.llm import DryRun, Llm, LlmSettings, Price, Prompt, Usage, ask_table, dry_run
from arena.llm.batches.awaiting import AwaitedReplies
from arena.llm.replies import EMPTY, REFUSAL, UNPARSABLE, Completion
from arena.llm.requests import canonical_json
from surrogate_arena.papers.verdict import Verdict

Value: TypeAlias = str | int | float
ItemT = TypeVar("ItemT")

SENT = "sent:"
"""Begins the part of a judge's prompt that says which fields of its requests are not usual."""

_TOKEN_LIMITS = frozenset({"max_tokens", "max_completion_tokens"})
_ASKED_AGAIN = frozenset({UNPARSABLE, EMPTY, REFUSAL})


class Judge(Protocol):
    """Whoever gives verdicts on the items of a benchmark."""

    @property
    def name(self) -> str:
        """Name in tables, such as ``llm:gpt-4o-mini``."""

    @property
    def prompt(self) -> str:
        """Name of the prompt and its version, or the settings that verdicts depend on."""

    def judge(self, items: Sequence[Any]) -> Sequence[Verdict]:
        """Return a verdict for each item, in their order."""


@dataclass(frozen=True)
class FunctionJudge:
    """Any function as a judge; it returns a verdict's value, or None.

    It takes question, passages, answer and sentence and returns a label (MEMERAG); criterion,
    question, context and text, and returns a number, higher for the better text (WikiEval); metric,
    question, references, expected answer and answer, and returns a score (GroUSE); question,
    passages, answer A and answer B, and returns ``a``, ``b`` or ``tie`` (pairs).

    Examples:
        >>> from surrogate_arena.papers import Grouse, builtin_tests, evaluate_judges, pass_rates
        >>> def strict(metric, question, references, expected, answer):
        ...     return 0 if metric in ("usefulness", "faithfulness") else 1
        >>> grouse = Grouse(builtin_tests(["en"]))
        >>> verdicts = evaluate_judges(grouse, [FunctionJudge("strict", strict)]).verdicts
        >>> pass_rates(verdicts).set_index("metric")["passed"]["total"]
        156
    """

    name: str
    function: Callable[..., object]
    prompt: str = ""

    def judge(self, items: Sequence[Any]) -> list[Verdict]:
        """Ask the function about each item; a ``UsageError`` for what is no verdict."""
        return [item.ask(self) for item in items]

    def refuse(self, returned: object, expected: str) -> UsageError:
        """Return the error for what is no verdict."""
        return UsageError(f"the judge {self.name} returned {returned!r}; {expected}")


class JudgePrompts(ABC, Generic[ItemT]):
    """Prompts about the items of a benchmark, and readers of their replies.

    ``published`` are fields of the request that the paper states, unless a user states others.
    Replies without a value have ``retries``.
    """

    kind: ClassVar[str] = "llm"
    max_tokens: ClassVar[int] = 1024
    retries: ClassVar[int] = 0
    published: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    @property
    @abstractmethod
    def version(self) -> str:
        """Names and digests of the templates."""

    @abstractmethod
    def prompts_for(self, item: ItemT) -> Sequence[Prompt]:
        """Make the prompts for an item."""

    @abstractmethod
    def read(self, completion: Completion, task: str) -> Value | None:
        """Read the value of a reply; an ``UnparsableError`` where it has none."""

    def settings(self, stated: LlmSettings) -> LlmSettings:
        """Return the settings of a model given by name: the paper's, where none are stated."""
        return stated.with_defaults(self.published)

    def unusual_fields(self, settings: LlmSettings) -> str:
        """Return which fields of a request differ from those sent by default.

        Such as ``sent:temperature=1 (published: 0.1)``; limits of tokens do not count.
        """
        usual = self.settings(LlmSettings(model=settings.model)).fields()
        sent = settings.fields()
        parts = []
        for name in sorted((usual.keys() | sent.keys()) - _TOKEN_LIMITS):
            if sent.get(name) == usual.get(name):
                continue
            part = f"{name}={_written(sent.get(name))}"
            if name in self.published:
                part += f" (published: {_written(self.published[name])})"
            parts.append(part)
        return SENT + ",".join(parts) if parts else ""

    def task(self, item: ItemT) -> str:  # noqa: ARG002
        """Name what is asked: items of one task share a reply format and a reader."""
        return ""

    def reply_format(self, task: str) -> Mapping[str, object] | None:  # noqa: ARG002
        """Return the ``response_format`` of a task's requests."""
        return None

    def verdict(self, replies: Sequence[Verdict]) -> Verdict:
        """Put together what the prompts of one item brought."""
        return replies[0]


@dataclass(frozen=True)
class PromptJudge(Generic[ItemT]):
    """An LLM as a judge.

    Each retry has its own purpose in the store, and the next seed if seeds are set.
    """

    prompts: JudgePrompts[ItemT]
    llm: Llm
    retries: int = 0
    progress: Progress | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """The kind of judge and the model."""
        return f"{self.prompts.kind}:{self.llm.settings.model}"

    @property
    def prompt(self) -> str:
        """Names and digests of the templates, and fields that are not sent by default."""
        unusual = self.prompts.unusual_fields(self.llm.settings)
        return "|".join(part for part in (self.prompts.version, unusual) if part)

    @property
    def usages(self) -> Sequence[Usage]:
        """Calls and tokens, one entry per task and try."""
        return self.llm.budget.usages

    def judge(self, items: Sequence[ItemT]) -> list[Verdict]:
        """Ask the model about every item.

        A reply without a value after all retries counts against the model; an item without a reply
        was not asked.
        """
        replies: list[list[Verdict]] = [[] for _ in items]
        awaited = AwaitedReplies()
        for task, prompts in self._prompts_by_task(items).items():
            with awaited.gathered():
                verdicts = self._ask_until_readable([prompt for _, prompt in prompts], task)
                for (index, _), verdict in zip(prompts, verdicts, strict=True):
                    replies[index].append(verdict)
        awaited.require_none()
        return [self.prompts.verdict(item_replies) for item_replies in replies]

    def dry_run(self, items: Sequence[ItemT], prices: Mapping[str, Price]) -> DryRun:
        """Count what ``judge`` would ask, without retries; nothing is sent."""
        runs = []
        for task, indexed_prompts in self._prompts_by_task(items).items():
            prompts = [prompt for _, prompt in indexed_prompts]
            runs.append(dry_run(prompts, self._settings_of(task), self.llm.store, prices))
        return DryRun.total(runs)

    def _prompts_by_task(self, items: Sequence[ItemT]) -> dict[str, list[tuple[int, Prompt]]]:
        prompts_by_task: dict[str, list[tuple[int, Prompt]]] = {}
        for index, item in enumerate(items):
            prompts = prompts_by_task.setdefault(self.prompts.task(item), [])
            prompts += [(index, prompt) for prompt in self.prompts.prompts_for(item)]
        return prompts_by_task

    def _ask_until_readable(self, prompts: Sequence[Prompt], task: str) -> list[Verdict]:
        verdicts: dict[int, Verdict] = {}
        pending = list(range(len(prompts)))
        for attempt in range(self.retries + 1):
            new = self._ask([prompts[index] for index in pending], task, attempt)
            verdicts.update(zip(pending, new, strict=True))
            pending = [index for index in pending if verdicts[index].failure in _ASKED_AGAIN]
            if not pending:
                break
        return [verdicts[index] for index in range(len(prompts))]

    def _ask(self, prompts: Sequence[Prompt], task: str, attempt: int) -> list[Verdict]:
        purpose = f"retry {attempt}" if attempt else ""
        settings = self._settings_of(task, attempt)
        table = ask_table(
            [replace(prompt, purpose=purpose) for prompt in prompts],
            lambda prompt: prompt,
            lambda completion: self.prompts.read(completion, task),
            replace(self.llm, settings=settings),
            stage=" ".join(part for part in (self.name, task, purpose) if part),
            progress=self.progress,
        )
        return [Verdict.of(reply) for reply in table.replies]

    def _settings_of(self, task: str, attempt: int = 0) -> LlmSettings:
        settings = self.llm.settings
        if settings.body.get("seed") is not None:
            # The same seed would bring the same unreadable reply again.
            settings = settings.sending(seed=settings.body["seed"] + attempt)
        reply_format = self.prompts.reply_format(task)
        if reply_format is not None:
            settings = settings.sending(response_format=reply_format)
        return settings


def _written(value: object) -> str:
    return "none" if value is None else canonical_json(value)
