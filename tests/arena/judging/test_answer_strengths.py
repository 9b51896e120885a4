"""Strengths of single answers, and what they predict of the battles not judged."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from arena.judging.choosing.answer_strengths import AnswerStrengths, estimate_answers, posterior_of
from arena.judging.choosing.pairing import LOPSIDED, AdaptivePairing, usefulness
from arena.rating.pairs import Pairs
from arena.rating.posterior import RatingPrior

RIDGE = 0.1


def flat(systems):
    return RatingPrior.flat(systems, RIDGE)


def all_pairs(systems):
    return Pairs(*np.triu_indices(systems, k=1), systems)


def arena(systems=8, questions=12, variance=1.0, seed=0, ties=0.0):
    """Strengths of answers and the outcomes of all battles."""
    random = np.random.default_rng(seed)
    pairs = all_pairs(systems)
    answers = random.normal(size=systems) + np.sqrt(variance) * random.normal(
        size=(questions, systems)
    )
    probability = expit(pairs.differences(answers))
    points = (random.random(probability.shape) < probability).astype(float)
    points[random.random(probability.shape) < ties] = 0.5
    return pairs, answers, points


def judged_part(points, share, seed=0):
    return (np.random.default_rng(seed).random(points.shape) < share).astype(float)


def dense(pairs, information, variance, ridge):
    """Precision of all answers, question by question, and then of the systems."""
    questions, size = len(information), pairs.n_systems
    precision = np.zeros(((questions + 1) * size,) * 2)
    for question in range(questions):
        at = slice(question * size, (question + 1) * size)
        precision[at, at] = pairs.laplacian(information[question]) + np.eye(size) / variance
        precision[at, -size:] = precision[-size:, at] = -np.eye(size) / variance
    precision[-size:, -size:] = (questions / variance + ridge) * np.eye(size)
    return precision


def test_the_posterior_in_blocks_is_the_inverse_of_the_whole_precision():
    pairs = all_pairs(5)
    information = np.random.default_rng(0).random((3, 10))
    posterior = posterior_of(pairs, information, 0.7, np.full(5, RIDGE))
    covariance = np.linalg.inv(dense(pairs, information, 0.7, RIDGE))
    blocks = posterior.of_questions()
    for question in range(3):
        at = slice(5 * question, 5 * question + 5)
        np.testing.assert_allclose(blocks[question], covariance[at, at], atol=1e-10)
    np.testing.assert_allclose(posterior.between, covariance[-5:, -5:], atol=1e-10)
    assert posterior.log_determinant() == pytest.approx(np.linalg.slogdet(covariance)[1])
    gradient = np.arange(20.0)
    answers, systems = posterior.step(gradient[:15].reshape(3, 5), gradient[15:])
    expected = covariance @ gradient
    np.testing.assert_allclose(np.concatenate([answers.ravel(), systems]), expected, atol=1e-9)


def test_strengths_are_the_mode_that_a_general_optimiser_finds():
    pairs, _, points = arena(systems=5, questions=4, ties=0.2)
    met = judged_part(points, 0.7)
    strengths = estimate_answers(pairs, points * met, met, flat(pairs.n_systems))
    weights = met / strengths.dispersion[:, None]
    variance = strengths.posterior.variance

    def cost(flat):
        answers, systems = flat[:20].reshape(4, 5), flat[20:]
        better = pairs.differences(answers)
        fit = points * log_expit(better) + (1.0 - points) * log_expit(-better)
        prior = ((answers - systems) ** 2).sum() / variance + RIDGE * (systems**2).sum()
        return 0.5 * prior - (weights * fit).sum()

    best = minimize(cost, np.zeros(25), method="BFGS", options={"gtol": 1e-8}).x
    np.testing.assert_allclose(strengths.answers.ravel(), best[:20], atol=1e-5)
    np.testing.assert_allclose(strengths.systems, best[20:], atol=1e-5)


@pytest.mark.parametrize("variance", [0.25, 1.0, 9.0])
def test_the_variance_of_answers_is_found(variance):
    """Within the bias of Laplace's approximation, which takes small variances for smaller."""
    pairs, _, points = arena(systems=16, questions=40, variance=variance)
    strengths = estimate_answers(pairs, points, np.ones_like(points), flat(pairs.n_systems))
    assert 0.5 * variance < strengths.posterior.variance < 1.5 * variance


