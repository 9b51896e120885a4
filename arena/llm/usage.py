"""Calls, retries, failures and tokens of a run, and its cost at given prices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from arena.data.checks import validation_problems
from arena.data.errors import DataError, UsageError
from arena.data.files import small_file
from arena.data.wording import count_of
from arena.llm.replies import OVER_BUDGET

Cost = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True)
class Price:
    """The prices of a model's tokens, in any one currency, per million.

    Examples:
        >>> Price(tokens_in=2.5, tokens_out=10).of(1_000_000, 100_000)
        3.5
    """

    tokens_in: Cost
    tokens_out: Cost

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Return the cost of numbers of tokens."""
        million = 1_000_000
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / million


def read_prices(path: Path | str) -> dict[str, Price]:
    """Read the prices of models.

    The file is JSON: ``{"gpt-4o": {"tokens_in": 2.5, "tokens_out": 10}}``, per million tokens; for
    batches, their prices.

    Args:
        path: The file.

    Returns:
        Price of each model, by its name.

    Raises:
        UsageError: If there is no such file.
        DataError: If it holds something else.

    Examples:
        >>> from pathlib import Path
        >>> prices = '{"gpt-4o": {"tokens_in": 2.5, "tokens_out": 10}}'
        >>> size = Path("prices.json").write_text(prices)
        >>> read_prices("prices.json")["gpt-4o"].tokens_out
        10.0
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
        prompts: Completed prompts.
        from_store: Prompts answered before, or by another process.
        collected: Prompts answered by batches of earlier runs.
        calls: Calls sent, including retries.
        retries: Calls after a passing failure.
        failures: Outcomes without a usable answer, by reason.
        details: Detail of the first failure of each reason.
        tokens_in: Tokens of prompts, as the endpoint counts.
        tokens_out: Tokens of answers.
        without_tokens: Answers whose endpoint did not count tokens.
        other_models: Answers of another model than the one asked, by its name.
    """

    model: str
    prompts: int = 0
    from_store: int = 0
    collected: int = 0
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
        """Add up the usages of one model in several steps."""
        total = cls(model)
        failures: Counter[str] = Counter()
        other_models: Counter[str] = Counter()
        for usage in usages:
            for name, count in vars(usage).items():
                if isinstance(count, int):
                    setattr(total, name, getattr(total, name) + count)
            failures.update(usage.failures)
            other_models.update(usage.other_models)
            # The first detail of each reason stands, as within one step.
            total.details = {**usage.details, **total.details}
        total.failures = dict(failures)
        total.other_models = dict(other_models)
        return total

    @property
    def sent(self) -> int:
        """Return the prompts sent, each counted once."""
        return self.calls - self.retries

    @property
    def asked(self) -> int:
        """Return the prompts asked, now or before: all but those over the budget."""
        return self.prompts - self.failures.get(OVER_BUDGET, 0)

    @property
    def answered(self) -> int:
        """Return the prompts with a usable answer."""
        return self.prompts - sum(self.failures.values())

    @property
    def is_unusable(self) -> bool:
        """Return whether prompts were asked, and none got a usable answer."""
        return self.asked > 0 and self.answered == 0

    @property
    def states_tokens(self) -> bool:
        """Return whether an endpoint stated tokens, or none had to."""
        return self.without_tokens == 0 or self.tokens_in + self.tokens_out > 0

    @property
    def shown_tokens(self) -> str:
        """Return the tokens in words; unknown ones are not 0."""
        if not self.states_tokens:
            return "tokens not stated"
        tokens = f"{self.tokens_in} tokens in, {self.tokens_out} out"
        if self.without_tokens:
            answers = count_of(self.without_tokens, "answer")
            tokens += f" (not stated of {answers})"
        return tokens

    def as_json(self) -> dict[str, Any]:
        """Return plain values for JSON; unknown tokens are None."""
        values = asdict(self) | {"sent": self.sent}
        if not self.states_tokens:
            values |= dict.fromkeys(("tokens_in", "tokens_out"))
        return values

    def cost(self, prices: Mapping[str, Price]) -> float | None:
        """Return the cost of this run's calls and batches; None if unknown."""
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
        """Count rows without a usable answer; keep the first detail of a reason."""
        self.failures[reason] = self.failures.get(reason, 0) + rows
        if detail:
            self.details.setdefault(reason, detail)

    def shown_failures(self) -> str:
        """Return the failures of each reason, with the first one's detail."""
        parts = []
        for reason, count in sorted(self.failures.items()):
            detail = f" ({self.details[reason]})" if reason in self.details else ""
            parts.append(f"{count} {reason}{detail}")
        return ", ".join(parts)

    def count_other_model(self, served: str) -> None:
        """Count an answer of another model than the one asked."""
        self.other_models[served] = self.other_models.get(served, 0) + 1

    def __str__(self) -> str:
        retries = count_of(self.retries, "retry", "retries")
        parts = [
            count_of(self.prompts, "prompt"),
            f"{count_of(self.calls, 'call')} to {self.model} ({retries})",
        ]
        if self.collected:
            parts.append(f"{self.collected} from batches")
        parts.append(f"{self.from_store} from the store")
        parts.append(self.shown_tokens)
        if self.failures:
            parts.append(f"failed: {self.shown_failures()}")
        if self.other_models:
            served = ", ".join(f"{n} by {name[:80]!r}" for name, n in self.other_models.items())
            parts.append(f"answered by another model: {served}")
        return "; ".join(parts)


@dataclass
class Budget:
    """Limits shared by all runs that use it.

    Attributes:
        max_calls: Maximum number of calls without retries; None for any number.
        usages: One entry per run.
        n_awaited: Prompts that are in batches under way.
        max_cost: Maximum cost of the calls; None for any.
        prices: Price of each model, for the cost.
    """

    max_calls: int | None = None
    usages: list[Usage] = field(default_factory=list)
    n_awaited: int = 0
    max_cost: float | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)

    @property
    def calls_left(self) -> int | None:
        """Return how many prompts may still be sent; None for any number.

        Raises:
            UsageError: If the cost is limited, and that of the calls so far is not known.
        """
        limits = []
        if self.max_calls is not None:
            n_sent = sum(usage.sent for usage in self.usages)
            limits.append(max(0, self.max_calls - n_sent - self.n_awaited))
        if self.max_cost is not None:
            limits.append(self._affordable_calls(self.max_cost))
        return min(limits, default=None)

    def _affordable_calls(self, max_cost: float) -> int:
        cost = self.cost
        if cost == 0:
            return 16  # what a call costs is only known afterwards
        mean_cost = cost / max(1, sum(usage.sent for usage in self.usages))
        # The next calls may cost more than those so far, so a part of what is left is kept.
        spent_at_once = 0.9
        return int(spent_at_once * max(0.0, max_cost - cost) / mean_cost)

    @property
    def cost(self) -> float:
        """Return the cost of the calls so far.

        Raises:
            UsageError: If a model has no price, or its endpoint does not count tokens.
        """
        total = 0.0
        for usage in self.usages:
            cost = usage.cost(self.prices)
            if cost is None:
                raise UsageError(
                    f"the cost of {usage.model} is not known, since it has no price or its "
                    "endpoint does not count tokens; limit the number of calls instead"
                )
            total += cost
        return total

    def usages_by_model(self) -> list[Usage]:
        """Add up the usages of each model."""
        by_model: dict[str, list[Usage]] = {}
        for usage in self.usages:
            by_model.setdefault(usage.model, []).append(usage)
        return [Usage.total(model, usages) for model, usages in by_model.items()]
