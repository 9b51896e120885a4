"""Tables that spreadsheets, pandas, polars and others wrote, read back as the same table."""

import csv
import io
import json
import tracemalloc
from datetime import datetime
from decimal import Decimal

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from arena.data.errors import DataError, MissingDependencyError, UsageError
from surrogate_arena.importers import workbooks
from surrogate_arena.importers.tables import read_table

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(
    lambda text: text == text.strip() and not text.lower().startswith("sep=")
)
TABLES = st.lists(
    st.fixed_dictionaries({"question": WORDS, "model a": WORDS, "answer": WORDS}),
    min_size=1,
    max_size=5,
)
per_example = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def records(path, **options):
    rows = read_table(path, **options)
    assert rows.problems == ()
    return rows.table.to_dict(orient="records")


def write(path, text, encoding="utf-8"):
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


PANDAS = {
    "comma.csv": lambda frame, path: frame.to_csv(path, index=False),
    "semicolon.csv": lambda frame, path: frame.to_csv(path, sep=";", index=False),
    "quoted.csv": lambda frame, path: frame.to_csv(path, index=False, quoting=csv.QUOTE_ALL),
    "excel.csv": lambda frame, path: frame.to_csv(
        path, sep=";", index=False, encoding="utf-8-sig", lineterminator="\r\n"
    ),
    "tabs.tsv": lambda frame, path: frame.to_csv(path, sep="\t", index=False),
    "unicode.txt": lambda frame, path: frame.to_csv(path, sep="\t", index=False, encoding="utf-16"),
    "packed.tsv.gz": lambda frame, path: frame.to_csv(path, sep="\t", index=False),
    "columns.json": lambda frame, path: frame.to_json(path),
    "records.json": lambda frame, path: frame.to_json(path, orient="records"),
    "split.json": lambda frame, path: frame.to_json(path, orient="split"),
    "index.json": lambda frame, path: frame.to_json(path, orient="index"),
    "table.json": lambda frame, path: frame.to_json(path, orient="table", index=False),
    "lists.json": lambda frame, path: path.write_text(json.dumps(frame.to_dict("list"))),
    "lines.jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "lines.json": lambda frame, path: pd.concat([frame, frame]).to_json(
        path, orient="records", lines=True
    ),
    "array.jsonl": lambda frame, path: frame.to_json(path, orient="records"),
    "indented.jsonl": lambda frame, path: frame.to_json(path, orient="records", indent=2),
    "rows.parquet": lambda frame, path: frame.to_parquet(path),
    "book.xlsx": lambda frame, path: frame.to_excel(path, index=False),
    "polars.csv": lambda frame, path: pl.from_pandas(frame).write_csv(path),
    "polars.json": lambda frame, path: pl.from_pandas(frame).write_json(path),
    "polars.ndjson": lambda frame, path: pl.from_pandas(frame).write_ndjson(path),
    "polars.parquet": lambda frame, path: pl.from_pandas(frame).write_parquet(path),
}


@pytest.mark.parametrize("name", PANDAS)
@per_example
@given(rows=TABLES)
def test_a_table_that_a_program_wrote_is_the_same_table(name, rows, tmp_path):
    if name == "book.xlsx":  # openpyxl writes such a text as a formula, which has no value yet
        assume(not any(str(cell).startswith("=") for row in rows for cell in row.values()))
    path = tmp_path / name
    PANDAS[name](pd.DataFrame(rows), path)
    assert records(path) == (rows * 2 if name == "lines.json" else rows)


