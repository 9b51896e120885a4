"""The default surrogate: its closed forms against plain linear algebra, and its limits."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared_path

from arena import read_arena
from arena.data.errors import UsageError
from arena.rating.tournaments import bootstrap_tournaments
from surrogate.learning.answers_surrogate import AnswersSurrogate
from surrogate.learning.observations import observe, rating_reliability
from surrogate.learning.peers import PeerAnswers
from surrogate.learning.question_scores import (
    LIKENESS_VARIANCE,
    QuestionScores,
    Scored,
)
from surrogate.learning.ratings import posterior_ratings
from surrogate.learning.system_ridge import Blend, SystemRidge
from surrogate.learning.system_vectors import Scale, SystemVectors
from surrogate.learning.training_data import training_ratings

WORDS = ["the", "a", "river", "flows", "under", "old", "bridges", "while", "markets", "close"]


def arena(systems=10, questions=8, languages=("en", "fi"), seed=0):
    """Answers whose length and words follow a system's strength, and verdicts on them."""
    random = np.random.default_rng(seed)
    strengths = np.linspace(-1.5, 1.5, systems)
    rows, judgments = [], []
    names = [f"system-{place}" for place in range(systems)]
    for language in languages:
        for question in range(questions):
            for name, strength in zip(names, strengths, strict=True):
                count = int(12 + 4 * strength + random.integers(0, 3))
                words = random.choice(WORDS[: 5 + 2 * int(strength + 2)], count)
                answer = f"{question} " + " ".join(words)
                key = (language, name, f"q{question}")
                rows.append((*key, answer, float(count), random.normal()))
            for one in range(systems):
                for other in range(one + 1, systems):
                    wins = random.random() < 1 / (1 + np.exp(strengths[other] - strengths[one]))
                    pair = (names[one], names[other], "a" if wins else "b")
                    judgments.append((language, f"q{question}", *pair))
    columns = ["language", "system", "query_id", "answer", "length", "noise"]
    judged = ["language", "query_id", "system_a", "system_b", "winner"]
    return pd.DataFrame(rows, columns=columns), pd.DataFrame(judgments, columns=judged)


def known(judgments):
    return {
        str(name): bootstrap_tournaments(rows, 2) for name, rows in judgments.groupby("language")
    }


def without(table, systems):
    """Leave systems out of answers or of judgments."""
    sides = [name for name in ("system", "system_a", "system_b") if name in table]
    return table[~table[sides].isin(systems).any(axis=1)]


def held_bytes(make):
    """Bytes that the result of a call holds."""
    tracemalloc.start()
    result = make()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result is not None
    return size


@pytest.fixture(scope="module")
def judged():
    return arena()


@pytest.fixture(scope="module")
def fitted(judged):
    return AnswersSurrogate().fit(judged[0], known(judged[1]))


def scored_language(judged):
    X = judged[0][judged[0]["language"] == "en"]
    peers = PeerAnswers.of(X, "en", ["length", "noise"])
    return Scored.of(
        peers.self_view, peers.tensor.questions, training_ratings(known(judged[1]))["en"]
    )


def dense(scored, preferences):
    """The same regression as one normal distribution: scores, covariance, means' design."""
    questions, systems = scored.scores.shape
    ranks = scored.view.ranks.transpose(1, 0, 2).reshape(questions * systems, -1)
    whole = ranks @ ranks.T / ranks.shape[1]
    # What other judges liked is one more feature, of prior variance 1.
    liked = ranks @ preferences
    whole += np.outer(liked, liked)
    for question in range(questions):
        rows = slice(question * systems, (question + 1) * systems)
        alike = scored.view.cosines[question] * scored.scales[question]
        whole[rows, rows] += LIKENESS_VARIANCE * alike + np.eye(systems)
    return scored.scores.ravel(), whole, np.repeat(np.eye(questions), systems, axis=0)


