"""Who holds a claim, and whether that run is still alive."""

from __future__ import annotations

import os
import platform
import uuid
from functools import cache
from pathlib import Path

import sqlalchemy as sa

from arena.llm.store_schema import clock, owners

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
