"""Tables of other programs: line numbers, delimiters, and what is said of damaged files."""

import gzip
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from arena.data.errors import DataError
from arena.data.rows import Rows
from arena.data.tables import SUFFIXES, write_rows
from surrogate_arena.importers.tables import read_table

COMPRESSED = [suffix for suffix in SUFFIXES if suffix.endswith((".gz", ".zst", ".parquet"))]


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
        read_table(path)


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
            read_table(path)


BAD_LINES = {
    b'{"x": 2': "is not JSON",
    b'["x"]': "holds a JSON array, not an object",
    b'"x"': "holds a JSON string",
    b"null": "holds a JSON null",
    b"true": "holds a JSON boolean",
    b"3.5": "holds a JSON number",
    b'{"x": 1, "x": 2}': "holds the key 'x' several times",
    b'{"x": [{"y": 1, "y": 1}]}': "holds the key 'y' several times",
    b"[" * 100_000: "is not usable JSON (nested",
    b'{"x": "caf\xe9"}': "is not UTF-8 text (byte 0xe9 at character 11)",
}


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_every_bad_line_of_a_jsonl_file_is_reported(suffix: str, tmp_path: Path):
    lines = [b'{"x": 1}', *BAD_LINES]
    rows = read_table(write_text(tmp_path / f"t{suffix}", b"\n".join(lines)))
    assert list(rows.table["x"]) == [1]
    pairs = zip(rows.problems, BAD_LINES.values(), strict=True)
    for line, (problem, fault) in enumerate(pairs, start=2):
        assert (problem.source, problem.line) == (f"t{suffix}", line)
        assert problem.fault.startswith(fault)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv.gz"])
def test_a_byte_order_mark_is_no_text(suffix: str, tmp_path: Path):
    text = "\ufeffx\n1\n" if ".csv" in suffix else '\ufeff{"x": "1"}\n'
    rows = read_table(write_text(tmp_path / f"t{suffix}", text))
    assert records(rows) == [{"x": "1"}]
    assert rows.problems == ()


def test_line_numbers_of_jsonl_count_blank_lines(tmp_path: Path):
    text = '\n{"x": 1}\r\n   \n{"y": "a\u2028b"}\n\n{"x": 3}'
    rows = read_table(write_text(tmp_path / "t.jsonl", text))
    assert list(rows.lines) == [2, 4, 6]
    assert records(rows) == [{"x": 1, "y": None}, {"x": None, "y": "a\u2028b"}, {"x": 3, "y": None}]


def test_line_numbers_of_csv_are_those_where_rows_begin(tmp_path: Path):
    text = '\nx,y\n1,"two\nlines"\n\n2,"three\r\nlines\n"\n3,b\n4\n5,b\n6,b,c\n'
    rows = read_table(write_text(tmp_path / "t.csv", text))
    assert list(rows.table["x"]) == ["1", "2", "3", "5"]
    assert list(rows.lines) == [3, 6, 9, 11]
    assert [problem.line for problem in rows.problems] == [10, 12]


@pytest.mark.parametrize("mark", [";", "\t"])
def test_csv_of_a_spreadsheet_with_other_delimiters(mark: str, tmp_path: Path):
    """Excel writes semicolons where commas part decimals, a byte order mark, and CRLF."""
    text = f'\ufeffx{mark}y\r\n1,5{mark}"a{mark}b\r\nc"\r\n2{mark}one, two\r\n'
    rows = read_table(write_text(tmp_path / "t.csv", text))
    assert rows.problems == ()
    assert rows.lines.tolist() == [2, 4]
    assert records(rows) == [
        {"x": "1,5", "y": f"a{mark}b\r\nc"},
        {"x": "2", "y": "one, two"},
    ]


def test_bad_rows_of_csv(tmp_path: Path):
    text = b'x,y\n1,a\n2\n3,c\n4,"never closed\n5,d\n'
    rows = read_table(write_text(tmp_path / "t.csv", text))
    assert list(rows.table["x"]) == ["1", "3"]
    assert [problem.line for problem in rows.problems] == [3, 5]
    assert "nothing after it was read" in rows.problems[1].fault
    for text, line in (("x,x\n1,2\n", 1), ('x,"y\n', 1), (b"x,y\n1,a\n2,caf\xe9\n3,c\n", 3)):
        broken = read_table(write_text(tmp_path / "t.csv", text))
        assert [problem.line for problem in broken.problems] == [line]


def test_an_object_of_many_keys_with_one_repeated_is_read_in_linear_time(tmp_path):
    path = tmp_path / "answers.jsonl"
    keys = ",".join(f'"{number}":0' for number in range(100_000))
    path.write_text("{" + keys + ',"7":1}\n')
    (problem,) = read_table(path).problems
    assert "holds the key '7' several times" in str(problem)
