"""Arenas of tables in memory: the same as from a folder, checked as strictly."""

import json

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

from arena import Arena, DataError, UsageError, read_arena, sample_arena, write_arena

QUESTIONS = pd.DataFrame({"query_id": ["1", "2"], "language": "en", "query": ["Why?", "Who?"]})
ANSWERS = pd.DataFrame(
    {
        "query_id": ["1", "1", "2", "2"],
        "language": "en",
        "system": ["ada", "bob", "ada", "bob"],
        "answer": ["Because.", "", "She.", "He."],
    }
)
JUDGMENTS = pd.DataFrame(
    {
        "query_id": ["1", "2"],
        "language": "en",
        "system_a": ["ada", "bob"],
        "system_b": ["bob", "ada"],
        "winner": ["a", "tie"],
        "judge": "gpt",
    }
)
SHOWN = QUESTIONS.assign(
    passages=[
        [
            {"passage_id": "p1", "text": "One.", "relevance": 1},
            {"passage_id": "p2", "text": "Two."},
        ],
        [{"passage_id": "p1", "text": "Three.", "relevance": 0}],
    ]
)


class ToPandas:
    """A table of a library that knows pandas, but not Arrow."""

    def __init__(self, table):
        self.table = table

    def to_pandas(self):
        return self.table


def problems(*frames, **options):
    with pytest.raises(DataError) as caught:
        Arena.from_frames(*frames, **options)
    return list(map(str, caught.value.problems))


def changed(table, row, column, value):
    texts = table.astype(object)
    texts.loc[row, column] = value
    return texts


@pytest.mark.slow
def test_the_tables_of_an_arena_give_that_arena():
    arena = sample_arena("nomiracl")
    info = arena.info
    made = Arena.from_frames(
        arena.queries,
        arena.answers,
        arena.judgments,
        name=info.name,
        systems=info.systems,
        reference_system=info.reference_system,
        source=info.source,
        note=info.note,
    )
    for table in ("queries", "answers", "judgments", "published_ratings"):
        pd.testing.assert_frame_equal(getattr(made, table), getattr(arena, table))
    assert set(made.info.languages) == set(info.languages)
    for field in ("name", "systems", "reference_system", "source", "note"):
        assert getattr(made.info, field) == getattr(info, field)


def test_what_is_written_is_read_again(tmp_path):
    arena = Arena.from_frames(SHOWN, ANSWERS, JUDGMENTS, name="mine")
    write_arena(arena, tmp_path / "mine")
    read = read_arena(tmp_path / "mine")
    assert read.info == arena.info
    assert read.queries["passages"].tolist() == [
        [
            {"passage_id": "p1", "text": "One.", "relevance": 1, "title": None},
            {"passage_id": "p2", "text": "Two.", "relevance": None, "title": None},
        ],
        [{"passage_id": "p1", "text": "Three.", "relevance": 0, "title": None}],
    ]
    for table in ("queries", "answers", "judgments"):
        pd.testing.assert_frame_equal(getattr(read, table), getattr(arena, table))


def test_what_holds_for_all_rows_is_stated_once():
    numbered = QUESTIONS.drop(columns="language").assign(query_id=[1, 2])
    arena = Arena.from_frames(
        numbered.set_index("query_id"),
        ANSWERS.drop(columns="language").assign(query_id=[1, 1, 2, 2], seconds=0.5),
        JUDGMENTS.drop(columns=["language", "judge"]).assign(query_id=[1, 2]),
        language="en",
        judge="me",
    )
    assert arena.info.systems == ("ada", "bob")
    assert arena.info.languages == ("en",)
    assert arena.judges == ("me",)
    assert arena.queries["query_id"].tolist() == ["1", "2"]
    assert arena.answers["seconds"].tolist() == [0.5] * 4
    assert arena.queries["passages"].tolist() == [[], []]


def test_answers_are_in_the_language_of_their_question():
    questions = QUESTIONS.assign(language=["en", "ja"])
    arena = Arena.from_frames(
        questions, ANSWERS.drop(columns="language"), JUDGMENTS.drop(columns="language")
    )
    assert arena.answers["language"].tolist() == ["en", "en", "ja", "ja"]
    assert arena.judgments["language"].tolist() == ["en", "ja"]
    twice = pd.concat([QUESTIONS, QUESTIONS.assign(language="ja")])
    (problem,) = problems(twice, ANSWERS.drop(columns="language"))
    assert problem.endswith("add it or give language=...")


@pytest.mark.parametrize(
    "cells",
    [
        [["One.", "Two."], None],
        [np.array(["One.", "Two."], dtype=object), ()],
        [({"passage_id": "1", "text": "One."}, {"passage_id": "2", "text": "Two."}), []],
    ],
)
def test_passages_in_cells(cells):
    column = pd.Series(cells, dtype=object)
    arena = Arena.from_frames(QUESTIONS.assign(passages=column), ANSWERS)
    texts = [[passage["text"] for passage in shown] for shown in arena.queries["passages"]]
    assert texts == [["One.", "Two."], []]


def test_answers_may_have_passages_of_their_own():
    passages = [
        ("p2",),
        np.array(["p1"], dtype=object),
        None,
        [{"passage_id": "x", "text": "Own."}],
    ]
    answers = ANSWERS.assign(passages=pd.Series(passages, dtype=object))
    arena = Arena.from_frames(SHOWN, answers, JUDGMENTS)
    texts = [
        records and [passage["text"] for passage in records]
        for records in arena.answers["passages"]
    ]
    assert texts == [["Two."], ["One."], None, ["Own."]]
    answers.at[0, "passages"] = ["p9"]
    (problem,) = problems(SHOWN, answers, JUDGMENTS)
    assert problem.startswith("answers.iloc[0]: passages = ['p9']: ")


