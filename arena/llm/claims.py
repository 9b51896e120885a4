"""Claiming requests in the store, so that no two runs pay for the same one.

Each statement is atomic by itself, and rows are taken in the order of keys or skipped where another
transaction holds them, so that two runs never wait for each other in a circle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa

from arena.llm import owners
from arena.llm.prompts import Request
from arena.llm.store_rows import Result, result_of
from arena.llm.store_schema import CLAIMED, DONE, OPEN, calls, insert_unless_there

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
    dead = held - owners.living(connection, dialect, held) if held else set()
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
