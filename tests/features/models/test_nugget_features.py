"""Features of nuggets: scores of marked answers, and reasons where there are none."""

from dataclasses import replace

import pandas as pd
import pytest

from arena import Arena
from arena.data.answer_digests import answer_digest
from arena.judging.nuggets.tables import Nuggets
from features import extract
from features.models.nuggets import NO_NUGGET_MARKS, NO_VITAL_NUGGETS
from surrogate.board.slices import sliced

NUGGETS = [("q1", "1", "red", "vital"), ("q1", "2", "green", "okay"), ("q2", "1", "blue", "okay")]
OUTPUTS = {("q1", "one"): "Red.", ("q1", "two"): "Green.", ("q2", "one"): "Blue."}
MARKS = [
    *(("q1", "one", "1", "red", "supported", "m"), ("q1", "one", "2", "green", "partly", "m")),
    *(("q1", "one", "1", "red", "not", "n"), ("q1", "one", "2", "green", "not", "n")),
    ("q1", "two", "2", "green", "supported", "m"),
    ("q2", "one", "1", "blue", "partly", "m"),
]


@pytest.fixture
def arena():
    questions = pd.DataFrame({"query_id": ["q1", "q2"], "query": ["A?", "B?"], "kind": "color"})
    answers = pd.DataFrame(
        [(*key, output) for key, output in OUTPUTS.items()],
        columns=["query_id", "system", "answer"],
    )
    plain = Arena.from_frames(questions, answers, language="en")
    table = pd.DataFrame(NUGGETS, columns=["query_id", "nugget_id", "text", "importance"])
    columns = ["query_id", "system", "nugget_id", "nugget", "support", "judge"]
    marks = pd.DataFrame(MARKS, columns=columns)
    digests = [answer_digest(OUTPUTS[row[0], row[1]]) for row in MARKS]
    both = Nuggets(table.assign(language="en"), marks.assign(language="en", answer_digest=digests))
    return replace(plain, further=both.tables)


def measured(arena, **options):
    table = extract(arena, "nuggets", **options)
    return table.set_index(["query_id", "system"])


def test_scores_are_means_over_judges_and_incomplete_marks_do_not_count(arena):
    table = measured(arena)
    # One judge: (2 + .5) / 3 of the weight; the other: nothing.
    assert table.loc[("q1", "one"), "nugget_score"] == pytest.approx((1 + 0.25) / 1.5 / 2)
    assert table.loc[("q1", "one"), "nugget_vital_strict"] == 0.5
    assert table.loc[("q1", "one"), "nugget_all_strict"] == 0.25
    assert table.loc[("q1", "two"), "nugget_score:missing"] == str(NO_NUGGET_MARKS)
    assert table.loc[("q2", "one"), "nugget_score"] == 0.5
    assert table.loc[("q2", "one"), "nugget_vital_strict:missing"] == str(NO_VITAL_NUGGETS)


def test_marks_of_another_text_do_not_count(arena):
    table = Nuggets.of(arena).table.replace("blue", "navy")
    changed = replace(arena, further=Nuggets(table, Nuggets.of(arena).marks).tables)
    values = measured(changed)
    assert values.loc[("q2", "one"), "nugget_score:missing"] == str(NO_NUGGET_MARKS)
    assert values.loc[("q1", "one"), "nugget_all_strict"] == 0.25


def test_new_systems_have_values_where_their_answer_is_marked(arena):
    rows = [("q2", "en", "new", "Blue."), ("q1", "en", "new", "Pink.")]
    new = pd.DataFrame(rows, columns=["query_id", "language", "system", "answer"])
    values = measured(arena, answers=new)["nugget_score"]
    assert values["q2", "new"] == 0.5
    assert pd.isna(values["q1", "new"])


def test_cached_values_follow_the_marks(arena, tmp_path):
    before = measured(arena, cache=tmp_path)
    marks = Nuggets.of(arena).marks.replace({"support": {"partly": "supported"}})
    changed = replace(arena, further=Nuggets(Nuggets.of(arena).table, marks).tables)
    after = measured(changed, cache=tmp_path)
    assert before.loc[("q2", "one"), "nugget_score"] == 0.5
    assert after.loc[("q2", "one"), "nugget_score"] == 1.0


def test_nuggets_follow_their_questions_into_other_parts(arena):
    by_kind = sliced(arena, "kind")
    assert set(Nuggets.of(by_kind).marks["language"]) == {"color"}
    values = measured(by_kind)["nugget_score"].dropna()
    assert values.to_dict() == measured(arena)["nugget_score"].dropna().to_dict()
