"""The statistics of a diagnosis against other libraries, and their properties."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn.metrics import cohen_kappa_score

from arena.diagnostics import diagnose_judgments
from arena.rating.battles import Battles
from arena.statistics.significance import clustered_slope

SYSTEMS = ("ada", "bo", "cy", "di")
MIRRORED = {"a": "b", "b": "a", "tie": "tie"}
BY_GROUP = ("overview", "connections", "coverage", "position", "order_consistency")


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


def same(one, other, but=()):
    pd.testing.assert_frame_equal(one.drop(columns=list(but)), other.drop(columns=list(but)))


@settings(max_examples=5)
@given(judgment_tables())
def test_mirroring_turns_the_share_of_side_a_around_and_changes_no_flip_or_kappa(table):
    plain, turned = diagnose_judgments(table), diagnose_judgments(mirrored(table))
    np.testing.assert_allclose(turned.position["share"], 1 - plain.position["share"])
    np.testing.assert_allclose(turned.position["low"], 1 - plain.position["high"], atol=1e-12)
    sides = ["flipped_to_a", "flipped_to_b"]
    same(turned.order_consistency, plain.order_consistency, sides)
    assert turned.order_consistency[sides[0]].equals(plain.order_consistency[sides[1]])
    same(turned.agreement, plain.agreement)
    same(turned.connections, plain.connections)


@settings(max_examples=5)
@given(judgment_tables())
def test_pairs_and_records_are_counted_as_ratings_count_them(table):
    found = diagnose_judgments(table)
    for group, judged in table.groupby(["language", "judge"]):
        battles = Battles.from_judgments(judged)
        counts = battles.count()
        pairs = found.pairs.set_index(["language", "judge"]).loc[[group]]
        names = np.array(battles.systems)
        assert pairs["first"].tolist() == names[counts.pairs.first].tolist()
        assert pairs["second"].tolist() == names[counts.pairs.second].tolist()
        for outcome in ("wins", "losses", "ties"):
            assert pairs[outcome].tolist() == getattr(counts.totals, outcome)[:, 0].tolist()
        records = found.systems.set_index(["language", "judge"]).loc[[group]]
        same(
            records[["system", "wins", "losses", "ties"]].reset_index(drop=True), battles.records()
        )


@settings(max_examples=5)
@given(judgment_tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(table, random):
    order = list(range(len(table)))
    random.shuffle(order)
    plain = diagnose_judgments(table)
    shuffled = diagnose_judgments(table.iloc[order])
    assert shuffled.findings == plain.findings
    assert shuffled.as_json() == plain.as_json()


@settings(max_examples=5)
@given(judgment_tables(), st.permutations(SYSTEMS))
def test_relabelling_systems_permutes_the_tables(table, names):
    names = dict(zip(SYSTEMS, names, strict=True))
    relabeled = table.assign(
        system_a=table["system_a"].map(names), system_b=table["system_b"].map(names)
    )
    plain, other = diagnose_judgments(table), diagnose_judgments(relabeled)
    for name in (*BY_GROUP, "agreement"):
        same(getattr(plain, name), getattr(other, name))
    numbers = ["group", "strong_group"]
    keys = ["language", "judge", "system"]
    moved = plain.systems.assign(system=plain.systems["system"].map(names)).sort_values(keys)
    same(moved.reset_index(drop=True).astype({"system": "str"}), other.systems, numbers)


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
    kappa = diagnose_judgments(table).agreement.iloc[0]["kappa"]
    sign = np.where(turned[: len(one)], -1, 1)
    if (one == 0).all() and (other == 0).all():
        assert np.isnan(kappa)
        return
    both = [np.concatenate([side * sign, -side * sign]) for side in (one, other)]
    assert kappa == pytest.approx(cohen_kappa_score(*both), abs=1e-12)


def test_the_slope_is_the_maximum_and_its_error_the_sandwich():
    random = np.random.default_rng(5)
    x = random.normal(size=200) * 3
    won = random.random(200) < 1 / (1 + np.exp(-0.4 * x))
    signed = np.where(won, x, -x)
    clusters = np.repeat(np.arange(20), 10)
    slope, error = clustered_slope(signed, clusters)
    scaled = signed / np.sqrt((signed**2).mean())
    best = minimize_scalar(lambda beta: np.logaddexp(0, -beta * scaled).sum(), tol=1e-12)
    assert slope == pytest.approx(best.x, abs=1e-6)
    residual = 1 / (1 + np.exp(slope * scaled))
    meat = sum(((scaled * residual)[clusters == g].sum()) ** 2 for g in range(20)) * 20 / 19
    bread = (scaled**2 * residual * (1 - residual)).sum()
    assert error == pytest.approx(np.sqrt(meat) / bread)


def test_a_slope_without_exceptions_or_with_one_question_is_not_defined():
    assert np.isnan(clustered_slope(np.array([1.0, 2.0]), ["q", "r"])).all()
    slope, error = clustered_slope(np.array([2.0, -1.0]), ["q", "q"])
    assert np.isfinite(slope)
    assert np.isnan(error)


def test_heavy_tails_do_not_throw_the_slope_off():
    signed = np.array([*[1e-3] * 500, 50.0, -1e-3])
    slope, _ = clustered_slope(signed, np.arange(len(signed)))
    scaled = signed / np.sqrt((signed**2).mean())
    gradient = (scaled * expit(-slope * scaled)).sum()
    assert abs(gradient) < 1e-8


def two_judges(agreeing, questions=40):
    rows = []
    for number in range(questions):
        winner = "ab"[number % 2]
        other = winner if number < agreeing else MIRRORED[winner]
        rows.append((f"q{number}", "x", "y", winner, "one"))
        rows.append((f"q{number}", "y", "x", MIRRORED[other], "two"))
    columns = ["query_id", "system_a", "system_b", "winner", "judge"]
    return pd.DataFrame(rows, columns=columns).assign(language="en")


def test_judges_made_of_others_are_not_held_against_them():
    table = two_judges(30)
    made = table[table["judge"] == "one"]
    for name in ("panel(one,two)", "calibrated:one"):
        table = pd.concat([table, made.assign(judge=name)], ignore_index=True)
    found = diagnose_judgments(table)
    assert found.agreement[["judge", "other_judge"]].to_numpy().tolist() == [["one", "two"]]
    assert [str(finding) for finding in found.findings if finding.check == "agreement"][1:] == [
        "calibrated:one, panel(one,two): not held against other judges, being made of their "
        "verdicts"
    ]
