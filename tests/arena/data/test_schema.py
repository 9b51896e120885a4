"""Every malformed field of the three tables is told with its line."""

import math

import pandas as pd
import pytest

from arena.data.checks import check_table
from arena.data.rows import Rows
from arena.data.schema import JUDGMENTS, QUERIES

JUDGMENT = {
    "query_id": "q1",
    "language": "en",
    "system_a": "x",
    "system_b": "y",
    "winner": "a",
    "judge": "j",
}
PASSAGE = {"passage_id": "p1", "text": "t", "title": None, "relevance": 1}
QUERY = {"query_id": "q1", "language": "en", "query": "why?", "passages": [PASSAGE]}


def check(schema, *rows: dict) -> list[tuple[int, str]]:
    """Return line and field of each problem."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = pd.DataFrame(
        {name: pd.Series([row.get(name) for row in rows], dtype=object) for name in columns}
    )
    lines = pd.Series(range(11, 11 + len(rows)), dtype=int)
    problems = check_table(Rows(table, lines, "file"), schema)
    assert all(problem.source == "file" and problem.fault and problem.hint for problem in problems)
    return [(problem.line, problem.field) for problem in problems]


BAD = {
    "winner": ["A", "Tie", 1, ["a"], None, math.nan],
    "query_id": [None, "", " \n", 7, {"id": 7}, "\ud83d"],
    "system_a": [1.5, True],
    "judge": [""],
    "language": ["EN", "english", "en\n", "", 3, "\udc00"],
    "further": ["\ud800", [{"x": "\ud800"}]],
}


@pytest.mark.parametrize(
    ("field", "value"), [(name, it) for name, its in BAD.items() for it in its]
)
def test_a_bad_field_of_a_judgment(field, value):
    assert check(JUDGMENTS, JUDGMENT, {**JUDGMENT, field: value}, JUDGMENT) == [(12, field)]


@pytest.mark.parametrize(
    "passages",
    [
        None,
        '[{"passage_id": "p1", "text": "t"}]',
        {"p1": "t"},
        [{**PASSAGE, "relevance": 2}],
        [PASSAGE, {"passage_id": "p2"}],
        [PASSAGE, PASSAGE],
        [{**PASSAGE, "passage_id": 3}],
        [{**PASSAGE, "passage_id": ""}],
        *([{**PASSAGE, part: "\ud800"}] for part in ("passage_id", "text", "title", "further")),
    ],
)
def test_bad_passages(passages):
    assert check(QUERIES, QUERY, {**QUERY, "passages": passages}) == [(12, "passages")]
