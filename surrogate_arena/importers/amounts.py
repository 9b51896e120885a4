"""Costs and times of answers, converted to the units of an arena."""

from __future__ import annotations

from collections.abc import Mapping

from arena.data.checks import LEAST_AMOUNT, MOST_AMOUNT, amount_fault
from arena.data.rows import is_unstorable
from arena.data.schema import AMOUNTS, COST, CURRENCY, LATENCY, TOKENS
from arena.data.types import Record
from surrogate_arena.importers.collected import Collected, Place
from surrogate_arena.importers.values import is_missing_cell, number_of

NUMBER_FIELDS = (
    "cost",
    "cost_usd",
    "latency",
    "latency_ms",
    "tokens",
    "input_tokens",
    "output_tokens",
)
"""Fields of tables and tools' records; a name that states a unit is a field of its own."""
_UNITS = (
    ("cost", COST, 1),
    ("cost_usd", COST, 1),
    ("latency", LATENCY, 1),
    ("latency_ms", LATENCY, 1000),
    ("tokens", TOKENS, 1),
)
"""A field, the amount that it is, and how many of its units are one; the first field counts."""


def amounts_of(collected: Collected, place: Place, values: Mapping[str, object]) -> Record:
    """Return the known ``cost, currency, latency`` (seconds) and ``tokens``; count other values."""
    numbers: dict[str, float] = {}
    for field in NUMBER_FIELDS:
        name = collected.names.get(field, field)
        cell = values.get(field)
        if is_missing_cell(cell):
            continue
        number = number_of(cell)
        if number is None or number < 0:
            collected.skip(place, "amount", f"{name!r} is no number of 0 or more")
            continue
        numbers[field] = number
    amounts: Record = {}
    for field, name, divisor in _UNITS:
        if field in numbers:
            amounts.setdefault(name, numbers[field] / divisor)
    if COST in amounts:
        amounts[CURRENCY] = _currency(values.get("currency")) if "cost" in numbers else "USD"
    parts = [numbers[field] for field in ("input_tokens", "output_tokens") if field in numbers]
    if parts:
        amounts.setdefault(TOKENS, sum(parts))
    # In the units of an arena, whose checks would refuse the whole table.
    for name in AMOUNTS:
        if name in amounts and amount_fault(amounts[name]) is not None:
            del amounts[name]
            bounds = f"{LEAST_AMOUNT:g} to {MOST_AMOUNT:g}"
            collected.skip(place, "amount", f"{name!r} is neither 0 nor from {bounds}")
    return amounts


def _currency(cell: object) -> str | None:
    if not isinstance(cell, str) or is_missing_cell(cell) or is_unstorable(cell):
        return None
    return cell.strip()
