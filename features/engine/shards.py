"""A folder of Parquet shards: what one run after the other has added to a table."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from arena.errors import UsageError
from arena.streams import atomic_path

SHORTEST_PAUSE_S = 5.0
LARGEST_LOSS = 0.01
"""Share of a run's time that a kill may cost."""

KEY = "key"


class Shards:
    """Tables of one folder, keyed by content.

    A shard appears whole or not at all, and is never changed; runs that share a folder add shards
    side by side.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder

    def read(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Read the shards, by name; with columns, those of them that a shard has.

        Raises:
            UsageError: If a shard cannot be read.
        """
        for path in sorted(self.folder.glob("*.parquet")):
            yield _read(path, columns)

    def write(self, table: pa.Table) -> None:
        """Add a shard."""
        name = f"{time.time_ns():020d}-{secrets.token_hex(4)}.parquet"
        with atomic_path(self.folder / name) as path:
            pq.write_table(table, path, compression="zstd")


class Checkpoint:
    """Says when to write, so that a kill costs little and shards stay few."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = self._last = clock()

    def is_due(self) -> bool:
        """Whether five seconds, or a hundredth of the run, have passed since the last writing."""
        now = self._clock()
        pause = max(SHORTEST_PAUSE_S, LARGEST_LOSS * (now - self._start))
        if now - self._last < pause:
            return False
        self._last = now
        return True


def _read(path: Path, columns: Sequence[str] | None) -> pa.Table:
    try:
        held = pq.read_schema(path).names
        wanted = held if columns is None else [name for name in columns if name in held]
        return pq.read_table(path, columns=wanted)
    except (OSError, pa.ArrowException) as error:
        raise UsageError(
            f"the cache file {path} cannot be read ({error}); delete it, "
            "and what it held is measured again"
        ) from error
