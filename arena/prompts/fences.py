"""Codes on the lines around a text, which the writer of the text cannot have known."""

from __future__ import annotations

import hashlib
from itertools import count

CODE_DIGITS = 12


def fence_code(*texts: str) -> str:
    """Choose a code that stands in none of the texts.

    It is a digest of all of them, so whoever writes one of them cannot foresee it, and equal
    texts give equal prompts.

    Returns:
        Twelve hexadecimal digits.
    """
    whole = "\x1f".join(texts)
    for salt in count():
        code = hashlib.sha256(f"{salt}\x1f{whole}".encode()).hexdigest()[:CODE_DIGITS]
        if code not in whole:
            return code
    raise AssertionError("count() does not end")
