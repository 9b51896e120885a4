"""Conditions, types, and the pipeline: what is asked, what follows, and what is null."""

import pytest
from grouse_samples import TableJudge, answer
from hypothesis import given
from hypothesis import strategies as st

from surrogate_arena.papers.grouse.judges import scores_of_judge
from surrogate_arena.papers.grouse.metrics import JUDGED_METRICS, METRICS, SCALES
from surrogate_arena.papers.grouse.unit_tests import (
    TEST_TYPES,
    Condition,
    all_conditions,
    type_name,
)
from surrogate_arena.papers.judges import FunctionJudge
from surrogate_arena.papers.verdict import Verdict

VALUES = {
    metric: st.one_of(st.none(), st.sampled_from(SCALES[metric])) for metric in JUDGED_METRICS
}


@pytest.mark.parametrize(
    ("text", "holds", "fails"),
    [
        ("==5", [5], [4, 1, None]),
        ("<5", [1, 4], [5, None]),
        (">= 3", [3, 5], [2, None]),
        ("==None", [None], [0, 1, 5]),
        ("!=1", [0, None], [1]),
        ("==True", [1], [0, None]),
    ],
)
def test_conditions(text, holds, fails):
    condition = Condition.parse(text)
    assert all(condition.holds(value) for value in holds)
    assert not any(condition.holds(value) for value in fails)
    assert Condition.parse(str(condition)) == condition


FIGURE_4 = {
    1: "5 5 / 1 / /",
    2: "/ / / / 1 1",
    3: "/ / 1 1 1 1",
    4: "5 5 / 1 / /",
    5: "/ / / / 1 1",
    6: "5 5 / 1 / /",
    7: "/ / 1 1 1 1",
    8: "<5 5 / 1 / /",
    9: "1 / / 1 / 0",
    10: "5 <5 / 1 / /",
    11: "/ 1 / / 0 /",
    12: "/ 1 1 1 0 /",
    13: "/ / 0 1 1 1",
    14: "5 5 / 0 / /",
    15: "5 5 / 0 / /",
    16: "5 5 / 0 / /",
}
"""Expected scores of a test type by ``METRICS``, a slash for null."""


def test_all_conditions_are_those_of_figure_4():
    for number, kind in enumerate(TEST_TYPES, start=1):
        conditions = all_conditions(kind.conditions)
        assert list(conditions) == list(METRICS)
        written = [str(condition).removeprefix("==") for condition in conditions.values()]
        assert " ".join(written).replace("None", "/") == FIGURE_4[number]


def test_names_of_types():
    written = ["Highest marks 3", "Low answer relevancy 1", "Low relevancy 2", "mine", None]
    names = ["highest_marks_3", "low_relevancy_1", "low_relevancy_2"]
    assert list(map(type_name, written)) == [*names, "mine", "untyped"]


@given(st.lists(st.fixed_dictionaries(VALUES), min_size=1, max_size=6))
def test_metrics_are_defined_where_figure_2_says(said):
    asked = set()

    def score(metric, *texts):
        asked.add((int(texts[-1]), metric))
        return said[int(texts[-1])][metric]

    judge = FunctionJudge("f", score)
    scored = scores_of_judge([answer(str(place)) for place in range(len(said))], judge)
    for place, (marks, scores) in enumerate(zip(said, scored, strict=True)):
        assert list(scores) == list(METRICS)
        responds = marks["answer_relevancy"] is not None
        assert ((place, "usefulness") in asked) != responds
        informs = responds or marks["usefulness"] is not None
        assert ((place, "faithfulness") in asked) == informs
        accepted, rejected = (scores[name].value for name in METRICS[-2:])
        assert (accepted is None) == responds
        assert (rejected is None) == (marks["completeness"] is not None)


def test_what_depends_on_a_failure_fails_with_it():
    judge = TableJudge(answer_relevancy=Verdict(None, "unparsable"), completeness=5)
    scores = scores_of_judge([answer()], judge)[0]
    assert [metric for metric, _ in judge.asked] == ["answer_relevancy", "completeness"]
    assert scores["completeness"].value == 5
    assert scores["answer_relevancy"].failure == "unparsable"
    blocked = ("usefulness", "faithfulness", "positive_acceptance", "negative_rejection")
    assert {scores[name].failure for name in blocked} == {"answer_relevancy: unparsable"}
    assert all(scores[name].was_asked and scores[name].value is None for name in blocked)
