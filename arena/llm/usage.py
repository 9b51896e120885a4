"""What a run asked and used: calls, retries, failures, tokens, and the cost at given prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MILLION = 1_000_000


@dataclass(frozen=True)
class Price:
    """What a model costs, in any one currency, per million tokens."""

    tokens_in: float
    tokens_out: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Return the cost of so many tokens."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / MILLION


@dataclass
class Usage:
    """Counts of one run, kept up to date while it lasts.

    Attributes:
        model: The model asked.
        prompts: Prompts whose outcome was handed out.
        from_store: Those of them that were answered before, or meanwhile by another process.
        repeated: Those of them that share the call of an equal prompt in this run.
        calls: Calls sent, retries among them.
        retries: Calls sent again after one that failed in passing.
        failures: Outcomes without a usable answer, by reason.
        tokens_in: Tokens of the prompts of this run's calls, as the endpoint counts.
        tokens_out: Tokens of the answers of this run's calls, as the endpoint counts.
        without_tokens: Answers whose endpoint did not count tokens.
    """

    model: str
    prompts: int = 0
    from_store: int = 0
    repeated: int = 0
    calls: int = 0
    retries: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    tokens_in: int = 0
    tokens_out: int = 0
    without_tokens: int = 0

    def cost(self, prices: Mapping[str, Price]) -> float | None:
        """Return the cost of this run's calls.

        Args:
            prices: Price of each model, by its name in the settings.

        Returns:
            The cost in the prices' currency; None if the model has no price there, or the
            endpoint left tokens uncounted.
        """
        price = prices.get(self.model)
        if price is None or self.without_tokens:
            return None
        return price.of(self.tokens_in, self.tokens_out)

    def count_tokens(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """Add the tokens of one answer."""
        self.tokens_in += tokens_in or 0
        self.tokens_out += tokens_out or 0
        self.without_tokens += tokens_in is None or tokens_out is None

    def count_failure(self, reason: str) -> None:
        """Add one outcome without a usable answer."""
        self.failures[reason] = self.failures.get(reason, 0) + 1

    def __str__(self) -> str:
        parts = [
            f"{self.prompts} prompts",
            f"{self.calls} calls to {self.model} ({self.retries} retries)",
            f"{self.from_store} from the store",
            f"{self.tokens_in} tokens in, {self.tokens_out} out",
        ]
        if self.failures:
            reasons = ", ".join(f"{count} {name}" for name, count in sorted(self.failures.items()))
            parts.append(f"failed: {reasons}")
        return "; ".join(parts)
