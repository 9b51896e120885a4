"""Row formats: round trips, bytes, line numbers and what is said of damaged files."""

import gzip
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.data.errors import DataError, UsageError
from arena.data.rows import Rows
from arena.data.tables import SUFFIXES, read_rows, write_rows

COMPRESSED = [suffix for suffix in SUFFIXES if suffix.endswith((".gz", ".zst", ".parquet"))]

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
text_tables = st.lists(
    st.fixed_dictionaries({"query_id": texts, "system, a": texts, "answer": texts}), min_size=1
)
values = st.none() | st.booleans() | st.integers(-(2**31), 2**31) | texts
per_example = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def write_text(path: Path, text: str | bytes) -> Path:
    data = text.encode() if isinstance(text, str) else text
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    if path.suffix == ".zst":
        data = pa.compress(data, "zstd", asbytes=True)
    path.write_bytes(data)
    return path


def records(rows: Rows) -> list[dict[str, object]]:
    return rows.table.to_dict(orient="records")


@pytest.mark.parametrize("suffix", SUFFIXES)
@per_example
@given(rows=text_tables)
def test_text_comes_back_as_written(suffix: str, rows: list[dict[str, str]], tmp_path: Path):
    path = tmp_path / f"answers{suffix}"
    write_rows(pd.DataFrame(rows), path)
    back = read_rows(path)
    assert back.problems == ()
    assert back.source == path.name
    assert records(back) == rows


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
@per_example
@given(rows=st.lists(st.fixed_dictionaries({"a": values, "b": values}), min_size=1))
def test_jsonl_keeps_types_and_nulls(suffix: str, rows: list[dict], tmp_path: Path):
    path = tmp_path / f"any{suffix}"
    columns = {name: pd.Series([row[name] for row in rows], dtype=object) for name in "ab"}
    write_rows(pd.DataFrame(columns), path)
    back = records(read_rows(path))
    assert [(repr(row["a"]), repr(row["b"])) for row in back] == [
        (repr(row["a"]), repr(row["b"])) for row in rows
    ]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_missing_values_and_tables_without_rows(suffix: str, tmp_path: Path):
    path = tmp_path / f"t{suffix}"
    table = pd.DataFrame({"x": [0.5, float("nan")], "y": ["a", None], "z": ["b", "c"]})
    write_rows(table, path)
    back = read_rows(path).table
    assert back["x"].iloc[1] is None
    assert back["y"].iloc[1] is None
    write_rows(pd.DataFrame(columns=["x"], dtype=object), path)
    assert len(read_rows(path).table) == 0
    assert read_rows(path).problems == ()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_failing_write_leaves_the_old_file(suffix: str, tmp_path: Path):
    path = tmp_path / f"t{suffix}"
    write_rows(pd.DataFrame({"x": ["old"]}), path)
    broken = pd.DataFrame({"x": pd.Series(["new", "\ud800"], dtype=object)})
    with pytest.raises(DataError, match=f"t{suffix}: a text holds half a surrogate pair"):
        write_rows(broken, path)
    assert list(read_rows(path).table["x"]) == ["old"]
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", COMPRESSED)
@pytest.mark.parametrize("kept", [0.0, 0.5, 0.99])
def test_a_truncated_file_is_an_error_and_not_a_shorter_table(
    suffix: str, kept: float, tmp_path: Path
):
    path = tmp_path / f"answers{suffix}"
    write_rows(pd.DataFrame({"x": [f"answer {n} " * (n % 7) for n in range(300)]}), path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(DataError, match=f"answers{suffix}: cannot be read"):
        read_rows(path)


@pytest.mark.parametrize("suffix", [name for name in COMPRESSED if not name.endswith(".zst")])
def test_a_damaged_file_is_an_error(suffix: str, tmp_path: Path):
    path = tmp_path / f"answers{suffix}"
    write_rows(pd.DataFrame({"x": [f"answer {n * n}" for n in range(300)]}), path)
    data = bytearray(path.read_bytes())
    middle = len(data) // 3
    data[middle : middle + 4] = bytes(byte ^ 0xFF for byte in data[middle : middle + 4])
    for content in (bytes(data), b'{"x": 1}\n'):
        path.write_bytes(content)
        with pytest.raises(DataError, match=f"answers{suffix}: cannot be read"):
            read_rows(path)


BAD_LINES = {
    b'{"x": 2': "is not JSON",
    b'["x"]': "is not a JSON object",
    b"null": "is not a JSON object",
    b'{"x": NaN}': "is not JSON (JSON has no NaN: write null)",
    b"[" * 100_000: "is not JSON (nested deeper than 100 levels)",
    b'{"x": "caf\xe9"}': "is not UTF-8 text",
}


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_every_bad_line_of_a_jsonl_file_is_reported(suffix: str, tmp_path: Path):
    lines = [b'{"x": 1}', *BAD_LINES]
    rows = read_rows(write_text(tmp_path / f"t{suffix}", b"\n".join(lines)))
    assert list(rows.table["x"]) == [1]
    pairs = zip(rows.problems, BAD_LINES.values(), strict=True)
    for line, (problem, fault) in enumerate(pairs, start=2):
        assert (problem.source, problem.line) == (f"t{suffix}", line)
        assert problem.fault.startswith(fault)
        assert "surrogate-arena import csv" in problem.hint


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (b'x,y\n1,"never closed\n', "t.csv:2: is not CSV"),
        (b"x,x\n1,2\n", "t.csv:1: x = None: appears several times in the header"),
        (b"x,y\n1,a\n2,caf\xe9\n", "t.csv:3: is not UTF-8 text"),
        ("x,y\n1,a\n".encode("utf-16"), "t.csv:1: is not UTF-8 text"),
        (b"x,y\n1,a,b\n", "t.csv:2: has more or fewer cells than the header"),
    ],
)
def test_csv_that_is_refused(text: bytes, fault: str, tmp_path: Path):
    with pytest.raises(DataError, match=fault):
        raise DataError(read_rows(write_text(tmp_path / "t.csv", text)).problems)


