"""Every reply of every call, kept in an SQLite file as it arrives, so that nothing is paid twice.

A request is open, claimed by a run, or done. A run holds a lease while it is alive; what it had
claimed and not finished is open again once it ends or dies. What is done stays as it is.
"""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import atomic_path, open_text
from arena.llm.settings import Request
from arena.llm.store_rows import (
    ANSWER_COLUMNS,
    DONE,
    OPEN,
    Result,
    file_problem,
    result_of,
    row_problems,
    saved_row,
)

LEASE_S = 30.0
"""A run renews its lease every third of this; later, others may take what it claimed."""

BUSY_S = 60.0
MOST_PROBLEMS = 1000

CLAIMED = "claimed"

_APPLICATION_ID = 0x61_72_65_6E
_VERSION = 1
_SCHEMA = f"""
CREATE TABLE calls (
    key TEXT PRIMARY KEY, state TEXT NOT NULL, run_id TEXT NOT NULL, model TEXT NOT NULL,
    prompt_version TEXT NOT NULL, request TEXT NOT NULL, text TEXT, finish_reason TEXT,
    refusal TEXT, served_model TEXT, tokens_in INTEGER, tokens_out INTEGER, latency_s REAL,
    logprobs TEXT, failure TEXT, detail TEXT, tries INTEGER NOT NULL DEFAULT 0, digest TEXT
);
CREATE TABLE leases (
    run_id TEXT PRIMARY KEY, machine TEXT NOT NULL, process INTEGER NOT NULL,
    alive_until REAL NOT NULL
);
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {_VERSION};
"""

_EXPORTED = (
    *("key", "state", "model", "prompt_version", "request"),
    *(*ANSWER_COLUMNS, "failure", "detail", "tries"),
)

_SELECT = "SELECT * FROM calls WHERE key IN (SELECT value FROM json_each(?))"
_CLAIM = f"""
INSERT INTO calls (key, state, run_id, model, prompt_version, request)
VALUES (?, '{CLAIMED}', ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET state = '{CLAIMED}', run_id = excluded.run_id, failure = NULL
"""  # noqa: S608  (constants of this file)
_SAVE = f"""
UPDATE calls SET {", ".join(f"{name} = :{name}" for name in ANSWER_COLUMNS)},
    failure = :failure, detail = :detail, digest = :digest, tries = tries + :tries, state = :state
WHERE key = :key AND (:state = '{DONE}' AND state != '{DONE}'
                      OR state = '{CLAIMED}' AND run_id = :run_id)
"""  # noqa: S608
_STATS = """
SELECT model, state, failure, COUNT(*) AS rows, SUM(tries) AS tries,
    COALESCE(SUM(tokens_in), 0) AS tokens_in, COALESCE(SUM(tokens_out), 0) AS tokens_out,
    AVG(latency_s) AS latency_s
FROM calls GROUP BY model, state, failure ORDER BY model, state, failure
"""


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
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._one_at_a_time = threading.RLock()
        self._connection = _connect(path)

    def __repr__(self) -> str:
        return f"Store({str(self._path)!r})"

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def start_run(self) -> str:
        """Take a lease for a run of this process; returns the run's id."""
        run_id = uuid.uuid4().hex
        lease = (run_id, _machine(), os.getpid(), time.time() + LEASE_S)
        with self._writing() as connection:
            connection.execute("INSERT INTO leases VALUES (?, ?, ?, ?)", lease)
        return run_id

    def renew_lease(self, run_id: str) -> None:
        """Say that a run is alive; to be called more often than every ``LEASE_S``."""
        with self._writing() as connection:
            _renew(connection, run_id)

    def end_run(self, run_id: str) -> None:
        """End a run: what it claimed and did not finish is open again."""
        with self._writing() as connection:
            connection.execute(
                "UPDATE calls SET state = ? WHERE run_id = ? AND state = ?",
                (OPEN, run_id, CLAIMED),
            )
            connection.execute("DELETE FROM leases WHERE run_id = ?", (run_id,))

    def claim(
        self, run_id: str, requests: Sequence[Request], model: str, at_most: int | None = None
    ) -> Claims:
        """Claim requests for a run, those at most that are open or whose run is dead.

        Args:
            run_id: The run, whose lease this renews.
            requests: What to claim.
            model: The model asked.
            at_most: Most requests to claim; None for all.
        """
        claims = Claims()
        with self._writing() as connection:
            _renew(connection, run_id)
            rows = _rows(connection, [request.key for request in requests])
            others = {row["run_id"] for row in rows.values() if row["state"] == CLAIMED} - {run_id}
            alive = _alive(connection, others) if others else set()
            for request in requests:
                row = rows.get(request.key)
                if row is not None and row["state"] == DONE:
                    claims.done.append(result_of(row))
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
        with self._one_at_a_time:
            rows = _rows(self._connection, keys)
        return {key: result_of(row) for key, row in rows.items() if row["state"] == DONE}

    def save(self, run_id: str, results: Iterable[Result]) -> None:
        """Write results of claimed requests, all or none.

        An answer is written whoever holds the claim by now, unless there is one already.
        """
        with self._writing() as connection:
            connection.executemany(_SAVE, [saved_row(result, run_id) for result in results])

    def stats(self) -> pd.DataFrame:
        """Count the store's rows.

        Returns:
            One row per model, state and failure: ``rows``, ``tries`` (calls sent), ``tokens_in``,
            ``tokens_out`` (sums) and ``latency_s`` (mean).
        """
        with self._reading():
            return pd.read_sql_query(_STATS, self._connection)

    def export(self) -> pd.DataFrame:
        """Return every row, in the order of keys, without the claims' runs."""
        with self._reading():
            return pd.DataFrame.from_records(list(self._records()), columns=list(_EXPORTED))

    def export_jsonl(self, path: str | Path) -> int:
        """Write every row as a line of JSON, compressed where the name ends in .gz or .zst.

        Returns:
            The number of lines.

        Raises:
            UsageError: If the folder does not exist.
        """
        count = 0
        with (
            self._reading(),
            atomic_path(Path(path)) as temporary,
            open_text(temporary, "wt") as stream,
        ):
            for record in self._records():
                stream.write(json.dumps(record, ensure_ascii=False) + "\n")
                count += 1
        return count

    def verify(self) -> int:
        """Check the database, and every row against its key and its digest.

        Returns:
            The number of rows.

        Raises:
            DataError: If something does not hold, with all problems.
        """
        problems: list[Problem] = []
        count = 0
        with self._reading():
            try:
                for (message,) in self._connection.execute("PRAGMA integrity_check"):
                    if message != "ok":
                        problems.append(file_problem(message))
                for row in self._connection.execute("SELECT * FROM calls ORDER BY key"):
                    count += 1
                    if len(problems) < MOST_PROBLEMS:
                        problems += row_problems(row)
            except (sqlite3.DatabaseError, UnicodeDecodeError, IndexError) as error:
                problems.append(file_problem(str(error)))
        if problems:
            raise DataError(problems)
        return count

    def _records(self) -> Iterator[dict[str, Any]]:
        for row in self._connection.execute("SELECT * FROM calls ORDER BY key"):
            record = {name: row[name] for name in _EXPORTED}
            try:
                for name in ("request", "logprobs"):
                    record[name] = None if record[name] is None else json.loads(record[name])
            except (ValueError, TypeError, RecursionError) as error:
                raise UsageError(
                    f"the store {self._path} is damaged at {record['key']!r} ({error}); "
                    "surrogate-arena store verify lists all such rows"
                ) from error
            yield record

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._transaction("BEGIN IMMEDIATE"):
            yield self._connection

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self._transaction("BEGIN"):
            yield

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        try:
            with self._one_at_a_time:
                self._connection.execute(begin)
                try:
                    yield
                    self._connection.execute("COMMIT")
                except BaseException:
                    if self._connection.in_transaction:  # a full disk has ended it
                        self._connection.execute("ROLLBACK")
                    raise
        except (sqlite3.DatabaseError, UnicodeDecodeError, IndexError) as error:
            raise UsageError(
                f"the store {self._path} cannot be used ({error}); what was written before is in it"
            ) from error