@pytest.mark.parametrize("name", ["index.csv", "index.xlsx"])
def test_the_index_of_pandas_is_a_column_of_its_own(name, tmp_path):
    frame = pd.DataFrame({"answer": ["a", "b"]})
    getattr(frame, "to_excel" if "xlsx" in name else "to_csv")(tmp_path / name)
    first = records(tmp_path / name)[0]
    assert (str(first["Unnamed: 0"]), first["answer"]) == ("0", "a")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (' id, model, answer\n1, "a, b", c\n', {"id": "1", "model": "a, b", "answer": "c"}),
        ("sep=;\nid;model\n1;a,b\n", {"id": "1", "model": "a,b"}),
        ('"sep=|"\nid|model\n1|a\n', {"id": "1", "model": "a"}),
        ('question;"model, a";x\nq;m;1\n', {"question": "q", "model, a": "m", "x": "1"}),
        ("question, in full;model\nq;m\n", {"question, in full": "q", "model": "m"}),
        ("id|model\n1|a, b\n", {"id": "1", "model": "a, b"}),
        ("id,model,,\n1,a,,\n,,,\n", {"id": "1", "model": "a"}),
        ("id,model\n1,a,,\n\n", {"id": "1", "model": "a"}),
        ("ID , Model A\n1,a\n", {"ID": "1", "Model A": "a"}),
        ("answer\nyes\n", {"answer": "yes"}),
        ("answer\nyes; no\n", {"answer": "yes; no"}),
    ],
)
def test_delimited_text_in_the_manner_of_spreadsheets(text, expected, tmp_path):
    assert records(write(tmp_path / "t.csv", text)) == [expected]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("name", ["t.csv", "t.txt", "t.jsonl", "t.json"])
def test_the_encodings_that_spreadsheets_save(encoding, name, tmp_path):
    row = {"question": "Wie hoch?", "answer": "Größe: 300 m"}
    text = (
        "question\tanswer\nWie hoch?\tGröße: 300 m\n" if "json" not in name else json.dumps([row])
    )
    if name == "t.jsonl":
        text = json.dumps(row, ensure_ascii=False) + "\n"
    assert records(write(tmp_path / name, text, encoding)) == [row]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_text_of_another_encoding_is_one_problem_with_the_first_line(name, tmp_path):
    line = '{"answer": "Größe"}' if "json" in name else "Größe"
    text = "\n".join(["answer" if "csv" in name else '{"answer": "x"}', *[line] * 559])
    rows = read_table(write(tmp_path / name, text, "cp1252"))
    (problem,) = rows.problems
    assert problem.line == 2
    assert "UTF-8" in problem.hint


@pytest.mark.parametrize(
    "value",
    [
        {"results": [{"answer": "a"}], "count": 1},
        {"meta": {"version": 2}, "run": {"data": [{"answer": "a"}], "errors": []}},
        {"data": [{"answer": "a"}], "metrics": [{"name": "x"}]},
        {"test_cases": [{"answer": "a"}]},
        {"answer": ["a"], "model": ["m"]},
        {"answer": {"0": "a"}, "model": {"0": "m"}},
        {"0": {"answer": "a"}, "1": {"answer": "b", "model": "m"}},
        {"q1": {"answer": "a"}, "q2": {"answer": "b"}},
        {"columns": ["answer"], "index": [0], "data": [["a"]]},
    ],
)
def test_json_around_or_beside_the_records(value, tmp_path):
    path = write(tmp_path / "t.json", json.dumps(value))
    assert records(path)[0]["answer"] == "a"


def test_what_is_said_of_all_records_is_said_of_each(tmp_path):
    value = {"model": "m", "results": [{"answer": "a"}, {"answer": "b", "model": "n"}]}
    path = write(tmp_path / "t.json", json.dumps(value))
    assert [row["model"] for row in records(path)] == ["m", "n"]


@pytest.mark.parametrize(
    "value", [{"a": 1}, {"xs": [{"a": 1}], "ys": [{"b": 1}]}, 5, "text", {"a": {"b": {"c": 1}}}]
)
def test_json_without_one_list_of_records_is_refused(value, tmp_path):
    with pytest.raises(DataError):
        read_table(write(tmp_path / "t.json", json.dumps(value)))


def test_numbers_that_are_none_are_missing(tmp_path):
    text = '{"a": NaN, "b": 1}\n{"a": -Infinity, "b": [Infinity, 2]}\n'
    assert records(write(tmp_path / "t.jsonl", text)) == [
        {"a": None, "b": 1},
        {"a": None, "b": [None, 2]},
    ]


def test_a_column_that_stands_twice_is_named(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["answer", " answer "])
    book.active.append(["a", "b"])
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match="answer"):
        read_table(tmp_path / "t.xlsx")
    (problem,) = read_table(write(tmp_path / "t.csv", "answer, answer\na,b\n")).problems
    assert problem.field == "answer"


