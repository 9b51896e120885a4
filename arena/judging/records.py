"""Further tables that a form of judging makes, from which verdicts follow."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class FurtherRecords(Protocol):
    """New rows of tables of an arena."""

    def write(self, folder: Path) -> None:
        """Add them to an arena folder."""

    def counts(self) -> dict[str, int]:
        """Count new rows, by what people call them."""
