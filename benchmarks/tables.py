"""Write the tables of figures that README.md, docs/ and benchmarks/README.md print.

    python benchmarks/tables.py [TABLE | TABLE/ROW ...] [--arenas ../shared/data/arenas]

computes the rows named, by default all, keeps them in ``tables.json`` with their commit and the
seconds that they took, and writes them below each comment ``<!-- table: NAME -->``, or some of them
(``; rows: KEY, KEY; columns: NAME, NAME``). ``tests/test_tables.py`` computes a row of each table
again. Seconds and memory, which every machine has of its own, and what others published stand below
``<!-- by hand: SOURCE -->``.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from table_rows import TABLES, Cell

ROOT = Path(__file__).parents[1]
STORE = Path(__file__).parent / "tables.json"
DOCUMENTS = ("README.md", "docs", "benchmarks/README.md")
MARK = re.compile(
    r"<!-- table: (?P<name>[\w-]+)"
    r"(?:; rows: (?P<rows>[^;\n]*))?(?:; columns: (?P<columns>[^;\n]*))?"
    r"(?:; measured [^\n]*)? -->\n(?P<table>(?:\|[^\n]*\n)*)"
)


def shown(cell: Cell) -> str:
    """Show a cell as documents print it."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Sequence):
        return " ± ".join(map(shown, cell))
    return "–" if cell is None or np.isnan(cell) else f"{cell:z.2f}"


def rendered(text: str, store: Mapping[str, Any]) -> str:
    """Write the stored rows below the comments of a document."""
    return MARK.sub(partial(_rendered_table, store=store), text)


def _rendered_table(mark: re.Match[str], store: Mapping[str, Any]) -> str:
    name = mark["name"]
    table = TABLES[name]
    rows = store.get(name, {})
    keys = split(mark["rows"]) or [key for key in table.rows if key in rows]
    columns = split(mark["columns"]) or list(table.columns)
    places = [table.columns.index(column) for column in columns]
    lines = [line(columns), "|" + " --- |" * len(columns)]
    lines += [line([shown(rows[key]["cells"][place]) for place in places]) for key in keys]
    commits = ", ".join(dict.fromkeys(rows[key]["commit"] for key in keys))
    seconds = sum(rows[key]["seconds"] for key in keys)
    comment = f"<!-- table: {name}"
    for part in ("rows", "columns"):
        if mark[part]:
            comment += f"; {part}: {mark[part].strip()}"
    comment += f"; measured at {commits} in {seconds:,.0f} s -->"
    return "\n".join([comment, *lines]) + "\n"


def split(names: str | None) -> list[str]:
    return [name.strip() for name in (names or "").split(",") if name.strip()]


def line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def documents() -> list[Path]:
    """Return the documents that print figures."""
    found = []
    for name in DOCUMENTS:
        path = ROOT / name
        found.extend([path] if path.is_file() else sorted(path.rglob("*.md")))
    return found


def read_store() -> dict[str, Any]:
    return json.loads(STORE.read_text(encoding="utf-8")) if STORE.is_file() else {}


def write_store(store: Mapping[str, Any]) -> None:
    """Write the rows that tables have, in their order."""
    ordered: dict[str, dict[str, Any]] = {}
    for name, table in TABLES.items():
        rows = store.get(name, {})
        ordered[name] = {key: rows[key] for key in table.rows if key in rows}
    STORE.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tables", nargs="*", help="TABLE or TABLE/ROW; by default all")
    parser.add_argument("--arenas", type=Path, default=ROOT / "../shared/data/arenas")
    options = parser.parse_args()
    git = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    for wanted in options.tables or TABLES:
        name, _, only = wanted.partition("/")
        for key in [only] if only else TABLES[name].rows:
            started = time.process_time()
            cells = TABLES[name].rows[key](options.arenas)
            seconds = round(time.process_time() - started, 1)
            store = read_store()
            row = {"cells": cells, "commit": commit, "seconds": seconds}
            store.setdefault(name, {})[key] = row
            write_store(store)
            print(f"{name}/{key}, {seconds} s: {line(map(shown, cells))}", flush=True)
    for path in documents():
        text = path.read_text(encoding="utf-8")
        path.write_text(rendered(text, read_store()), encoding="utf-8")


if __name__ == "__main__":
    main()
