"""Where the time of a command goes, by the stages that it reports as its progress."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from surrogate_arena.cli.printing import print_table, progress_lines

if TYPE_CHECKING:
    import pandas as pd

START = "start"
"""Stage of what was computed before the first look: the interpreter and its imports."""


class Timings:
    """Adds up seconds by stage, while it passes progress on.

    A stage reports its steps once they are done, so the time since the last report, of whatever
    stage, belongs to the stage that reports.
    """

    def __init__(self) -> None:
        """Start to count."""
        self._print_line = progress_lines()
        self._wall_s: dict[str, float] = {}
        # What came before this process's first look is known of its processor alone.
        self._processor_s = {START: time.process_time()}
        self._last_wall_s = time.perf_counter()
        self._last_processor_s = self._processor_s[START]

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Count the time since the last report for this stage; see ``Progress``."""
        wall_s = time.perf_counter()
        processor_s = time.process_time()
        previous_wall_s = self._wall_s.get(stage, 0.0)
        previous_processor_s = self._processor_s.get(stage, 0.0)
        self._wall_s[stage] = previous_wall_s + wall_s - self._last_wall_s
        self._processor_s[stage] = previous_processor_s + processor_s - self._last_processor_s
        self._last_wall_s = wall_s
        self._last_processor_s = processor_s
        self._print_line(stage, done, total)

    def table(self) -> pd.DataFrame:
        """Return the stages in the order of their first reports.

        Returns:
            Columns ``stage``; ``seconds`` on the clock, NaN of the start; ``processor_seconds`` of
            this process, without those of the workers that it started.
        """
        import pandas as pd

        columns = {"seconds": self._wall_s, "processor_seconds": self._processor_s}
        return (
            pd.DataFrame(columns, index=list(self._processor_s)).rename_axis("stage").reset_index()
        )


@contextmanager
def printed_timings(is_wanted: bool) -> Iterator[Timings]:
    """Yield a recorder, and print its table on standard error if that is wanted."""
    timings = Timings()
    yield timings
    if not is_wanted:
        return
    table = timings.table()
    totals = table.sum(numeric_only=True)
    table.loc[len(table)] = ["total", *totals]
    rounded = table.round({"seconds": 1, "processor_seconds": 1})
    print_table("Seconds by stage; processors: this process", rounded, is_error=True)
