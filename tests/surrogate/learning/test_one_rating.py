"""One rating from verdicts and surrogate: against brute force, at its limits, under renaming."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from voters import votes

from arena.rating.battles import Battles
from arena.rating.bradley_terry import ConvergenceError
from arena.rating.posterior import battle_posterior
from arena.rating.ratings import rate
from arena.rating.tournaments import bootstrap_tournaments
from arena.statistics.significance import NORMAL_90
from surrogate.learning.answers_surrogate import AnswersSurrogate
from surrogate.learning.gaussian_process import GaussianProcess, fit_process
from surrogate.learning.observations import (
    JointPosterior,
    Observation,
    RatingLikelihoods,
    joint_posterior,
    observe,
)
from surrogate.learning.ratings import posterior_ratings
from surrogate.learning.training_data import training_ratings

STRENGTHS = {"a": 1.2, "b": 0.6, "c": 0.1, "d": -0.4, "e": -1.5}


def judged(seed=0, questions=30, strengths=STRENGTHS, language="en", by_question=0.7):
    """Judgments in which a question favors systems, so that its verdicts hang together."""
    random = np.random.default_rng(seed)
    names, rows = list(strengths), []
    for question in range(questions):
        own = {name: value + by_question * random.normal() for name, value in strengths.items()}
        for place, one in enumerate(names):
            for gap, other in enumerate(names[place + 1 :]):
                wins = random.random() < 1 / (1 + np.exp(own[other] - own[one]))
                sides = one, other, "a" if wins else "b"
                if (question // 2 + place + gap) % 2:
                    sides = other, one, "b" if wins else "a"
                rows.append((f"{language}{question:03}", *sides))
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])
    return table.assign(language=language)


def known(*judgments):
    return training_ratings(
        {rows["language"].iloc[0]: bootstrap_tournaments(rows, 2) for rows in judgments}
    )


def answers(languages=("en",), systems=STRENGTHS, seed=0):
    """A feature that follows the strengths, with noise."""
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        [
            (language, system, f"{language}{question:03}", strength + random.normal(0, 0.3))
            for language in languages
            for system, strength in systems.items()
            for question in range(20)
        ],
        columns=["language", "system", "query_id", "feature"],
    )


def expected_of(values, language="en"):
    return pd.DataFrame(
        {"language": language, "system": list(values), "rating": list(values.values())}
    )


class Silent:
    """A surrogate that compares no systems."""

    borrowing_ = frozenset()

    def covariances(self, X=None):
        return None


def test_the_closed_form_is_the_conditional_of_a_normal_distribution():
    random = np.random.default_rng(0)
    size, groups = 7, np.repeat(np.eye(2), [4, 3], axis=0)
    factor, noise_factor = random.normal(size=(2, size, size))
    kernel, noise = factor @ factor.T / size, noise_factor @ noise_factor.T / size
    ratings, weight, residual, level = random.normal(size=size), 0.7, 0.2, 1e6
    variances = np.array([weight, residual])
    process = GaussianProcess.of(variances, kernel[None], ratings, noise, groups)
    prior = weight * kernel + residual * np.eye(size) + level * groups @ groups.T
    gain = prior @ np.linalg.inv(prior + noise)
    means, covariance, shares = process.posterior()
    np.testing.assert_allclose(means, gain @ ratings, atol=1e-4)
    np.testing.assert_allclose(covariance, prior - gain @ prior, atol=1e-3)
    np.testing.assert_allclose(shares, np.diag(gain), atol=1e-4)


def test_the_covariance_is_that_of_a_bootstrap_over_questions_on_average():
    rows = judged(questions=400)
    tournaments = bootstrap_tournaments(rows, 2)
    seen = observe(training_ratings({"en": tournaments}))["en"]
    table = rate(tournaments.battles, ridge=0.1).table.set_index("system").loc[list(seen.systems)]
    expected = ((table["high"] - table["low"]) / (2 * NORMAL_90)).to_numpy() ** 2
    np.testing.assert_allclose(np.diag(seen.noise).mean(), expected.mean(), rtol=0.1)
    np.testing.assert_allclose(np.diag(seen.noise), expected, rtol=0.3)
    np.testing.assert_allclose(seen.ratings, table["rating"], atol=0.01)


def test_a_system_that_varies_by_question_is_observed_with_more_noise_than_the_others():
    rows = judged(questions=80, by_question=0.0)
    # On half of the questions "c" wins whatever it says, on the others it loses.
    is_won = rows["query_id"].map(dict.fromkeys(rows["query_id"].unique()[::2], True)).notna()
    for side, other in (("a", "b"), ("b", "a")):
        is_its = rows[f"system_{side}"] == "c"
        rows.loc[is_its, "winner"] = np.where(is_won[is_its], side, other)
    noise = observe(known(rows))["en"].noise
    index = list(STRENGTHS).index("c")
    others = np.delete(np.sqrt(np.diag(noise)), index)
    # With one design effect for all systems it was the least of all.
    assert np.sqrt(noise[index, index]) > 1.5 * np.median(others)


def test_another_language_does_not_tell_how_votes_on_one_question_depend_on_each_other():
    draws = [judged(seed, questions=1, language="de") for seed in range(30)]
    on_one_question = pd.concat(draws)
    alone = observe(known(on_one_question))["de"]
    beside = observe(known(on_one_question, judged()))["de"]
    np.testing.assert_allclose(beside.noise, alone.noise, rtol=1e-6)


def test_the_votes_of_one_person_add_noise_to_a_board_as_to_a_fit():
    rows = votes(20, 20, taste=1.0)
    errors = []
    for table in (rows, rows.drop(columns="voter")):
        noise = np.diag(observe(known(table))["en"].noise)
        fitted = battle_posterior(Battles.from_judgments(table)).standard_errors
        np.testing.assert_allclose(np.sqrt(noise), fitted, rtol=0.15)
        errors.append(np.sqrt(noise))
    assert (errors[0] > 1.5 * errors[1]).all()


@pytest.mark.slow
@given(st.permutations(sorted(STRENGTHS)), st.integers(0, 5))
def test_order_and_names_change_nothing(names, seed):
    rows = judged(seed, questions=8)
    plain = observe(known(rows))["en"]
    mapping = dict(zip(sorted(STRENGTHS), names, strict=True))
    turned = rows.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    turned = turned.assign(winner=rows["winner"].map({"a": "b", "b": "a", "tie": "tie"}))
    turned["system_a"], turned["system_b"] = (
        turned[side].map(mapping) for side in ("system_a", "system_b")
    )
    other = observe(known(turned.sample(frac=1, random_state=seed)))["en"]
    place = [other.systems.index(mapping[name]) for name in plain.systems]
    np.testing.assert_allclose(other.ratings[place], plain.ratings, atol=1e-6)
    np.testing.assert_allclose(other.noise[np.ix_(place, place)], plain.noise, atol=1e-6)


def test_variances_are_climbed_to_by_the_derivatives_of_their_likelihood():
    random = np.random.default_rng(3)
    factor, noise = random.normal(size=(9, 4)), np.diag(random.random(9))
    kernels, groups = (factor @ factor.T / 4)[None], np.repeat(np.eye(2), [5, 4], axis=0)
    ratings = random.normal(size=9)

    def at(variances):
        return GaussianProcess.of(variances, kernels, ratings, noise, groups)

    def value(logs):
        variances = np.exp(logs)
        covariance = noise + variances[0] * kernels[0] + variances[1] * np.eye(9)
        precision = groups.T @ np.linalg.inv(covariance) @ groups
        determinants = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(precision)[1]
        return 0.5 * (ratings @ at(variances).dual + determinants)

    def slopes(logs):
        return at(np.exp(logs)).derivatives(kernels)[0]

    logs = np.log([0.7, 0.3])
    found, hessian = at(np.exp(logs)).derivatives(kernels)
    np.testing.assert_allclose(found, approx_fprime(logs, value, 1e-6), rtol=1e-3)
    np.testing.assert_allclose(hessian, approx_fprime(logs, slopes, 1e-6), rtol=1e-3)


def test_a_system_of_infinite_variance_is_rated_as_one_that_is_new():
    random = np.random.default_rng(6)
    features = random.normal(size=(8, 2))
    kernel, ratings = features @ features.T, random.normal(size=8)
    noise = np.diag([1e9, *[0.1] * 7])
    variances, groups = np.array([0.8, 0.3]), np.ones((8, 1))
    means, _, shares = GaussianProcess.of(
        variances, kernel[None], ratings, noise, groups
    ).posterior()
    others = GaussianProcess.of(
        variances, kernel[None, 1:, 1:], ratings[1:], noise[1:, 1:], groups[1:]
    )
    expected = others.means[0] + 0.8 * kernel[0, 1:] @ others.dual
    assert means[0] == pytest.approx(expected, abs=1e-4)
    assert shares[0] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.slow
def test_intervals_of_few_battles_hold_the_truth():
    missed, slopes = [], []
    for seed in range(60):
        random = np.random.default_rng(seed)
        names = list("abcdefghij")
        truth = random.normal(0, 0.8, len(names))
        strengths = dict(zip(names, truth, strict=True))
        rated = judged(seed, questions=2, strengths=strengths, by_question=0.0)
        observed = observe(known(rated), around=1.0)
        posterior = joint_posterior(observed, np.zeros((0, 10, 10)))["en"]
        means = posterior.ratings
        away = means - means.mean() - (truth - truth.mean())
        missed.append(np.abs(away) > 1.645 * posterior.standard_errors)
        slopes.append(np.polyfit(means, truth, 1)[0])
    assert 0.07 < np.mean(missed) < 0.13
    assert 0.9 < np.mean(slopes) < 1.25  # shrunk a little too much rather than stretched


@pytest.mark.parametrize("scale", [1e-9, 1e6])
def test_any_surrogate_is_corrected_by_verdicts_as_far_as_these_are_sure(scale):
    ratings = known(judged())
    expectation = dict(zip(STRENGTHS, (0.9, 0.8, 0.0, -0.1, -1.6), strict=True))
    [rated] = ratings.values()
    table = pd.DataFrame(
        {
            "language": "en",
            "system": rated.systems,
            "rating": observe(ratings)["en"].ratings,
            "variance": scale,
        }
    )
    found = posterior_ratings(Silent(), training_ratings(table), expected_of(expectation))["en"]
    if scale < 1:
        np.testing.assert_allclose(found.ratings, table["rating"], atol=1e-4)
    else:
        values = np.array([expectation[name] for name in found.systems])
        np.testing.assert_allclose(np.diff(found.ratings), np.diff(values), atol=0.01)


def test_a_language_with_few_verdicts_borrows_from_the_others():
    rich, poor = judged(questions=60), judged(questions=2, language="fi", seed=3)
    both = pd.concat([expected_of(dict.fromkeys(STRENGTHS, 0.0), name) for name in ("en", "fi")])
    ratings = known(rich, poor)
    alone = posterior_ratings(Silent(), {"fi": ratings["fi"]}, both)["fi"]
    together = posterior_ratings(Silent(), ratings, both)["fi"]
    truth = np.array([STRENGTHS[name] for name in together.systems])
    assert np.abs(together.ratings - truth).mean() < np.abs(alone.ratings - truth).mean()
    assert (together.standard_errors < alone.standard_errors).all()


def test_systems_that_nothing_is_expected_of_have_their_verdicts_alone():
    ratings = known(judged())
    some = {name: value for name, value in STRENGTHS.items() if name != "c"}
    found = posterior_ratings(Silent(), ratings, expected_of(some))["en"]
    seen = observe(ratings)["en"]
    place = found.systems.index("c")
    assert found.shares[place] == 1.0
    assert found.ratings[place] == pytest.approx(seen.ratings[seen.systems.index("c")], abs=1e-3)
    nothing = posterior_ratings(Silent(), ratings, expected_of({}))["en"]
    np.testing.assert_allclose(nothing.ratings, seen.ratings, atol=1e-3)


def test_about_its_own_mode_the_likelihood_is_observed_wherever_one_begins():
    """One step from ratings that lie closer together does not reach a lopsided record's mode."""
    ratings = training_ratings(known(judged(questions=2)))
    mode = observe(ratings)["en"]
    first = RatingLikelihoods.of(ratings, around=1.0)
    posterior = JointPosterior.by_verdicts({"en": mode})["en"]
    again = first.about({"en": posterior}).observed()["en"]
    np.testing.assert_allclose(again.ratings, mode.ratings, atol=0.01)
    assert np.abs(first.observed()["en"].ratings - mode.ratings).max() > 0.02


