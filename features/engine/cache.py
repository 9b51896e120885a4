"""What was measured before, by content: folders of Parquet shards that run after run adds to."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from arena.data.errors import UsageError
from arena.data.files import atomic_path
from features.declare.feature import Feature, Item, Scores
from features.engine.answers import Answers, Indices, Measured, item_key
from features.engine.columns import MISSING_SUFFIX
from features.engine.source_digest import code_digest, is_own

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
        names = pq.read_schema(path).names
        wanted = names if columns is None else [name for name in columns if name in names]
        return pq.read_table(path, columns=wanted)
    except (OSError, pa.ArrowException) as error:
        raise UsageError(
            f"the cache file {path} cannot be read ({error}); delete it, "
            "and what it held is measured again"
        ) from error


ANSWERS = "answers"


class AnswerCache:
    """Values of features on some answers, kept between runs.

    What a feature gave is found again as long as its code is the same; a user's feature is never
    kept, since its code may change without anyone telling.
    """

    def __init__(
        self, shards: Shards | None, keys: Sequence[bytes], features: Mapping[int, Feature]
    ) -> None:
        """Prepare.

        Args:
            shards: Where values are kept; None for nowhere.
            keys: Keys of the N answers.
            features: Those whose values are kept, by their column.
        """
        self._shards = shards
        self._keys = keys
        self._names = {
            column: f"{feature}|{code_digest([feature])}" for column, feature in features.items()
        }
        self._checkpoint = Checkpoint()
        self._unwritten: list[Indices] = []

    @classmethod
    def open(cls, folder: Path | None, answers: Answers, chosen: Sequence[Feature]) -> AnswerCache:
        """Open what earlier runs have kept in a folder, if any."""
        ours = {column: feature for column, feature in enumerate(chosen) if is_own(feature)}
        if folder is None or not ours:
            return cls(None, (), {})
        return cls(Shards(folder / ANSWERS), answers.keys(), ours)

    def fill(self, measured: Measured) -> None:
        """Fill in what earlier runs have measured, shape (N, features)."""
        if self._shards is None:
            return
        wanted = pd.Index(self._keys, dtype=object)
        names = [name for column in self._names.values() for name in (column, _reason(column))]
        for shard in self._shards.read([KEY, *names]):
            source = pd.Index(shard[KEY].to_pylist(), dtype=object).get_indexer(wanted)
            answers = np.flatnonzero(source >= 0)
            for column, name in self._names.items():
                if name in shard.column_names:
                    values = shard[name].to_numpy()[source[answers]]
                    reasons = np.array(shard[_reason(name)].to_pylist(), dtype=object)
                    part = Measured(values[:, None], reasons[source[answers]][:, None])
                    measured.put(answers, np.array([column]), part)

    def add(self, rows: Indices, measured: Measured) -> None:
        """Take note of rows that have been measured; write them from time to time."""
        self._unwritten.append(rows)
        if self._checkpoint.is_due():
            self.write(measured)

    def write(self, measured: Measured) -> None:
        """Write to disk what is not there yet; answers with the same key once."""
        if self._shards is None or not self._unwritten:
            return
        first = {self._keys[row]: row for row in np.concatenate(self._unwritten)[::-1]}
        rows = np.fromiter(first.values(), np.intp)
        table: dict[str, pa.Array] = {KEY: pa.array(list(first), pa.binary())}
        for column, name in self._names.items():
            reasons = pa.array(measured.reasons[rows, column].tolist(), pa.string())
            table[name] = pa.array(measured.values[rows, column], pa.float64())
            table[_reason(name)] = reasons.dictionary_encode()
        self._shards.write(pa.table(table))
        self._unwritten.clear()


def _reason(name: str) -> str:
    return f"{name}{MISSING_SUFFIX}"


SCORES = "scores"
SIGNATURE_FILE = "signature.txt"

DECIMALS = 6
"""Scores are rounded, since their last bits depend on the batch they were scored in."""


class ScoreCache:
    """What a model has given every item it ever scored.

    Args:
        signature: The scorer's signature; scores of another one are never mixed in.
        folder: Folder to keep scores in; None to keep them in memory only.
    """

    def __init__(self, signature: str, folder: Path | None) -> None:
        self._rows: dict[bytes, Scores] = {}
        self._unwritten: dict[bytes, Scores] = {}
        self._checkpoint = Checkpoint()
        self._shards = None if folder is None else _shards(folder, signature)
        if self._shards is not None:
            for shard in self._shards.read():
                self._rows.update(_shard_rows(shard))

    def unknown(self, items: Iterable[Item]) -> list[Item]:
        """Return the distinct items without scores, in order of first appearance."""
        distinct = {item_key(item): item for item in items}
        return [item for key, item in distinct.items() if key not in self._rows]

    def add(self, items: Sequence[Item], scores: Scores) -> None:
        """Keep the scores of items, shape (items, outputs); NaN, a failure, for this run only."""
        rounded = scores.round(DECIMALS)
        added = dict(zip(map(item_key, items), rounded, strict=True))
        self._rows.update(added)
        if self._shards is not None:
            self._unwritten.update(
                {key: row for key, row in added.items() if np.isfinite(row).all()}
            )
            if self._checkpoint.is_due():
                self.write()

    def scores(self, items: Sequence[Item]) -> Scores:
        """Return the scores of items, shape (items, outputs)."""
        rows = [self._rows[item_key(item)] for item in items]
        width = max(map(len, rows), default=0)
        # Where all of a batch failed, nobody knows how many numbers there should have been.
        whole = [
            row if np.isfinite(row).any() else np.full(width, np.nan, row.dtype) for row in rows
        ]
        return np.stack(whole) if whole else np.empty((0, 0), np.float32)

    def write(self) -> None:
        """Write to disk what is not there yet."""
        if self._shards is None or not self._unwritten:
            return
        width = len(next(iter(self._unwritten.values())))
        flat = pa.array(np.concatenate(list(self._unwritten.values())), pa.float32())
        self._shards.write(
            pa.table(
                {
                    KEY: pa.array(list(self._unwritten), pa.binary()),
                    SCORES: pa.FixedSizeListArray.from_arrays(flat, width),
                }
            )
        )
        self._unwritten.clear()


def _shards(folder: Path, signature: str) -> Shards:
    kind = signature.partition(":")[0]
    digest = blake2b(signature.encode(), digest_size=8).hexdigest()
    shards = Shards(folder / f"{kind}-{digest}")
    (shards.folder / SIGNATURE_FILE).write_text(signature + "\n", encoding="utf-8")
    return shards


def _shard_rows(shard: pa.Table) -> dict[bytes, Scores]:
    column = shard[SCORES].combine_chunks()
    rows = column.flatten().to_numpy().reshape(len(column), -1)
    return dict(zip(shard[KEY].to_pylist(), rows, strict=True))
