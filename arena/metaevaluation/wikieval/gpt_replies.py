"""Scores and choices in the replies of LLMs that compare texts."""

from __future__ import annotations

import re

from arena.llm.completions import Completion
from arena.llm.failures import UnparsableError

LOWEST, HIGHEST = 0, 10

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_NUMBER = r"(-?\d{1,6}(?:[.,]\d{1,6})?)"
_TAIL = r"(?!\s?[-‐–—~]\s?\d)(?:\s?/\s?(\d{1,6}))?"
_SCORE = re.compile(rf"\bscore\b\W{{0,6}}?(?:is\W{{1,3}})?{_NUMBER}{_TAIL}", re.IGNORECASE)
_BARE_SCORE = re.compile(rf"[^\w-]{{0,6}}{_NUMBER}{_TAIL}\W{{0,6}}")
_CHOICE = re.compile(
    r"\bbetter\b\W{0,6}(?:is\W{1,3})?(?:(?:answer|context)\W{1,3})?([12])\b", re.IGNORECASE
)
_BARE_CHOICE = re.compile(r"\W{0,6}(?:(?:answer|context)\W{1,3})?([12])\W{0,6}", re.IGNORECASE)


def read_score(completion: Completion) -> float:
    """Read the last ``Score: 7``, or a reply that is nothing but a number.

    Returns:
        From 0 to 10.

    Raises:
        UnparsableError: If there is no score, it is beyond that, or it is on another scale.
    """
    text = _THOUGHTS.sub(" ", completion.text or "")
    found = list(_SCORE.finditer(text))
    last = found[-1] if found else _BARE_SCORE.fullmatch(text)
    if last is None:
        raise UnparsableError("the reply has no score")
    value = float(last[1].replace(",", "."))
    if not LOWEST <= value <= HIGHEST or last[2] not in (None, str(HIGHEST)):
        raise UnparsableError(f"the score is {last[0].strip()!r}; expected {LOWEST} to {HIGHEST}")
    return value


def read_choice(completion: Completion) -> int:
    """Read the last ``Better: 1`` or ``Better: 2``, or a reply that is nothing but the number.

    Returns:
        1 or 2.

    Raises:
        UnparsableError: If there is none.
    """
    text = _THOUGHTS.sub(" ", completion.text or "")
    found = list(_CHOICE.finditer(text))
    last = found[-1] if found else _BARE_CHOICE.fullmatch(text)
    if last is None:
        raise UnparsableError("the reply does not say which is better: 1 or 2")
    return int(last[1])
