"""What a run asked and used: calls, retries, failures, tokens, and the cost at given prices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from arena.data.checks import validation_problems
from arena.data.errors import DataError, UsageError
from arena.data.files import small_file
from arena.data.wording import count_of
from arena.llm.llm_settings import LlmSettings, Prompt, request_for
from arena.llm.replies import OVER_BUDGET
from arena.text.trimming import BYTES_A_TOKEN

if TYPE_CHECKING:
    from arena.llm.store import Store

MILLION = 1_000_000
TOKENS_A_MESSAGE = 4

_PROMPTS_AT_A_TIME = 500

Cost = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Price:
    """What a model costs, in any one currency, per million tokens."""

    tokens_in: Cost
    tokens_out: Cost

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Return the cost of so many tokens."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / MILLION


def read_prices(path: Path | str) -> dict[str, Price]:
    """Read what models cost.

    It is JSON: ``{"gpt-4o": {"tokens_in": 2.5, "tokens_out": 10}}``, per million tokens.

    Raises:
        UsageError: If there is no such file.
        DataError: If it holds something else.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no file of prices at {path}")
    try:
        return TypeAdapter(dict[str, Price]).validate_json(small_file(path))
    except ValidationError as error:
        hint = 'write {"gpt-4o": {"tokens_in": 2.5, "tokens_out": 10}}'
        raise DataError(validation_problems(error, path.name, None, lambda _: hint)) from error


