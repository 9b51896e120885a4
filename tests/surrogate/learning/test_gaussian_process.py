"""The Gaussian process over answers and features, against plain loops and scikit-learn's."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct

from arena.data.errors import UsageError
from arena.rating.tournaments import bootstrap_tournaments
from surrogate.learning.gaussian_process.answer_texts import hashed, read_answer_texts
from surrogate.learning.gaussian_process.profiles import learn_profiles
from surrogate.learning.gaussian_process.surrogate import GaussianProcessSurrogate
from surrogate.learning.posterior.observations import observe
from surrogate.learning.posterior.process import (
    NormalRatings,
    condition,
    fit_process,
)
from surrogate.learning.surrogate import predict_answers
from surrogate.learning.training import training_ratings

WORDS = [
    "the",
    "a",
    "river",
    "flows",
    "under",
    "old",
    "bridges",
    "while",
    "markets",
    "open",
    "close",
]


def arena(systems=10, questions=8, languages=("en", "fi"), seed=0):
    """Answers whose length and words follow a system's strength, and noisy ratings."""
    random = np.random.default_rng(seed)
    strengths = np.linspace(-1.5, 1.5, systems)
    rows, ratings = [], []
    for language in languages:
        for place, strength in enumerate(strengths):
            ratings.append(
                {
                    "language": language,
                    "system": f"system-{place}",
                    "rating": strength + random.normal(0, 0.1),
                    "variance": 0.01,
                }
            )
            for question in range(questions):
                count = int(12 + 4 * strength + random.integers(0, 3))
                words = random.choice(WORDS[: 5 + 2 * int(strength + 2)], count)
                rows.append(
                    {
                        "language": language,
                        "system": f"system-{place}",
                        "query_id": f"q{question}",
                        "answer": f"{question} " + " ".join(words),
                        "length": float(count),
                        "noise": random.normal(),
                    }
                )
    return pd.DataFrame(rows), pd.DataFrame(ratings)


def renamed(table, names):
    return table.assign(system=table["system"].map(names))


def test_the_closed_form_is_that_of_scikit_learn():
    random = np.random.default_rng(1)
    features, new = random.normal(size=(12, 3)), random.normal(size=(5, 3))
    ratings = features @ [1.0, -0.5, 0.2] + random.normal(0, 0.1, 12) + 3.0
    noise = random.uniform(0.01, 0.1, 12)
    kernels = (features @ features.T)[None]
    process = condition(
        np.array([[0.6]]),
        np.array([0.05]),
        kernels,
        NormalRatings(ratings, np.diag(noise)),
        np.ones((12, 1)),
    )
    kernel = ConstantKernel(0.6) * DotProduct(sigma_0=1e-6)
    other = GaussianProcessRegressor(kernel, alpha=noise + 0.05, optimizer=None)
    other.fit(features, ratings - process.fits[0].means[0])
    mean, error = process.predict(
        (new @ features.T)[None], np.sum(new**2, axis=1)[None], np.ones((5, 1))
    )
    expected, spread = other.predict(new, return_std=True)
    np.testing.assert_allclose(mean, expected + process.fits[0].means[0], atol=1e-6)
    assert (error**2 >= spread**2 + 0.05 - 1e-6).all()  # the mean is not known either


def test_intervals_of_few_ratings_hold_new_ones():
    missed = {"averaged": [], "best alone": []}
    for seed in range(120):
        random = np.random.default_rng(seed)
        features, texts = random.normal(size=(11, 4)), random.normal(size=(11, 6))
        kernels = np.stack([features @ features.T / 4, texts @ texts.T / 6])
        weights = 0.3 * np.exp(random.normal(size=2))
        truth = random.multivariate_normal(
            np.zeros(11), np.tensordot(weights, kernels, 1) + 0.1 * np.eye(11)
        )
        observed = truth[:8] + random.normal(0, 0.3, 8)
        process = fit_process(
            kernels[:, :8, :8], NormalRatings(observed, 0.09 * np.eye(8)), np.ones((8, 1))
        )
        new = kernels[:, 8:, :8], kernels[:, range(8, 11), range(8, 11)], np.ones((3, 1))
        mean, error = process.predict(*new)
        alone = replace(process, probabilities=np.eye(len(process.fits))[0])
        best, error_alone = alone.predict(*new)
        missed["averaged"].append(np.abs(mean - truth[8:]) > 1.645 * error)
        missed["best alone"].append(np.abs(best - truth[8:]) > 1.645 * error_alone)
    assert 0.07 < np.mean(missed["averaged"]) < 0.15
    assert np.mean(missed["best alone"]) > np.mean(missed["averaged"]) + 0.03