def test_of_a_workbook_the_first_sheet_with_data_is_read_and_the_others_are_said(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.create_sheet("answers")
    for row in ([None, " question", "answer", None], [None, "q", 4.0, None], [None] * 4):
        sheet.append(row)
    sheet["B5"], sheet["C5"] = "r", 0.5
    book.create_sheet("notes")["A1"] = "x"
    book.save(tmp_path / "T.XLSX")
    rows = read_table(tmp_path / "T.XLSX")
    assert rows.table.to_dict(orient="records") == [
        {"question": "q", "answer": 4},
        {"question": "r", "answer": 0.5},
    ]
    assert rows.lines.tolist() == [2, 5]
    assert "notes" in "".join(rows.notes)


def test_damaged_and_huge_workbooks_are_refused(tmp_path, monkeypatch):
    for content in (b"PK\x03\x04nonsense", b"a,b\n1,2\n", b""):
        with pytest.raises(DataError):
            read_table(write(tmp_path / "t.xlsx", content))
    book = openpyxl.Workbook()
    book.active["A1"] = "answer"
    book.active.cell(1_048_576, 16_384).value = "far"
    book.save(tmp_path / "far.xlsx")
    tracemalloc.start()
    with pytest.raises(DataError, match="cells"):
        read_table(tmp_path / "far.xlsx")
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
    monkeypatch.setattr(workbooks, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="excel"):
        read_table(tmp_path / "far.xlsx")


def test_unknown_formats_are_named(tmp_path):
    with pytest.raises(UsageError, match=r"\.xlsx"):
        read_table(write(tmp_path / "t.docx", "x"))


@pytest.mark.parametrize("name", ["t.csv", "t.json", "t.jsonl", "t.tsv"])
@per_example
@given(content=st.binary(max_size=200))
def test_any_bytes_are_a_table_or_an_error(name, content, tmp_path):
    try:
        read_table(write(tmp_path / name, content))
    except DataError:
        return


@per_example
@given(rows=st.lists(st.lists(WORDS, min_size=3, max_size=3), min_size=1, max_size=6))
def test_semicolons_are_known_however_many_commas_the_cells_hold(rows, tmp_path):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=";")
    writer.writerows([["question", "answer, in full", "model"], *rows])
    table = records(write(tmp_path / "t.csv", stream.getvalue()))
    assert [list(row.values()) for row in table] == rows


def test_lists_come_back_as_lists_from_formats_that_have_them(tmp_path):
    frame = pd.DataFrame({"contexts": [np.array(["a", "b"]), np.array(["c"])]})
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_json(tmp_path / "t.json", orient="records")
    for name in ("t.parquet", "t.json"):
        assert records(tmp_path / name) == [{"contexts": ["a", "b"]}, {"contexts": ["c"]}]


def test_typed_cells_of_parquet_are_the_texts_of_csv(tmp_path):
    moment = datetime(2026, 1, 2, 3, 4, 5)
    table = pa.table(
        {
            "cost": pa.array([Decimal("0.50"), None], pa.decimal128(20, 2)),
            "system": pa.array([Decimal(10**30), Decimal(2)], pa.decimal128(38, 0)),
            "moment": pa.array([moment, None], pa.timestamp("ns")),
            "day": pa.array([moment.date(), None]),
            "query_id": pa.array([b"caf\xc3\xa9", b"q2"]),
            "damaged": pa.array([b"\xff", None]),
            "category": pa.array([b"x", b"x"]).dictionary_encode(),
        }
    )
    pq.write_table(table, tmp_path / "typed.parquet")
    rows = read_table(tmp_path / "typed.parquet").table
    assert rows.iloc[0].to_dict() == {
        "cost": "0.50",
        "system": "1" + "0" * 30,
        "moment": "2026-01-02 03:04:05.000000000",
        "day": "2026-01-02",
        "query_id": "caf\u00e9",
        "damaged": b"\xff",
        "category": "x",
    }
    assert rows.loc[1, ["cost", "moment", "day", "damaged"]].isna().all()
