"""Checking a store: the database itself, and every row against its key and its digest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from arena.errors import DataError, Problem
from arena.llm.failures import FINAL
from arena.llm.prompts import digest
from arena.llm.store_export import rows
from arena.llm.store_rows import result_of, row_digest
from arena.llm.store_schema import DONE, calls

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
