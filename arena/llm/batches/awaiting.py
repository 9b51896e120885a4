"""Replies awaited in batches: why a step has no result yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from arena.data.errors import ArenaError
from arena.data.wording import count_of


class RepliesAwaitedError(ArenaError):
    """Replies are awaited in batches; the same call, or command, collects them later.

    Attributes:
        n_replies: Number of prompts without a reply.
        batches: A line to show for each batch.
    """

    exit_status = 75
    """As ``EX_TEMPFAIL`` of sysexits.h: try again later."""
    heading = ""

    def __init__(self, n_replies: int, batches: Sequence[str]) -> None:
        shown_batches = 10
        self.n_replies = n_replies
        self.batches = tuple(dict.fromkeys(batches))
        shown = list(self.batches[:shown_batches])
        if len(self.batches) > shown_batches:
            shown.append(f"and {len(self.batches) - shown_batches} more")
        awaited = count_of(n_replies, "reply is", "replies are")
        lines = [f"{awaited} awaited; run the same command again to collect:"]
        super().__init__("\n  ".join([*lines, *shown]))


class AwaitedReplies:
    """Gathers what several steps await, so that all send first."""

    def __init__(self) -> None:
        self._errors: list[RepliesAwaitedError] = []

    @contextmanager
    def gathered(self) -> Iterator[None]:
        """Run one step; keep its RepliesAwaitedError for ``require_none``."""
        try:
            yield
        except RepliesAwaitedError as error:
            self._errors.append(error)

    def require_none(self) -> None:
        """Raise the RepliesAwaitedError of all steps together, if any."""
        if not self._errors:
            return
        n_replies = 0
        batches: list[str] = []
        for error in self._errors:
            n_replies += error.n_replies
            batches += error.batches
        raise RepliesAwaitedError(n_replies, batches)