def test_a_system_held_out_of_training_is_rated_by_its_verdicts_too():
    X, ratings = answers(), known(judged())
    surrogate = AnswersSurrogate().fit(X[X["system"] != "c"], ratings)
    found = posterior_ratings(surrogate, ratings, expected_of(STRENGTHS))["en"]
    assert set(found.systems) == set(STRENGTHS)
    assert 0 < found.shares[found.systems.index("c")] < 1


def test_verdicts_on_a_new_system_move_it_from_what_is_expected():
    X, rows = answers(), judged()
    is_new = (rows["system_a"] == "b") | (rows["system_b"] == "b")
    old = known(rows[~is_new])
    surrogate = AnswersSurrogate().fit(X[X["system"] != "b"], old)
    new = X[X["system"] == "b"]
    before = posterior_ratings(surrogate, old, expected_of({}), new)["en"]
    widths = [before.standard_errors[before.systems.index("b")]]
    for judged_questions in (3, 30):
        few = rows[rows["query_id"] < f"en{judged_questions:03}"]
        seen = known(pd.concat([rows[~is_new], few[is_new.loc[few.index]]]))
        found = posterior_ratings(surrogate, seen, expected_of({}), new)["en"]
        widths.append(found.standard_errors[found.systems.index("b")])
    assert widths[0] > widths[1] > widths[2]


