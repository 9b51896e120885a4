"""Tables of figures say where they are from, and agree with what is computed."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import recomputed
import tables
from board_quality import write_predictions, write_replications

ROOT = Path(__file__).parents[1]
ARENAS = ROOT / "../shared/data/arenas"
TABLE = re.compile(r"(?P<above>[^\n]*)\n(?P<rows>(?:\|[^\n]*\n){3,})")
FIGURE = re.compile(r"[*+\-–]*\.?\d[\d.,%± +\-–()\[\]to*]*")
SOURCES = {
    *("scale.py, single_fit.py", "single_fit.py", "autojudge.py", "gaming.py"),
}
"""Seconds and memory of a machine, and what no row function computes yet."""


def holds_figures(rows):
    cells = [cell.strip() for row in rows.splitlines()[2:] for cell in row.split("|")[2:-1]]
    return 2 * sum(bool(FIGURE.fullmatch(cell)) for cell in cells) > len(cells)


def git(*arguments):
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("path", tables.documents(), ids=lambda path: path.name)
def test_every_table_of_figures_is_computed_or_timed(path):
    for table in TABLE.finditer(path.read_text(encoding="utf-8")):
        if holds_figures(table["rows"]) and not table["above"].startswith("<!-- table: "):
            assert table["above"].removeprefix("<!-- by hand: ").removesuffix(" -->") in SOURCES


@pytest.mark.parametrize("path", tables.documents(), ids=lambda path: path.name)
def test_documents_print_the_figures_that_are_stored(path):
    text = path.read_text(encoding="utf-8")
    assert tables.rendered(text, tables.read_store()) == text


def test_every_table_is_printed_and_all_its_rows_are_stored():
    printed = "".join(path.read_text(encoding="utf-8") for path in tables.documents())
    store = tables.read_store()
    assert list(store) == list(tables.TABLES)
    for name, table in tables.TABLES.items():
        assert f"<!-- table: {name};" in printed
        assert list(store[name]) == list(table.rows)
        assert {len(row["cells"]) for row in store[name].values()} == {len(table.columns)}


def test_stored_rows_are_of_commits_of_this_history():
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("needs the whole history")
    commits = {row["commit"] for rows in tables.read_store().values() for row in rows.values()}
    for commit in commits:
        assert git("merge-base", "--is-ancestor", commit, "HEAD").returncode == 0, commit


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


@pytest.mark.slow
def test_other_code_finds_the_figures_that_are_printed():
    if not ARENAS.is_dir():
        pytest.skip("needs the shared arenas")
    apart = [row for row in recomputed.figures(ARENAS, tables.read_store()) if not row.agrees]
    assert apart == []


@pytest.mark.slow
def test_other_code_finds_the_figures_of_surrogates_from_their_ratings(tmp_path):
    if not ARENAS.is_dir():
        pytest.skip("needs the shared arenas")
    crowd = {"crowd-rag": ("crowd-rag", "crowd-gold")}
    write_predictions(tmp_path, ARENAS, crowd)
    write_replications(tmp_path, ARENAS, crowd, [3, 10])
    found = list(recomputed.of_surrogates(ARENAS, tmp_path, tables.read_store()))
    assert len(found) == 22
    assert [row for row in found if not row.agrees] == []
