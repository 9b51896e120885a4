"""Holding systems out: Algorithm 1's R², and ratings of systems never seen."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.rating.tournaments import bootstrap_tournaments
from surrogate.board.holdout import (
    FOLDS,
    check_holdout,
    choose_holdout,
    fit_tournaments,
    rate_unseen,
)
from surrogate.board.language import fit_language, language_data
from surrogate.learning.regressors import find_learner
from surrogate.learning.surrogates import Recipe, train_language_judge
from surrogate.learning.tensor import FeatureTensor

SYSTEMS = tuple(f"system-{index:02}" for index in range(12))
QUESTIONS = tuple(f"q{index:02}" for index in range(15))


def noisy_round_robin(strength, seed=0):
    random = np.random.default_rng(seed)
    rows = [
        (question, one, other, "a" if strength[i] - strength[j] > random.logistic() else "b")
        for question in QUESTIONS
        for i, one in enumerate(SYSTEMS)
        for j, other in enumerate(SYSTEMS[:i])
    ]
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])
    return table.assign(language="en", judge="judge")


@pytest.fixture(scope="module")
def strength():
    return np.random.default_rng(5).permutation(np.linspace(-2, 2, len(SYSTEMS)))


@pytest.fixture(scope="module")
def tournaments(strength):
    return bootstrap_tournaments(noisy_round_robin(strength), 30, seed=7)


def tensor_of(per_system, noise=0.1, seed=1):
    random = np.random.default_rng(seed)
    values = np.repeat(np.asarray(per_system)[:, None, :], len(QUESTIONS), axis=1)
    values = values + noise * random.normal(size=values.shape)
    features = tuple(f"f{index}" for index in range(values.shape[2]))
    answered = np.ones(values.shape[:2], dtype=bool)
    return FeatureTensor("en", SYSTEMS, QUESTIONS, features, values, answered)


def kept(tensor, held):
    return tensor.take(systems=[system for system in SYSTEMS if system not in held])


def test_two_systems_are_drawn_by_the_seed_whatever_the_order():
    drawn = choose_holdout(SYSTEMS, seed=1)
    assert len(drawn) == 2
    assert drawn == choose_holdout(SYSTEMS[::-1], seed=1)
    assert {choose_holdout(SYSTEMS, seed) for seed in range(20)} != {drawn}
    assert choose_holdout(SYSTEMS[:4], seed=1) == ()


def test_impossible_holdouts_are_refused():
    assert check_holdout(["b", "a"], ["a", "b", "c", "d", "e"]) == ("a", "b")
    with pytest.raises(UsageError, match="cannot hold out x: not judged; the judged systems are a"):
        check_holdout(["x"], ["a", "b", "c", "d"])
    with pytest.raises(UsageError, match="named twice"):
        check_holdout(["a", "a"], ["a", "b", "c", "d"])
    with pytest.raises(UsageError, match="leaves fewer than 3"):
        check_holdout(["a", "b"], ["a", "b", "c", "d"])


def test_r2_is_that_of_a_surrogate_trained_without_the_held_out_systems(strength, tournaments):
    tensor = tensor_of(strength[:, None])
    held = SYSTEMS[3], SYSTEMS[8]
    fits = fit_tournaments(tensor, tournaments, held, Recipe(), range(4, 6))
    assert fits.r2.shape == (2,)
    assert fits.importances.shape == (2, 1)
    np.testing.assert_allclose(fits.importances, 1.0)

    is_held = np.isin(SYSTEMS, held)
    draws, coefficients = tournaments.draws[4], tournaments.coefficients[4]
    means = tensor.means(draws[None])[0]
    distances = np.abs(means[is_held] - means[~is_held].T)
    nearest = coefficients[~is_held][distances.argmin(axis=1)]
    assert fits.r2[0] == pytest.approx(r2_score(coefficients[is_held], nearest), abs=0.5)


def test_a_stretch_of_tournaments_gives_what_all_of_them_give(strength, tournaments):
    tensor = tensor_of(strength[:, None])
    held = SYSTEMS[:2]
    whole = fit_tournaments(tensor, tournaments, held, Recipe(), range(6))
    parts = [fit_tournaments(tensor, tournaments, held, Recipe(), range(i, i + 3)) for i in (0, 3)]
    np.testing.assert_array_equal(np.concatenate([part.r2 for part in parts]), whole.r2)


def test_a_single_held_out_system_has_no_r2(strength, tournaments):
    fits = fit_tournaments(
        tensor_of(strength[:, None]), tournaments, SYSTEMS[:1], Recipe(), range(2)
    )
    assert np.isnan(fits.r2).all()


def test_unseen_ratings_follow_a_good_feature(strength, tournaments):
    unseen = rate_unseen(tensor_of(strength[:, None]), tournaments, Recipe())
    assert np.corrcoef(unseen, strength)[0, 1] > 0.8


def test_a_feature_that_only_names_the_system_teaches_nothing_about_unseen_ones(tournaments):
    names = np.random.default_rng(2).permutation(len(SYSTEMS)).astype(float)
    tensor = tensor_of(names[:, None], noise=0.01)
    mean = tournaments.mean_coefficients
    state = find_learner("random-forest").final(0)
    seen = train_language_judge(
        tensor, tournaments.draws, tournaments.coefficients, Recipe(), state
    ).predict(tensor)
    assert np.corrcoef(seen, mean)[0, 1] > 0.99
    unseen = rate_unseen(tensor, tournaments, Recipe())
    assert np.corrcoef(unseen, mean)[0, 1] < 0.6


def folds_of(tournaments):
    """Places of the systems of each fold."""
    order = generator(tournaments.seed, "folds", "en").permutation(len(tournaments.systems))
    return np.array_split(order, FOLDS)


def test_battles_against_a_fold_do_not_tell_how_its_systems_are_rated(strength, tournaments):
    """Least squares follows a common move of its targets, so that differences stay."""
    tensor = tensor_of(strength[:, None])
    judgments = noisy_round_robin(strength)
    whole = rate_unseen(tensor, tournaments, Recipe("linear"))
    for fold in folds_of(tournaments):
        held = [SYSTEMS[place] for place in fold]
        against = judgments["system_a"].isin(held) | judgments["system_b"].isin(held)
        turned = judgments["winner"].map({"a": "b", "b": "a"}).where(against, judgments["winner"])
        other = bootstrap_tournaments(judgments.assign(winner=turned), 30, seed=7)
        assert np.abs(other.mean_coefficients - tournaments.mean_coefficients)[fold].max() > 0.5
        ratings = rate_unseen(tensor, other, Recipe("linear"))
        np.testing.assert_allclose(np.diff(ratings[fold]), np.diff(whole[fold]), atol=1e-6)


def test_unseen_ratings_are_on_the_scale_of_all_systems(tournaments):
    truth = tournaments.mean_coefficients
    unseen = rate_unseen(tensor_of(truth[:, None], noise=0.0), tournaments, Recipe("linear"))
    np.testing.assert_allclose(unseen, truth, atol=0.25)
    for fold in folds_of(tournaments):
        assert unseen[fold].mean() == pytest.approx(truth[fold].mean(), abs=0.15)


def table_of(pairs, questions=8):
    rows = [(f"q{number}", *pair, "a") for number in range(questions) for pair in pairs]
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])
    return table.assign(language="en", judge="judge")


def five(held):
    values = np.random.default_rng(0).normal(size=(5, len(held.battles.questions), 1))
    answered = np.ones(values.shape[:2], dtype=bool)
    return FeatureTensor("en", held.systems, held.battles.questions, ("f0",), values, answered)


def test_a_fold_whose_absence_leaves_no_battles_is_not_rated():
    around = bootstrap_tournaments(table_of([("hub", name) for name in "abcd"]), 3)
    unseen = rate_unseen(five(around), around, Recipe("ridge"))
    assert dict(zip(around.systems, np.isfinite(unseen).tolist(), strict=True)) == {
        **dict.fromkeys("abcd", True),
        "hub": False,
    }


def test_without_a_prior_a_fold_that_the_others_need_is_not_rated():
    ring = bootstrap_tournaments(table_of([*zip("abcde", "bcdea", strict=True)]), 3, ridge=0.0)
    assert np.isnan(rate_unseen(five(ring), ring, Recipe("ridge"))).all()


def test_the_final_judge_never_sees_the_held_out_systems(strength, tournaments):
    tensor = tensor_of(strength[:, None])
    rows = [
        ("en", system, question, *tensor.values[i, j])
        for i, system in enumerate(SYSTEMS)
        for j, question in enumerate(QUESTIONS)
    ]
    table = pd.DataFrame(rows, columns=["language", "system", "query_id", "f0"])
    changed = table.copy()
    changed.loc[changed["system"].isin(SYSTEMS[:2]), "f0"] = 1e6
    probe = kept(tensor, SYSTEMS[:2])
    predictions = []
    for features in (table, changed):
        data = language_data(features, ["f0"], SYSTEMS, QUESTIONS, tournaments, "en", SYSTEMS[:2])
        judge = fit_language(data, Recipe()).judge
        assert judge.systems == SYSTEMS[2:]
        predictions.append(judge.predict(probe))
    np.testing.assert_array_equal(*predictions)


def test_features_without_a_value_are_left_out_with_a_reason(strength, tournaments):
    per_system = np.column_stack([strength, np.full(len(SYSTEMS), np.nan)])
    learner = find_learner("random-forest").final(0)
    judge = train_language_judge(
        tensor_of(per_system), tournaments.draws, tournaments.coefficients, Recipe(), learner
    )
    assert judge.features == ("f0",)
    assert judge.left_out == {"f1": "no training answer has a value"}


def test_too_few_systems_are_refused(strength, tournaments):
    tensor = tensor_of(strength[:, None]).take(systems=SYSTEMS[:2])
    learner = find_learner("random-forest").final(0)
    with pytest.raises(UsageError, match="en: 2 systems with judged answers and 1 features"):
        train_language_judge(
            tensor, tournaments.draws, tournaments.coefficients[:, :2], Recipe(), learner
        )