@pytest.mark.parametrize("preferences", [[0.0, 0.0, 0.0], [0.4, -0.1, 2.0]])
def test_scores_are_those_of_one_normal_distribution(judged, preferences):
    """And each system left out is predicted as by a distribution of all others."""
    scored = scored_language(judged)
    found = QuestionScores.fit({"en": scored}, np.array(preferences))
    scores, whole, design = dense(scored, np.array(preferences))
    questions, systems = scored.scores.shape
    predicted = np.empty((systems, questions))
    for system in range(systems):
        out = np.arange(len(scores)) % systems == system
        inverse = np.linalg.inv(whole[np.ix_(~out, ~out)])
        known_design = design[~out]
        normal = known_design.T @ inverse @ known_design
        means = np.linalg.solve(normal, known_design.T @ inverse @ scores[~out])
        rest = inverse @ (scores[~out] - known_design @ means)
        predicted[system] = design[out] @ means + whole[np.ix_(out, ~out)] @ rest
    others = (scored.scores.sum(axis=1, keepdims=True) - scored.scores) / (systems - 1)
    np.testing.assert_allclose(found.left_out["en"], (predicted.T - others).mean(axis=0), atol=1e-8)


def test_the_consensus_is_the_mean_cosine_to_the_other_peers(judged):
    X = judged[0][judged[0]["language"] == "en"].drop(columns="noise")
    peers = PeerAnswers.of(X[X["system"] != "system-1"].iloc[3:], "en", ["length"])
    seen = peers.compare(X.iloc[5:])
    others = ~seen.is_self[:, None] & peers.tensor.answered.T
    means = (seen.cosines.transpose(1, 0, 2) * others).sum(axis=2) / others.sum(axis=2)
    consensus = np.where(seen.answered, means, np.nan)
    np.testing.assert_allclose(seen.values[:, :, -1], consensus, atol=1e-8)


def test_ratings_of_left_out_systems_are_those_of_a_fit_without_them(judged):
    """Exactly, on features and texts that are scaled as they were with them."""
    X, rows = judged
    seen = {
        name: PeerAnswers.of(own, name, ["length", "noise"]).self_view
        for name, own in X.groupby("language")
    }
    rated = training_ratings(known(rows))
    ratings = {name: item.means for name, item in rated.items()}
    ridge = SystemRidge.fit(seen, ratings)
    kernel = ridge._kernel(ridge.vectors, ridge.vectors) + ridge.penalty * np.eye(20)
    owners, languages = np.tile(range(10), 2), np.repeat(range(2), 10)
    target = np.concatenate(list(ratings.values()))
    design = np.equal.outer(languages, range(2)).astype(float)
    out = owners == 3
    inverse = np.linalg.inv(kernel[np.ix_(~out, ~out)])
    own = design[~out]
    means = np.linalg.solve(own.T @ inverse @ own, own.T @ inverse @ target[~out])
    rest = inverse @ (target[~out] - own @ means)
    predicted = means + kernel[np.ix_(out, ~out)] @ rest
    others = [target[~out][languages[~out] == place].mean() for place in range(2)]
    expected = ridge.left_out.ratings[out]
    np.testing.assert_allclose(predicted - others, expected, atol=1e-8)


def test_a_feature_counts_by_the_share_of_its_variance_that_is_no_noise_of_few_answers():
    random = np.random.default_rng(3)
    true, noisy = random.normal(size=300), random.normal(size=(300, 6))
    rows = pd.DataFrame(
        {
            "language": "en",
            "system": np.repeat([f"s{place:03}" for place in range(300)], 6),
            "query_id": np.tile([f"q{place}" for place in range(6)], 300),
            "plain": np.repeat(true, 6),
            "half": (true[:, None] + np.sqrt(6) * noisy).ravel(),
            "none": random.normal(size=1800),
        }
    )
    peers = PeerAnswers.of(rows, "en", ["plain", "half", "none"])
    reliability = Scale.of(peers.self_view, np.ones(300, dtype=bool)).reliability
    np.testing.assert_allclose(reliability, [1.0, 0.5, 0.0], atol=0.12)


def test_the_order_of_rows_changes_nothing_and_a_renaming_only_names(judged, fitted):
    X, rows = judged
    new = X[X["system"] == "system-4"].assign(system="new")
    plain = fitted.predict(new)
    shuffled = AnswersSurrogate().fit(X.sample(frac=1, random_state=0), known(rows[::-1]))
    pd.testing.assert_frame_equal(plain, shuffled.predict(new), atol=1e-6)
    names = {f"system-{place}": f"z{9 - place}" for place in range(10)}
    sides = {name: rows[name].map(names) for name in ("system_a", "system_b")}
    renamed = X.assign(system=X["system"].map(names))
    other = AnswersSurrogate().fit(renamed, known(rows.assign(**sides)))
    pd.testing.assert_frame_equal(plain, other.predict(new), atol=1e-6)
    beside = fitted.predict(pd.concat([new, X[X["system"] == "system-1"].assign(system="other")]))
    own = beside[beside["system"] == "new"].reset_index(drop=True)
    pd.testing.assert_frame_equal(plain, own, atol=1e-9)


