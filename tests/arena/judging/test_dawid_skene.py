"""Dawid and Skene's estimator: the published example, and simulated judges of known skill."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import UsageError
from arena.judging.panel.dawid_skene import fit_dawid_skene

# Table 1 of the paper: 45 patients by five anaesthetists, the first of whom saw each three times.
ANAESTHETISTS = (
    "1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 "
    "2223343 1111111 2223212 1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 "
    "2223222 2212222 1111111 1111111 2322222 1111111 1111111 1121121 1111111 3333233 1111111 "
    "2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 "
    "2222222"
)


def published_votes():
    patients = ANAESTHETISTS.split()
    votes = np.zeros((len(patients), 5, 4))
    for patient, classes in enumerate(patients):
        for place, vote in enumerate(classes):
            votes[patient, max(0, place - 2), int(vote) - 1] += 1
    return votes


def by_the_equations(votes, rounds):
    """Equations 2.3 to 2.5 and 3.1 of the paper, one number at a time."""
    items, judges, classes = votes.shape
    truth = votes.sum(axis=1) / votes.sum(axis=(1, 2))[:, None]
    for _ in range(rounds):
        shares = truth.mean(axis=0)
        confusion = np.zeros((judges, classes, classes))
        for judge in range(judges):
            for true in range(classes):
                cast = [(truth[:, true] * votes[:, judge, said]).sum() for said in range(classes)]
                confusion[judge, true] = np.array(cast) / sum(cast)
        truth = np.array(
            [
                [
                    shares[true] * np.prod(confusion[:, true, :] ** votes[item])
                    for true in range(classes)
                ]
                for item in range(items)
            ]
        )
        truth /= truth.sum(axis=1, keepdims=True)
    return truth, shares, confusion


def test_the_published_example():
    votes = published_votes()
    fit = fit_dawid_skene(votes, prior_votes=0)
    assert fit.converged
    np.testing.assert_allclose(fit.shares, [0.40, 0.42, 0.11, 0.07], atol=0.005)
    for found, expected in zip(
        (fit.classes, fit.shares, fit.confusion), by_the_equations(votes, 60), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-6)
    assert fit.classes[2].argmax() == 1  # the first anaesthetist alone would say 1


def simulated(skills, items=600, seed=0):
    """Votes of judges that are right with a given probability; the truth beside them."""
    random = np.random.default_rng(seed)
    truth = random.choice(3, size=items, p=[0.45, 0.45, 0.1])
    votes = np.zeros((items, len(skills), 3))
    for judge, skill in enumerate(skills):
        wrong = (truth + random.integers(1, 3, size=items)) % 3
        vote = np.where(random.random(items) < skill, truth, wrong)
        votes[np.arange(items), judge, vote] = 1
    return votes, truth


def test_a_good_judge_among_bad_ones_is_found():
    votes, truth = simulated([0.95, 0.5, 0.45, 0.4, 0.45], seed=3)
    fit = fit_dawid_skene(votes)
    accuracy = np.einsum("k,jkk->j", fit.shares, fit.confusion)
    assert accuracy.argmax() == 0
    majority = votes.sum(axis=1).argmax(axis=1)
    ours, theirs = (fit.classes.argmax(axis=1) == truth).mean(), (majority == truth).mean()
    assert ours > theirs + 0.1


def test_a_contrarian_judge_is_turned_round():
    votes, truth = simulated([0.85, 0.8, 0.8], seed=5)
    votes[:, 2] = votes[:, 2][:, [1, 0, 2]]
    fit = fit_dawid_skene(votes)
    majority = votes.sum(axis=1).argmax(axis=1)
    assert (fit.classes.argmax(axis=1) == truth).mean() > (majority == truth).mean() + 0.03
    assert fit.confusion[2, 0, 1] > 0.6


def test_confusion_matrices_come_near_the_truth():
    votes, _ = simulated([0.9, 0.8, 0.7], items=5000)
    fit = fit_dawid_skene(votes)
    for judge, skill in enumerate([0.9, 0.8, 0.7]):
        np.testing.assert_allclose(np.diag(fit.confusion[judge])[:2], skill, atol=0.04)


@given(st.integers(0, 50), st.integers(2, 5), st.floats(0, 3))
def test_probabilities_are_probabilities(seed, judges, prior_votes):
    votes, _ = simulated([0.7] * judges, items=12, seed=seed)
    votes[0, 1:] = 0
    fit = fit_dawid_skene(votes, prior_votes)
    for part in (fit.classes, fit.shares[None], fit.confusion.reshape(-1, 3)):
        assert (part >= 0).all()
        np.testing.assert_allclose(part.sum(axis=1), 1)


def test_the_likelihood_never_falls():
    votes, _ = simulated([0.8, 0.6, 0.5], items=80)
    reached = [fit_dawid_skene(votes, 0, tolerance=10.0**-n).log_likelihood for n in range(9)]
    assert all(later >= earlier - 1e-9 for earlier, later in itertools.pairwise(reached))


@pytest.mark.parametrize(
    "votes", [np.zeros((2, 2)), np.zeros((0, 2, 3)), -np.ones((1, 2, 3)), np.zeros((1, 2, 3))]
)
def test_unusable_votes_are_refused(votes):
    with pytest.raises(UsageError):
        fit_dawid_skene(votes)