def test_texts_are_what_a_plain_loop_over_the_library_gives():
    texts = ["one two three", "one two four", "five", "one two three", "six seven", "five five"]
    systems, questions = np.array([0, 1, 2, 0, 1, 2]), np.array([0, 0, 0, 1, 1, 1])
    learned, consensus = read_answer_texts(texts, systems, questions, (3, 2))
    damped = hashed(texts).toarray()
    weighted = damped * (np.log(7 / (1 + (damped != 0).sum(axis=0))) + 1)
    unit = weighted / np.linalg.norm(weighted, axis=1, keepdims=True)
    np.testing.assert_allclose(learned.profiles[1], (unit[1] + unit[4]) / 2, atol=1e-3)
    expected = [
        np.mean([unit[i] @ unit[j] for j in range(6) if questions[j] == questions[i] and j != i])
        for i in range(6)
    ]
    np.testing.assert_allclose(consensus, expected, atol=1e-3)


def test_a_feature_counts_by_the_share_of_its_variance_that_is_no_noise_of_few_answers():
    random = np.random.default_rng(3)
    true, noisy = random.normal(size=400), random.normal(size=(400, 6))
    rows = pd.DataFrame(
        {
            "system": np.repeat([f"s{place:03}" for place in range(400)], 6),
            "query_id": np.tile([f"q{place}" for place in range(6)], 400),
            "plain": np.repeat(true, 6),
            "half": (true[:, None] + np.sqrt(6) * noisy).ravel(),
            "none": random.normal(size=2400),
        }
    )
    systems, names = sorted(rows["system"].unique()), ["plain", "half", "none"]
    learned = learn_profiles(rows, "en", systems, names)
    np.testing.assert_allclose(learned.reliability, [1.0, 0.5, 0.0], atol=0.12)
    np.testing.assert_allclose(learned.of(rows).features, learned.training.features)
    wide = rows[["system", "half"]].assign(
        half=rows["half"] - rows.groupby("query_id")["half"].transform("mean")
    )
    own = wide.groupby("system")["half"]
    share = 1 - (own.var() / 6).mean() / own.mean().var(ddof=0)
    assert learned.reliability[1] == pytest.approx(share)


def test_the_order_of_rows_changes_nothing_and_a_renaming_only_names():
    X, ratings = arena()
    new = X[X["system"] == "system-4"].assign(system="new")
    plain = GaussianProcessSurrogate().fit(X, ratings).predict(new)
    shuffled = GaussianProcessSurrogate().fit(X.sample(frac=1, random_state=0), ratings[::-1])
    pd.testing.assert_frame_equal(plain, shuffled.predict(new), atol=1e-6)
    names = {f"system-{place}": f"z{9 - place}" for place in range(10)}
    other = GaussianProcessSurrogate().fit(renamed(X, names), renamed(ratings, names))
    pd.testing.assert_frame_equal(plain, other.predict(new), atol=1e-6)


def test_a_new_system_equal_to_a_judged_one_gets_its_rating_within_noise():
    X, ratings = arena(systems=14, questions=20)
    surrogate = GaussianProcessSurrogate().fit(X, ratings)
    known = ratings.set_index(["language", "system"])["rating"]
    for name in ("system-2", "system-7", "system-12"):
        copy = surrogate.predict(X[X["system"] == name].assign(system="copy"))
        for row in copy.itertuples():
            assert row.rating == pytest.approx(known[row.language, name], abs=0.35)


def test_systems_that_were_not_seen_are_ranked_by_their_answers():
    X, ratings = arena(systems=14, questions=20)
    held = {"system-1", "system-6", "system-11"}
    surrogate = GaussianProcessSurrogate().fit(
        X[~X["system"].isin(held)], ratings[~ratings["system"].isin(held)]
    )
    rated = surrogate.predict(X[X["system"].isin(held)])
    assert (rated["standard_error"] > 0).all()
    for _, own in rated.groupby("language"):
        best_last = own.set_index("system")["rating"].sort_values().index
        assert list(best_last) == ["system-1", "system-6", "system-11"]


@pytest.mark.parametrize("reads", [True, False])
def test_a_language_without_ratings_is_ranked_by_what_others_tell(reads):
    X, ratings = arena(systems=12, questions=12, languages=("en", "fi", "sw"))
    columns = X.columns if reads else X.columns.drop("answer")
    known = ratings[ratings["language"] != "sw"]
    surrogate = GaussianProcessSurrogate().fit(X[columns], known)
    for shown in (X, X.drop(columns="answer")):
        rated = surrogate.predict(shown[shown["language"] == "sw"])
        strengths = rated["system"].str.removeprefix("system-").astype(int)
        assert np.corrcoef(rated["rating"], strengths)[0, 1] > 0.9
    alone = X[(X["language"] == "sw") & (X["system"] == "system-3")]
    assert surrogate.predict(alone)["rating"].isna().all()  # beside nobody


