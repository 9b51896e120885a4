"""A folder of Parquet shards: what one run after the other has added to a table."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import arena
import features
from arena.data.errors import UsageError
from arena.data.files import atomic_path
from features.declare.feature import Feature, Item, Scores
from features.engine.answers import Measured, Places, item_key

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


MISSING_SUFFIX = ":missing"

_LIBRARIES = ("py3langid", "langid", "rapidfuzz", "regex", "sentencex", "pythainlp")
_PARSING = ("answers.py", "citations.py")


class AnswerCache:
    """Values of features, shared by all runs of the same code on the same folder."""

    def __init__(self, folder: Path) -> None:
        self._shards = Shards(folder / f"answers-{code_digest()}")

    def fill(self, keys: Sequence[bytes], chosen: Sequence[Feature], measured: Measured) -> None:
        """Fill in what earlier runs have measured.

        Args:
            keys: Keys of N answers.
            chosen: F features.
            measured: Room for them, shape (N, F).
        """
        wanted = pd.Index(keys, dtype=object)
        columns = [KEY, *(column for feature in chosen for column in _columns(feature))]
        for shard in self._shards.read(columns):
            held = pd.Index(shard[KEY].to_pylist(), dtype=object)
            source = held.get_indexer(wanted)
            answers = np.flatnonzero(source >= 0)
            for place, feature in enumerate(chosen):
                if str(feature) in shard.column_names:
                    part = _column(shard, feature, source[answers])
                    measured.put(answers, np.array([place]), part)

    def add(self, keys: Sequence[bytes], chosen: Sequence[Feature], measured: Measured) -> None:
        """Keep the values of N answers and F features; answers with the same key once."""
        distinct = _first_places(keys)
        table: dict[str, pa.Array] = {
            KEY: pa.array([keys[place] for place in distinct], pa.binary())
        }
        for place, feature in enumerate(chosen):
            value, reason = _columns(feature)
            table[value] = pa.array(measured.values[distinct, place], pa.float64())
            reasons = pa.array(measured.reasons[distinct, place].tolist(), pa.string())
            table[reason] = reasons.dictionary_encode()
        self._shards.write(pa.table(table))


def is_kept(feature: Feature) -> bool:
    """Whether values of a feature may be kept: its code is this package's own.

    What a user's feature computes may change between two runs without anyone telling.
    """
    module = getattr(feature.measurement, "__module__", None) or ""
    return str(module).partition(".")[0] == features.__name__


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Return a digest of all code that values depend on, libraries by their versions."""
    digest = blake2b(digest_size=8)
    own = sorted(Path(str(features.__file__)).parent.rglob("*.py"))
    parsing = [Path(str(arena.__file__)).with_name(name) for name in _PARSING]
    for path in (*own, *parsing):
        digest.update(path.read_bytes())
    for library in _LIBRARIES:
        digest.update(f"{library}={_version(library)};".encode())
    return digest.hexdigest()


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "absent"


def _columns(feature: Feature) -> tuple[str, str]:
    return str(feature), f"{feature}{MISSING_SUFFIX}"


def _column(shard: pa.Table, feature: Feature, rows: Places) -> Measured:
    value, reason = _columns(feature)
    values = shard[value].to_numpy()[rows]
    reasons = np.array(shard[reason].to_pylist(), dtype=object)[rows]
    return Measured(values[:, None].astype(np.float64), reasons[:, None])


def _first_places(keys: Sequence[bytes]) -> Places:
    first: dict[bytes, int] = {}
    for place, key in enumerate(keys):
        first.setdefault(key, place)
    return np.fromiter(first.values(), np.intp)


SCORES = "scores"
SIGNATURE_FILE = "signature.txt"


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
        added = dict(zip(map(item_key, items), scores, strict=True))
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
        return np.stack(rows) if rows else np.empty((0, 0), np.float32)

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
