"""How often judges pick the better answer: counts by hand, coins of known bias, mirrored sides."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit, logit

from surrogate_arena.papers.pairs.pair_accuracy import SCORES, score_pairs

WINNERS = ["a", "b", "tie", None]


def asked(rows):
    """Verdicts: question, pair, is the better answer on side A, winner, is the longer one on A."""
    columns = ["question", "pair", "better_on_a", "winner", "longer_on_a"]
    return pd.DataFrame(rows, columns=columns)


def values(verdicts, **options):
    return {name: score.value for name, score in score_pairs(verdicts, **options).items()}


def test_scores_are_those_counted_by_hand():
    verdicts = asked(
        [
            ("q1", 0, True, "a", 1),  # right twice, the better one is the longer one
            ("q1", 0, False, "b", -1),
            ("q1", 1, True, "a", -1),  # A twice: a flip
            ("q1", 1, False, "a", 1),
            ("q2", 2, True, "tie", 0),  # a tie and a failure
            ("q2", 2, False, None, 0),
            ("q2", 3, True, "b", -1),  # wrong, in one order
        ]
    )
    scores = score_pairs(verdicts)
    assert scores["consistent_accuracy"].value == pytest.approx(1 / 3)
    assert scores["consistent_accuracy"].n == 3
    assert scores["accuracy"].value == pytest.approx((3 + 0.5) / 7)
    assert scores["flip_rate"].value == pytest.approx(1 / 2)  # a pair with a failure says nothing
    assert scores["share_a"].value == pytest.approx((2 / 3 + 1 / 2) / 2)
    # Where the better one is longer it wins 2 of 2; where it is shorter, the longer one 2 of 3.
    assert scores["share_longer"].value == pytest.approx((1 + 2 / 3) / 2)
    assert scores["tie_share"].value == pytest.approx(1 / 6)


def coin_verdicts(chance_right, chance_a, n_questions=400):
    """A judge that says A without a look with one chance, else is right with another."""
    random = np.random.default_rng(0)
    rows = []
    for number in range(4 * n_questions):
        longer_is_better = random.random() < 0.8
        for better_on_a in (True, False):
            says_a = (random.random() < chance_right) == better_on_a
            if random.random() < chance_a:
                says_a = True
            longer = 1 if longer_is_better == better_on_a else -1
            winner = "a" if says_a else "b"
            rows.append((f"q{number // 4}", number, better_on_a, winner, longer))
    return asked(rows)


def test_a_judge_that_is_right_by_quality_alone_has_no_preference():
    """The better answer is the longer one 80% of the time, which must not count as a habit."""
    scores = score_pairs(coin_verdicts(chance_right=0.8, chance_a=0.0))
    assert scores["consistent_accuracy"].value == pytest.approx(0.64, abs=0.03)
    assert scores["flip_rate"].value == pytest.approx(2 * 0.8 * 0.2, abs=0.03)
    for name in ("share_a", "share_longer"):
        assert scores[name].value == pytest.approx(0.5, abs=0.02)
        assert scores[name].low < 0.5 < scores[name].high


def test_a_side_that_is_liked_is_measured():
    scores = score_pairs(coin_verdicts(chance_right=0.8, chance_a=0.3))
    assert scores["share_a"].value == pytest.approx(0.3 + 0.7 * 0.5, abs=0.02)
    assert scores["share_a"].low > 0.5
    # The standard error over questions is that of 2,800 independent verdicts, here.
    assert scores["share_a"].standard_error == pytest.approx(np.sqrt(0.65 * 0.35 / 3200), rel=0.3)


def test_questions_and_not_pairs_are_drawn():
    """Ten copies of each question's pair tell no more than one: the interval stays as wide."""
    one = coin_verdicts(chance_right=0.7, chance_a=0.0, n_questions=30)
    copies = [one.assign(pair=one["pair"] + 1000 * number) for number in range(10)]
    errors = [
        score_pairs(verdicts)["accuracy"].standard_error for verdicts in (one, pd.concat(copies))
    ]
    assert errors[0] == pytest.approx(errors[1])


