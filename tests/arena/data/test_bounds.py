"""Small files that hold much: refused with the file and the bound."""

import gzip
import json
import tracemalloc

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arena.data import files, parquet, rows
from arena.data.errors import MOST_PROBLEMS, DataError
from arena.data.folder import read_arena
from arena.data.tables import read_rows

MIB = 2**20
JUDGMENT = {"query_id": "1", "language": "en", "system_a": "a", "system_b": "b"} | {
    "winner": "a",
    "judge": "j",
}


@pytest.fixture
def small_bounds(monkeypatch):
    monkeypatch.setattr(files, "MOST_EXPANDED", MIB)
    for module in (parquet, rows):
        monkeypatch.setattr(module, "MOST_CELLS", 5000)


@pytest.mark.parametrize("kind", [".jsonl", ".csv"])
def test_compressed_files_are_read_up_to_a_bound(tmp_path, kind, small_bounds):
    path = tmp_path / f"answers{kind}.gz"
    path.write_bytes(gzip.compress(b"x" * 2 * MIB))
    with pytest.raises(DataError, match=rf"answers{kind}.gz: holds more than 1,0"):
        read_rows(path)


@pytest.fixture(scope="module")
def bomb():
    return gzip.compress((b'{"answer": "' + b"x" * MIB + b'"}\n') * 300)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [".jsonl", ".csv"])
def test_bombs_of_a_third_of_a_gigabyte(tmp_path, kind, bomb):
    path = tmp_path / f"answers{kind}.gz"
    path.write_bytes(bomb)
    assert path.stat().st_size < MIB
    tracemalloc.start()
    with pytest.raises(DataError, match="holds more than 268,435,456 bytes when expanded"):
        read_rows(path)
    assert tracemalloc.get_traced_memory()[1] < 700 * MIB
    tracemalloc.stop()


def test_lines_that_make_a_large_table_are_refused(tmp_path, small_bounds):
    lines = "".join(f'{{"c{number % 40}": 1}}\n' for number in range(130))
    header = ",".join(f"c{number}" for number in range(40))
    for kind, text in ((".jsonl", lines), (".csv", f"{header}\n" * 131)):
        path = tmp_path / f"answers{kind}"
        path.write_text(text)
        with pytest.raises(DataError, match=rf"answers{kind}: holds more than 5,000 cells"):
            read_rows(path)


@pytest.mark.parametrize(
    ("table", "noun"),
    [
        ({f"c{number}": [1] * 130 for number in range(40)}, "cells"),
        ({"a": [0.0] * 999, "b": pa.array([b"x" * 2000] * 999)}, "bytes when expanded"),
        ({"answer": ["x" * 2**16] * 500}, "bytes when expanded"),  # stored once, read often
        ({"passages": [[{"text": "x" * 2**16}] * 3] * 100}, "bytes when expanded"),
    ],
)
def test_parquet_has_the_same_bounds(tmp_path, small_bounds, table, noun):
    path = tmp_path / "answers.parquet"
    pq.write_table(pa.table(table), path)
    with pytest.raises(DataError, match=rf"answers.parquet: holds more than [\d,]+ {noun}"):
        read_rows(path)


def test_parquet_of_every_type_is_read(tmp_path):
    columns = {
        "text": ["a", None, "b"],
        "passages": [[{"text": "x", "n": 1}], [], None],
        "category": ["u", "v", "u"],
        "number": [1.5, None, 2.0],
        "words": [["a", "b"], None, []],
    }
    table = pd.DataFrame(columns).assign(category=pd.Categorical(columns["category"]))
    table.to_parquet(tmp_path / "rows.parquet")
    assert read_rows(tmp_path / "rows.parquet").table.to_dict("list") == columns


@pytest.mark.parametrize(
    "line", [b"x", json.dumps(JUDGMENT | {"winner": "z", "judge": "\ud800"}).encode()]
)
def test_problems_past_the_first_thousand_are_counted(tmp_path, line):
    info = {"name": "x", "languages": ["en"], "systems": ["a", "b"]}
    (tmp_path / "arena.json").write_text(json.dumps(info))
    query = {"query_id": "1", "language": "en", "query": "q", "passages": []}
    (tmp_path / "queries.jsonl").write_text(json.dumps(query) + "\n")
    (tmp_path / "answers.jsonl").write_text("")
    (tmp_path / "judgments.jsonl.gz").write_bytes(gzip.compress((line + b"\n") * 2500))
    with pytest.raises(DataError) as caught:
        read_arena(tmp_path)
    count = sum(problem.count for problem in caught.value.problems)
    assert count == 2500 * (1 if line == b"x" else 2)
    assert len(caught.value.problems) == MOST_PROBLEMS + 1
    assert f"{count - MOST_PROBLEMS:,} further faults" in str(caught.value.problems[-1])


def test_columns_of_parquet_of_one_name_are_an_error(tmp_path):
    path = tmp_path / "twice.parquet"
    pq.write_table(pa.table([["q1"], ["q2"]], names=["query_id", "query_id"]), path)
    for queries in (None, {"q1"}):
        with pytest.raises(DataError, match=r"twice\.parquet") as error:
            read_rows(path, queries=queries)
        assert [problem.field for problem in error.value.problems] == ["query_id"]