def opposite(rows):
    """Return the judgments of a judge who prefers the other answer everywhere."""
    return rows.assign(winner=rows["winner"].map({"a": "b", "b": "a"}))


@pytest.mark.parametrize(("seed", "questions"), [(0, 1), (1, 2), (2, 20)])
def test_opposite_preferences_give_opposite_ratings(seed, questions):
    X, rows = answers(), judged(seed, questions=questions)
    posteriors = []
    for judgments in (rows, opposite(rows)):
        ratings = known(judgments)
        surrogate = AnswersSurrogate().fit(X, ratings)
        posteriors.append(posterior_ratings(surrogate, ratings, expected_of({}))["en"])
    plain, turned = posteriors
    np.testing.assert_allclose(turned.ratings, -plain.ratings, atol=1e-3)
    np.testing.assert_allclose(turned.covariance, plain.covariance, atol=1e-3)
    assert ((plain.shares > 0) & (plain.shares < 1)).all()


def test_systems_with_equal_answers_and_no_verdicts_are_rated_equal():
    ratings = known(judged())
    X = answers()
    surrogate = AnswersSurrogate().fit(X, ratings)
    copies = [X[X["system"] == "a"].assign(system=name) for name in ("copy", "copy-of-copy")]
    found = posterior_ratings(surrogate, ratings, expected_of({}), pd.concat(copies))["en"]
    original, first, second = (found.systems.index(name) for name in ("a", "copy", "copy-of-copy"))
    assert found.ratings[first] == pytest.approx(found.ratings[second])
    assert found.shares[first] == pytest.approx(0.0, abs=1e-3)
    assert found.standard_errors[first] > found.standard_errors[original]
    # Its verdicts count for the copies, too: they lie on its side of the mean.
    assert 0 < found.ratings[first] < found.ratings[original] + 1e-9


