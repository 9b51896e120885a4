"""The statistics of a diagnosis against other libraries, and their properties."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score

from arena.diagnostics import diagnose_judgments
from arena.diagnostics.bias import side_preference
from arena.diagnostics.judge_agreement import MANY_JUDGES
from arena.rating.battles import Battles
from arena.statistics.significance import clustered_slope, wilson_interval

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


@given(st.integers(0, 60), st.integers(1, 60))
def test_intervals_are_those_of_scipy(won, more):
    low, high = wilson_interval([won], [won + more])
    expected = binomtest(won, won + more).proportion_ci(method="wilson")
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_nothing_tried_has_no_interval():
    low, high = wilson_interval([0], [0])
    assert np.isnan([low[0], high[0]]).all()
    assert side_preference(low[0], high[0]) == "unknown"
    assert [side_preference(*bounds) for bounds in ((0.6, 0.7), (0.3, 0.4), (0.4, 0.6))] == [
        *["up", "down", "none"]
    ]


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


def test_kappa_and_its_interval_follow_the_seed():
    table = two_judges(30)
    row = diagnose_judgments(table).agreement.iloc[0]
    assert row[["items", "questions", "agreement", "kappa"]].tolist() == [40, 40, 0.75, 0.5]
    assert row["low"] < 0.5 < row["high"]
    # The share of agreement is binomial, kappa twice it minus 1.
    assert row["high"] - row["low"] == pytest.approx(2 * 3.92 * np.sqrt(0.75 * 0.25 / 40), rel=0.15)
    assert diagnose_judgments(table).agreement.iloc[0].equals(row)
    others = [diagnose_judgments(table, seed=seed).agreement.iloc[0] for seed in range(1, 6)]
    assert not all(other.equals(row) for other in others)


def test_one_shared_question_has_no_interval():
    row = diagnose_judgments(two_judges(1, questions=1)).agreement.iloc[0]
    assert row["kappa"] == 1
    assert np.isnan(row["low"])


def test_judges_who_only_tie_have_no_kappa():
    found = diagnose_judgments(two_judges(5).assign(winner="tie"))
    assert np.isnan(found.agreement.iloc[0]["kappa"])
    assert any("both only tie" in finding.sentence for finding in found.findings)


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


def test_many_judges_are_summarized_and_too_many_left_out():
    rows = [("q1", "x", "y", "a", f"j{number:02}") for number in range(MANY_JUDGES + 3)]
    columns = ["query_id", "system_a", "system_b", "winner", "judge"]
    table = pd.DataFrame(rows, columns=columns).assign(language="en")
    found = diagnose_judgments(table, pool=True)
    assert len(found.agreement) == MANY_JUDGES * (MANY_JUDGES - 1) // 2
    said = [str(finding) for finding in found.findings if finding.check == "agreement"]
    assert said == [
        "en: 1,225 pairs of judges share items; median kappa 1.00, below 0.4 for 0 of 1,225 pairs",
        "judges: the 50 most active are compared, 3 are not",
    ]