def open_store(where: str | Path) -> Store:
    """Open a store, and make it where there is none.

    Args:
        where: Path of an SQLite file on a local disk.

    Returns:
        The store; close it, or use it in a ``with`` block.

    Raises:
        UsageError: If the folder does not exist, or something else is in the file.
    """
    if "://" in str(where):
        raise UsageError(f"a store is a file on a local disk, not {where}; give a path")
    path = Path(where)
    if not path.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent} to keep the store {path.name} in")
    return Store(path)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    try:
        _switch_to_wal(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        _create_tables(connection)
    except (sqlite3.DatabaseError, UnicodeDecodeError, UsageError) as error:
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


def _create_tables(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        (tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if not tables:
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
        elif application != _APPLICATION_ID:
            raise UsageError("it holds something else; give another file")
        elif version != _VERSION:
            raise UsageError(
                f"its version is {version}, and this release reads version {_VERSION}; "
                "use the release that wrote it, or a new store"
            )
    finally:
        connection.execute("COMMIT")


def _renew(connection: sqlite3.Connection, run_id: str) -> None:
    until = (time.time() + LEASE_S, run_id)
    connection.execute("UPDATE leases SET alive_until = ? WHERE run_id = ?", until)


def _rows(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, sqlite3.Row]:
    return {row["key"]: row for row in connection.execute(_SELECT, (json.dumps(keys),))}


def _alive(connection: sqlite3.Connection, run_ids: set[str]) -> set[str]:
    """Return those runs that are alive: in their lease, and not seen dead on this machine."""
    leases = connection.execute(
        "SELECT * FROM leases WHERE alive_until > ? AND run_id IN (SELECT value FROM json_each(?))",
        (time.time(), json.dumps(sorted(run_ids))),
    )
    here = _machine()
    return {row["run_id"] for row in leases if row["machine"] != here or _runs(row["process"])}


_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_PROCESS_NAMES = Path("/proc/self/ns/pid")


def _machine() -> str:
    """Name the machine, and on Linux the process namespace: ids mean nothing in another one."""
    if _BOOT_ID.exists() and _PROCESS_NAMES.exists():
        return f"{_BOOT_ID.read_text().strip()} {_PROCESS_NAMES.readlink()}"
    return f"{platform.node()} {uuid.getnode()}"


def _runs(process: int) -> bool:
    if os.name != "posix":  # elsewhere, asking would end the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