def test_a_surrogate_without_kernels_and_one_with_them_agree_where_neither_tells_anything():
    ratings = known(judged())
    nothing = expected_of(dict.fromkeys(STRENGTHS, 0.0))
    equal = answers().assign(feature=1.0)
    surrogate = AnswersSurrogate().fit(equal, ratings)
    by_kernels = posterior_ratings(surrogate, ratings, nothing)["en"]
    by_predictions = posterior_ratings(Silent(), ratings, nothing)["en"]
    assert by_kernels.systems == by_predictions.systems
    np.testing.assert_allclose(by_kernels.ratings, by_predictions.ratings, atol=0.1)


def test_a_system_alone_in_its_language_has_its_own_rating():
    """Its mean is that of the language, which nothing else tells."""
    alone = {"en": Observation(("a",), np.array([0.3]), np.array([[0.2]]))}
    found = joint_posterior(alone, np.ones((1, 1, 1)))["en"]
    assert found.systems == ("a",)
    np.testing.assert_allclose(found.ratings, [0.3], atol=1e-9)
    np.testing.assert_allclose(found.covariance, [[0.2]], atol=1e-9)
    np.testing.assert_allclose(found.shares, [1.0], atol=1e-9)


def test_without_verdicts_ratings_are_what_is_expected_and_as_unsure_as_can_be():
    nothing = Observation((), np.empty(0), np.empty((0, 0))).with_unjudged(["a", "b", "c"])
    random = np.random.default_rng(4)
    features = random.normal(size=(3, 2))
    expected = np.array([0.5, 0.0, -0.5])
    found = joint_posterior({"en": nothing}, (features @ features.T)[None], expected)["en"]
    np.testing.assert_allclose(found.ratings, expected, atol=0.01)
    np.testing.assert_allclose(found.shares, 1 / 3, atol=1e-3)  # of the level, which all share
    assert (found.standard_errors > 1).all()


