"""What is said of every malformed field of the three tables."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from arena.data.rows import Rows
from arena.data.schema import ANSWERS, JUDGMENTS, QUERIES, check_table

JUDGMENT = {
    "query_id": "q1",
    "language": "en",
    "system_a": "x",
    "system_b": "y",
    "winner": "a",
    "judge": "j",
}
ANSWER = {"query_id": "q1", "language": "en", "system": "x", "answer": "yes"}
PASSAGE = {"passage_id": "p1", "text": "t", "title": None, "relevance": 1}
QUERY = {"query_id": "q1", "language": "en", "query": "why?", "passages": [PASSAGE]}

STRING = "is not a string; write it as a JSON string"
WINNER = "is not a winner; write 'a', 'b' or 'tie', and leave failed judgments out"
CODE = "is not a language code; use an ISO 639-1 code such as 'en' or 'zh'"
HALF = "holds half a surrogate pair, which no file can store; replace it by U+FFFD"
PASSAGES = "write [{passage_id, text, title|null, relevance: 1|0|null}, ...] with distinct ids"


def check(schema, *rows: dict) -> list[str]:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = pd.DataFrame(
        {name: pd.Series([row.get(name) for row in rows], dtype=object) for name in columns}
    )
    lines = pd.Series(range(11, 11 + len(rows)), dtype=int)
    return [str(problem) for problem in check_table(Rows(table, lines, "file"), schema)]


@pytest.mark.parametrize(
    ("schema", "row"), [(QUERIES, QUERY), (ANSWERS, ANSWER), (JUDGMENTS, JUDGMENT)]
)
def test_sound_rows_have_no_problem(schema, row):
    assert check(schema, row, {**row, "further": [1]}) == []


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("winner", "A", f"winner = 'A': {WINNER}"),
        ("winner", "Tie", f"winner = 'Tie': {WINNER}"),
        ("winner", 1, f"winner = 1: {WINNER}"),
        ("winner", ["a"], f"winner = ['a']: {WINNER}"),
        ("winner", None, "winner = None: is missing; leave failed judgments out"),
        ("winner", math.nan, "winner = None: is missing; leave failed judgments out"),
        ("query_id", None, "query_id = None: is missing; give it a value"),
        ("query_id", "", "query_id = '': is empty; give it a value"),
        ("query_id", " \n", "query_id = ' \\n': is empty; give it a value"),
        ("query_id", 7, f"query_id = 7: {STRING}"),
        ("query_id", {"id": 7}, f"query_id = {{'id': 7}}: {STRING}"),
        ("query_id", "\ud83d", f"query_id = '\\ud83d': {HALF}"),
        ("system_a", 1.5, f"system_a = 1.5: {STRING}"),
        ("system_b", True, f"system_b = True: {STRING}"),
        ("judge", "", "judge = '': is empty; give it a value"),
        ("language", "EN", f"language = 'EN': {CODE}"),
        ("language", "english", f"language = 'english': {CODE}"),
        ("language", "en\n", f"language = 'en\\n': {CODE}"),
        ("language", "", f"language = '': {CODE}"),
        ("language", 3, f"language = 3: {STRING}"),
        ("language", "\udc00", f"language = '\\udc00': {HALF}"),
    ],
)
def test_a_bad_field_of_a_judgment(field, value, message):
    problems = check(JUDGMENTS, JUDGMENT, {**JUDGMENT, field: value}, JUDGMENT)
    assert problems == [f"file:12: {message}"]


@pytest.mark.parametrize(
    ("passages", "fault"),
    [
        ('[{"passage_id": "p1", "text": "t"}]', "Input should be a valid list"),
        ({"p1": "t"}, "Input should be a valid list"),
        (
            [{**PASSAGE, "relevance": 2}],
            "passages.0.relevance: Input should be 0 or 1",
        ),
        ([PASSAGE, {"passage_id": "p2"}], "passages.1.text: Field required"),
        ([{**PASSAGE, "passage_id": 3}], "passages.0.passage_id: Input should be a valid string"),
        (
            [{**PASSAGE, "passage_id": ""}],
            "passages.0.passage_id: String should have at least 1 character",
        ),
        ([{**PASSAGE, "text": None}], "passages.0.text: Input should be a valid string"),
        ([PASSAGE, {**PASSAGE, "text": "u"}], "passage_id 'p1' stands twice"),
    ],
)
def test_bad_passages(passages, fault):
    problems = check(QUERIES, QUERY, {**QUERY, "passages": passages})
    assert len(problems) == 1
    assert problems[0].startswith("file:12: passages = ")
    assert problems[0].endswith(f": {fault}; {PASSAGES}")


@pytest.mark.parametrize("part", ["passage_id", "text", "title", "further"])
def test_passages_with_half_a_surrogate_pair(part):
    problems = check(QUERIES, {**QUERY, "passages": [{**PASSAGE, part: "\ud800"}]})
    assert [problem.endswith(HALF) for problem in problems] == [True]


def test_all_bad_rows_are_reported_in_line_order():
    rows = [
        {**JUDGMENT, "winner": "A"},
        JUDGMENT,
        {**JUDGMENT, "language": "EN", "judge": "\ud800"},
        {**JUDGMENT, "query_id": None},
        {**JUDGMENT, "winner": "A", "language": "xx "},
    ]
    assert check(JUDGMENTS, *rows) == [
        f"file:11: winner = 'A': {WINNER}",
        f"file:13: judge = '\\ud800': {HALF}",
        f"file:13: language = 'EN': {CODE}",
        "file:14: query_id = None: is missing; give it a value",
        f"file:15: language = 'xx ': {CODE}",
        f"file:15: winner = 'A': {WINNER}",
    ]
