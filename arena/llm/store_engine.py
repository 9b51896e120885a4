"""Connections to the store's database: SQLite in WAL mode, or PostgreSQL."""

from __future__ import annotations

import sqlite3
import time
from typing import Any

import sqlalchemy as sa

from arena.errors import UsageError
from arena.llm.store_schema import SCHEMA_VERSION, info, metadata

BUSY_S = 60.0

_READS = "reads"
_SCHEMA_LOCK = 0x61_72_65_6E_61  # any number, the same for all who create the tables


def open_engine(url: sa.URL) -> sa.Engine:
    """Connect to a database, and create the store's tables where they are missing.

    Raises:
        UsageError: If there is no database there, or it holds a store of another version.
    """
    engine = sa.create_engine(url)
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
    try:
        _create_tables(engine)
    except (sa.exc.DatabaseError, UsageError) as error:
        engine.dispose()
        shown = url.render_as_string(hide_password=True)
        raise UsageError(f"cannot open a store at {shown}: {_first_line(error)}") from None
    return engine


def reading(engine: sa.Engine) -> sa.Engine:
    """Return the engine with transactions that read only, and hold up no writer."""
    return engine.execution_options(**{_READS: True})


def _create_tables(engine: sa.Engine) -> None:
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_SCHEMA_LOCK)))
        metadata.create_all(connection)
        versions = connection.scalars(sa.select(info.c.version)).all()
        if not versions:
            connection.execute(sa.insert(info).values(version=SCHEMA_VERSION))
        elif versions != [SCHEMA_VERSION]:
            raise UsageError(
                f"its version is {versions[0]}, and this release reads version {SCHEMA_VERSION}; "
                "use the release that wrote it, or a new store"
            )


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions begin below, not where the driver guesses
    connection.execute(f"PRAGMA busy_timeout = {int(BUSY_S * 1000)}")
    _switch_to_wal(connection)
    connection.execute("PRAGMA synchronous = NORMAL")


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


def _begin_sqlite(connection: sa.Connection) -> None:
    reads: Any = connection.get_execution_options().get(_READS)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")


def _first_line(error: Exception) -> str:
    cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    return str(cause).splitlines()[0]
