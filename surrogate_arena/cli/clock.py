"""The time that files state."""

from __future__ import annotations

import datetime
import os

from arena.data.errors import UsageError

EPOCH = "SOURCE_DATE_EPOCH"
"""Environment variable that fixes the time; see https://reproducible-builds.org."""


def now() -> datetime.datetime:
    """Return the time in UTC, or that of ``SOURCE_DATE_EPOCH``."""
    text = os.environ.get(EPOCH)
    if not text:
        return datetime.datetime.now(datetime.UTC)
    try:
        return datetime.datetime.fromtimestamp(int(text), datetime.UTC)
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"{EPOCH} is {text!r}; set it to seconds since 1970") from None
