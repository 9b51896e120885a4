"""Input of ``fuzzing.py``: files with damaged bytes, and values that nobody would write."""

import io
import json
import random
import zipfile
from typing import Any

ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 1, 1e308, -0.5, 2**63, 10**30, "", " ", "x", "a", "tie", "en", "\u202e"),
    *("\u0000", "caf\u00e9", "1e999", "nan", [], {}, [[]], [None], [{}], {"": None}, "\ud800"),
    "x" * 5000,
)
"""Values in the place of what is expected."""


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Cut, repeat, turn or put in some bytes."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        position = rng.randrange(len(data) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            data[position : position + 1] = rng.randbytes(1)
        elif kind == 1:
            del data[position : position + rng.choice((1, 2, 10, 1000))]
        elif kind == 2:
            data[position:position] = rng.choice(
                (b"\0", b"\xff", b'"', b"\n", b"{", b"[" * 2000, b",", b"-1", b"1e400")
            )
        elif kind == 3:
            data[position:position] = data[position : position + rng.choice((1, 10, 200))]
        elif kind == 4 and position < len(data):
            data[position] ^= 1 << rng.randrange(8)
    return bytes(data)


def crafted(value: object, rng: random.Random) -> object:
    """Put an odd value in some place of a JSON value, take a key away or add one."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        kind = rng.random()
        if kind < 0.1:
            return {name: member for name, member in value.items() if name != key}
        if kind < 0.15:
            return value | {"further": rng.choice(ODD)}
        return value | {key: crafted(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        index = rng.randrange(len(value))
        member = crafted(value[index], rng)
        is_replaced = rng.random() < 0.9
        rest = value[index + 1 :] if is_replaced else value[index:]
        return [*value[:index], member, *rest]
    return rng.choice(ODD)


def changed(content: bytes, name: str, rng: random.Random) -> bytes:
    """Damage or craft the content of a file by its kind."""
    if rng.random() < 0.5:
        return damaged(content, rng)
    if name.endswith(".json"):
        return json.dumps(crafted(json.loads(content), rng)).encode(errors="replace")
    if name.endswith(".jsonl"):
        lines = content.splitlines() or [b"{}"]
        index = rng.randrange(len(lines))
        lines[index] = json.dumps(crafted(json.loads(lines[index]), rng)).encode(errors="replace")
        return b"\n".join(lines)
    if name.endswith(".csv"):
        rows = [line.split(b",") for line in content.split(b"\n")]
        row = rng.choice(rows)
        row[rng.randrange(len(row))] = str(rng.choice(ODD)).encode(errors="replace")
        return b"\n".join(map(b",".join, rows))
    if name.endswith(".zip"):
        return crafted_zip(content, rng)
    return damaged(content, rng)


def crafted_zip(content: bytes, rng: random.Random) -> bytes:
    """Take a member of an archive away, or change one."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(members))
    if rng.random() < 0.1:
        del members[name]
    else:
        members[name] = changed(members[name], name, rng)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    return buffer.getvalue()