def test_a_verbatim_copy_of_a_judged_system_has_its_rating_without_noise(fitted, judged):
    X, _ = judged
    for name in ("system-1", "system-5", "system-8"):
        copy = fitted.predict(X[X["system"] == name].assign(system="copy"))
        for language, rating in zip(copy["language"], copy["rating"], strict=True):
            index = fitted.systems_[language].index(name)
            distance = fitted.blend_.reliability * fitted.observed_[language][index]
            assert rating == pytest.approx(fitted.levels_[language] + distance, abs=0.01)


def test_a_disguised_copy_of_a_real_system_is_rated_hardly_above_it():
    """A surrogate once rated it far above: it saw verdicts on the same wording twice."""
    real = read_arena(shared_path("data/arenas/rakuda"))
    X = real.answers[["language", "system", "query_id", "answer"]]
    X = X.assign(length=X["answer"].str.len().astype(float))
    fitted = AnswersSurrogate().fit(X, known(real.judgments))
    rated = fitted.ratings_["ja"]
    for name in ("gpt-4:20230713", "gpt-3.5-turbo-0301:20230614"):
        rows = X[X["system"] == name]
        opened = rows.assign(system="opened", answer="はい。" + rows["answer"])
        spaced = rows.assign(system="spaced", answer=rows["answer"].str.replace("、", "、 "))
        copies = fitted.predict(pd.concat([opened, spaced]))
        original = rated.means[rated.systems.index(name)]
        assert (copies["rating"] < original + 0.2 * rated.means.std()).all()


def test_a_system_unlike_the_others_is_known_less_well(fitted, judged):
    own = judged[0][judged[0]["system"] == "system-5"]
    plain = fitted.predict(own.assign(system="new"))
    strange = own.assign(system="new", answer="qwx zvj kkpt " * 30, length=400.0)
    wider = fitted.predict(strange)["standard_error"] / plain["standard_error"]
    assert (wider > 1.2).all()


def test_systems_that_were_not_seen_are_ranked_by_their_answers(judged):
    held = ["system-1", "system-5", "system-8"]
    surrogate = AnswersSurrogate().fit(without(judged[0], held), known(without(judged[1], held)))
    rated = surrogate.predict(judged[0][judged[0]["system"].isin(held)])
    assert (rated["standard_error"] > 0).all()
    for _, own in rated.groupby("language"):
        assert list(own.set_index("system")["rating"].sort_values().index) == held


@pytest.mark.parametrize("reads", [True, False])
def test_a_language_without_verdicts_is_ranked_by_what_others_tell(reads):
    X, rows = arena(languages=("en", "fi", "sw"))
    columns = X.columns if reads else X.columns.drop("answer")
    surrogate = AnswersSurrogate().fit(X[columns], known(rows[rows["language"] != "sw"]))
    for shown in (X, X.drop(columns="answer")):
        rated = surrogate.predict(shown[shown["language"] == "sw"])
        strengths = rated["system"].str.removeprefix("system-").astype(int)
        assert np.corrcoef(rated["rating"], strengths)[0, 1] > 0.9
    alone = X[(X["language"] == "sw") & (X["system"] == "system-3")]
    assert surrogate.predict(alone)["rating"].isna().all()  # beside nobody


def test_where_few_are_judged_a_rating_does_not_hang_on_who_stands_beside_it():
    X, rows = arena(languages=("en", "sw"))
    two = rows["system_a"].isin(["system-0", "system-1"]) & (rows["system_b"] == "system-1")
    surrogate = AnswersSurrogate().fit(X, known(rows[(rows["language"] == "en") | two]))
    new = X[X["system"].isin(["system-2", "system-8"])]
    new = new.assign(system=new["system"] + "-new")
    together = surrogate.predict(new).set_index(["language", "system"])
    assert together.loc[("sw", "system-8-new"), "rating"] > together.loc["sw"]["rating"].min() + 0.5
    for _, own in new.groupby("system"):
        alone = surrogate.predict(own).set_index(["language", "system"])
        pd.testing.assert_frame_equal(alone, together.loc[alone.index], atol=1e-9)


