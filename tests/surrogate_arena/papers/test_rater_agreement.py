"""Agreement statistics against other libraries, by hand, and where they are not defined."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import UsageError
from arena.statistics.agreement import cohen_kappas
from surrogate_arena.papers.rater_agreement import agreement_report

CASES = json.loads((Path(__file__).parent / "fixtures" / "agreement.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_coefficients_are_those_of_irrcac(case):
    report = agreement_report(case["ratings"], replicates=0).coefficients
    for ours, theirs in (("ac1", "gwet"), ("fleiss_kappa", "fleiss")):
        wanted = case["expected"][theirs]["identity"]
        assert report[ours].value == pytest.approx(wanted, abs=1e-9, rel=1e-9)


def test_cohens_kappa_by_hand():
    # Agreement 0.7, by chance 0.5.
    assert cohen_kappas(np.array([[[20, 5], [10, 15]]])) == pytest.approx([0.4])


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([("a", "a"), ("a", "a")], "only one category"),
        ([("a",), ("b",)], "two ratings"),
        ([("a", None), (None, "b")], "two ratings"),
        ([], "no ratings"),
        ([()], "no ratings"),
        ([(None, None)], "no ratings"),
    ],
)
def test_a_coefficient_that_is_not_defined_has_a_reason(rows, reason):
    report = agreement_report(rows)
    for coefficient in report.coefficients.values():
        assert math.isnan(coefficient.value)
        assert math.isnan(coefficient.low)
        assert reason in coefficient.reason
    plain = json.loads(json.dumps(report.as_json(), allow_nan=False))["coefficients"]
    assert plain["ac1"]["value"] is None
    assert reason in plain["ac1"]["reason"]


def test_unusable_ratings_are_refused():
    with pytest.raises(UsageError, match="'c'"):
        agreement_report([("a", "c")], categories=("a", "b"))


def test_intervals_hold_the_value_follow_the_seed_and_shrink_with_items():
    rows = next(case["ratings"] for case in CASES if case["name"] == "five raters")
    once, again, other = (
        agreement_report(rows, replicates=400, seed=seed).coefficients["ac1"] for seed in (1, 1, 2)
    )
    assert once == again
    assert (once.low, once.high) != (other.low, other.high)
    assert once.low < once.value < once.high
    many = agreement_report(rows * 16, replicates=400, seed=1).coefficients["ac1"]
    assert many.high - many.low == pytest.approx((once.high - once.low) / 4, rel=0.25)


labels = st.one_of(st.none(), st.sampled_from("abc"))


@pytest.mark.slow
@given(st.lists(st.lists(labels, min_size=3, max_size=3), min_size=2, max_size=12), st.randoms())
def test_raters_and_items_are_interchangeable(rows, random):
    shuffled = [random.sample(row, len(row)) for row in random.sample(rows, len(rows))]
    report = agreement_report(rows, replicates=0).coefficients
    for name, other in agreement_report(shuffled, replicates=0).coefficients.items():
        assert other.reason == report[name].reason
        assert other.value == pytest.approx(report[name].value, nan_ok=True, abs=1e-9)
