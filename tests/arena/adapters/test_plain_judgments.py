"""Parquet files of plain judgments, read as categories: the same as read row by row."""

import numpy as np
import pandas as pd
import pytest

from arena.adapters.judgments import counted_judgments_of, read_judgments
from arena.adapters.plain_judgments import plain_judgments
from arena.data import parquet
from arena.data.errors import DataError
from arena.data.tables import write_rows
from arena.diagnostics.judge_label import label_judge
from arena.rating.ratings import rate


def simulated(n_judgments=400, judge="gpt-4o"):
    random = np.random.default_rng(0)
    first = random.integers(6, size=n_judgments)
    second = (first + random.integers(1, 6, size=n_judgments)) % 6
    return pd.DataFrame(
        {
            "query_id": [f"q{number}" for number in random.integers(20, size=n_judgments)],
            "language": random.choice(["en", "de"], size=n_judgments),
            "system_a": [f"system-{number}" for number in first],
            "system_b": [f"system-{number}" for number in second],
            "winner": random.choice(["a", "b", "tie"], size=n_judgments),
            "judge": random.choice([judge, "person:7"], size=n_judgments),
        }
    )


def read_both_ways(tmp_path, table, *, row_group_size=None):
    """Read a table as Parquet and as JSONL; return both readings."""
    table.to_parquet(tmp_path / "j.parquet", index=False, row_group_size=row_group_size)
    write_rows(table, tmp_path / "j.jsonl")
    return [counted_judgments_of(tmp_path / f"j.{suffix}") for suffix in ("parquet", "jsonl")]


def errors_of(path):
    with pytest.raises(DataError) as caught:
        read_judgments(path)
    return [(problem.line, problem.field, problem.fault) for problem in caught.value.problems]


@pytest.mark.parametrize("row_group_size", [None, 7])
def test_plain_files_are_read_as_row_by_row(tmp_path, row_group_size):
    plain, by_row = read_both_ways(tmp_path, simulated(), row_group_size=row_group_size)
    assert plain_judgments(tmp_path / "j.parquet") is not None
    assert plain.skipped.empty
    assert list(plain.table) == list(by_row.table)
    assert plain.table.astype(object).equals(by_row.table.astype(object))
    pd.testing.assert_frame_equal(
        read_judgments(tmp_path / "j.parquet"), read_judgments(tmp_path / "j.jsonl")
    )


CHANGES = {
    "edges": {"system_a": " system-0 "},
    "winner of the field": {"winner": "model_a"},
    "language by name": {"language": "English"},
    "number of a person": {"judge": "17"},
    "no verdict": {"winner": None},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_cell_that_needs_reading_is_read(tmp_path, change):
    table = simulated()
    for name, value in change.items():
        table.loc[350, name] = value
    # The row may not become a system against itself.
    table.loc[350, "system_b"] = "system-5"
    plain, by_row = read_both_ways(tmp_path, table)
    assert plain.table.astype(object).equals(by_row.table.astype(object))
    assert plain.skipped.drop(columns="source").equals(by_row.skipped.drop(columns="source"))


FAULTS = {
    "winner": {"winner": "neither of them"},
    "self": {"system_b": "system-1", "system_a": "system-1"},
    "no name": {"system_a": None},
    "hidden": {"system_a": "system\u200b-1"},
}


@pytest.mark.parametrize("change", FAULTS.values(), ids=FAULTS)
def test_faults_are_reported_with_their_lines(tmp_path, change):
    table = simulated()
    for name, value in change.items():
        table.loc[350, name] = value
    table.to_parquet(tmp_path / "j.parquet", index=False)
    write_rows(table, tmp_path / "j.jsonl")
    assert errors_of(tmp_path / "j.parquet") == errors_of(tmp_path / "j.jsonl")


def test_files_with_further_columns_are_read_row_by_row(tmp_path):
    plain, by_row = read_both_ways(tmp_path, simulated().assign(voter="ann"))
    assert plain_judgments(tmp_path / "j.parquet") is None
    assert plain.table.astype(object).equals(by_row.table.astype(object))


def test_what_may_fill_the_memory_is_refused(tmp_path, monkeypatch):
    simulated().to_parquet(tmp_path / "j.parquet", index=False)
    monkeypatch.setattr(parquet, "MOST_CELLS", 100)
    with pytest.raises(DataError, match="holds more than 100 cells"):
        read_judgments(tmp_path / "j.parquet")


def test_most_questions_of_their_own_are_no_categories(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "_FEW_TEXTS", 10)
    table = simulated().assign(query_id=[f"battle-{number}" for number in range(400)])
    table.to_parquet(tmp_path / "j.parquet", index=False)
    assert plain_judgments(tmp_path / "j.parquet") is None
    assert read_judgments(tmp_path / "j.parquet")["query_id"].nunique() == 400


def test_ratings_and_labels_of_categories_equal_those_of_texts(tmp_path):
    simulated().to_parquet(tmp_path / "j.parquet", index=False)
    coded = counted_judgments_of(tmp_path / "j.parquet").table
    texts = read_judgments(tmp_path / "j.parquet")
    rated = rate(coded, language="all", judge="all")
    expected = rate(texts, language="all", judge="all")
    pd.testing.assert_frame_equal(rated.table, expected.table)
    assert rated.notes == expected.notes
    assert rated.signature == expected.signature
    for judge in ("gpt-4o", "person:7"):
        assert label_judge(judge, coded) == label_judge(judge, texts)
