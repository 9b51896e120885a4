"""What a form of judging makes besides verdicts, such as tables that these follow from."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class FurtherRecords(Protocol):
    """New rows of tables of an arena."""

    def write(self, folder: Path) -> None:
        """Add them to an arena folder."""

    def counts(self) -> dict[str, int]:
        """Count what is new, by what people call it."""
