"""Counts as sentences have them."""

from __future__ import annotations


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """Show a count with its noun, such as ``1 system`` or ``1,200 systems``.

    Args:
        number: The count.
        noun: What is counted, in the singular.
        plural: The same of several; by default the noun and an s.
    """
    return f"{number:,.0f} {noun if number == 1 else plural or noun + 's'}"