def test_where_all_answers_are_equal_all_are_rated_alike(judged):
    X, rows = judged
    same = X.assign(answer="the same", length=1.0, noise=0.0)
    rated = AnswersSurrogate().fit(same, known(rows)).predict(same)
    assert np.ptp(rated["rating"]) == pytest.approx(0, abs=1e-9)


def test_without_a_verdict_slopes_are_zero_and_nothing_is_predicted(judged):
    scored = scored_language(judged)
    none = np.zeros_like(scored.scores)
    nothing = Scored(scored.view, none, none > 0, np.zeros(len(none)))
    found = QuestionScores.fit({"en": nothing}, np.array([0.4, -0.1, 2.0]))
    np.testing.assert_allclose(found.slopes, 0.0, atol=1e-12)
    assert np.isnan(found.left_out["en"]).all()
    nothing_copied = np.zeros_like(scored.view.cosines)
    predicted = found.predict("en", scored.view, nothing_copied)
    np.testing.assert_allclose(predicted, 0.0, atol=1e-12)
    assert rating_reliability({}) == 0


def test_one_question_is_solved_as_by_hand():
    """Two answers without texts: the difference of scores is shrunk by one ridge."""
    scores = []
    for share in (0.0, 0.8):
        X = pd.DataFrame(
            {
                "language": "en",
                "system": ["s", "t", "u"],
                "query_id": "q",
                "length": [2.0, 1.0, np.nan],
            }
        )
        view = PeerAnswers.of(X, "en", ["length"]).self_view
        judged = np.array([[True, True, False]])
        scored = Scored(view, np.array([[share, 1 - share, 0.0]]), judged, np.zeros(1))
        found = QuestionScores.fit({"en": scored}, np.zeros(1))
        scores.append(found.slopes[0])
        # Ranks are 1 and -1, so X'PX is 2 and X'Py the difference of the scores.
        assert found.slopes[0] == pytest.approx((2 * share - 1) / (1 + 2))
    assert scores[0] < 0 < scores[1]


def test_a_system_alone_in_its_language_is_not_learned_from_and_changes_no_other(judged):
    X, rows = judged
    alone = X[(X["language"] == "en") | (X["system"] == "system-3")]
    english = rows[rows["language"] == "en"]
    table = pd.DataFrame({"language": "fi", "system": ["system-3"], "rating": [0.0]})
    whole = training_ratings(known(english))
    plain = AnswersSurrogate().fit(X[X["language"] == "en"], whole)
    both = AnswersSurrogate().fit(alone, {**whole, **training_ratings(table)})
    assert "1 system with judged answers" in both.failures_["fi"]
    rated = both.predict(alone)
    assert rated.loc[rated["language"] == "fi", "rating"].isna().all()
    english_rated = rated[rated["language"] == "en"].reset_index(drop=True)
    expected = plain.predict(X[X["language"] == "en"])
    pd.testing.assert_frame_equal(english_rated, expected)


@pytest.mark.slow
@given(st.integers(0, 20), st.sampled_from([3, 4, 6]), st.sampled_from([1, 2]))
def test_few_systems_and_one_question_give_finite_ratings(seed, systems, questions):
    X, rows = arena(systems, questions, ("en",), seed)
    rated = AnswersSurrogate().fit(X, known(rows)).predict(X)
    assert np.isfinite(rated[["rating", "standard_error"]]).all(axis=None)


def test_published_ratings_are_learned_from_as_wholes(judged):
    X, _ = judged
    ratings = X[["language", "system"]].drop_duplicates().reset_index(drop=True)
    ratings["rating"] = ratings["system"].str.removeprefix("system-").astype(float)
    held = ["system-2", "system-7"]
    surrogate = AnswersSurrogate().fit(without(X, held), without(ratings, held))
    rated = surrogate.predict(X[X["system"].isin(held)])
    wide = rated.pivot(index="language", columns="system", values="rating")
    assert (wide["system-7"] > wide["system-2"]).all()


def test_a_file_whose_vectors_are_not_of_its_rows_is_refused(fitted):
    for name, change in (
        ("ends", lambda array: array[1:]),
        ("columns", lambda array: array + 4096),
        ("columns", lambda array: array.astype(np.int32) - 4096),
        ("values", lambda array: np.full_like(array, np.nan)),
    ):
        arrays = fitted.arrays()
        arrays["en"] = {**arrays["en"], name: change(arrays["en"][name])}
        with pytest.raises(UsageError, match="vectors of its answers"):
            AnswersSurrogate().fit_with(fitted.X_, fitted.ratings_, arrays)


