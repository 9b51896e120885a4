"""Languages as a prompt names them."""

from __future__ import annotations

from arena.languages import MIRACL_LANGUAGES


def named_language(code: str) -> str:
    """Return a language's English name; for one that is not in MIRACL, its code, as such."""
    return MIRACL_LANGUAGES.get(code) or f"the language '{code}' (ISO 639)"
