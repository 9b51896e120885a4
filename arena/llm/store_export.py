"""The store's rows as tables and JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import sqlalchemy as sa

from arena.llm.store_schema import calls
from arena.streams import atomic_path, open_text

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