def test_a_system_of_which_nothing_is_known_has_no_rating(judged):
    """Not that of the mean system, with an error as if it were known to be one."""
    X, rows = judged
    bare, held = X.drop(columns="answer"), ["system-9"]
    blank = bare[bare["system"] == "system-9"].assign(length=np.nan, noise=np.nan)
    surrogate = AnswersSurrogate().fit(without(bare, held), known(without(rows, held)))
    one = blank.assign(length=blank["length"].where(blank["language"] == "en", 12.0))
    for table, languages in ((blank, []), (one, ["fi"])):
        own = surrogate.predict(table)
        assert list(own["answers"]) == [8, 8]
        for column in ("rating", "standard_error"):
            assert list(own.loc[own[column].notna(), "language"]) == languages


def test_more_systems_than_are_learned_from_are_rated_as_if_all_were(judged, monkeypatch):
    X, rows = judged
    rated = training_ratings(known(rows))
    expected = X[["language", "system"]].drop_duplicates().assign(rating=0.0)
    whole = AnswersSurrogate().fit(X, rated)
    exact = posterior_ratings(whole, rated, expected)
    monkeypatch.setattr("surrogate.learning.training_data.MOST_SYSTEMS", 6)
    some = AnswersSurrogate().fit(X, rated)
    assert len(some.ratings_["en"].systems) == 6
    for language, known_of_all in exact.by_language().items():
        same = posterior_ratings(whole, rated, expected, X)[language]
        np.testing.assert_array_equal(same.ratings, known_of_all.ratings)
        found = posterior_ratings(some, rated, expected, X)[language]
        assert set(found.systems) == set(known_of_all.systems)
        place = list(map(found.systems.index, known_of_all.systems))
        errors = known_of_all.standard_errors
        np.testing.assert_allclose(found.ratings[place], known_of_all.ratings, atol=0.15)
        np.testing.assert_allclose(found.standard_errors[place], errors, rtol=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.0, 0.1])
def test_predictions_are_on_the_scale_of_ratings_that_are_close_as_of_ones_far_apart(share):
    """In an arena of close systems a coin gives nine verdicts in ten."""
    answers, judgments = arena(questions=40, languages=("en",), seed=3)
    random = np.random.default_rng(0)
    is_coin = random.random(len(judgments)) > share
    coin = np.where(random.random(len(judgments)) < 0.5, "a", "b")
    judgments = judgments.assign(winner=judgments["winner"].where(~is_coin, coin))
    whole = training_ratings(known(judgments))["en"]
    ratings = pd.Series(whole.means, list(whole.systems))
    errors, above = [], 0
    for held in ratings.index:
        rest = known(without(judgments, [held]))
        fitted = AnswersSurrogate().fit(without(answers, [held]), rest)
        rated = training_ratings(rest)["en"]
        others = pd.Series(rated.means, list(rated.systems))
        predicted = fitted.predict(answers[answers["system"] == held])["rating"].iloc[0]
        # Both are centered on the systems that were learned from.
        errors.append(predicted - (ratings[held] - ratings.drop(held).mean()))
        above += predicted > others.max()
    spread = ratings.std(ddof=0)
    assert np.sqrt(np.mean(np.square(errors))) < 1.3 * spread
    assert above <= 3


def test_a_part_that_predicts_next_to_nothing_is_not_blown_up():
    target = np.array([-1.0, 0.5, 0.5, 1.0])
    parts = np.column_stack([target, [1e-4, -1e-4, 1e-4, -1e-4]])
    weights = Blend.fit(parts, target, np.ones(4), reliability=1.0)[:2]
    assert np.abs(parts[:, 1] * weights[1]).max() < 0.01
    assert np.abs(parts[:, 0] * weights[0]).max() > 0.5


