"""A loaded model as features see it, and what its scores say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from features.declare.feature import Item, Scores, Value
from features.declare.sample import Missing

OUTPUTS = ("entailment", "neutral", "contradiction")
"""Outputs of an NLI model, in this order."""
EMBEDDER = "intfloat/multilingual-e5-small"
"""Embeds texts unless another is named."""

NO_STATEMENTS_FOUND = Missing("the LLM finds no statement in the answer")
NO_USABLE_REPLY = Missing("no usable reply by the LLM")
NOT_REACHED = Missing("the LLM was not reached")
REASONS = (NO_STATEMENTS_FOUND, NO_USABLE_REPLY, NOT_REACHED)
"""Reasons of missing values; the second score of an item is a reason's number, from 1."""


class Scorer(Protocol):
    """A loaded model.

    An item's scores depend on it alone, not on the rest of its batch, to 6 decimals.
    """

    @property
    def signature(self) -> str | None:
        """Return what scores depend on: kind, digest of the weights, settings, precision.

        None for a model at an endpoint, whose replies a store keeps.
        """

    def score(self, items: Sequence[Item]) -> Scores:
        """Score items, shape (items, outputs); NaN for one that failed."""


def value_of_scores(row: Scores) -> Value:
    """Read an LLM's scores of one item."""
    reason_number = int(row[1])
    return REASONS[reason_number - 1] if reason_number else float(row[0])


def named_models(model: str) -> tuple[str, str]:
    """Return the LLM and the embedding model of ``gpt-4o with my/embedder``."""
    llm, _, embedder = model.partition(" with ")
    return llm.strip(), embedder.strip() or EMBEDDER
