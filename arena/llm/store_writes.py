"""Writing results, by statements built once: building them takes longer than writing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sqlalchemy as sa

from arena.llm.failures import FINAL
from arena.llm.store_rows import RESULT_COLUMNS, Result, row_of
from arena.llm.store_schema import CLAIMED, DONE, OPEN, calls

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