def test_other_forms_of_tables_are_refused_with_the_command_that_converts_them(tmp_path: Path):
    for name in ("answers.tsv", "answers.xlsx", "answers.json"):
        with pytest.raises(UsageError, match="'surrogate-arena import csv' converts"):
            read_rows(write_text(tmp_path / name, "x"))


def test_csv_holds_passages_as_json(tmp_path: Path):
    passages = [{"passage_id": "1", "text": 'ä,\n"', "title": None, "relevance": 1}]
    write_rows(
        pd.DataFrame({"query_id": ["q", "r"], "passages": [passages, []]}), tmp_path / "t.csv"
    )
    assert records(read_rows(tmp_path / "t.csv")) == [
        {"query_id": "q", "passages": passages},
        {"query_id": "r", "passages": []},
    ]


@pytest.mark.parametrize("suffix", [".jsonl", ".csv.gz"])
def test_a_byte_order_mark_is_no_text(suffix: str, tmp_path: Path):
    text = "\ufeffx\n1\n" if ".csv" in suffix else '\ufeff{"x": "1"}\n'
    rows = read_rows(write_text(tmp_path / f"t{suffix}", text))
    assert records(rows) == [{"x": "1"}]
    assert rows.problems == ()


def test_line_numbers_of_jsonl_count_blank_lines(tmp_path: Path):
    text = '\n{"x": 1}\r\n   \n{"y": "a\u2028b"}\n\n{"x": 3}'
    rows = read_rows(write_text(tmp_path / "t.jsonl", text))
    assert list(rows.lines) == [2, 4, 6]
    assert records(rows) == [{"x": 1, "y": None}, {"x": None, "y": "a\u2028b"}, {"x": 3, "y": None}]


def test_line_numbers_of_csv_are_those_where_rows_begin(tmp_path: Path):
    text = 'x,y\n\n1,"two\nlines"\n\n2,"three\r\nlines\n"\n3,b\n4\n5,b\n6,b,c\n'
    rows = read_rows(write_text(tmp_path / "t.csv", text))
    assert list(rows.table["x"]) == ["1", "2", "3", "5"]
    assert list(rows.lines) == [3, 6, 9, 11]
    assert [problem.line for problem in rows.problems] == [10, 12]


EVERY_BYTE = """
import io
import pandas as pd, pyarrow as pa
from arena.data.errors import ArenaError
from arena.data.parquet import read_parquet

buffer = io.BytesIO()
pd.DataFrame({"winner": ["a", "b", "tie"]}).to_parquet(buffer)
whole, refused = buffer.getvalue(), 0
for place in range(4, 300):
    damaged = bytearray(whole)
    damaged[place] = 63
    try:
        read_parquet(bytes(damaged), "x.parquet")
    except (ArenaError, pa.ArrowException, OSError):
        refused += 1
print(refused)
"""


def test_no_damaged_byte_of_parquet_ends_the_process():
    """As it does where pyarrow is asked about columns whose description is damaged."""
    command = [sys.executable, "-c", EVERY_BYTE]
    assert int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) > 100


def test_half_a_surrogate_pair_in_a_name_is_refused(tmp_path: Path):
    path = write_text(tmp_path / "t.jsonl", '{"x": 1}\n{"\\ud800": 1}\n')
    with pytest.raises(DataError, match=r"t.jsonl:2: a column's name holds half a surrogate pair"):
        read_rows(path)