def test_a_judge_that_never_errs_on_few_questions_is_not_certain():
    rows = [
        (f"q{n}", n, side, "a" if side else "b", 0) for n in range(20) for side in (True, False)
    ]
    score = score_pairs(asked(rows))["consistent_accuracy"]
    assert (score.value, score.high) == (1.0, 1.0)
    assert score.low == pytest.approx(20 / (20 + 1.959964**2))  # Wilson's bound of 20 of 20
    in_one_order = [(f"p{n}", 20 + n, True, "a", 0) for n in range(100)]
    assert score_pairs(asked(rows + in_one_order))["consistent_accuracy"] == score


@pytest.mark.parametrize("n_questions", [10, 40])
def test_intervals_of_a_judge_that_guesses_whole_questions_hold_one_half(n_questions):
    random = np.random.default_rng(1)
    misses = 0
    for _ in range(60):
        rights = random.random(n_questions) < 0.5
        rows = [
            (f"q{question}", 3 * question + number, right, "a", 0)
            for question, right in enumerate(rights)
            for number in range(3)
        ]
        score = score_pairs(asked(rows), replicates=100)["accuracy"]
        misses += not score.low <= 0.5 <= score.high
    assert misses <= 6  # 5% of 60, and two standard errors


def test_few_questions_that_hold_all_errors_leave_few_degrees_of_freedom():
    rows = [(f"q{number // 3}", number, True, "a", 0) for number in range(240)]
    rows[:6] = [(question, number, False, "a", 0) for question, number, *_ in rows[:6]]
    score = score_pairs(asked(rows))["accuracy"]
    share = 78 / 80
    squares = np.array([share**2] * 2 + [(1 - share) ** 2] * 78)
    degrees = squares.sum() ** 2 / (squares**2).sum()
    assert 2 < degrees < 2.2
    half_width = stats.t.ppf(0.975, degrees) * score.standard_error / (share * (1 - share))
    bounds = expit(logit(share) + np.array([-half_width, half_width]))
    assert [score.value, score.low, score.high] == pytest.approx([share, *bounds])


def test_scores_without_a_pair_in_both_orders_are_missing():
    scores = score_pairs(asked([("q1", 0, True, "a", 1), ("q2", 1, True, "a", 1)]))
    for name in ("consistent_accuracy", "flip_rate", "share_a", "share_longer"):
        assert np.isnan([scores[name].value, scores[name].low, scores[name].standard_error]).all()
    assert scores["accuracy"].value == 1.0
    assert np.isnan(score_pairs(asked([]))["accuracy"].value)


@st.composite
def verdict_tables(draw):
    rows = []
    for pair in range(draw(st.integers(1, 8))):
        longer = draw(st.sampled_from([-1, 0, 1]))
        for better_on_a in draw(st.sampled_from([(True,), (False,), (True, False)])):
            winner = draw(st.sampled_from(WINNERS))
            rows.append(
                (f"q{pair % 3}", pair, better_on_a, winner, longer if better_on_a else -longer)
            )
    return asked(rows)


@pytest.mark.slow
@given(verdict_tables(), st.randoms())
def test_mirrored_sides_and_the_order_of_rows_change_nothing_else(verdicts, random):
    mirrored = verdicts.assign(
        better_on_a=~verdicts["better_on_a"].astype(bool),
        winner=verdicts["winner"].map({"a": "b", "b": "a", "tie": "tie"}),
        longer_on_a=-verdicts["longer_on_a"],
    )
    places = list(range(len(verdicts)))
    random.shuffle(places)
    before, after = values(verdicts), values(mirrored.iloc[places])
    for name in SCORES:
        expected = 1 - before[name] if name == "share_a" else before[name]
        assert after[name] == pytest.approx(expected, nan_ok=True), name
    assert before["consistent_accuracy"] <= 1 or np.isnan(before["consistent_accuracy"])


def test_no_result_depends_on_the_order_of_columns():
    verdicts = coin_verdicts(0.8, 0.1, 20)
    assert score_pairs(verdicts[verdicts.columns[::-1]]) == score_pairs(verdicts)
