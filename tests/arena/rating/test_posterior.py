"""Ratings as the posterior of what was asked."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from arena.data.errors import UsageError
from arena.rating import design_effects
from arena.rating.battles import Battles
from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior
from arena.rating.design_effects import DesignEffects
from arena.rating.likelihood import BattleLikelihood
from arena.rating.posterior import RatingPrior, battle_posterior

SYSTEMS = ("a", "b", "c", "d")


def judgments(questions=40, seed=0, strengths=(1.0, 0.3, -0.3, -1.0)):
    """Battles of all pairs on every question, with the sides swapped on every second one."""
    random = np.random.default_rng(seed)
    rows = [
        (f"q{question:03}", SYSTEMS[one], SYSTEMS[other])
        for question in range(questions)
        for one in range(4)
        for other in range(one + 1, 4)
    ]
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b"])
    strength = dict(zip(SYSTEMS, strengths, strict=True))
    apart = table["system_a"].map(strength) - table["system_b"].map(strength)
    table["winner"] = np.where(random.random(len(table)) < expit(apart), "a", "b")
    is_odd = table["query_id"].str[-1].isin(list("13579"))
    table.loc[is_odd] = mirrored(table[is_odd])
    return table


def mirrored(table):
    """Swap the sides."""
    swapped = table.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    swapped["winner"] = swapped["winner"].map({"a": "b", "b": "a", "tie": "tie"})
    return swapped[table.columns]


def known_of(means, error):
    rows = pd.DataFrame({"system": SYSTEMS, "rating": means, "standard_error": error})
    return RatingPrior.of_table(rows, SYSTEMS)


def test_two_systems_have_the_posterior_of_numerical_integration():
    """The difference d of two ratings is normal of variance 2 / precision under each prior."""
    table = judgments(60)
    two = table[table["system_a"].isin(["a", "b"]) & table["system_b"].isin(["a", "b"])]
    battles = Battles.from_judgments(two)
    prior = RatingPrior(np.zeros(2), np.full(2, 1.0), np.ones(2, dtype=bool))
    found = battle_posterior(battles, prior)
    wins, games = float((two["winner"] == "a").eq(two["system_a"] == "a").sum()), len(two)
    rate_of_wins = expit(found.ratings[0] - found.ratings[1])
    effect = max(  # of one question a battle: variance of outcomes over p (1 - p) at the mode
        found_effect(wins, games), 0.25
    )
    grid = np.linspace(-6, 6, 20001)
    mean = var = total = 0.0
    for factor in (1.0, 0.25, 0.0625):
        log = (wins * np.log(expit(grid)) + (games - wins) * np.log(expit(-grid))) / effect
        log += -0.5 * factor * grid**2 / 2 + 0.5 * np.log(factor / 2) - 0.5 * np.log(factor) ** 2
        # The level of both has the prior's own variance and adds nothing.
        density = np.exp(log) * (grid[1] - grid[0])
        total += density.sum()
        mean += (grid * density).sum()
        var += (grid**2 * density).sum()
    mean, var = mean / total, var / total - (mean / total) ** 2
    assert found.ratings[0] - found.ratings[1] == pytest.approx(mean, abs=0.02)
    spread = found.covariance[0, 0] + found.covariance[1, 1] - 2 * found.covariance[0, 1]
    assert spread == pytest.approx(var, rel=0.06)
    assert 0.5 < rate_of_wins < 0.8


def found_effect(wins, games):
    """Design effect at the mode under the prior as stated, every battle a question of its own."""
    apart = np.linspace(-4, 4, 80001)
    log = wins * np.log(expit(apart)) + (games - wins) * np.log(expit(-apart)) - 0.25 * apart**2
    share = expit(apart[np.argmax(log)])
    spread = wins * (1 - share) ** 2 + (games - wins) * share**2
    return spread * games / (games - 1) / (games * share * (1 - share))


def test_without_battles_it_is_the_prior():
    nothing = Battles.none(SYSTEMS, ("q",))
    found = battle_posterior(nothing, known_of([1.0, 0.0, -0.5, -0.5], 0.3))
    np.testing.assert_allclose(found.ratings, [1.0, 0.0, -0.5, -0.5], atol=1e-9)
    assert (found.standard_errors > 0.2).all()
    assert not battle_posterior(nothing).ratings.any()


def test_a_prior_that_is_far_off_is_trusted_less():
    battles = Battles.from_judgments(judgments(10))
    alone = battle_posterior(battles)
    right = battle_posterior(battles, known_of([1.0, 0.3, -0.3, -1.0], 0.2))
    wrong = battle_posterior(battles, known_of([-1.0, -0.3, 0.3, 1.0], 0.2))
    assert right.standard_errors.mean() < 0.9 * alone.standard_errors.mean()
    assert wrong.standard_errors.mean() > 1.1 * right.standard_errors.mean()
    assert wrong.ratings[0] > wrong.ratings[3] - 0.5


@pytest.mark.slow
@settings(max_examples=15)
@given(seed=st.integers(0, 50), order=st.permutations(range(4)))
def test_rows_sides_and_names_change_nothing(seed, order):
    table = judgments(8, seed)
    found = battle_posterior(Battles.from_judgments(table))
    shuffled_table = mirrored(table).sample(frac=1, random_state=seed)
    shuffled = battle_posterior(Battles.from_judgments(shuffled_table))
    np.testing.assert_allclose(shuffled.ratings, found.ratings, atol=1e-7)
    np.testing.assert_allclose(shuffled.covariance, found.covariance, atol=1e-7)
    names = {old: SYSTEMS[new] for old, new in zip(SYSTEMS, order, strict=True)}
    renamed = table.replace({"system_a": names, "system_b": names})
    other = battle_posterior(Battles.from_judgments(renamed))
    np.testing.assert_allclose(other.ratings[list(order)], found.ratings, atol=1e-7)


def votes(n_questions, seed, kind):
    """300 verdicts of two judges or of nine voters, half of them unnamed; many on each question."""
    random = np.random.default_rng(seed)
    first = random.integers(0, len(SYSTEMS), 300)
    second = (first + random.integers(1, len(SYSTEMS), 300)) % len(SYSTEMS)
    question = random.integers(0, n_questions, 300)
    table = pd.DataFrame(
        {
            "query_id": question.astype(str),
            "system_a": np.array(SYSTEMS)[first],
            "system_b": np.array(SYSTEMS)[second],
            "winner": random.choice(["a", "b", "tie"], 300, p=[0.5, 0.3, 0.2]),
            "judge": random.choice(["one", "other"], 300),
        }
    )
    if kind == "votes":
        named = pd.Series(random.integers(0, 9, 300).astype(str))
        table = table.assign(judge="human", voter=named.where(random.random(300) < 0.5))
    if kind == "probabilities":
        table[["probability_a", "probability_b"]] = random.dirichlet([2, 1, 1], 300)[:, :2]
        table["winner"] = np.where(table["probability_a"] > 1 / 3, "a", "tie")
    if kind.startswith("traits"):
        lengths = random.normal(size=(n_questions, len(SYSTEMS)))
        lengths *= kind == "traits"
        table["trait_length"] = lengths[question, first] - lengths[question, second]
    if kind == "answers of each verdict":
        table["trait_length"] = random.normal(size=300)
    return table


KINDS = st.sampled_from(
    ["verdicts", "votes", "probabilities", "traits", "traits of 0", "answers of each verdict"]
)


@settings(max_examples=30)
@given(kind=KINDS, n_questions=st.sampled_from([1, 9, 2_000]), seed=st.integers(0, 1_000))
def test_the_order_of_rows_changes_no_bit(kind, n_questions, seed):
    table = votes(n_questions, seed, kind)
    found = battle_posterior(Battles.from_judgments(table))
    shuffled = battle_posterior(Battles.from_judgments(table.sample(frac=1, random_state=seed)))
    np.testing.assert_array_equal(shuffled.ratings, found.ratings)
    np.testing.assert_array_equal(shuffled.covariance, found.covariance)


@settings(max_examples=20)
@given(kind=KINDS, n_questions=st.sampled_from([1, 9, 2_000]), seed=st.integers(0, 1_000))
def test_dense_and_sparse_sums_give_the_same_variances(kind, n_questions, seed):
    battles = Battles.from_judgments(votes(n_questions, seed, kind))
    covariances = []
    for cells_per_verdict in (0, 1_000_000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(design_effects, "DENSE", cells_per_verdict)
            covariances.append(battle_posterior(battles).covariance)
    np.testing.assert_allclose(*covariances, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("cells_per_verdict", [0, 1_000_000])
def test_a_trait_in_large_units_changes_no_interval(cells_per_verdict, monkeypatch):
    monkeypatch.setattr(design_effects, "DENSE", cells_per_verdict)
    table = votes(n_questions=9, seed=0, kind="traits")
    found = []
    for unit in (1e3, 1e9):
        scaled = table.assign(trait_length=unit * table["trait_length"])
        found.append(battle_posterior(Battles.from_judgments(scaled)).covariance)
    np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-6)


def test_an_unsound_prior_is_refused():
    rows = pd.DataFrame({"system": ["a", "a"], "rating": 0.0, "standard_error": 1.0})
    with pytest.raises(UsageError, match="a twice"):
        RatingPrior.of_table(rows, SYSTEMS)
    with pytest.raises(UsageError, match="is not above 0"):
        known_of([0.0] * 4, [1.0, 0.0, 1.0, 1.0])


def test_the_design_effect_of_few_verdicts_counts_the_parameters():
    """Of independent verdicts it was .74 at 8 systems and 20 verdicts, where it is 1.1."""
    effects = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        strength = random.normal(size=8)
        pairs = np.array([random.permutation(8)[:2] for _ in range(20)])
        won = random.random(20) < expit(strength[pairs[:, 0]] - strength[pairs[:, 1]])
        battles = Battles(tuple("abcdefgh"), *pairs.T, np.where(won, 0, 1), np.arange(20) // 2, 10)
        likelihood = BattleLikelihood(battles.items)
        mode = likelihood.mode(NormalPrior.ridge(8, DEFAULT_RIDGE))
        found = likelihood.design_effects(mode, DEFAULT_RIDGE)
        effects.append(found.common)
    assert 0.85 < np.mean(effects) < 1.3


def judgments_by_mood(n_questions=80, seed=0, n_systems=8):
    """Battles of all pairs; on half of the questions system 0 beats all, on the others none."""
    random = np.random.default_rng(seed)
    first, second = np.triu_indices(n_systems, 1)
    rows = []
    for question in range(n_questions):
        strength = np.zeros(n_systems)
        strength[0] = 3.0 if question % 2 else -3.0
        chance = expit(strength[first] - strength[second])
        won = random.random(len(first)) < chance
        rows.append(
            np.column_stack([first, second, np.where(won, 0, 1), np.full(len(first), question)])
        )
    side_a, side_b, winner, question = np.concatenate(rows).T
    names = tuple(f"system{number}" for number in range(n_systems))
    return Battles(names, side_a, side_b, winner, question, n_questions)


def test_a_system_that_varies_by_question_has_a_wider_interval_than_the_others():
    posterior = battle_posterior(judgments_by_mood())
    steady = posterior.standard_errors[1:].mean()
    # With one design effect for all systems the ratio was 1.0; a bootstrap over questions has 2.5.
    assert 1.6 < posterior.standard_errors[0] / steady < 3.2


def test_design_effects_that_differ_by_chance_alone_are_drawn_together():
    random = np.random.default_rng(0)
    n_systems, n_questions = 12, 40
    estimates = random.chisquare(n_questions - 1, n_systems) / (n_questions - 1)
    effects = DesignEffects(estimates, np.full(n_systems, float(n_questions)))
    assert effects.by_system.std() < 0.5 * estimates.std()
    far_apart = DesignEffects(np.append(estimates, 5.0), np.full(n_systems + 1, float(n_questions)))
    assert far_apart.by_system[-1] > 4.5


def test_design_effects_of_systems_that_were_not_judged_are_the_common_one():
    effects = DesignEffects(np.array([1.0, np.nan, 3.0]), np.array([30.0, 0.0, 30.0]))
    assert effects.common == 2.0
    assert effects.by_system[1] == 2.0
    assert DesignEffects(np.array([np.nan]), np.zeros(1)).by_system == pytest.approx(1.0)
    assert DesignEffects.of_all([]).common == 1.0


def test_equal_design_effects_leave_the_laplace_covariance():
    """The sandwich of equal effects is the inverse posterior precision."""
    likelihood = BattleLikelihood(judgments_by_mood(20).items)
    zeros, effect, precisions = np.zeros(8), 1.7, np.full(8, 0.5)
    information = likelihood.information(zeros)
    inverse = np.linalg.inv(information + effect * np.diag(precisions))
    found = likelihood.covariance(
        information, effect * precisions, inverse, np.full(8, effect), common_effect=effect
    )
    laplace = np.linalg.inv(information / effect + np.diag(precisions))
    centering = np.eye(8) - 1 / 8
    np.testing.assert_allclose(found, centering @ laplace @ centering, atol=1e-12)


def test_intervals_of_two_systems_hold_on_three_questions():
    """What few questions tell of how they differ is itself uncertain."""
    random = np.random.default_rng(7)
    n_held = 0
    for _ in range(100):
        difference = random.normal(0, 0.7)
        rows = []
        for question in range(3):
            share = 1 / (1 + np.exp(-difference - random.normal(0, 0.4)))
            for vote in range(30):
                sides = ("x", "y") if vote % 2 else ("y", "x")
                winner = "a" if (random.random() < share) == (sides[0] == "x") else "b"
                rows.append((f"q{question}", "en", *sides, winner))
        columns = ["query_id", "language", "system_a", "system_b", "winner"]
        posterior = battle_posterior(Battles.from_judgments(pd.DataFrame(rows, columns=columns)))
        low, high = posterior.bounds
        n_held += bool(low[0] <= difference / 2 <= high[0])
    assert n_held >= 83
