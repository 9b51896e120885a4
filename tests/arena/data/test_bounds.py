"""Small files that hold much: refused by bound, with the file, the bound and how to raise it."""

import gzip
import json
import tracemalloc

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from arena.data.errors import MOST_PROBLEMS, DataError, UsageError
from arena.data.files import Bounds, bounds
from arena.data.folder import read_arena
from arena.data.rows import read_rows

MIB = 2**20
JUDGMENT = {"query_id": "1", "language": "en", "system_a": "a", "system_b": "b"} | {
    "winner": "a",
    "judge": "j",
}


@pytest.fixture
def small_bounds(monkeypatch):
    small = Bounds(expanded=MIB, rows=1000, columns=50, cells=5000, nested=2000, line=10_000)
    for module in ("arena.data.rows", "arena.data.files"):
        monkeypatch.setattr(f"{module}.bounds", lambda: small)


@pytest.fixture
def most_memory():
    """Hold what a test allocates in Python below so many MiB."""
    tracemalloc.start()
    yield lambda most: tracemalloc.get_traced_memory()[1] < most * MIB
    tracemalloc.stop()


def packed(suffix, text):
    return gzip.compress(text) if suffix == ".gz" else zstandard.compress(text)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("kind", [".jsonl", ".csv"])
def test_compressed_files_are_read_up_to_a_bound(tmp_path, suffix, kind, small_bounds):
    path = tmp_path / f"answers{kind}{suffix}"
    path.write_bytes(packed(suffix, b'{"answer": "xxxxxxxxxxxxxxxxxxx"}\n' * 40_000))
    with pytest.raises(DataError, match=rf"answers{kind}{suffix}: holds more than (1,0|1000)"):
        read_rows(path)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("kind", [".jsonl", ".csv"])
def test_bombs_of_a_third_of_a_gigabyte(tmp_path, suffix, kind, most_memory):
    path = tmp_path / f"answers{kind}{suffix}"
    line = b'{"answer": "' + b"x" * MIB + b'"}\n'
    path.write_bytes(packed(suffix, line * 300))
    assert path.stat().st_size < MIB
    with pytest.raises(DataError) as caught:
        read_rows(path)
    said = str(caught.value)
    assert f"answers{kind}{suffix}: holds more than 268,435,456 bytes when expanded" in said
    assert "SURROGATE_ARENA_BOUNDS=10 to allow ten times as much" in said
    assert most_memory(700)


def test_the_bounds_are_raised_by_the_environment(tmp_path, monkeypatch):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"answer": "' + "x" * (17 * MIB) + '"}\n')
    with pytest.raises(DataError, match=r"holds more than 16,777,216 characters in a line"):
        read_rows(path)
    monkeypatch.setenv("SURROGATE_ARENA_BOUNDS", "2")
    assert bounds().line == 32 * MIB
    assert len(read_rows(path).table["answer"][0]) == 17 * MIB


@pytest.mark.parametrize("text", ["0", "many", "-1", "1.5", "1e9", "9" * 5000, "²"])
def test_a_factor_that_is_none_is_said(monkeypatch, text):
    monkeypatch.setenv("SURROGATE_ARENA_BOUNDS", text)
    with pytest.raises(UsageError, match="give a whole number from 1"):
        bounds()


HUGE = {
    "rows": ("rows", b"{}\n" * 1001),
    "columns": ("columns", b"".join(b'{"c%d": 1}\n' % number for number in range(51))),
    "cells": ("cells", b"".join(b'{"c%d": 1}\n' % (number % 40) for number in range(130))),
    "nested": ("objects and lists", (b'{"a": [' + b"[]," * 500 + b"1]}\n") * 5),
    "line": ("characters in a line", b'{"a": "' + b"x" * 10_000 + b'"}\n'),
}


@pytest.mark.parametrize("kind", HUGE)
def test_lines_that_make_large_tables_are_refused(tmp_path, small_bounds, kind):
    noun, text = HUGE[kind]
    path = tmp_path / "answers.jsonl"
    path.write_bytes(text)
    with pytest.raises(DataError, match=rf"answers.jsonl: holds more than [\d,]+ {noun}"):
        read_rows(path)


