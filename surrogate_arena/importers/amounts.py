"""What answers cost and how long they took, in the units of an arena, whatever those of a tool."""

from __future__ import annotations

import re
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
NUMBER = r"(?P<number>[0-9.,eE+-]+)"
COST_UNITS = {"cost_usd": re.compile(rf"(?=.*(?:\$|USD))\$?\s*{NUMBER}\s*(?:\$|USD)?")}
LATENCY_UNITS = {
    "latency": re.compile(rf"{NUMBER}\s*(?:s|secs?|seconds?)"),
    "latency_ms": re.compile(rf"{NUMBER}\s*(?:ms|msecs?|milliseconds?)"),
}
UNITS: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    "cost": COST_UNITS,
    "cost_usd": COST_UNITS,
    "latency": LATENCY_UNITS,
    "latency_ms": LATENCY_UNITS,
}
"""By field, the fields that a cell may belong to by its unit, with how the cell then reads."""
AMOUNT_FIELDS = (*NUMBER_FIELDS, "currency")
"""Fields of tables and tools' records; a name that states a unit is a field of its own."""


def amounts_of(collected: Collected, place: Place, values: Mapping[str, object]) -> Record:
    """Return what an answer took, as columns of an arena; a value that is no amount is counted.

    Args:
        collected: Counts what is left out.
        place: The row's file and line.
        values: Field to cell; those of ``AMOUNT_FIELDS`` are read.

    Returns:
        Those of ``cost`` with its ``currency`` (None if none is stated), ``latency`` in seconds and
        ``tokens`` that are known.
    """
    numbers: dict[str, float] = {}
    for field in NUMBER_FIELDS:
        name = collected.names.get(field, field)
        stated_field, cell = _in_unit_of_cell(field, values.get(field))
        if is_missing_cell(cell):
            continue
        number = number_of(cell)
        if number is None or number < 0:
            collected.skip(place, "amount", f"{name!r} is no number of 0 or more")
            continue
        numbers[stated_field] = number
    amounts: Record = {}
    if "cost" in numbers:
        amounts[COST] = numbers["cost"]
        amounts[CURRENCY] = _currency(values.get("currency"))
    elif "cost_usd" in numbers:
        amounts[COST] = numbers["cost_usd"]
        amounts[CURRENCY] = "USD"
    if "latency" in numbers:
        amounts[LATENCY] = numbers["latency"]
    elif "latency_ms" in numbers:
        amounts[LATENCY] = numbers["latency_ms"] / 1000
    parts = [numbers[field] for field in ("input_tokens", "output_tokens") if field in numbers]
    if "tokens" in numbers:
        amounts[TOKENS] = numbers["tokens"]
    elif parts:
        amounts[TOKENS] = sum(parts)
    # In the units of an arena, whose checks would refuse the whole table.
    for name in AMOUNTS:
        if name in amounts and amount_fault(amounts[name]) is not None:
            del amounts[name]
            bounds = f"{LEAST_AMOUNT:g} to {MOST_AMOUNT:g}"
            collected.skip(place, "amount", f"{name!r} is neither 0 nor from {bounds}")
    return amounts


def _in_unit_of_cell(field: str, cell: object) -> tuple[str, object]:
    """Return the field whose unit a cell states, as ``1.2 s`` and ``$0.01`` do, and its number."""
    if isinstance(cell, str):
        for field_of_unit, pattern in UNITS.get(field, {}).items():
            match = pattern.fullmatch(cell.strip())
            if match is not None:
                return field_of_unit, match["number"]
    return field, cell


def _currency(cell: object) -> str | None:
    if not isinstance(cell, str) or is_missing_cell(cell) or is_unstorable(cell):
        return None
    return cell.strip()
