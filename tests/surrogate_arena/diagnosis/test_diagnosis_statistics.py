"""The statistics of a diagnosis against other libraries, their properties, and agreement."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from surrogate_arena.diagnosis import diagnose
from surrogate_arena.diagnosis.agreement import agreement_with_reference

SYSTEMS = ("ada", "bo", "cy", "di")
MIRRORED = {"a": "b", "b": "a", "tie": "tie"}


@st.composite
def judgment_tables(draw):
    row = st.tuples(
        st.sampled_from(["q1", "q2", "q3"]),
        st.sampled_from(["en", "fi"]),
        st.permutations(SYSTEMS),
        st.sampled_from(["a", "b", "tie"]),
        st.sampled_from(["one", "two"]),
    )
    rows = draw(st.lists(row, min_size=1, max_size=40))
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    return pd.DataFrame([(q, lang, p[0], p[1], w, j) for q, lang, p, w, j in rows], columns=columns)


def mirrored(table):
    return table.assign(
        system_a=table["system_b"],
        system_b=table["system_a"],
        winner=table["winner"].map(MIRRORED),
    )


@pytest.mark.slow
@settings(max_examples=5)
@given(judgment_tables(), st.randoms(use_true_random=False))
def test_mirroring_turns_sides_around_and_the_order_of_rows_changes_nothing(table, random):
    plain, turned = diagnose(table), diagnose(mirrored(table))
    pd.testing.assert_frame_equal(turned.counts, plain.counts)
    sides = [found.tests[found.tests["name"] == "side"] for found in (turned, plain)]
    np.testing.assert_allclose(sides[0]["statistic"], 1 - sides[1]["statistic"], atol=1e-6)
    np.testing.assert_allclose(sides[0]["low"], 1 - sides[1]["high"], atol=1e-6)
    pd.testing.assert_frame_equal(turned.agreement, plain.agreement)
    order = list(range(len(table)))
    random.shuffle(order)
    assert diagnose(table.iloc[order]).as_json() == plain.as_json()


@settings(max_examples=8)
@given(
    st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), min_size=1, max_size=50),
    st.lists(st.booleans(), min_size=50, max_size=50),
)
def test_kappa_is_that_of_scikit_learn_on_both_orientations(verdicts, turned):
    one, other = np.array(verdicts).T
    rows = []
    for number, winners in enumerate(zip(one, other, strict=True)):
        for judge, outcome in zip(("one", "two"), winners, strict=True):
            sides = ("y", "x") if turned[number] else ("x", "y")
            winner = "tie" if outcome == 0 else "ab"[int((outcome == 1) == turned[number])]
            rows.append((f"q{number}", *sides, winner, judge))
    columns = ["query_id", "system_a", "system_b", "winner", "judge"]
    table = pd.DataFrame(rows, columns=columns).assign(language="en")
    kappa = diagnose(table).agreement.iloc[0]["kappa"]
    if (one == 0).all() and (other == 0).all():
        assert np.isnan(kappa)
        return
    both = [np.concatenate([side, -side]) for side in (one, other)]
    assert kappa == pytest.approx(cohen_kappa_score(*both), abs=1e-12)


def test_judges_made_of_others_are_not_held_against_them():
    rows = []
    for number in range(40):
        winner = "ab"[number % 2]
        other = winner if number < 30 else MIRRORED[winner]
        rows.append((f"q{number}", "x", "y", winner, "one"))
        rows.append((f"q{number}", "y", "x", MIRRORED[other], "two"))
    columns = ["query_id", "system_a", "system_b", "winner", "judge"]
    table = pd.DataFrame(rows, columns=columns).assign(language="en")
    made = table[table["judge"] == "one"]
    table = pd.concat([table, made.assign(judge="panel(one,two)")], ignore_index=True)
    found = diagnose(table)
    assert found.agreement[["judge", "other_judge"]].to_numpy().tolist() == [["one", "two"]]


def judged(outcomes, judge, turned=False):
    """Verdicts on systems s and t, one a question: 1 s wins, -1 t, 0 a tie."""
    sides = ("t", "s") if turned else ("s", "t")
    names = {1: "ba"[not turned], -1: "ab"[not turned], 0: "tie"}
    rows = [(f"q{n}", "en", *sides, names[outcome], judge) for n, outcome in enumerate(outcomes)]
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    return pd.DataFrame(rows, columns=columns)


@pytest.fixture
def truth():
    return np.random.default_rng(0).choice([1, 0, -1], size=60, p=[0.45, 0.1, 0.45])


def test_people_count_together_by_majority(truth):
    people = [judged(truth, "person:ada"), judged(truth, "person:bo")]
    people.append(judged(-truth, "person:cy"))
    table = pd.concat([*people, judged(truth, "m")], ignore_index=True)
    names = ["person:ada", "person:bo", "person:cy"]
    kappas = agreement_with_reference(table, names)
    assert list(kappas["judge"]) == ["m"]
    assert kappas["kappa"].iloc[0] == pytest.approx(1.0)
