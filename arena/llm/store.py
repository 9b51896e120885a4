"""Replies of all calls, kept in an SQLite file as they arrive, so that none is paid twice."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from arena.data.errors import UsageError
from arena.data.writing import disk_advice, held_lock
from arena.llm.replies import Completion
from arena.llm.requests import Request, digest

_APPLICATION_ID = 0x61_72_65_6E
_VERSION = 4
_SCHEMA = f"""
CREATE TABLE calls (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, prompt_version TEXT NOT NULL, request TEXT NOT NULL,
    reply TEXT NOT NULL, tries INTEGER NOT NULL
);
CREATE TABLE batches (
    batch INTEGER PRIMARY KEY, base_url TEXT NOT NULL, model TEXT NOT NULL, path TEXT NOT NULL,
    file_id TEXT, batch_id TEXT
);
CREATE TABLE batch_requests (
    key TEXT PRIMARY KEY, batch INTEGER NOT NULL, version TEXT NOT NULL, request TEXT NOT NULL,
    tries INTEGER NOT NULL
);
CREATE INDEX requests_of_batch ON batch_requests (batch);
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {_VERSION};
"""
_LOOK_UP = "SELECT key, reply FROM calls WHERE key IN (SELECT value FROM json_each(?))"
_SAVE = "INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"


class Store:
    """Results of calls by request, shared by any number of processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._one_at_a_time = threading.RLock()
        self._connection = _connect(path)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def asking(self, model: str) -> Iterator[None]:
        """Hold off runs that would pay a model for the same."""
        path = self.path.with_name(f".{self.path.name}.{digest(model)[:12]}.lock")
        with held_lock(path, f"another run, which asks {model} too ({self.path})"):
            yield

    def look_up(self, keys: Sequence[str]) -> dict[str, Completion]:
        """Return the stored completions, by key."""
        with self.transaction() as connection:
            rows = connection.execute(_LOOK_UP, (json.dumps(keys),))
            return {row["key"]: _completions().validate_json(row["reply"]) for row in rows}

    def save(self, request: Request, completion: Completion, tries: int = 1) -> None:
        """Write a completion, unless there is one or it may pass."""
        with self.transaction("IMMEDIATE") as connection:
            save_completion(connection, request, completion, tries)

    @contextmanager
    def transaction(self, kind: str = "") -> Iterator[sqlite3.Connection]:
        """Begin a transaction, committed unless an error ends it."""
        try:
            with self._one_at_a_time:
                self._connection.execute(f"BEGIN {kind}")
                try:
                    yield self._connection
                    self._connection.execute("COMMIT")
                except BaseException:
                    if self._connection.in_transaction:  # a full disk has ended it
                        self._connection.execute("ROLLBACK")
                    raise
        except (sqlite3.DatabaseError, UnicodeDecodeError, IndexError, ValidationError) as error:
            reason = " ".join(str(error).split())[:300]
            advice = disk_advice(error, self.path)
            if not advice:
                advice = "restore it from a copy, or give another: earlier replies are still in it"
            raise UsageError(
                f"the store {self.path} cannot be used ({reason}); {advice}"
            ) from error


def save_completion(
    connection: sqlite3.Connection, request: Request, completion: Completion, tries: int
) -> None:
    """Write a completion within a transaction."""
    if not completion.is_final:
        return
    values = (
        request.key,
        request.model,
        request.version,
        request.content,
        _completions().dump_json(completion).decode(),
        tries,
    )
    connection.execute(_SAVE, values)


def open_store(where: str | Path) -> Store:
    """Open a store, an SQLite file on a local disk, made if absent or empty.

    Args:
        where: The file.

    Returns:
        The store; ``close`` closes it.

    Raises:
        UsageError: If the file is something else, or its folder is absent.

    Examples:
        >>> store = open_store("replies.sqlite")
        >>> store.close()
    """
    if "://" in str(where):
        raise UsageError(f"a store is a file on a local disk, not {where}; give a path")
    path = Path(where)
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent} to keep the store {path.name} in")
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is not a file; give a store file or a new path")
    return Store(path)


def open_for_dry_run(where: str | Path) -> Store:
    """Open a store to look into; without a file, an empty one in memory.

    Examples:
        >>> open_for_dry_run("replies.sqlite").look_up(["a key"])
        {}
    """
    return open_store(where) if Path(where).is_file() else Store(Path(":memory:"))


def _connect(path: Path) -> sqlite3.Connection:
    busy_s = 60.0
    connection = None
    try:
        connection = sqlite3.connect(
            path, timeout=busy_s, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        if _is_empty(connection):
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
        connection.execute("COMMIT")
    except (sqlite3.DatabaseError, UnicodeDecodeError, UsageError) as error:
        if connection is not None:
            connection.close()
        parts = [f"cannot open a store at {path}: {error}", disk_advice(error, path)]
        raise UsageError("; ".join(filter(None, parts))) from None
    return connection


def _is_empty(connection: sqlite3.Connection) -> bool:
    (n_tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if n_tables == 0 and application_id == 0:
        return True
    if application_id != _APPLICATION_ID:
        raise UsageError("it is no store of replies; give another file")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != _VERSION:
        raise UsageError(
            f"its version is {version}, and this release reads version {_VERSION}; "
            "use the release that wrote it, or a new store"
        )
    return False


@cache
def _completions() -> TypeAdapter[Completion]:
    return TypeAdapter(Completion)
