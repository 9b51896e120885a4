"""Results as rows of the store, and back."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from arena.data.errors import UsageError
from arena.llm.replies import FINAL, PASSING, UNPARSABLE, Completion, TokenLogprobs
from arena.llm.settings import canonical_json, digest

_DIGESTED = (
    "key",
    "text",
    "finish_reason",
    "refusal",
    "served_model",
    "tokens_in",
    "tokens_out",
    "latency_s",
    "logprobs",
)

RESULT_COLUMNS = (*_DIGESTED[1:], "failure", "detail", "parsed", "digest")


@dataclass(frozen=True, slots=True)
class Result:
    """How one request ended.

    Attributes:
        key: The request's key.
        completion: The model's answer; None if none came.
        failure: Why there is no usable answer, or None.
        detail: More about the failure, for people.
        parsed: What was read from the answer, as JSON; None if nothing was.
        tries: Calls sent for it.
    """

    key: str
    completion: Completion | None
    failure: str | None = None
    detail: str = ""
    parsed: str | None = None
    tries: int = 0


def row_of(result: Result) -> dict[str, object]:
    """Write a result's columns, without state and owner."""
    completion = result.completion or Completion(text=None)
    row: dict[str, object] = {
        "key": result.key,
        "text": completion.text,
        "finish_reason": completion.finish_reason,
        "refusal": completion.refusal,
        "served_model": completion.served_model,
        "tokens_in": completion.tokens_in,
        "tokens_out": completion.tokens_out,
        "latency_s": completion.latency_s,
        "logprobs": _logprobs_json(completion.logprobs),
        "failure": result.failure,
        "detail": result.detail,
        "parsed": result.parsed,
        "tries": result.tries,
    }
    return row | {"digest": row_digest(row)}


def result_of(row: Mapping[str, Any]) -> Result:
    """Read a result from its row."""
    failure = row["failure"]
    if failure in PASSING:
        return Result(row["key"], None, failure, row["detail"] or "", tries=row["tries"])
    completion = Completion(
        text=row["text"],
        finish_reason=row["finish_reason"],
        refusal=row["refusal"],
        failure=None if failure == UNPARSABLE else failure,
        served_model=row["served_model"],
        tokens_in=row["tokens_in"],
        tokens_out=row["tokens_out"],
        latency_s=row["latency_s"] or 0.0,
        logprobs=_read_logprobs(row["logprobs"]),
    )
    return Result(row["key"], completion, failure, row["detail"] or "", row["parsed"], row["tries"])


def row_digest(row: Mapping[str, Any]) -> str:
    """Digest what the model answered, so that later changes to the row are found."""
    return digest(canonical_json([row[name] for name in _DIGESTED]))


def _logprobs_json(logprobs: tuple[TokenLogprobs, ...] | None) -> str | None:
    if logprobs is None:
        return None
    return canonical_json([[each.token, each.logprob, each.alternatives] for each in logprobs])


def _read_logprobs(text: str | None) -> tuple[TokenLogprobs, ...] | None:
    if text is None:
        return None
    return tuple(
        TokenLogprobs(token, logprob, tuple((name, value) for name, value in alternatives))
        for token, logprob, alternatives in json.loads(text)
    )


SCHEMA_VERSION = 1

OPEN = "open"
CLAIMED = "claimed"
DONE = "done"

metadata = sa.MetaData()

info = sa.Table("store_info", metadata, sa.Column("version", sa.Integer, primary_key=True))

calls = sa.Table(
    "calls",
    metadata,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("state", sa.String(8), nullable=False),
    sa.Column("owner", sa.String(32), nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("prompt_version", sa.Text, nullable=False),
    sa.Column("request", sa.Text, nullable=False),
    sa.Column("text", sa.Text),
    sa.Column("finish_reason", sa.Text),
    sa.Column("refusal", sa.Text),
    sa.Column("served_model", sa.Text),
    sa.Column("tokens_in", sa.Integer),
    sa.Column("tokens_out", sa.Integer),
    sa.Column("latency_s", sa.Double),
    sa.Column("logprobs", sa.Text),
    sa.Column("failure", sa.Text),
    sa.Column("detail", sa.Text),
    sa.Column("parsed", sa.Text),
    sa.Column("tries", sa.Integer, nullable=False, default=0),
    sa.Column("digest", sa.String(64)),
)

owners = sa.Table(
    "owners",
    metadata,
    sa.Column("owner", sa.String(32), primary_key=True),
    sa.Column("machine", sa.Text, nullable=False),
    sa.Column("process", sa.Integer, nullable=False),
    sa.Column("alive_until", sa.Double, nullable=False),
)

_CLOCKS = {
    "sqlite": "(julianday('now') - 2440587.5) * 86400.0",
    "postgresql": "extract(epoch from clock_timestamp())",
}


def clock(dialect: str) -> sa.ColumnElement[float]:
    """Return the database's own clock, in seconds: machines that share it may disagree."""
    return sa.literal_column(_CLOCKS[dialect], sa.Double)


@cache
def insert_unless_there(table: sa.Table, dialect: str) -> Any:  # noqa: ANN401
    """Return an insert that leaves rows alone whose key is there already."""
    insert: Any = sqlite.insert if dialect == "sqlite" else postgresql.insert
    return insert(table).on_conflict_do_nothing()


_PARSED_COLUMNS = ("failure", "detail", "parsed")


def _update(columns: Iterable[str]) -> sa.Update:
    values: dict[str, object] = {name: _new(name) for name in columns}
    return sa.update(calls).where(calls.c.key == _new("key")).values(values)


def _new(column: str) -> sa.BindParameter[object]:
    return sa.bindparam(f"new_{column}", type_=calls.c[column].type)


_SAVE = _update(RESULT_COLUMNS).values(tries=calls.c.tries + _new("tries"))
_SAVE_FINAL = _SAVE.where(calls.c.state != DONE).values(state=DONE)
_SAVE_FAILED = _SAVE.where(calls.c.state == CLAIMED, calls.c.owner == _new("owner")).values(
    state=OPEN
)
_SAVE_PARSED = _update(_PARSED_COLUMNS)


def save(connection: sa.Connection, owner: str, results: Sequence[Result]) -> None:
    """Write results of claimed requests; see ``Store.save``."""
    final, failed = [], []
    for result in sorted(results, key=lambda result: result.key):
        row = {f"new_{name}": value for name, value in row_of(result).items()}
        if result.failure is None or result.failure in FINAL:
            final.append(row)
        else:
            failed.append(row | {"new_owner": owner})
    if final:
        connection.execute(_SAVE_FINAL, final)
    if failed:
        connection.execute(_SAVE_FAILED, failed)


def save_parsed(connection: sa.Connection, results: Sequence[Result]) -> None:
    """Write what was read anew from answers that are there already."""
    rows = [
        {f"new_{name}": getattr(result, name) for name in ("key", *_PARSED_COLUMNS)}
        for result in sorted(results, key=lambda result: result.key)
    ]
    if rows:
        connection.execute(_SAVE_PARSED, rows)


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
