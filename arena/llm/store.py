"""Every reply of every call, kept in an SQLite file as it arrives, so that nothing is paid twice.

A request is open, claimed by a run, or done. A run holds a lock beside the file while it lives;
what it had claimed and not finished is open again once it ends or dies. What is done stays.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

import pandas as pd
from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from arena.data.errors import DataError, Problem, UsageError
from arena.llm.replies import FINAL, Completion
from arena.llm.settings import Request, digest

BUSY_S = 60.0
MOST_PROBLEMS = 1000

OPEN, CLAIMED, DONE = "open", "claimed", "done"

_APPLICATION_ID = 0x61_72_65_6E
_VERSION = 2
_SCHEMA = f"""
CREATE TABLE calls (
    key TEXT PRIMARY KEY, state TEXT NOT NULL, run_id TEXT NOT NULL, model TEXT NOT NULL,
    prompt_version TEXT NOT NULL, request TEXT NOT NULL, reply TEXT, failure TEXT, detail TEXT,
    tries INTEGER NOT NULL DEFAULT 0
);
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {_VERSION};
"""
_EXPORTED = ("key", "state", "model", "prompt_version", "request", "failure", "detail", "tries")
_SELECT = "SELECT * FROM calls WHERE key IN (SELECT value FROM json_each(?))"
_CLAIM = f"""
INSERT INTO calls (key, state, run_id, model, prompt_version, request)
VALUES (?, '{CLAIMED}', ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET state = '{CLAIMED}', run_id = excluded.run_id, failure = NULL
"""  # noqa: S608  (constants of this file)
_SAVE = f"""
UPDATE calls SET reply = :reply, failure = :failure, detail = :detail, tries = tries + :tries,
    state = :state
WHERE key = :key AND (:state = '{DONE}' AND state != '{DONE}'
                      OR state = '{CLAIMED}' AND run_id = :run_id)
"""  # noqa: S608
_STATS = """
SELECT model, state, failure, COUNT(*) AS rows, SUM(tries) AS tries,
    COALESCE(SUM(json_extract(reply, '$.tokens_in')), 0) AS tokens_in,
    COALESCE(SUM(json_extract(reply, '$.tokens_out')), 0) AS tokens_out,
    AVG(json_extract(reply, '$.latency_s')) AS latency_s
FROM calls GROUP BY model, state, failure ORDER BY model, state, failure
"""


@dataclass(frozen=True, slots=True)
class Result:
    """How one request ended.

    Attributes:
        key: The request's key.
        completion: The model's answer; None if none came.
        failure: Why there is no usable answer, or None.
        detail: More about the failure, for people.
        tries: Calls sent for it.
    """

    key: str
    completion: Completion | None
    failure: str | None = None
    detail: str = ""
    tries: int = 0


@dataclass(frozen=True)
class Claims:
    """What a run may do about requests.

    Attributes:
        mine: To be sent by this run.
        busy: A living run is at them: look again later.
        left: Open, but the run was to claim no more.
        done: Results that are there.
    """

    mine: list[Request] = field(default_factory=list)
    busy: list[Request] = field(default_factory=list)
    left: list[Request] = field(default_factory=list)
    done: list[Result] = field(default_factory=list)


class Store:
    """Results of calls by request, shared by any number of runs and processes of one machine.

    Open it by ``arena.llm.open_store``.

    Attributes:
        path: The file.
    """

    def __init__(self, path: Path, create: bool = True) -> None:
        self.path = path
        self._one_at_a_time = threading.RLock()
        self._locks: dict[str, FileLock] = {}
        self._connection = _connect(path, create)

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def start_run(self) -> str:
        """Start a run, which lives until ``end_run`` or the end of its process; returns its id."""
        run_id = uuid.uuid4().hex
        self._locks[run_id] = self._lock_of(run_id)
        self._locks[run_id].acquire()
        return run_id

    def end_run(self, run_id: str) -> None:
        """End a run: what it claimed and did not finish is open again."""
        try:
            with self._writing() as connection:
                connection.execute(
                    "UPDATE calls SET state = ? WHERE run_id = ? AND state = ?",
                    (OPEN, run_id, CLAIMED),
                )
        finally:
            lock = self._locks.pop(run_id)
            lock.release()
            Path(lock.lock_file).unlink(missing_ok=True)

    def claim(
        self, run_id: str, requests: Sequence[Request], model: str, at_most: int | None = None
    ) -> Claims:
        """Claim requests for a run, those at most that are open or whose run is dead.

        Args:
            run_id: The run.
            requests: What to claim.
            model: The model asked.
            at_most: Most requests to claim; None for all.
        """
        claims = Claims()
        with self._writing() as connection:
            rows = _rows(connection, [request.key for request in requests])
            others = {row["run_id"] for row in rows.values() if row["state"] == CLAIMED} - {run_id}
            alive = set(filter(self._is_alive, others))
            for request in requests:
                row = rows.get(request.key)
                if row is not None and row["state"] == DONE:
                    claims.done.append(_result_of(row))
                elif row is not None and row["state"] == CLAIMED and row["run_id"] in alive:
                    claims.busy.append(request)
                elif at_most is not None and len(claims.mine) >= at_most:
                    claims.left.append(request)
                else:
                    claims.mine.append(request)
            new = [(each.key, run_id, model, each.version, each.content) for each in claims.mine]
            connection.executemany(_CLAIM, new)
        return claims

    def look_up(self, keys: Sequence[str]) -> dict[str, Result]:
        """Return the results that are done among these requests, by key."""
        with self._reading() as connection:
            rows = _rows(connection, keys)
            return {key: _result_of(row) for key, row in rows.items() if row["state"] == DONE}

    def save(self, run_id: str, results: Iterable[Result]) -> None:
        """Write results of claimed requests, all or none.

        An answer is written whoever holds the claim by now, unless there is one already.
        """
        with self._writing() as connection:
            connection.executemany(_SAVE, [_saved_row(result, run_id) for result in results])

    def stats(self) -> pd.DataFrame:
        """Count the store's rows.

        Returns:
            One row per model, state and failure: ``rows``, ``tries`` (calls sent), ``tokens_in``,
            ``tokens_out`` (sums) and ``latency_s`` (mean).
        """
        with self._reading() as connection:
            cursor = connection.execute(_STATS)
            columns = [name for name, *_ in cursor.description]
            return pd.DataFrame.from_records(cursor.fetchall(), columns=columns)

    def export(self) -> pd.DataFrame:
        """Return every row in the order of keys: what was asked, and the fields of the reply."""
        records = []
        with self._reading() as connection:
            for row in connection.execute("SELECT * FROM calls ORDER BY key"):
                reply = asdict(_reply(row) or Completion(None))
                records.append(reply | {name: row[name] for name in _EXPORTED})
        columns = [*_EXPORTED, *asdict(Completion(None))]
        return pd.DataFrame.from_records(records, columns=list(dict.fromkeys(columns)))

    def verify(self) -> int:
        """Check the database, each request against its key, and that each reply can be read.

        Returns:
            The number of rows.

        Raises:
            DataError: If something does not hold, with all problems.
        """
        problems: list[Problem] = []
        count = 0
        try:
            with self._reading() as connection:
                for (message,) in connection.execute("PRAGMA integrity_check"):
                    if message != "ok":
                        problems.append(_file_problem(message))
                for row in connection.execute("SELECT * FROM calls ORDER BY key"):
                    count += 1
                    if len(problems) < MOST_PROBLEMS:
                        problems += _row_problems(row)
        except UsageError as error:
            problems.append(_file_problem(str(error)))
        if problems:
            raise DataError(problems)
        return count

    def _lock_of(self, run_id: str) -> FileLock:
        path = self.path.with_name(f"{self.path.name}.{run_id}.lock")
        return FileLock(path, thread_local=False)

    def _is_alive(self, run_id: str) -> bool:
        """Whether a run still holds its lock, which its process loses with its life."""
        lock = self._lock_of(run_id)
        if not Path(lock.lock_file).exists():
            return False
        try:
            with lock.acquire(timeout=0):
                Path(lock.lock_file).unlink(missing_ok=True)
                return False
        except Timeout:
            return True

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        try:
            with self._one_at_a_time:
                self._connection.execute(begin)
                try:
                    yield self._connection
                    self._connection.execute("COMMIT")
                except BaseException:
                    if self._connection.in_transaction:  # a full disk has ended it
                        self._connection.execute("ROLLBACK")
                    raise
        except (sqlite3.DatabaseError, UnicodeDecodeError, IndexError, ValidationError) as error:
            said = " ".join(str(error).split())[:300]
            raise UsageError(
                f"the store {self.path} cannot be used ({said}); what was written before is in "
                "it: `check` lists what is damaged"
            ) from error


def open_store(where: str | Path, create: bool = True) -> Store:
    """Open a store.

    Args:
        where: Path of an SQLite file on a local disk.
        create: Whether to make a store where there is no file, or an empty one.

    Returns:
        The store; close it, or use it in a ``with`` block.

    Raises:
        UsageError: If there is something else, nothing to open, or no folder to make it in.
    """
    if "://" in str(where):
        raise UsageError(f"a store is a file on a local disk, not {where}; give a path")
    path = Path(where)
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent} to keep the store {path.name} in")
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is no file; name the file of a store, or a new one")
    if not create and not path.exists():
        raise UsageError(f"there is no store at {path}")
    return Store(path, create)


def describe_store(path: str | Path) -> pd.DataFrame:
    """Check a store that is there, and count its rows; see ``Store.stats``.

    Raises:
        UsageError: If there is no store.
        DataError: If it is damaged, with all problems.
    """
    with open_store(path, create=False) as store:
        store.verify()
        return store.stats()


def _connect(path: Path, create: bool) -> sqlite3.Connection:
    connection = None
    try:
        connection = sqlite3.connect(
            path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        _check_kind(connection, create)  # before anything is written to a file of somebody else's
        _switch_to_wal(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _check_kind(connection, create):
                for statement in _SCHEMA.split(";"):
                    connection.execute(statement)
        finally:
            connection.execute("COMMIT")
    except (sqlite3.DatabaseError, UnicodeDecodeError, UsageError) as error:
        if connection is not None:
            connection.close()
        raise UsageError(f"cannot open a store at {path}: {error}") from None
    return connection


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:  # the switch does not wait for others by itself
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _check_kind(connection: sqlite3.Connection, create: bool) -> bool:
    """Return whether a file is empty and to become a store; refuse what is none."""
    (tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if not tables:
        if not create:
            raise UsageError("it is empty; give the file of a store")
        return True
    if application != _APPLICATION_ID:
        raise UsageError("it holds something else; give another file")
    if version != _VERSION:
        raise UsageError(
            f"its version is {version}, and this release reads version {_VERSION}; "
            "use the release that wrote it, or a new store"
        )
    return False


def _rows(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, sqlite3.Row]:
    return {row["key"]: row for row in connection.execute(_SELECT, (json.dumps(keys),))}


@cache
def _completions() -> TypeAdapter[Completion]:
    return TypeAdapter(Completion)


def _saved_row(result: Result, run_id: str) -> dict[str, object]:
    """Write a result's columns, and the state that it brings the row to."""
    completion, is_final = result.completion, result.failure is None or result.failure in FINAL
    return {
        "key": result.key,
        "reply": None if completion is None else _completions().dump_json(completion).decode(),
        "failure": result.failure,
        "detail": result.detail,
        "tries": result.tries,
        "state": DONE if is_final else OPEN,
        "run_id": run_id,
    }


def _reply(row: sqlite3.Row) -> Completion | None:
    return None if row["reply"] is None else _completions().validate_json(row["reply"])


def _result_of(row: sqlite3.Row) -> Result:
    """Read the result of a row that is done."""
    completion = _reply(row) or Completion(None, failure=row["failure"])
    return Result(row["key"], completion, row["failure"], row["detail"] or "", row["tries"])


def _row_problems(row: sqlite3.Row) -> Iterator[Problem]:
    """Say what in a row does not hold."""
    key, request = row["key"], row["request"]
    if any(isinstance(value, bytes) for value in row):
        yield _problem("key", key, "holds bytes, which is no text")
        return
    if digest(request) != key:
        yield _problem("key", key, "is not the digest of the request")
    if row["state"] == DONE and row["failure"] is not None and row["failure"] not in FINAL:
        yield _problem("failure", row["failure"], "is not final, but the row is done")
    try:
        if _reply(row) is None and row["state"] == DONE and row["failure"] is None:
            yield _problem("reply", key, "is missing, but the row is done")
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]["msg"]
        yield _problem("reply", key, f"holds a reply that cannot be read ({fault})")


def _problem(field: str, value: object, fault: str) -> Problem:
    hint = "delete the row, and its prompt is asked again"
    return Problem("store", None, field, value, fault, hint)


def _file_problem(message: str) -> Problem:
    """Say that the database itself is damaged."""
    return Problem("store", None, None, None, message, "restore the file from a copy")
