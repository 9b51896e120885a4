"""Answers of new systems, as a table or as a file in our own form."""

import pandas as pd
import pytest

from arena import Arena, DataError, UsageError
from arena.data.folder import read_own_answers
from arena.data.tables import write_rows

ANSWERS = pd.DataFrame({"query_id": ["q1", "q2"], "system": "new", "answer": ["Red.", "=Blue, 2"]})


@pytest.fixture
def queries():
    questions = pd.DataFrame({"query_id": ["q1", "q2"], "query": ["A?", "B?"]})
    known = ANSWERS.assign(system="known")
    return Arena.from_frames(questions, known, language="en").queries


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_a_file_and_its_table_are_the_same_answers(queries, tmp_path, name):
    write_rows(ANSWERS, tmp_path / name)
    table = read_own_answers(ANSWERS, queries)
    assert table["language"].tolist() == ["en", "en"]
    assert table["answer"].tolist() == ANSWERS["answer"].tolist()
    pd.testing.assert_frame_equal(read_own_answers(tmp_path / name, queries), table)


def test_other_columns_and_unknown_questions_are_refused(queries, tmp_path):
    ANSWERS.rename(columns={"answer": "response"}).to_json(
        tmp_path / "a.jsonl", orient="records", lines=True
    )
    with pytest.raises(DataError, match="answer"):
        read_own_answers(tmp_path / "a.jsonl", queries)
    with pytest.raises(DataError, match="q9"):
        read_own_answers(ANSWERS.replace("q2", "q9"), queries)
    with pytest.raises(UsageError, match="no file of answers"):
        read_own_answers(tmp_path / "absent.jsonl", queries)
