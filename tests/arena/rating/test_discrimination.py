"""One discrimination a judge: simulated judges, symmetries, limits."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.rating.discrimination import judge_discriminations

COLUMNS = ["language", "query_id", "system_a", "system_b", "winner", "judge"]
MIRROR = {"a": "b", "b": "a", "tie": "tie"}


def simulated(discriminations, n_questions=60, ratings=(1.5, 0.5, -0.5, -1.5), seed=0):
    """Verdicts of judges on all pairs of systems, each pair in one order drawn."""
    random = np.random.default_rng(seed)
    rows = []
    for question in range(n_questions):
        for one in range(len(ratings)):
            for other in range(one):
                first, second = random.permutation([one, other])
                for judge, factor in discriminations.items():
                    logit = factor * (ratings[first] - ratings[second])
                    winner = "a" if random.random() < 1 / (1 + np.exp(-logit)) else "b"
                    rows.append(("en", f"q{question}", f"s{first}", f"s{second}", winner, judge))
    return pd.DataFrame(rows, columns=COLUMNS)


@pytest.mark.slow
def test_simulated_discriminations_are_recovered_within_their_intervals():
    truth = {"sharp": 2.0, "fair": 1.0, "blunt": 0.5}
    n_inside = 0
    for seed in range(10):
        fit = judge_discriminations(simulated(truth, seed=seed), list(truth))
        relative = np.array(list(truth.values()))  # their geometric mean is 1
        distances = np.abs(np.log(fit.discriminations / relative))
        n_inside += int((distances < 1.96 * fit.log_errors).sum())
        assert list(fit.table()["judge"]) == ["sharp", "fair", "blunt"]
    assert n_inside >= 25


def test_a_judge_that_guesses_tells_least_and_ratings_hardly_move():
    fit = judge_discriminations(simulated({"x": 1.0, "y": 1.0, "coin": 0.0}), ["x", "y", "coin"])
    table = fit.table().set_index("judge")
    assert table.loc["coin", "high"] < table.loc[["x", "y"], "low"].min()
    assert list(fit.ratings.sort_values().index.get_level_values("system")) == [
        "s3",
        "s2",
        "s1",
        "s0",
    ]


def test_judges_with_the_same_verdicts_tell_the_same():
    table = simulated({"x": 1.0})
    fit = judge_discriminations(pd.concat([table, table.assign(judge="y")]), ["x", "y"])
    np.testing.assert_allclose(fit.discriminations, 1.0, atol=1e-5)
    assert fit.log_errors.max() < 0.02  # only the prior leaves any doubt


def test_without_verdicts_or_with_one_question_values_are_missing():
    fit = judge_discriminations(simulated({"x": 1.0, "y": 0.5}, 1), ["x", "y", "absent"])
    assert list(fit.n_verdicts) == [6, 6, 0]
    assert np.isfinite(fit.discriminations[:2]).all()
    assert np.isnan(fit.discriminations[2])
    assert np.isnan(fit.log_errors).all()
    none = judge_discriminations(simulated({"x": 1.0}, 1).iloc[:0], ["x", "y"])
    assert np.isnan(none.discriminations).all()
    assert none.ratings.empty


@pytest.mark.slow
@settings(max_examples=10)
@given(st.integers(0, 100), st.permutations(range(4)))
def test_names_sides_and_order_of_rows_decide_nothing(seed, numbers):
    table = simulated({"x": 1.5, "y": 0.7}, 5, seed=seed)
    names = {f"s{number}": f"t{place}" for place, number in enumerate(numbers)}
    swapped = table.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    swapped = swapped.assign(winner=swapped["winner"].map(MIRROR)).sample(frac=1, random_state=0)
    renamed = swapped.assign(
        system_a=swapped["system_a"].map(names), system_b=swapped["system_b"].map(names)
    )
    one = judge_discriminations(table, ["x", "y"])
    other = judge_discriminations(renamed, ["y", "x"])
    np.testing.assert_allclose(one.discriminations, other.discriminations[::-1], atol=1e-4)
    np.testing.assert_allclose(one.log_errors, other.log_errors[::-1], atol=1e-4)
    mapped = other.ratings.reindex([("en", names[system]) for _, system in one.ratings.index])
    np.testing.assert_allclose(one.ratings, mapped, atol=1e-4)