def test_a_language_that_nobody_judged_has_no_rating():
    posterior = posterior_ratings(Silent(), known(judged()), expected_of({}))
    assert posterior["fi"].systems == ()
    assert list(posterior.by_language()) == ["en"]


def test_verdicts_that_contradict_all_that_answers_promise_rate_a_system_alone():
    """Ratings follow a feature closely, but for one system that has the feature of the best."""
    random = np.random.default_rng(0)
    feature = np.linspace(-2.0, 2.0, 15)
    feature[0] = 2.0
    ratings = 1.5 * np.linspace(-2.0, 2.0, 15) + random.normal(0, 0.05, 15)
    kernel = np.outer(feature, feature) / np.mean(feature**2)
    names = tuple(f"s{place:02}" for place in range(15))
    seen = {"en": Observation(names, ratings, 0.04 * np.eye(15))}
    found = joint_posterior(seen, kernel[None])
    assert list(found.contradicted) == [("en", "s00")]
    assert found.ratings[0] == pytest.approx(ratings[0], abs=0.1)
    assert found.shares[0] > 0.99
    honest = joint_posterior({"en": seen["en"].among(set(names[1:]))}, kernel[None, 1:, 1:])
    assert honest.contradicted.empty


def test_variances_that_do_not_converge_are_an_error():
    ratings = 1e200 * np.arange(4.0)
    with np.errstate(all="ignore"), pytest.raises(ConvergenceError, match="did not converge"):
        fit_process(np.eye(4)[None], ratings, 0.1 * np.eye(4), np.ones((4, 1)))


def test_variances_do_not_depend_on_where_their_search_starts():
    random = np.random.default_rng(5)
    features = random.normal(size=(12, 3))
    observed = features[:, 0] + random.normal(0, 0.3, 12)
    data = ((features @ features.T)[None], observed, 0.05 * np.eye(12), np.ones((12, 1)))
    far = fit_process(*data)
    near = fit_process(*data, start=2 * far.variances)
    np.testing.assert_allclose(near.variances, far.variances, rtol=1e-6)
