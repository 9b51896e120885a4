"""Costs, dry runs and interruptions of commands that call models."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STORE = "judging.sqlite"
DRY_RUN = "Dry run: nothing was asked; tokens are estimates"
NO_COST = "not known; give each model's price (--prices FILE)"


@contextmanager
def kept_replies(store: Path | str) -> Iterator[None]:
    """On Ctrl-C, say where replies are kept and how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        print(
            f"Interrupted. Replies that came are kept in {store}; run the same command again to "
            "continue: no call is repeated.",
            file=sys.stderr,
        )
        interrupted = 130  # the exit status after Ctrl-C, as shells have it
        raise SystemExit(interrupted) from None
