"""An SQLite cache of values, keyed by the content they were measured on."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from arena.data.errors import UsageError
from arena.data.writing import disk_advice
from features.declare.sample import (
    Answer,
    Missing,
    Question,
)

CACHE_FILE = "values.sqlite"
KEY_BYTES = 16

_ROOT = Path(__file__).parents[2]
_CODE = ("arena/text", "features")
_LIBRARIES = (
    "sentencex",
    "pythainlp",
    "py3langid",
    "langid",
    "sacrebleu",
    "rouge-score",
    "nltk",
    "rapidfuzz",
    "regex",
)
_TABLE = (
    "CREATE TABLE IF NOT EXISTS kept (scope BLOB, key BLOB, value BLOB, PRIMARY KEY (scope, key))"
)


def content_key(*parts: object) -> bytes:
    """Digest parts that JSON can write, different ones differently."""
    return blake2b(json.dumps(parts).encode(), digest_size=KEY_BYTES).digest()


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Digest the code that measures, and the versions of its libraries."""
    sources: list[Path] = []
    for folder in _CODE:
        sources += sorted((_ROOT / folder).rglob("*.py"))
    digest = blake2b(digest_size=8)
    for path in sources:
        digest.update(path.read_bytes())
    digest.update(f"python={sys.version}\0".encode())
    for library in _LIBRARIES:
        with suppress(PackageNotFoundError):
            digest.update(f"{library}={version(library)}\0".encode())
    return digest.hexdigest()


class Cache:
    """Values by scope (the measuring code) and key (the content measured)."""

    def __init__(self, folder: Path | None, scope: str) -> None:
        self._path = None if folder is None else folder / CACHE_FILE
        self._scope = content_key(scope)
        self._memory: dict[bytes, bytes] = {}
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            # The file is large, and can be made again.
            (folder / ".gitignore").write_text("*\n")

    def find(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values in the cache, by key."""
        # Keys per query: SQLite may refuse more than 999 parameters
        query_keys = 500
        remaining = [key for key in dict.fromkeys(keys) if key not in self._memory]
        if self._path is not None and remaining:
            with self._opened(self._path) as file:
                for start in range(0, len(remaining), query_keys):
                    part = remaining[start : start + query_keys]
                    marks = ",".join("?" * len(part))
                    query = f"SELECT key, value FROM kept WHERE scope = ? AND key IN ({marks})"  # noqa: S608
                    self._memory.update(file.execute(query, (self._scope, *part)))
        return {key: self._memory[key] for key in keys if key in self._memory}

    def add(self, values: Mapping[bytes, bytes]) -> None:
        """Add values, to the file as well."""
        self._memory.update(values)
        if self._path is not None and values:
            with self._opened(self._path) as file:
                rows = ((self._scope, key, value) for key, value in values.items())
                file.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", rows)

    @contextmanager
    def _opened(self, path: Path) -> Iterator[sqlite3.Connection]:
        timeout_s = 60.0
        try:
            with closing(sqlite3.connect(path, timeout=timeout_s)) as connection, connection:
                connection.execute(_TABLE)
                yield connection
        except sqlite3.Error as error:
            advice = disk_advice(error, path) or "delete it, and its values are measured again"
            raise UsageError(f"the cache file {path} cannot be used ({error}); {advice}") from error


def answer_keys(answers: Sequence[Answer]) -> list[bytes]:
    """Digest all that a feature may see of each answer."""
    digests: dict[int, str] = {}  # by identity: to hash a question would be to hash its passages
    keys: list[bytes] = []
    for question, output in answers:
        if id(question) not in digests:
            digests[id(question)] = _question_digest(question)
        keys.append(content_key(digests[id(question)], output))
    return keys


def _question_digest(question: Question) -> str:
    reference = question.reference
    passages = [passage.model_dump() for passage in question.passages]
    shared = [passage.model_dump() for passage in question.shared or ()]
    return content_key(
        question.language,
        question.query,
        question.reference_ids,
        # A reason is put into a list, so that no reference answer of the same text equals it.
        [str(reference)] if isinstance(reference, Missing) else reference,
        [passages, shared],
        question.shared is None,
    ).hex()
