"""Claiming requests in the store, so that no two runs pay for the same one.

Each statement is atomic by itself, and rows are taken in the order of keys or skipped where another
transaction holds them, so that two runs never wait for each other in a circle.
"""

from __future__ import annotations

import json
import os
import platform
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import sqlalchemy as sa

from arena.data.errors import DataError, Problem
from arena.data.files import atomic_path, open_text
from arena.llm.replies import FINAL
from arena.llm.settings import Request, digest
from arena.llm.store_rows import (
    CLAIMED,
    DONE,
    OPEN,
    Result,
    calls,
    clock,
    insert_unless_there,
    owners,
    result_of,
    row_digest,
)

State = Literal["mine", "busy", "done", "failed"]

_RESULT_COLUMNS = [column for column in calls.c if column.name != "request"]
_AMONG = calls.c.key.in_(sa.bindparam("keys", expanding=True))
_ROWS = sa.select(*_RESULT_COLUMNS).where(_AMONG)
_CLAIMED = sa.select(calls.c.key).where(
    _AMONG, calls.c.state == CLAIMED, calls.c.owner == sa.bindparam("by")
)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a run may do about a request.

    Attributes:
        state: ``mine``: call. ``busy``: a living run is at it: look again later. ``done``: here is
            the result. ``failed``: this run has tried already: here is the failure.
        result: The result, if done or failed.
    """

    state: State
    result: Result | None = None


def claim(
    connection: sa.Connection, dialect: str, owner: str, requests: Sequence[Request], model: str
) -> dict[str, Claim]:
    """Claim requests for a run, those at most that no other living run is at.

    Returns:
        What to do about each request, by its key.
    """
    rows = _rows(connection, [request.key for request in requests])
    fresh = [request for request in requests if request.key not in rows]
    mine = _insert(connection, dialect, owner, fresh, model)
    mine |= _take(connection, dialect, owner, rows)
    return {request.key: _claim(request.key, rows, mine, owner) for request in requests}


def look_up(connection: sa.Connection, keys: Sequence[str]) -> dict[str, Result]:
    """Return those results that are there."""
    rows = _rows(connection, keys)
    return {key: result_of(row._asdict()) for key, row in rows.items() if row.state == DONE}


def _claim(key: str, rows: dict[str, sa.Row[tuple[object]]], mine: set[str], owner: str) -> Claim:
    if key in mine:
        return Claim("mine")
    row = rows.get(key)
    if row is None:  # another run was faster
        return Claim("busy")
    if row.state == DONE:
        return Claim("done", result_of(row._asdict()))
    if _tried(row, owner):
        return Claim("failed", result_of(row._asdict()))
    return Claim("busy")


def _tried(row: sa.Row[tuple[object]], owner: str) -> bool:
    return bool(row.state == OPEN and row.owner == owner and row.failure is not None)


def _rows(connection: sa.Connection, keys: Sequence[str]) -> dict[str, sa.Row[tuple[object]]]:
    return {row.key: row for row in connection.execute(_ROWS, {"keys": keys})}


def _insert(
    connection: sa.Connection, dialect: str, owner: str, fresh: Sequence[Request], model: str
) -> set[str]:
    if not fresh:
        return set()
    rows = [
        {
            "key": request.key,
            "state": CLAIMED,
            "owner": owner,
            "model": model,
            "prompt_version": request.version,
            "request": request.content,
            "tries": 0,
        }
        for request in sorted(fresh, key=lambda request: request.key)
    ]
    keys = [request.key for request in fresh]
    if connection.execute(insert_unless_there(calls, dialect), rows).rowcount == len(keys):
        return set(keys)
    return set(connection.scalars(_CLAIMED, {"keys": keys, "by": owner}))


def _take(
    connection: sa.Connection, dialect: str, owner: str, rows: dict[str, sa.Row[tuple[object]]]
) -> set[str]:
    """Take over requests that are open, or whose run is dead."""
    claimed = {key: row.owner for key, row in rows.items() if row.state == CLAIMED}
    held = set(claimed.values()) - {owner}
    dead = held - living(connection, dialect, held) if held else set()
    takeable = {key for key, row in rows.items() if row.state == OPEN and not _tried(row, owner)}
    takeable |= {key for key, holder in claimed.items() if holder in dead}
    if not takeable:
        return set()
    free = (calls.c.state == OPEN) | ((calls.c.state == CLAIMED) & calls.c.owner.in_(sorted(dead)))
    unlocked = (
        sa.select(calls.c.key)
        .where(calls.c.key.in_(sorted(takeable)), free)
        .with_for_update(skip_locked=True)
    )
    update = sa.update(calls).where(calls.c.key.in_(unlocked)).returning(calls.c.key)
    return set(connection.scalars(update.values(state=CLAIMED, owner=owner, failure=None)))


LEASE_S = 30.0
"""A run says every third of this that it is alive; later, others may take what it claimed."""

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_PROCESS_NAMES = Path("/proc/self/ns/pid")


def enter(connection: sa.Connection, dialect: str) -> str:
    """Register a new run of this process.

    Returns:
        Its name as an owner of claims.
    """
    owner = uuid.uuid4().hex
    row = {"owner": owner, "machine": _machine(), "process": os.getpid()}
    until = clock(dialect) + LEASE_S
    connection.execute(sa.insert(owners).values(**row, alive_until=until))
    return owner


def renew(connection: sa.Connection, dialect: str, owner: str) -> None:
    """Say that a run is alive."""
    connection.execute(_renewal(dialect), {"renewed": owner, "lease_s": LEASE_S})


@cache
def _renewal(dialect: str) -> sa.Update:
    until = clock(dialect) + sa.bindparam("lease_s", type_=sa.Double)
    mine = owners.c.owner == sa.bindparam("renewed")
    return sa.update(owners).where(mine).values(alive_until=until)


def leave(connection: sa.Connection, owner: str) -> None:
    """Forget a run that has ended."""
    connection.execute(sa.delete(owners).where(owners.c.owner == owner))


def living(connection: sa.Connection, dialect: str, names: set[str]) -> set[str]:
    """Return those owners that are alive: in their lease, and not seen dead on this machine."""
    rows = connection.execute(
        sa.select(owners.c.owner, owners.c.machine, owners.c.process).where(
            owners.c.owner.in_(sorted(names)), owners.c.alive_until > clock(dialect)
        )
    )
    here = _machine()
    return {row.owner for row in rows if row.machine != here or _runs(row.process)}


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


ROWS_AT_A_TIME = 1000

_COLUMNS = [column for column in calls.c if column.name not in ("owner", "digest")]
_JSON_COLUMNS = ("request", "logprobs", "parsed")
_GROUPS = (calls.c.model, calls.c.state, calls.c.failure)


def rows(connection: sa.Connection, *columns: sa.ColumnElement[Any]) -> Iterator[Any]:
    """Read every row in the order of keys, a thousand at a time."""
    streamed = connection.execution_options(yield_per=ROWS_AT_A_TIME)
    yield from streamed.execute(sa.select(*columns).order_by(calls.c.key))


def export_table(connection: sa.Connection) -> pd.DataFrame:
    """Return every row as a table."""
    records = (_record(row) for row in rows(connection, *_COLUMNS))
    return pd.DataFrame.from_records(list(records), columns=[column.name for column in _COLUMNS])


def export_jsonl(connection: sa.Connection, path: Path) -> int:
    """Write every row as a line of JSON; returns their number."""
    count = 0
    with atomic_path(path) as temporary, open_text(temporary, "wt") as stream:
        for row in rows(connection, *_COLUMNS):
            stream.write(json.dumps(_record(row), ensure_ascii=False) + "\n")
            count += 1
    return count


def summary(connection: sa.Connection) -> pd.DataFrame:
    """Count rows, calls and tokens by model, state and failure."""
    counts = (
        sa.func.count().label("rows"),
        sa.func.sum(calls.c.tries).label("tries"),
        sa.func.coalesce(sa.func.sum(calls.c.tokens_in), 0).label("tokens_in"),
        sa.func.coalesce(sa.func.sum(calls.c.tokens_out), 0).label("tokens_out"),
        sa.func.avg(calls.c.latency_s).label("latency_s"),
    )
    query = sa.select(*_GROUPS, *counts).group_by(*_GROUPS).order_by(*_GROUPS)
    found = connection.execute(query)
    return pd.DataFrame.from_records([tuple(row) for row in found], columns=list(found.keys()))


def _record(row: sa.Row[Any]) -> dict[str, Any]:
    record = dict(row._mapping)
    for name in _JSON_COLUMNS:
        record[name] = None if record[name] is None else json.loads(record[name])
    return record


MOST_PROBLEMS = 1000

_COPY = "restore the file from a copy"
_AGAIN = "delete the row, and its prompt is asked again"


def verify(connection: sa.Connection, dialect: str) -> int:
    """Check everything; see ``Store.verify``."""
    problems: list[Problem] = []
    count = 0
    try:
        if dialect == "sqlite":
            problems += _database_problems(connection)
        for row in rows(connection, *calls.c):
            count += 1
            if len(problems) < MOST_PROBLEMS:
                problems += _row_problems(row._mapping)
    except sa.exc.DatabaseError as error:
        problems.append(Problem("store", None, None, None, str(error.orig), _COPY))
    if problems:
        raise DataError(problems)
    return count


def _database_problems(connection: sa.Connection) -> Iterator[Problem]:
    for message in connection.scalars(sa.text("PRAGMA integrity_check")):
        if message != "ok":
            yield Problem("store", None, None, None, message, _COPY)


def _row_problems(row: Any) -> Iterator[Problem]:  # noqa: ANN401
    if digest(row["request"]) != row["key"]:
        yield _problem("key", row["key"], "is not the digest of the request")
    if row["state"] != DONE:
        return
    if row["digest"] != row_digest(row):
        yield _problem("digest", row["key"], "does not match what the model answered")
    if row["failure"] is not None and row["failure"] not in FINAL:
        yield _problem("failure", row["failure"], "is not final, but the row is done")
    try:
        result_of(row)
        json.loads(row["parsed"] or "null")
    except (ValueError, TypeError) as error:
        yield _problem("key", row["key"], f"holds JSON that cannot be read ({error})")


def _problem(field: str, value: object, fault: str) -> Problem:
    return Problem("store", None, field, value, fault, _AGAIN)
