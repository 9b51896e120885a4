"""Agreement statistics against other libraries, by hand, and where they are not defined."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import UsageError
from arena.statistics.agreement import (
    NO_PAIRS,
    NO_RATINGS,
    ONE_CATEGORY,
    Resampling,
    agreement_report,
    code_ratings,
    cohen_kappas,
    fleiss_kappa,
    gwet_ac1,
)

# Ratings, and the coefficients that irrCAC 0.4.4 gives for them (identity weights, 15 digits).
CASES = json.loads((Path(__file__).parent / "fixtures" / "agreement.json").read_text())
EXACT = {"abs": 1e-9, "rel": 1e-9}
POINT = Resampling(replicates=0)
ALL = (gwet_ac1, fleiss_kappa)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_coefficients_are_those_of_irrcac(case):
    ratings, expected = code_ratings(case["ratings"]), case["expected"]
    wanted = {
        gwet_ac1: expected["gwet"]["identity"],
        fleiss_kappa: expected["fleiss"]["identity"],
    }
    for coefficient, value in wanted.items():
        assert coefficient(ratings, POINT).value == pytest.approx(value, **EXACT)


def test_cohens_kappa_by_hand():
    # Agreement 0.7, by chance 0.5.
    assert cohen_kappas(np.array([[[20, 5], [10, 15]]])) == pytest.approx([0.4])


@pytest.mark.parametrize("coefficient", ALL)
@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([("a", "a"), ("a", "a")], ONE_CATEGORY),
        *(([("a",), ("b",)], NO_PAIRS), ([("a", None), (None, "b")], NO_PAIRS)),
        *(([], NO_RATINGS), ([()], NO_RATINGS), ([(None, None)], NO_RATINGS)),
    ],
)
def test_a_coefficient_that_is_not_defined_has_a_reason(coefficient, rows, reason):
    found = coefficient(code_ratings(rows))
    assert math.isnan(found.value)
    assert math.isnan(found.low)
    assert found.reason == reason


def test_unusable_ratings_are_refused():
    with pytest.raises(UsageError, match="'c'"):
        code_ratings([("a", "c")], categories=("a", "b"))
    with pytest.raises(UsageError, match="numbers"):
        code_ratings([("a", 1)])
    with pytest.raises(UsageError, match="given twice"):
        code_ratings([], categories=("a", "a"))
    with pytest.raises(UsageError, match="replicates"):
        Resampling(replicates=-1)


def test_intervals_hold_the_value_follow_the_seed_and_shrink_with_items():
    rows = next(case["ratings"] for case in CASES if case["name"] == "five raters")
    once, again, other = (
        gwet_ac1(code_ratings(rows), Resampling(400, seed=seed)) for seed in (1, 1, 2)
    )
    assert once == again
    assert (once.low, once.high) != (other.low, other.high)
    assert once.low < once.value < once.high
    assert once.replicates == 400
    many = gwet_ac1(code_ratings(rows * 16), Resampling(400, seed=1))
    assert many.high - many.low == pytest.approx((once.high - once.low) / 4, rel=0.25)


def test_report_is_strict_json_with_reasons():
    plain = agreement_report(code_ratings([("a",), ("b",)])).as_json()
    assert json.loads(json.dumps(plain, allow_nan=False))["ac1"] is None
    assert plain["reasons"]["fleiss_kappa"] == NO_PAIRS
    assert (plain["items"], plain["items_with_pairs"], plain["raters"]) == (2, 0, 1)


labels = st.one_of(st.none(), st.sampled_from("abc"))


@given(st.lists(st.lists(labels, min_size=3, max_size=3), min_size=2, max_size=12), st.randoms())
def test_raters_and_items_are_interchangeable(rows, random):
    shuffled = [random.sample(row, len(row)) for row in random.sample(rows, len(rows))]
    for coefficient in ALL:
        found = coefficient(code_ratings(rows), resampling=POINT)
        other = coefficient(code_ratings(shuffled), resampling=POINT)
        assert other.reason == found.reason
        assert other.value == pytest.approx(found.value, nan_ok=True, abs=1e-9)