@given(st.floats(-6, 6), st.floats(0.05, 6.0))
def test_predicted_probabilities_average_over_what_is_unsure(better, variance):
    pairs = all_pairs(2)
    posterior = posterior_of(pairs, np.zeros((1, 1)), variance, np.full(2, 1e6))
    strengths = AnswerStrengths(
        np.array([[better, 0.0]]), np.zeros(2), np.ones(1), posterior, log_evidence=0.0
    )
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    expected = weights @ expit(better + np.sqrt(2.0 * variance) * nodes) / weights.sum()
    assert strengths.battles(pairs)[0][0, 0] == pytest.approx(expected, abs=0.02)


def completed(points, met):
    """Rate by the items of a table that were judged, the others predicted."""
    questions, size = [f"q{n:02}" for n in range(len(points))], 10
    systems = [f"s{n}" for n in range(size)]
    first, second = np.triu_indices(size, k=1)
    rows = [
        (questions[q], systems[first[p]], systems[second[p]], {1.0: "a", 0.0: "b"}[points[q, p]])
        for q, p in zip(*np.nonzero(met), strict=True)
    ]
    pairing = AdaptivePairing(systems, questions)
    pairing.record(pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"]))
    return pairing.ratings().set_index("system").loc[systems]


def test_completed_ratings_miss_those_of_the_whole_arena_by_as_much_as_they_say():
    scores = []
    for seed in range(25):
        _, _, points = arena(systems=10, questions=16, variance=1.0, seed=seed)
        found = completed(points, judged_part(points, 0.3, seed))
        missed = found["rating"] - completed(points, np.ones_like(points))["rating"]
        scores.append(missed / found["standard_error"])
    assert 0.85 < np.sqrt(np.mean(np.square(scores))) < 1.15


def test_usefulness_is_what_a_battle_takes_from_the_weighted_covariance():
    """A joint Gaussian of answers, points ahead and the outcome, written out and conditioned."""
    pairs, _, points = arena(systems=4, questions=3)
    met = judged_part(points, 0.4)
    random = np.random.default_rng(1)
    information = 0.05 + 0.2 * random.random((3, 6))
    dispersion = np.array([1.0, 0.4, 0.8])
    known = met * information / dispersion[:, None]
    posterior = posterior_of(pairs, known, 0.8, np.full(pairs.n_systems, RIDGE))
    weight = random.normal(size=(4, 4))
    target = weight @ weight.T
    worth = usefulness(pairs, posterior, dispersion, information, 1.0 - met, target)

    answers = np.linalg.inv(dense(pairs, known, 0.8, RIDGE))[:12, :12]
    apart = np.zeros((6, 4))
    apart[np.arange(6), pairs.first], apart[np.arange(6), pairs.second] = 1.0, -1.0
    for question, pair in zip(*np.nonzero(met == 0), strict=True):
        own = np.zeros(12)
        own[4 * question : 4 * question + 4] = information[question, pair] * apart[pair]
        probability = dispersion[question] * information[question, pair]
        to_points = np.zeros((4, 12))
        for each in range(3):
            ahead = (1.0 - met[each]) * information[each]
            to_points[:, 4 * each : 4 * each + 4] = pairs.laplacian(ahead)
        shared = to_points @ answers @ own + probability * apart[pair]
        fall = shared @ target @ shared / (own @ answers @ own + probability)
        trusted = 1.0 / (information[question, pair] + LOPSIDED)
        assert worth[question, pair] == pytest.approx(trusted * fall, rel=1e-8)