@pytest.mark.parametrize("name", ["profiles", "sums", "counts", "weights", "consensus"])
def test_a_file_whose_texts_are_not_of_its_rows_is_refused(name):
    X, ratings = arena()
    surrogate = GaussianProcessSurrogate().fit(X, ratings)
    arrays = surrogate.arrays()
    arrays["en"] = {**arrays["en"], name: arrays["en"][name][1:]}
    with pytest.raises(UsageError, match=r"not (?:of|that of) \d+"):
        GaussianProcessSurrogate().restore(surrogate.X_, surrogate.ratings_, arrays)


def test_without_answers_it_learns_from_features_and_without_features_from_answers():
    X, ratings = arena()
    for own in (X.drop(columns="answer"), X.drop(columns=["length", "noise"])):
        rated = GaussianProcessSurrogate().fit(own, ratings).predict(own)
        assert rated["rating"].notna().all()


def test_a_system_of_which_nothing_is_known_has_no_rating():
    """Not that of the mean system, with an error as if it were known to be one."""
    X, ratings = arena()
    bare = X.drop(columns="answer")
    is_new = bare["system"] == "system-9"
    blank = bare[is_new].assign(length=np.nan, noise=np.nan)
    known = ratings[ratings["system"] != "system-9"]
    surrogate = GaussianProcessSurrogate().fit(bare[~is_new], known)
    one = blank.assign(length=blank["length"].where(blank["language"] == "en", 12.0))
    for table, languages in ((blank, []), (one, ["fi"])):
        rated = surrogate.predict(pd.concat([table, bare[~is_new]]))
        own = rated[rated["system"] == "system-9"]
        assert list(own["answers"]) == [8, 8]
        for column in ("rating", "standard_error"):
            assert list(own.loc[own[column].notna(), "language"]) == languages
    assert predict_answers(surrogate, blank)["rating"].isna().all()
    observed = observe(training_ratings(ratings))
    unknown = surrogate.posterior(observed, blank)["en"]
    assert "system-9" not in unknown.systems
    reader = GaussianProcessSurrogate().fit(X[X["system"] != "system-9"], known)
    assert reader.predict(blank)["rating"].isna().all()
    assert reader.predict(blank.assign(answer="the old river"))["rating"].notna().all()


def partly_judged(seed, languages=3, systems=14, judged=10, questions=20, sizes=5):
    """Answers' features, judgments of some systems, and the true ratings of all."""
    random = np.random.default_rng(seed)
    names = [f"s{place:02}" for place in range(systems)]
    features = random.normal(size=(systems, sizes))
    common = features @ random.normal(size=sizes) * 0.4 + random.normal(size=systems) * 0.6
    rows, judgments, truth = [], [], {}
    for language in ("aa", "bb", "cc")[:languages]:
        own = common + random.normal(size=systems) * 0.3
        truth[language] = pd.Series(own - own[:judged].mean(), names)
        for question in range(questions):
            seen = features + random.normal(size=features.shape) * 0.7
            rows += [(language, f"q{question}", *row) for row in zip(names, *seen.T, strict=True)]
            strength = own + random.normal(size=systems) * 0.5
            for one, other in itertools.combinations(range(judged), 2):
                if random.random() < 0.4:
                    won = random.random() < 1 / (1 + np.exp(strength[other] - strength[one]))
                    pair = (names[one], names[other], "a" if won else "b")
                    judgments.append((language, f"q{question}", *pair, "judge"))
    measured = [f"f{place}" for place in range(sizes)]
    X = pd.DataFrame(rows, columns=["language", "query_id", "system", *measured])
    columns = ["language", "query_id", "system_a", "system_b", "winner", "judge"]
    return X, pd.DataFrame(judgments, columns=columns), truth, names[judged:]


def test_without_texts_intervals_of_unjudged_systems_hold_what_they_state():
    """They held .73 with the residual that is right beside texts."""
    inside = []
    for seed in range(10):
        X, judgments, truth, unjudged = partly_judged(seed)
        known = {
            str(language): bootstrap_tournaments(rows, 2)
            for language, rows in judgments.groupby("language")
        }
        surrogate = GaussianProcessSurrogate().fit(X[~X["system"].isin(unjudged)], known)
        for language, rows in surrogate.predict(X).groupby("language"):
            own = rows.set_index("system").loc[unjudged]
            away = (own["rating"] - truth[language][unjudged]).abs()
            inside += list(away <= 1.645 * own["standard_error"])
    assert np.mean(inside) >= 0.82  # .9, less two standard errors
