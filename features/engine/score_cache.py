"""Scores of one model, by the content of what it scored; in memory, and on disk between runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pyarrow as pa

from features.engine.content import item_key
from features.engine.shards import KEY, Checkpoint, Shards
from features.models.scorer import Item, Scores

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
