"""Which column of a table holds what: by name, and by whether it has values."""

from collections import Counter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.data.errors import UsageError
from surrogate_arena.importers.columns import bare_column, chosen_columns, field_names

ANSWERS, PAIRS = field_names("answers"), field_names("pairs")


def table(**columns):
    return pd.DataFrame({name.replace("__", " "): values for name, values in columns.items()})


@pytest.mark.parametrize(
    ("columns", "field", "taken"),
    [
        ({"answer": [None, ""], "response": ["a", "b"]}, "answer", "response"),
        ({"answer": ["a", "b"], "response": [None, ""]}, "answer", "answer"),
        ({"context": ["x"], "retrieval_context": ["y"]}, "passages", "retrieval_context"),
        ({"context": ["x"], "retrieval_context": ["[]"]}, "passages", "context"),
        ({"context": ["nan"], "retrieved_contexts": [["y"]]}, "passages", "retrieved_contexts"),
        ({"reference": ["None"], "ground_truth": ["x"]}, "reference", "ground_truth"),
        ({"verdict": [None], "score": [0.5]}, "verdict", "score"),
        ({"system": [None], "model": ["m"]}, "system", "model"),
        ({"question": ["q"], "input": ["i"]}, "question", "question"),
        ({"answer": [None], "response": [None]}, "answer", "answer"),
        ({"User Input": ["q"]}, "question", "User Input"),
        ({"Frage": ["q"]}, "question", "Frage"),
        ({"回答": ["a"]}, "answer", "回答"),
        ({"Score (1-5)": ["4"]}, "verdict", "Score (1-5)"),
        ({"model_version": ["1"], "file": ["m"]}, "system", "file"),
        ({" Retrieved-Contexts ": ["q"]}, "passages", " Retrieved-Contexts "),
    ],
)
def test_of_the_columns_that_fit_the_one_with_values_is_read(columns, field, taken):
    chosen = chosen_columns([pd.DataFrame(columns)], ANSWERS)
    assert chosen.names[field] == taken
    assert {*chosen.names.values(), *chosen.unread} == set(columns)


def test_what_is_not_read_is_said_truthfully():
    given_table = table(answer=["a"], response=["b"], output=[None], colour=["red"], judge=["j"])
    chosen = chosen_columns([given_table], ANSWERS)
    assert set(chosen.unread) == {"response", "output", "colour"}
    assert "--column answer=response" in chosen.unread["response"]
    assert "empty" in chosen.unread["output"]
    assert "field" in chosen.unread["colour"]
    named = chosen_columns([given_table], ANSWERS, {"answer": "response"})
    assert named.names["answer"] == "response"
    assert "'response'" in named.unread["answer"]


def test_a_column_that_the_user_chose_is_read_for_nothing_else():
    chosen = chosen_columns([table(prompt=["p"], title=["t"])], ANSWERS, {"answer": "prompt"})
    assert dict(chosen.names) == {"answer": "prompt"}
    assert chosen_columns([table(Title=["t"])], ANSWERS, {"answer": "title"}).names == {
        "answer": "Title"
    }
    with pytest.raises(UsageError, match="no column 'x'; available: title"):
        chosen_columns([table(title=["t"])], ANSWERS, {"answer": "x"})
    with pytest.raises(UsageError, match="unknown field 'answr'"):
        chosen_columns([table(title=["t"])], ANSWERS, {"answr": "title"})


@pytest.mark.parametrize(
    ("left", "right", "winner"),
    [
        *[("left", "right", "winner"), ("Model A", "Model B", "Verdict")],
        *[("generator_1", "generator_2", "preference"), ("model1", "model2", "label")],
        *[("agentA", "agentB", "Preferred"), ("system_left", "system_right", "vote")],
        *[("model", "model.1", "gewinner"), ("system", "system.1", "overall_preference")],
    ],
)
def test_pairs_are_known_by_the_names_of_the_field(left, right, winner):
    names = chosen_columns([pd.DataFrame({left: ["a"], right: ["b"], winner: ["x"]})], PAIRS).names
    assert (names["system_a"], names["system_b"], names["winner"]) == (left, right, winner)


def test_the_index_that_pandas_writes_is_no_loss():
    for name in ("", "Unnamed: 0", "index"):
        frame = pd.DataFrame({name: ["0", "1"], "answer": ["a", "b"]})
        assert not chosen_columns([frame], ANSWERS).unread
        assert set(chosen_columns([frame.assign(**{name: ["7", "9"]})], ANSWERS).unread) == {name}


@pytest.mark.parametrize("fields", [ANSWERS, PAIRS])
def test_no_name_stands_for_two_fields(fields):
    counts = Counter(name for names in fields.values() for name in names)
    assert max(counts.values()) == 1


@given(st.sampled_from(sorted({name for names in PAIRS.values() for name in names})), st.data())
def test_case_spaces_and_hyphens_do_not_count(name, data):
    separators = data.draw(st.sampled_from(["_", "-", " ", "  "]))
    cased = data.draw(st.sampled_from([str.upper, str.title, str.lower]))
    assert bare_column(f" {cased(name.replace('_', separators))} ") == name
