"""What judges like besides quality, estimated with the ratings."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from shared_data import shared_path

from arena import read_arena
from arena.data.errors import UsageError
from arena.rating.battles import Battles
from arena.rating.biases import answer_lengths, with_lengths
from arena.rating.bradley_terry import NormalPrior
from arena.rating.likelihood import BattleLikelihood
from arena.rating.posterior import battle_posterior

STRENGTHS = np.array([0.9, 0.3, -0.3, -0.9])
NAMES = np.array(["s0", "s1", "s2", "s3"], dtype=object)


def drawn(questions, side, seed=0, judge="j", both=False):
    """Verdicts on all pairs, each with a random side (or both), of a judge that likes side A."""
    random = np.random.default_rng(seed)
    one, other = np.triu_indices(4, 1)
    one, other = np.tile(one, questions), np.tile(other, questions)
    question = np.repeat(np.arange(questions), 6)
    is_swapped = random.random(len(one)) < 0.5
    if both:
        one, other, question = np.tile(one, 2), np.tile(other, 2), np.tile(question, 2)
        is_swapped = np.repeat([False, True], len(one) // 2)
    a, b = np.where(is_swapped, other, one), np.where(is_swapped, one, other)
    won = random.random(len(a)) < expit(STRENGTHS[a] - STRENGTHS[b] + side)
    return pd.DataFrame(
        {
            "query_id": [f"q{number:03}" for number in question],
            "language": "en",
            "system_a": NAMES[a],
            "system_b": NAMES[b],
            "winner": np.where(won, "a", "b"),
            "judge": judge,
        }
    )


def mirrored(table):
    swapped = table.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    return swapped.assign(winner=table["winner"].map({"a": "b", "b": "a"}))


def posterior_of(table):
    return battle_posterior(Battles.from_judgments(table))


def without_priors(battles):
    items = battles.items_by_side
    biases = replace(items.biases, precisions=np.zeros_like(items.biases.precisions))
    likelihood = BattleLikelihood(replace(items, biases=biases))
    return likelihood.mode(NormalPrior.ridge(len(battles.systems), 0.0))


def test_of_two_systems_the_side_has_the_closed_form():
    """With p and q the shares of side A in both orders, side is (logit p + logit q) / 2."""
    winners = ["a"] * 7 + ["b"] * 3, ["a"] * 6 + ["b"] * 4
    rows = [(f"q{n}", "x", "y", winner) for n, winner in enumerate(winners[0])]
    rows += [(f"q{n}", "y", "x", winner) for n, winner in enumerate(winners[1])]
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])
    x, y, side = without_priors(Battles.from_judgments(table))
    assert side == pytest.approx((logit(0.7) + logit(0.6)) / 2)
    assert x - y == pytest.approx((logit(0.7) - logit(0.6)) / 2)


def test_rakuda_equals_the_published_fit_with_a_position_term():
    folder = shared_path("data/arenas/rakuda")
    arena = read_arena(folder)
    golden = pd.read_csv(folder / "mle_golden.csv", index_col="model_id")
    battles = Battles.from_judgments(arena.judgments)
    *ratings, side = without_priors(battles)
    elo = 1000 + 400 / np.log(10) * pd.Series(ratings, list(battles.systems))
    assert (elo - golden["scout_refit_elo"]).abs().max() < 1e-3
    assert side == pytest.approx(-0.156, abs=0.001)


@pytest.mark.slow
@settings(max_examples=15)
@given(seed=st.integers(0, 50), side=st.sampled_from([-1.0, 0.0, 0.7]))
def test_mirrored_sides_mirror_the_bias_and_leave_the_ratings(seed, side):
    table = drawn(8, side, seed)
    posterior, other = posterior_of(table), posterior_of(mirrored(table))
    np.testing.assert_allclose(other.ratings, posterior.ratings, atol=1e-7)
    np.testing.assert_allclose(other.covariance, posterior.covariance, atol=1e-7)
    assert other.biases[0].coefficient == pytest.approx(-posterior.biases[0].coefficient, abs=1e-7)


@pytest.mark.slow
@settings(max_examples=15)
@given(seed=st.integers(0, 50), order=st.permutations(range(4)))
def test_names_of_systems_and_judges_change_nothing(seed, order):
    table = pd.concat([drawn(6, 1.0, seed, "j"), drawn(6, -1.0, seed + 1, "k")])
    names = dict(zip(NAMES, NAMES[list(order)], strict=True))
    renamed = table.replace({"system_a": names, "system_b": names, "judge": {"j": "z"}})
    posterior, other = posterior_of(table), posterior_of(renamed)
    np.testing.assert_allclose(other.ratings[list(order)], posterior.ratings, atol=1e-7)
    coefficients = {bias.judge: bias.coefficient for bias in posterior.biases}
    others = {bias.judge: bias.coefficient for bias in other.biases}
    assert others["z"] == pytest.approx(coefficients["j"], abs=1e-7)
    assert others["k"] == pytest.approx(coefficients["k"], abs=1e-7)


def test_each_judge_has_the_side_its_verdicts_were_drawn_with_and_people_are_one():
    parts = [drawn(80, 1.0, 1, "bot"), drawn(80, -0.5, 2, "other")]
    parts += [drawn(40, 0.0, 3, "human"), drawn(40, 0.0, 4, "crowd")]
    biases = {bias.judge: bias for bias in posterior_of(pd.concat(parts)).biases}
    assert set(biases) == {"bot", "other", "people"}
    for judge, side in (("bot", 1.0), ("other", -0.5), ("people", 0.0)):
        low, high = biases[judge].bounds
        assert low < side < high
        assert high - low < 0.9


@pytest.mark.slow
def test_few_verdicts_in_random_orders_rate_better_with_the_side():
    gains = []
    for seed in range(40):
        battles = Battles.from_judgments(drawn(4, 2.0, seed))
        with_side = battle_posterior(battles).ratings
        plain = BattleLikelihood(battles.items).mode(NormalPrior.ridge(4, 1.0))
        gains.append(np.corrcoef(with_side, STRENGTHS)[0, 1] - np.corrcoef(plain, STRENGTHS)[0, 1])
    assert np.mean(gains) > 2 * np.std(gains) / np.sqrt(len(gains))


def test_a_system_that_always_stood_first_is_left_to_the_prior():
    """Side and system cannot be told apart: all is finite, and the interval says so."""
    table = drawn(40, 0.0)
    has_first = (table[["system_a", "system_b"]] == "s0").any(axis=1)
    is_behind = has_first & (table["system_b"] == "s0")
    fixed = pd.concat([table[~has_first][:0], table[has_first & ~is_behind]])
    fixed = pd.concat([fixed, mirrored(table[is_behind])])
    spread, known = posterior_of(fixed), posterior_of(table[has_first])
    assert np.isfinite(spread.covariance).all()
    assert abs(spread.biases[0].coefficient) < 1.0
    assert spread.biases[0].standard_error > 1.5 * known.biases[0].standard_error
    assert spread.standard_errors[0] > known.standard_errors[0]
    # What the system won is shared between it and its side.
    assert 0.0 < spread.ratings[0] < known.ratings[0] + 0.3
    np.testing.assert_allclose(np.diff(spread.ratings[1:]), np.diff(known.ratings[1:]), atol=0.3)


def test_without_battles_there_is_no_bias():
    nothing = Battles.none(tuple(NAMES), ("q",))
    posterior = battle_posterior(nothing)
    assert all(bias.coefficient == 0.0 for bias in posterior.biases)
    assert not posterior.ratings.any()


def test_lengths_are_compared_without_reasons_and_up_to_a_bound():
    answers = pd.DataFrame(
        {
            "query_id": "q",
            "language": "en",
            "system": ["short", "long"],
            "answer": ["<think>Let me see.</think>one two", "one two three four five six seven"],
        }
    )
    assert answer_lengths(answers).tolist() == [7, 33]
    row = {"query_id": "q", "language": "en", "system_a": "short", "system_b": "long"}
    table = with_lengths(pd.DataFrame([row]), answers)
    assert table["trait_length"][0] == -1.0, "no further than a factor of 2.7"
    absent = with_lengths(pd.DataFrame([{**row, "system_a": "no"}]), answers)
    assert np.isnan(absent["trait_length"][0])
    with pytest.raises(UsageError, match="finite"):
        Battles.from_judgments(absent.assign(winner="a"))


def test_a_judge_of_length_is_found_and_the_ratings_are_those_at_equal_length():
    """s3 writes most, so that a judge of length overrates it."""
    random = np.random.default_rng(5)
    table = drawn(80, 0.0, 5)
    lengths = random.normal(0.0, 0.4, (80, 4))
    lengths[:, 3] += 0.6
    question = table["query_id"].str[1:].astype(int).to_numpy()
    of_a, of_b = (table[side].str[1:].astype(int).to_numpy() for side in ("system_a", "system_b"))
    difference = np.clip(lengths[question, of_a] - lengths[question, of_b], -1.0, 1.0)
    chance = expit(STRENGTHS[of_a] - STRENGTHS[of_b] + 2.0 * difference)
    table["winner"] = np.where(random.random(len(table)) < chance, "a", "b")
    raw = posterior_of(table)
    equal = posterior_of(table.assign(trait_length=difference))
    (side, length) = equal.biases
    assert (side.trait, length.trait) == ("side", "length")
    assert length.bounds[0] < 2.0 < length.bounds[1]
    assert raw.ratings[3] > STRENGTHS[3] + 0.4
    assert abs(equal.ratings[3] - STRENGTHS[3]) < 0.4
