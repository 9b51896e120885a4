"""When to try a call again: exponential backoff with jitter, never earlier than the server says."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from arena.llm.settings import Endpoint

_JITTER = random.Random()  # noqa: S311  (spreads waits; no result depends on it)


def wait_before_retry(endpoint: Endpoint, retries_made: int, asked_s: float | None) -> float | None:
    """Choose how long to wait before the next try.

    Args:
        endpoint: Says how many retries there are and how long to wait.
        retries_made: Retries so far.
        asked_s: What the server asks for, in seconds, if it does.

    Returns:
        Seconds to wait; None if there is to be no further try.
    """
    if retries_made >= endpoint.retries:
        return None
    if asked_s is not None and asked_s > endpoint.longest_wait_s:
        return None
    backoff = min(endpoint.longest_wait_s, endpoint.backoff_s * 2.0**retries_made)
    spread = _JITTER.random()
    return max(backoff * (0.5 + 0.5 * spread), (asked_s or 0.0) + 0.1 * backoff * spread)


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Read how long a server asks to wait, from ``retry-after-ms`` or ``Retry-After``.

    Returns:
        Seconds, at least 0; None if the server does not say, or not in a way one can read.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    stated = headers.get("retry-after")
    seconds = _number(stated)
    return seconds if seconds is not None or stated is None else _until(stated)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if number >= 0 else None


def _until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - datetime.now(UTC).timestamp())


class Gate:
    """Holds back new calls while the server asks to wait: it speaks for all of them."""

    def __init__(self) -> None:
        self._opens = 0.0

    def close_for(self, seconds: float) -> None:
        """Hold calls back for so many seconds from now."""
        self._opens = max(self._opens, time.monotonic() + seconds)

    def remaining_s(self) -> float:
        """Return the seconds until calls may go out."""
        return max(0.0, self._opens - time.monotonic())