FAULTY = [
    ("answers", 1, "system", None),
    ("answers", 2, "answer", 7),
    ("answers", 3, "query_id", "9"),
    ("answers", 2, "language", "english"),
    ("answers", 3, "query_id", 2.5),
    ("judgments", 0, "winner", "A"),
    ("judgments", 0, "system_a", "Ada"),
    ("judgments", 0, "system_a", "bob"),
    ("judgments", 1, "language", "fr"),
    ("queries", 0, "query", ""),
    ("queries", 0, "query_id", "2"),
    ("queries", 1, "passages", [{"passage_id": "1", "text": 3}]),
]


@pytest.mark.parametrize(("name", "row", "column", "value"), FAULTY)
def test_frames_are_refused_where_files_are(tmp_path, name, row, column, value):
    tables = {
        "queries": QUESTIONS.assign(passages=[[], []]),
        "answers": ANSWERS,
        "judgments": JUDGMENTS,
    }
    tables[name] = changed(tables[name], 0, "query_id", "1")
    tables[name].at[row, column] = value
    info = {"name": "x", "languages": ["en"], "systems": ["ada", "bob"]}
    (tmp_path / "arena.json").write_text(json.dumps(info))
    for key, table in tables.items():
        records = table.to_dict(orient="records")
        (tmp_path / f"{key}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    with pytest.raises(DataError) as of_folder:
        read_arena(tmp_path)
    with pytest.raises(DataError) as of_frames:
        Arena.from_frames(*tables.values(), systems=["ada", "bob"])
    at_frames = {(problem.line, problem.field) for problem in of_frames.value.problems}
    at_folder = {(problem.line - 1, problem.field) for problem in of_folder.value.problems}
    assert at_folder <= at_frames  # files do not tell of languages that arena.json lacks twice


def test_problems_name_table_row_column_value_and_what_to_do():
    assert problems(QUESTIONS, ANSWERS, changed(JUDGMENTS, 0, "system_a", "Bobb")) == [
        "judgments.iloc[0]: system_a = 'Bobb': is not among the systems; correct the name, or "
        "name all of them with systems=[...]; did you mean 'bob'?"
    ]
    (twice,) = problems(QUESTIONS, pd.concat([ANSWERS, ANSWERS[:1]]))
    assert twice.startswith("answers.iloc[4]: language+query_id+system = ('en', '1', 'ada')")
    assert "at answers.iloc[0]" in twice
    (renamed,) = problems(QUESTIONS, ANSWERS.rename(columns={"answer": "output"}))
    assert renamed.endswith("add it, or rename output")
    with pytest.raises(UsageError, match="no argument 'judges'"):
        Arena.from_frames(QUESTIONS, ANSWERS, judges="me")


def test_whole_numbers_name_questions_whatever_pandas_made_of_them():
    """A missing id makes floats of a column; ids in texts and in numbers are the same."""
    numbers = ANSWERS.assign(query_id=[1, 1, 2, 2])
    expected = Arena.from_frames(QUESTIONS, ANSWERS).answers
    for key in (numbers["query_id"], numbers["query_id"].astype(float)):
        arena = Arena.from_frames(QUESTIONS, numbers.assign(query_id=key))
        pd.testing.assert_frame_equal(arena.answers, expected)
    gap = numbers.assign(query_id=[1, 1, 2, np.nan])
    assert problems(QUESTIONS, gap) == [
        "answers.iloc[3]: query_id = None: is missing; give it a value"
    ]
    odd = numbers.assign(query_id=[1, 1, 2, 2.5])
    assert "answers.iloc[3]: query_id = 2.5: is not a string" in problems(QUESTIONS, odd)[-1]


@pytest.mark.parametrize("convert", [pyarrow.Table.from_pandas, polars.from_pandas, ToPandas])
def test_tables_of_other_libraries_are_converted(convert):
    passages = [[{"passage_id": "p", "text": "t"}], []]
    read = Arena.from_frames(convert(QUESTIONS.assign(passages=passages)), convert(ANSWERS))
    same = Arena.from_frames(QUESTIONS.assign(passages=passages), ANSWERS)
    pd.testing.assert_frame_equal(read.queries, same.queries)
    pd.testing.assert_frame_equal(read.answers, same.answers)


@pytest.mark.parametrize(
    ("questions", "hint"),
    [
        ([{"query_id": "1"}], r"type list; .* pandas\.DataFrame\(questions\)"),
        ({"1": "Why?"}, r"type dict; give a table"),
    ],
)
def test_what_is_no_table_is_refused_with_how_to_make_one(questions, hint):
    with pytest.raises(UsageError, match=hint):
        Arena.from_frames(questions, ANSWERS, language="en")


def test_a_notebook_shows_how_much_of_what_there_is():
    named = ANSWERS.assign(system=["<b>ada</b>", "bob"] * 2)
    arena = Arena.from_frames(
        QUESTIONS.assign(language=["en", "ja"]), named.drop(columns="language")
    )
    html = arena._repr_html_()
    assert "&lt;b&gt;ada&lt;/b&gt;, bob. Judges: none." in html
    assert "<b>ada" not in html
