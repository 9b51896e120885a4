"""Answers as Ragas and DeepEval read them, and back."""

import json

import pytest

from arena import Arena, UsageError, import_arena
from arena.adapters.exports import RECORD_FORMATS, answer_records, records_text


@pytest.fixture
def arena(tmp_path):
    rows = [
        {"question": "Where?", "system": "m1", "answer": "Paris [1].", "reference": "Paris."}
        | {"query_id": "1", "language": "en", "passages": ["Paris is in France."]},
        {"question": "Where?", "system": "m2", "answer": "Oslo.", "reference": "Paris."}
        | {"query_id": "1", "language": "en", "passages": ["Oslo is in Norway.", "Bern."]},
        {"question": "Why?", "system": "m1", "answer": "So.", "query_id": "2", "language": "en"},
    ]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows))
    return import_arena("csv", [path]).arena


@pytest.mark.parametrize("form", RECORD_FORMATS)
def test_what_is_exported_reads_back_as_it_was(arena, form, tmp_path):
    path = tmp_path / {"ragas": "records.jsonl", "deepeval": "records.json"}[form]
    path.write_text(records_text(answer_records(arena, form), form))
    again = import_arena("csv", [path]).arena
    assert again.queries.equals(arena.queries)
    key = ["query_id", "system"]
    one, two = (each.answers.sort_values(key, ignore_index=True) for each in (arena, again))
    assert one.drop(columns="passages").equals(two.drop(columns="passages"))
    own = [[item["text"] for item in cell or []] for cell in two["passages"]]
    assert own == [["Paris is in France."], ["Oslo is in Norway.", "Bern."], []]


def test_records_have_the_names_of_their_tools(arena):
    first, *_ = answer_records(arena, "ragas", ["m2"])
    assert first == {
        "user_input": "Where?",
        "response": "Oslo.",
        "retrieved_contexts": ["Oslo is in Norway.", "Bern."],
        "reference": "Paris.",
        "system": "m2",
        "query_id": "1",
        "language": "en",
    }
    assert set(answer_records(arena, "deepeval")[-1]) == {"input", "actual_output"} | {
        *("system", "query_id", "language"),
    }
    with pytest.raises(UsageError, match="unknown system 'm9'"):
        answer_records(arena, "ragas", ["m9"])
    with pytest.raises(UsageError, match="unknown format of records 'csv'; use one of ragas"):
        answer_records(arena, "csv")


def test_passages_of_the_question_are_those_of_answers_without_their_own():
    import pandas as pd

    asked = pd.DataFrame({"query_id": ["1"], "query": ["Where?"], "passages": [["Here."]]})
    said = pd.DataFrame({"query_id": ["1"], "system": ["m"], "answer": ["There."]})
    made = Arena.from_frames(asked, said, language="en")
    assert answer_records(made, "ragas")[0]["retrieved_contexts"] == ["Here."]