def parquet(path, table, **options):
    pq.write_table(pa.table(table), path, **options)
    return path


def test_parquet_texts_that_are_stored_once_and_read_often(tmp_path, small_bounds):
    path = parquet(tmp_path / "answers.parquet", {"answer": ["x" * 2**16] * 500})
    assert path.stat().st_size < 2**14
    with pytest.raises(DataError, match=r"answers.parquet: holds more than [\d,]+ bytes"):
        read_rows(path)
    nested = {"passages": [[{"text": "x" * 2**16}] * 3] * 100}
    path = parquet(tmp_path / "queries.parquet", nested)
    with pytest.raises(DataError, match=r"queries.parquet: holds more than [\d,]+ bytes"):
        read_rows(path)


@pytest.mark.parametrize(
    ("table", "noun"),
    [
        ({"a": [None] * 1001}, "rows"),
        ({f"c{number}": [1] for number in range(51)}, "columns"),
        ({"a": [[None] * 5001]}, "cells"),
        ({"a": [0.0] * 999, "b": pa.array([b"x" * 2000] * 999)}, "bytes when expanded"),
    ],
)
def test_parquet_has_the_same_bounds(tmp_path, small_bounds, table, noun):
    path = parquet(tmp_path / "answers.parquet", table)
    with pytest.raises(DataError, match=rf"answers.parquet: holds more than [\d,]+ {noun}"):
        read_rows(path)


def test_parquet_of_every_type_reads_as_before(tmp_path):
    table = pd.DataFrame(
        {
            "text": ["a", None, "b"],
            "passages": [[{"text": "x", "n": 1}], [], None],
            "category": pd.Categorical(["u", "v", "u"]),
            "number": [1.5, None, 2.0],
            "words": [["a", "b"], None, []],
        }
    )
    path = tmp_path / "rows.parquet"
    table.to_parquet(path)
    assert read_rows(path).table.to_dict("list") == {
        "text": ["a", None, "b"],
        "passages": [[{"text": "x", "n": 1}], [], None],
        "category": ["u", "v", "u"],
        "number": [1.5, None, 2.0],
        "words": [["a", "b"], None, []],
    }


BAD = {
    "no JSON": b"x\n",
    "winner": json.dumps(JUDGMENT | {"winner": "z"}).encode() + b"\n",
    "system": json.dumps(JUDGMENT | {"system_a": "zz"}).encode() + b"\n",
    "itself": json.dumps(JUDGMENT | {"system_a": "b"}).encode() + b"\n",
    "question": json.dumps(JUDGMENT | {"query_id": "9"}).encode() + b"\n",
    "half a surrogate": json.dumps(JUDGMENT | {"judge": "\ud800"}).encode() + b"\n",
}


@pytest.mark.parametrize("kind", BAD)
def test_problems_past_the_first_thousand_are_counted(tmp_path, kind):
    folder = tmp_path
    info = {"name": "x", "languages": ["en"], "systems": ["a", "b"]}
    (folder / "arena.json").write_text(json.dumps(info))
    query = {"query_id": "1", "language": "en", "query": "q", "passages": []}
    (folder / "queries.jsonl").write_text(json.dumps(query) + "\n")
    (folder / "answers.jsonl").write_text("")
    (folder / "judgments.jsonl.gz").write_bytes(gzip.compress(BAD[kind] * 2500))
    with pytest.raises(DataError) as caught:
        read_arena(folder)
    assert str(caught.value).startswith("2,500 problems in the input:")
    assert len(caught.value.problems) == MOST_PROBLEMS + 1
    rest = caught.value.problems[-1]
    assert (rest.count, rest.line) == (1500, 1000)
    assert "1,500 further faults of this kind after this one" in str(rest)


def test_an_object_of_many_keys_with_one_repeated_is_read_in_linear_time(tmp_path):
    path = tmp_path / "answers.jsonl"
    keys = ",".join(f'"{number}":0' for number in range(100_000))
    path.write_text("{" + keys + ',"7":1}\n')
    (problem,) = read_rows(path).problems
    assert "holds the key '7' several times" in str(problem)
