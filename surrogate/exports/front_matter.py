"""YAML front matter of cards: JSON, which YAML holds, so that no name can break out of it."""

from __future__ import annotations

import json
from collections.abc import Mapping


def front_matter(fields: Mapping[str, object]) -> str:
    """Return fields between lines of dashes, one a line.

    Args:
        fields: Plain names to what JSON can hold; None and empty ones are left out.
    """
    lines = [f"{name}: {_yaml(value)}" for name, value in fields.items() if value not in (None, [])]
    return "\n".join(["---", *lines, "---", ""])


def _yaml(value: object) -> str:
    """Write JSON without characters that YAML 1.1 takes for line ends or refuses."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return "".join(
        mark if mark.isprintable() and mark != "\ufeff" else _escape(mark) for mark in text
    )


def _escape(mark: str) -> str:
    code = ord(mark)
    if 0xD800 <= code <= 0xDFFF:
        return "\N{REPLACEMENT CHARACTER}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
