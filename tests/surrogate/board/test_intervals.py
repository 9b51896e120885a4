"""Conformal intervals of ratings: quantiles by hand, pooling, and coverage of held-out systems."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from simulations import sample_part

from arena import Arena
from features import extract, parse_features
from surrogate import build_board
from surrogate.board.intervals import conformal_intervals, half_width, unseen_distances
from surrogate.board.rating_rows import ONE_SIDED
from surrogate.learning.cross_fitting import Repeats, leave_systems_out
from surrogate.learning.languages import TournamentSettings, language_data
from surrogate.learning.names import find_surrogate
from surrogate.learning.outcomes import Outcome


def ratings(language, residuals, spread=1.0):
    """Systems of the given residuals, whose arena ratings have the given spread."""
    signs = np.resize([-1.0, 1.0], len(residuals))
    arena = signs * spread
    return outcome(language, arena, arena + np.asarray(residuals))


def outcome(language, arena, unseen):
    names = tuple(f"s{place}" for place in range(len(arena)))
    return Outcome(language, names, unseen[None], arena[None])


def test_the_half_width_is_the_finite_sample_quantile():
    nineteen = np.arange(1.0, 20.0)
    assert half_width(nineteen, 0.9) == 18.0  # ceil(20 x 0.9)
    assert half_width(nineteen, 0.95) == 19.0
    assert half_width(nineteen, 0.5) == 10.0
    assert half_width(np.arange(9.0), 0.9) == 8.0
    assert np.isnan(half_width(np.arange(8.0), 0.9))
    assert np.isnan(half_width(np.empty(0), 0.5))


def test_a_language_with_few_systems_borrows_residuals_in_units_of_its_spread():
    found = conformal_intervals(
        [ratings("en", np.arange(1, 11) / 10, spread=0.5), ratings("fi", [4.0] * 4, spread=2.0)]
    )
    assert (found["fi"].residuals, found["fi"].pooled) == (14, True)
    assert found["fi"].half_width == pytest.approx(2.0 * 2.0)  # the 14th of 0.2 … 2.0 and 4 x 2.0


def test_the_frontier_is_where_a_tenth_of_ordinary_systems_lie():
    arena = np.array([3.0, *np.linspace(-1.0, 1.0, 10)])
    unseen = np.array([0.0, *np.linspace(-2.0, 2.5, 10)])
    item = outcome("en", arena, unseen)
    found = conformal_intervals([item])["en"]
    assert (found.best, found.frontier) == (3.0, -0.5)  # the 10th of ten: ceil(11 x 0.9)
    assert found.reaches_beyond(2.6, 1.0)
    assert not found.reaches_beyond(2.5, 1.0)
    scaled = conformal_intervals([replace(item, standard_errors=np.full((1, 11), 2.0))])["en"]
    assert scaled.frontier == -0.25
    assert scaled.reaches_beyond(2.6, 2.0)
    assert not scaled.reaches_beyond(2.4, 2.0)
    assert not conformal_intervals([ratings("en", np.ones(4))])["en"].reaches_beyond(9.0, 1.0)


def held_out_residuals(data):
    """For every system: the other systems' unseen residuals, and its own, when left out."""
    for index, system in enumerate(data.systems):
        others = data.without([system])
        fitted = find_surrogate("linear").fit(others.X, {data.language: others.tournaments})
        [rated] = fitted.predict(data.rows([system]))["rating"] + data.origin_of(others)
        [found] = leave_systems_out([others], find_surrogate("linear"), Repeats(1, 1))
        yield unseen_distances(found), abs(rated - data.truth[index])


@pytest.fixture(scope="module")
def held_out():
    languages = ("en", "es", "hi", "ja", "sw")
    arena = sample_part(languages=languages, questions=6).arena
    X = extract(arena, parse_features("answer_length,content_coverage,citation_recall@10"))
    settings = TournamentSettings(tournaments=10, seed=1)
    return [pair for data in language_data(arena, X, settings) for pair in held_out_residuals(data)]


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_held_out_systems_lie_inside_about_as_often_as_promised(held_out, level):
    """Within the 99.8% binomial interval around what exchangeable systems would give.

    With n residuals that is ceil((n + 1) level) / (n + 1): at least the level, and above it for
    so few systems.
    """
    inside = sum(own <= half_width(others, level) for others, own in held_out)
    n = len(held_out[0][0])
    promised = np.ceil(round((n + 1) * level, 9)) / (n + 1)
    low, high = binom.interval(0.998, len(held_out), promised)
    assert len(held_out) == 60
    assert low <= inside <= high


@pytest.mark.parametrize("systems", [3, 6])
def test_ratings_by_a_judge_that_always_says_a_have_no_interval(systems):
    names, asked = [f"s{place}" for place in range(systems)], [f"q{place}" for place in range(12)]
    queries = pd.DataFrame({"query_id": asked, "query": asked, "passages": [[] for _ in asked]})
    rows = [(query, name, f"{name} says {query} is so") for query in asked for name in names]
    answers = pd.DataFrame(rows, columns=["query_id", "system", "answer"])
    pairs = [(query, *pair, "a") for query in asked for pair in permutations(names, 2)]
    judgments = pd.DataFrame(pairs, columns=["query_id", "system_a", "system_b", "winner"])
    arena = Arena.from_frames(queries, answers, judgments, language="en", judge="j")
    board = build_board(arena, tournaments=4, features="citation_recall")
    assert (board.ratings["rating"] == 0).all()
    uncertain = ["low", "high", "rank_low", "rank_high", "tier", "arena_low", "arena_high"]
    assert board.ratings[uncertain].isna().all(axis=None)
    assert board.overall[["rank_low", "rank_high", "probability_best"]].isna().all(axis=None)
    assert board.differences["probability"].isna().all()
    assert board.ratings["note"].str.contains(ONE_SIDED, regex=False).all()


@pytest.mark.parametrize("systems", [4, 5, 7])
def test_few_systems_give_a_wide_interval_that_holds(systems):
    rng = np.random.default_rng(systems)
    holds = []
    for _ in range(400):
        truth = rng.normal(size=systems + 1)
        predicted = truth + rng.normal(0, 0.7, size=systems + 1)
        found = outcome("en", truth[:-1], predicted[:-1])
        interval = conformal_intervals([found])["en"]
        assert interval.is_wide
        assert interval.reason is None
        holds.append(abs(truth[-1] - predicted[-1]) <= interval.half_width)
    assert np.mean(holds) > 0.9


def test_two_residuals_give_no_interval():
    found = conformal_intervals([ratings("en", [0.1, 0.2])])["en"]
    assert found.half_width is None
    assert found.reason