@pytest.mark.parametrize(("reliability", "share"), [(1.0, 1 / 3), (0.5, 1 / 5), (0.0, 0.0)])
def test_the_ridge_counts_by_the_reliability_of_the_ratings_that_it_learned_from(
    reliability, share
):
    parts = np.column_stack([[-1.0, 1.0, 0.5], [2.0, -1.0, 3.0]])
    target = np.array([-1.0, 0.0, 1.0])
    variances = np.ones(3)
    units = np.sqrt((parts**2).mean(axis=0))
    shares = Blend.fit(parts, target, variances, reliability)[:2] * units
    np.testing.assert_allclose(shares, [1 - share, share])
    # A ridge that is alone counts whatever its reliability.
    alone = Blend.fit(parts * [0, 1], target, variances, reliability)[:2] * units
    np.testing.assert_allclose(alone, [0, 1])


@pytest.mark.parametrize(("reliability", "share"), [(1.0, 1.0), (0.4, 0.4), (0.0, 0.1)])
def test_predictions_are_shrunk_by_the_reliability_of_the_ratings_down_to_a_tenth(
    reliability, share
):
    """By scores alone, so that the weight of the ridge does not change what is shrunk."""
    parts = np.column_stack([[-1.0, 1.0, 0.5], np.zeros(3)])
    target = np.array([-1.0, 0.2, 0.8])
    variances = np.ones(3)
    reliable = Blend.fit(parts, target, variances).ratings(parts)
    shrunk = Blend.fit(parts, target, variances, reliability).ratings(parts)
    np.testing.assert_allclose(shrunk, share * reliable)


def test_ratings_by_many_verdicts_are_reliable_and_by_coins_or_one_question_are_not():
    def reliability(judgments):
        return rating_reliability(observe(training_ratings(known(judgments))))

    _, many = arena(questions=60, languages=("en",))
    _, one = arena(systems=4, questions=1, languages=("en",))
    random = np.random.default_rng(5)
    coins = many.assign(winner=np.where(random.random(len(many)) < 0.5, "a", "b"))
    assert reliability(many) > 0.9
    assert reliability(one) < 0.6
    assert reliability(coins) < 0.5
    swapped = {"system_a": "system_b", "system_b": "system_a"}
    mirrored = many.rename(columns=swapped).replace({"winner": {"a": "b", "b": "a"}})
    assert reliability(mirrored) == pytest.approx(reliability(many), abs=1e-9)


def test_contributions_of_features_add_up_to_what_the_ridge_predicts_without_texts(judged):
    """In each language but for a constant, since ratings are about the mean of its systems."""
    X, rows = judged
    views = {
        name: PeerAnswers.of(part.drop(columns="answer"), name, ["length", "noise"]).self_view
        for name, part in X.groupby("language")
    }
    ratings = {name: item.means for name, item in training_ratings(known(rows)).items()}
    ridge = SystemRidge.fit(views, ratings)
    predicted = ridge.predict(views, ridge.scales)
    contributions = ridge.contributions(SystemVectors.of(views, ridge.scales))
    differences = pd.Series(contributions.sum(axis=1) - predicted.ratings, predicted.keys)
    spread = differences.groupby("language").agg(np.ptp)
    np.testing.assert_allclose(spread, 0.0, atol=1e-9)


def test_strength_in_one_language_counts_in_another_through_the_mean_over_languages():
    X, rows = arena(languages=("en", "fi"))
    en_only = rows[(rows["language"] == "en") | rows["query_id"].isin(["q0"])]
    bare = X.drop(columns="answer")
    surrogate = AnswersSurrogate(preferences={}).fit(bare, known(en_only))
    shares = surrogate.importances().set_index(["language", "feature"])["importance"]
    for language in ("en", "fi"):
        assert shares[language, "length"] > shares[language, "noise"]


@pytest.mark.slow
def test_a_further_language_takes_six_bytes_an_ngram_of_a_surrogates_memory():
    languages = ("de", "en", "es", "fi")
    X, judgments = arena(questions=40, languages=languages)
    random = np.random.default_rng(0)
    texts = [" ".join(f"w{word:x}" for word in random.integers(0, 9999, 60)) for _ in X.index]
    X["answer"] = texts
    ratings = known(judgments)
    AnswersSurrogate().fit(X, ratings)  # texts are in the cache of n-grams

    def bytes_of(n_languages):
        rows = X[X["language"].isin(languages[:n_languages])]
        some = {language: ratings[language] for language in languages[:n_languages]}
        return held_bytes(lambda: AnswersSurrogate().fit(rows, some))

    n_ngrams = 3 * sum(map(len, texts)) / len(languages)
    assert (bytes_of(4) - bytes_of(2)) / 2 < 6 * n_ngrams
