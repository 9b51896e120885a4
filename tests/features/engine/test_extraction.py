import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena import Arena, ArenaError, DataError, MissingDependencyError
from features import DEFAULT_FEATURES, Feature, extract, feature_columns
from features.engine import extraction
from features.engine.extraction import completed_table

NAMES = [str(feature) for feature in DEFAULT_FEATURES]


def with_answers(arena, *outputs):
    """Answers of new systems to the first question."""
    return pd.DataFrame(
        {
            "query_id": "q1",
            "language": "en",
            "system": [f"new-{place}" for place in range(len(outputs))],
            "answer": outputs,
        }
    )


def test_table_has_a_row_an_answer_and_a_reason_for_every_gap(small_arena):
    table = extract(small_arena)
    assert table.columns.tolist() == [
        *("language", "system", "query_id", *NAMES, *(f"{name}:missing" for name in NAMES))
    ]
    keys = list(table[["language", "system", "query_id"]].itertuples(index=False, name=None))
    assert keys == sorted(keys)
    assert len(keys) == len(small_arena.answers)
    assert table.index.equals(pd.RangeIndex(len(keys)))
    assert feature_columns(table) == NAMES
    for name in NAMES:
        assert table[name].dtype == np.float64
        reasons = table[f"{name}:missing"].tolist()
        assert all(
            isinstance(reason, str) if math.isnan(value) else reason is None
            for value, reason in zip(table[name], reasons, strict=True)
        )


def feature(measurement):
    return Feature("own", "Of a user", "own", ("answer",), measurement)


@pytest.mark.parametrize(
    "measurement", [lambda sample: 1 / 0, lambda sample: "3", lambda sample: math.inf]
)
def test_a_feature_that_raises_names_itself_the_system_and_the_question(small_arena, measurement):
    answers = with_answers(small_arena, "Yes.")
    with pytest.raises((ZeroDivisionError, TypeError, ArenaError)) as raised:
        extract(small_arena, [feature(measurement)], answers=answers)
    note = "feature own, answer of new-0 to question 'q1' in en"
    assert raised.value.__notes__ == [note]


def test_features_that_a_table_lacks_are_measured_and_joined(small_arena):
    table = extract(small_arena, "answer_length").iloc[1:]
    table["answer_length"] += 0.5
    own = feature(lambda sample: float(len(sample.text)))
    joined = completed_table(table, small_arena, ["answer_length", own])
    assert feature_columns(joined) == ["answer_length", "own"]
    pd.testing.assert_frame_equal(joined[table.columns], table.reset_index(drop=True))
    expected = extract(small_arena, [own]).iloc[1:]
    assert joined["own"].tolist() == expected["own"].tolist()
    assert completed_table(table, small_arena, "answer_length") is table


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(order=st.permutations(range(7)), chunk=st.integers(1, 8))
def test_order_and_chunks_change_nothing(small_arena, order, chunk):
    expected = extract(small_arena)
    shuffled = small_arena.answers.iloc[order]
    queries = small_arena.queries.iloc[::-1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extraction, "CHUNK", chunk)
        found = extract(dataclasses.replace(small_arena, answers=shuffled, queries=queries))
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


HARD = [
    *("", " ", "\n\n", "\x00\x01\x1c", "\u200f\u200e", "[" * 100_000, "a" * 100_000),
    *("क [१] " * 20_000, "##Answer:", "##Reason:", "]][[", "\ufffd", "[1]" * 30_000, "😀" * 10),
    *("\u0301" * 5_000, "'" * 5_000, "1.1." * 5_000, "[1" * 50_000, f"[{'1,' * 50_000}]"),
    *("[" * 50_000 + "1" + "]" * 50_000, f"[{'9' * 100_000}]", f"[doc{' ' * 100_000}x]"),
    *("]" * 100_000, "[1](http://" * 9_000, f"{' ' * 100_000}[1]"),
]


@pytest.mark.slow
@pytest.mark.parametrize("code", ["en", "zzz"])
def test_hard_answers_have_values_or_reasons(code, small_arena):
    answers = with_answers(small_arena, *HARD).assign(language=code)
    queries = small_arena.queries.assign(language=["en", "en", "hi"])
    queries.loc[0, "language"] = code
    table = extract(
        dataclasses.replace(small_arena, queries=queries), "deterministic", answers=answers
    )
    for name in feature_columns(table):
        assert (table[name].isna() == table[f"{name}:missing"].notna()).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop(columns="answer"), "column is missing"),
        (lambda table: table.assign(answer=None), "is missing"),
        (lambda table: table.assign(answer=7), "is not a string"),
        (lambda table: table.assign(answer=pd.Series(["\ud800"] * 2, dtype=object)), "surrogate"),
        (lambda table: table.assign(system="same"), "is already at answers"),
        (lambda table: table.assign(query_id="q9"), "to a question that is not in queries"),
        (lambda table: table.assign(language="hindi"), "is not a language code"),
    ],
)
def test_bad_answers_are_refused(change, message, small_arena):
    answers = change(with_answers(small_arena, "a", "b"))
    with pytest.raises(DataError, match=message):
        extract(small_arena, answers=answers)


@pytest.mark.parametrize("cited", ["alpha", "beta"])
def test_the_reference_cites_passages_of_its_own_system(small_arena, cited, tmp_path):
    given = {"ref": [{"passage_id": cited, "text": "a"}], "one": [], "two": None}
    other = {"ref": None, "one": [{"passage_id": "other", "text": "a"}], "two": []}
    for own in (given, other):
        queries = small_arena.queries.iloc[:1].assign(
            passages=[[{"passage_id": "1" if own["ref"] else cited, "text": "b"}]]
        )
        answers = small_arena.answers.iloc[[0, 2, 5]]
        answers = answers.assign(
            answer=[f"Paris is the capital [{cited}].", *["Paris is the capital."] * 2],
            passages=[own[system] for system in answers["system"]],
        )
        arena = dataclasses.replace(small_arena, queries=queries, answers=answers)
        table = extract(arena, "bleu,rouge_l", cache=tmp_path)
        assert table[feature_columns(table)].to_numpy().tolist() == [[1.0] * 2] * 3


def test_what_is_measured_by_default_needs_no_further_package_for_thai(monkeypatch):
    monkeypatch.setattr("features.text.sentences.find_spec", lambda name: None)
    monkeypatch.setattr("features.text.sentences._thai_pieces", lambda _: pytest.fail("cuts Thai"))
    passages = [{"passage_id": "1", "text": "กรุงเทพ Bangkok เป็นเมืองหลวง"}]
    questions = pd.DataFrame(
        {"query_id": ["q"], "language": ["th"], "query": ["เมืองหลวงคืออะไร"], "passages": [passages]}
    )
    answer = "กรุงเทพเป็นเมืองหลวง และ Bangkok กับ Paris [1]"
    answers = pd.DataFrame({"query_id": ["q"], "language": ["th"], "system": ["a"]})
    arena = Arena.from_frames(questions, answers.assign(answer=answer))
    assert extract(arena)["unsupported_names"].tolist() == [1 / 2]
    with pytest.raises(MissingDependencyError, match=r"\[thai\]"):
        extract(arena, "cited_sentences")
