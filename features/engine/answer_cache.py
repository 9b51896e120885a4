"""Values kept between runs, by the content of question and answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

import arena
import features
from features.engine.measured import Measured, Places
from features.engine.shards import KEY, Shards
from features.feature import Feature

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
