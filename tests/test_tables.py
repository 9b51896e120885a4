"""Tables of figures say where they are from, and agree with what is computed."""

import json
import re
from pathlib import Path

import pytest
import tables

ROOT = Path(__file__).parents[1]
ARENAS = ROOT / "../shared/data/arenas"
TABLE = re.compile(r"(?P<above>[^\n]*)\n(?P<rows>(?:\|[^\n]*\n){3,})")
FIGURE = re.compile(r"[*+\-–]*\.?\d[\d.,%± +\-–()\[\]to*]*")
BY_HAND = re.compile(r"<!-- by hand: ([^>]+) -->")


def holds_figures(rows):
    cells = [cell.strip() for row in rows.splitlines()[2:] for cell in row.split("|")[2:-1]]
    return 2 * sum(bool(FIGURE.fullmatch(cell)) for cell in cells) > len(cells)


@pytest.mark.parametrize("path", tables.documents(), ids=lambda path: path.name)
def test_every_table_of_figures_names_what_computes_it(path):
    for table in TABLE.finditer(path.read_text(encoding="utf-8")):
        if not holds_figures(table["rows"]):
            continue
        by_hand = BY_HAND.fullmatch(table["above"])
        if by_hand is None:
            assert table["above"].startswith("<!-- table: "), table[0]
            continue
        for name in by_hand[1].split(", "):
            if name.endswith(".py"):
                assert (ROOT / "benchmarks" / name).is_file(), name


@pytest.mark.parametrize("path", tables.documents(), ids=lambda path: path.name)
def test_documents_print_the_figures_that_are_stored(path):
    text = path.read_text(encoding="utf-8")
    assert tables.rendered(text, tables.read_store()) == text


def test_stored_rows_have_a_commit_and_belong_to_a_table():
    for name, rows in tables.read_store().items():
        assert set(rows) <= set(tables.TABLES[name].rows)
        for row in rows.values():
            assert re.fullmatch("[0-9a-f]{7,}", row["commit"])
            assert len(row["cells"]) == len(tables.TABLES[name].columns)


@pytest.mark.slow
@pytest.mark.parametrize("name", tables.TABLES)
def test_a_row_of_each_table_is_what_is_printed(name):
    if not ARENAS.is_dir():
        pytest.skip("needs the shared arenas")
    table = tables.TABLES[name]
    computed = table.rows[table.quick](ARENAS)
    stored = tables.read_store()[name][table.quick]["cells"]
    # As JSON has it: a number with its error is a list.
    again = json.loads(json.dumps(computed))
    assert list(map(tables.shown, again)) == list(map(tables.shown, stored))