@dataclass
class Usage:
    """Counts of one run, kept up to date while it lasts.

    Attributes:
        model: The model asked.
        prompts: Completed prompts.
        from_store: Those of them that were answered before, or meanwhile by another process.
        repeated: Those of them that share the call of an equal prompt in this run.
        calls: Calls sent, retries among them.
        retries: Of these, those after one that failed in passing.
        failures: Outcomes without a usable answer, by reason.
        details: What was said about the first failure of each reason.
        tokens_in: Of the prompts of this run's calls, as the endpoint counts.
        tokens_out: Of their answers.
        without_tokens: Answers whose endpoint did not count tokens.
        other_models: Answers of another model than the one asked, by its name.
    """

    model: str
    prompts: int = 0
    from_store: int = 0
    repeated: int = 0
    calls: int = 0
    retries: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)
    tokens_in: int = 0
    tokens_out: int = 0
    without_tokens: int = 0
    other_models: dict[str, int] = field(default_factory=dict)

    @classmethod
    def total(cls, model: str, usages: Iterable[Usage]) -> Usage:
        """Add up what one model was asked in several steps."""
        whole = cls(model)
        for usage in usages:
            for name, count in vars(usage).items():
                if isinstance(count, int):
                    setattr(whole, name, getattr(whole, name) + count)
            for name in ("failures", "other_models"):
                counts = getattr(whole, name)
                counts.update(Counter(counts) + Counter(getattr(usage, name)))
            whole.details = {**usage.details, **whole.details}
        return whole

    @property
    def sent(self) -> int:
        """Prompts sent, each counted once."""
        return self.calls - self.retries

    @property
    def asked(self) -> int:
        """Prompts that were asked, now or before: all but those that no call was left for."""
        return self.prompts - self.failures.get(OVER_BUDGET, 0)

    @property
    def answered(self) -> int:
        """Those of them that got a usable answer."""
        return self.prompts - sum(self.failures.values())

    @property
    def is_unusable(self) -> bool:
        """Whether prompts were asked, and none got a usable answer."""
        return self.asked > 0 and self.answered == 0

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self) | {"sent": self.sent}

    def cost(self, prices: Mapping[str, Price]) -> float | None:
        """Return the cost of this run's calls at each model's price; None where it is not known."""
        price = prices.get(self.model)
        if price is None or self.without_tokens:
            return None
        return price.of(self.tokens_in, self.tokens_out)

    def count_tokens(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """Add the tokens of one answer."""
        self.tokens_in += tokens_in or 0
        self.tokens_out += tokens_out or 0
        self.without_tokens += tokens_in is None or tokens_out is None

    def count_failure(self, reason: str, rows: int, detail: str = "") -> None:
        """Add rows without a usable answer, and what was said about it."""
        self.failures[reason] = self.failures.get(reason, 0) + rows
        if detail:
            self.details.setdefault(reason, detail)

    def shown_failures(self) -> str:
        """Show how many rows failed for each reason, with what was said about the first."""
        parts = []
        for reason, count in sorted(self.failures.items()):
            detail = self.details.get(reason)
            parts.append(f"{count} {reason}" + (f" ({detail})" if detail else ""))
        return ", ".join(parts)

    def count_other_model(self, served: str) -> None:
        """Add an answer of another model than the one asked."""
        self.other_models[served] = self.other_models.get(served, 0) + 1

    def __str__(self) -> str:
        retries = count_of(self.retries, "retry", "retries")
        parts = [
            count_of(self.prompts, "prompt"),
            f"{count_of(self.calls, 'call')} to {self.model} ({retries})",
            f"{self.from_store} from the store",
            f"{self.tokens_in} tokens in, {self.tokens_out} out",
        ]
        if self.failures:
            parts.append(f"failed: {self.shown_failures()}")
        if self.other_models:
            served = ", ".join(f"{n} by {name[:80]!r}" for name, n in self.other_models.items())
            parts.append(f"answered by another model: {served}")
        return "; ".join(parts)


@dataclass
class Budget:
    """Most prompts to send, shared by all that are asked with it.

    Attributes:
        max_calls: Retries not counted; None for any number.
        usages: What was used, an entry each time that rows are asked about.
    """

    max_calls: int | None = None
    usages: list[Usage] = field(default_factory=list)

    @property
    def calls_left(self) -> int | None:
        """Prompts that may still be sent; None for any number."""
        if self.max_calls is None:
            return None
        return max(0, self.max_calls - sum(usage.sent for usage in self.usages))

    def usages_by_model(self) -> list[Usage]:
        """Add up what was used, an entry a model."""
        by_model: dict[str, list[Usage]] = {}
        for usage in self.usages:
            by_model.setdefault(usage.model, []).append(usage)
        return [Usage.total(model, of_model) for model, of_model in by_model.items()]


@dataclass(frozen=True)
class DryRun:
    """What a run would do.

    Attributes:
        prompts: Prompts given.
        distinct: Those of them that differ.
        in_store: Those of the distinct that the store has answered.
        calls: Calls that are left, without retries.
        tokens_in: Estimate for these.
        tokens_out_at_most: None if the settings set no limit.
        cost_at_most: None without a price or a limit.
    """

    prompts: int
    distinct: int
    in_store: int
    calls: int
    tokens_in: int
    tokens_out_at_most: int | None
    cost_at_most: float | None


def dry_run(
    prompts: Iterable[Prompt],
    settings: LlmSettings,
    store: Store | None = None,
    prices: Mapping[str, Price] | None = None,
) -> DryRun:
    """Count what ``ask_table`` would ask; nothing is sent.

    Tokens are estimated by bytes: right within a factor of two for most scripts. Without a store,
    every distinct prompt counts as a call.

    Raises:
        UsageError: If a prompt or a setting cannot be sent.
    """
    given, known, tokens_in, seen = 0, 0, 0, set[str]()
    source = iter(prompts)
    while chunk := list(islice(source, _PROMPTS_AT_A_TIME)):
        given += len(chunk)
        fresh = {request_for(prompt, settings).key: prompt for prompt in chunk}
        fresh = {key: prompt for key, prompt in fresh.items() if key not in seen}
        seen |= fresh.keys()
        answered = {} if store is None else store.look_up(list(fresh))
        known += len(answered)
        tokens_in += sum(
            -(-len(message.content.encode()) // BYTES_A_TOKEN) + TOKENS_A_MESSAGE
            for key, prompt in fresh.items()
            if key not in answered
            for message in prompt.messages
        )
    calls = len(seen) - known
    limit = settings.body.get("max_completion_tokens", settings.max_tokens)
    tokens_out = calls * limit if isinstance(limit, int) else None
    price = (prices or {}).get(settings.model)
    cost = None if price is None or tokens_out is None else price.of(tokens_in, tokens_out)
    return DryRun(given, len(seen), known, calls, tokens_in, tokens_out, cost)
