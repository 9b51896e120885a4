"""Conformal intervals of ratings: quantiles by hand, pooling, and coverage of held-out systems."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, t
from simulations import simulated_part

from arena import Arena
from features import extract, parse_features
from surrogate import build_board
from surrogate.board.intervals import (
    ALL_EQUAL,
    half_width,
    rank_share,
    student_half_width,
    systems_for_half,
    unseen_distances,
    unseen_intervals,
)
from surrogate.board.rank_reasons import ONE_SIDED
from surrogate.learning.cross_fitting import Repeats, leave_systems_out
from surrogate.learning.language_data import TournamentSettings, language_data
from surrogate.learning.outcomes import Outcome
from surrogate.learning.surrogate import find_surrogate


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


def test_the_frontier_is_where_a_tenth_of_ordinary_systems_lie():
    arena = np.array([3.0, *np.linspace(-1.0, 1.0, 10)])
    unseen = np.array([0.0, *np.linspace(-2.0, 2.5, 10)])
    item = outcome("en", arena, unseen)
    found = unseen_intervals([item])["en"]
    assert (found.best, found.frontier) == (3.0, -0.5)  # the 10th of ten: ceil(11 x 0.9)
    assert found.reaches_beyond(2.6, 1.0)
    assert not found.reaches_beyond(2.5, 1.0)
    many = outcome(
        "en",
        np.array([3.0, *np.linspace(-1.0, 1.0, 20)]),
        np.array([0.0, *np.linspace(-2.0, 1.8, 20)]),
    )
    scaled = unseen_intervals([replace(many, standard_errors=np.full((1, 21), 2.0))])["en"]
    assert scaled.frontier == pytest.approx((1.6 - 3.0) / 2.0)  # the 19th of twenty
    assert scaled.reaches_beyond(1.7, 2.0)
    assert not scaled.reaches_beyond(1.5, 2.0)
    assert not unseen_intervals([ratings("en", np.ones(4))])["en"].reaches_beyond(9.0, 1.0)


def held_out_residuals(data):
    """For every system: the other systems' unseen residuals, and its own, when left out."""
    for index, system in enumerate(data.systems):
        others = data.without_systems([system])
        fitted = find_surrogate("linear").fit(others.X, {data.language: others.tournaments})
        [rated] = fitted.predict(data.rows([system]))["rating"] + data.origin_of(others)
        [found] = leave_systems_out([others], find_surrogate("linear"), Repeats(1, 1))
        yield unseen_distances(found), abs(rated - data.arena_ratings[index])


@pytest.fixture(scope="module")
def held_out():
    languages = ("en", "es", "hi", "ja", "sw")
    arena = simulated_part(languages=languages, questions=6).arena
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


@pytest.mark.slow
@pytest.mark.parametrize("systems", [3, 6])
def test_ratings_by_a_judge_that_always_says_a_have_no_rank_and_no_interval(systems):
    names, asked = [f"s{place}" for place in range(systems)], [f"q{place}" for place in range(12)]
    queries = pd.DataFrame({"query_id": asked, "query": asked, "passages": [[] for _ in asked]})
    rows = [(query, name, f"{name} says {query} is so") for query in asked for name in names]
    answers = pd.DataFrame(rows, columns=["query_id", "system", "answer"])
    pairs = [(query, *pair, "a") for query in asked for pair in permutations(names, 2)]
    judgments = pd.DataFrame(pairs, columns=["query_id", "system_a", "system_b", "winner"])
    arena = Arena.from_frames(queries, answers, judgments, language="en", judge="j")
    board = build_board(arena, tournaments=4, features="citation_recall")
    assert (board.ratings["rating"] == 0).all()
    withheld = ["rank", "low", "high", "rank_low", "rank_high", "tier", "arena_low", "arena_high"]
    assert board.ratings[withheld].isna().all(axis=None)
    assert board.overall[["rank", "rank_low", "rank_high", "wins"]].isna().all(axis=None)
    assert board.differences["probability"].isna().all()
    assert board.ratings["note"].str.contains(ONE_SIDED, regex=False).all()


def arena_of(rng, systems, noise):
    """Ratings of systems and one more, predicted as well as four in five systems allow."""
    truth = rng.normal(scale=2.0, size=systems + 1)
    predicted = truth + rng.normal(0, 2.0 * noise, size=systems + 1)
    item = outcome("en", truth[:-1], predicted[:-1])
    errors = np.ones((1, systems))
    return replace(item, standard_errors=errors), abs(truth[-1] - predicted[-1])


@pytest.mark.parametrize("systems", [3, 5, 8, 12, 19])
def test_few_systems_give_a_student_interval_that_holds_as_other_arenas_show(systems):
    rng = np.random.default_rng(systems)
    holds = []
    for _ in range(400):
        item, distance = arena_of(rng, systems, noise=np.sqrt(3.5 / (systems - 1)))
        interval = unseen_intervals([item])["en"]
        assert interval.freedom == systems - 1
        assert not interval.in_standard_errors
        holds.append(distance <= interval.half_width)
    assert 0.85 < np.mean(holds) < 0.97


@pytest.mark.parametrize("systems", [3, 4])
def test_where_none_can_be_left_out_the_interval_is_that_of_other_arenas(systems):
    truth = np.linspace(-1.0, 1.0, systems)
    unknown = np.full((1, systems), np.nan)
    item = Outcome("en", tuple("abcd"[:systems]), unknown, truth[None], standard_errors=unknown)
    interval = unseen_intervals([item])["en"]
    quantile = t.ppf(0.95, systems - 1)
    width = quantile * truth.std(ddof=1) * np.sqrt(3.5 / (systems - 1))
    assert interval.half_width == pytest.approx(width)
    assert interval.is_by_other_arenas
    # Any rating among the judged ones: the ranks that its interval allows are all ranks.
    assert interval.half_width > np.ptp(truth)
    without_errors = replace(item, standard_errors=None)
    assert unseen_intervals([without_errors])["en"].half_width is None


def test_errors_here_widen_and_narrow_what_other_arenas_show():
    widths = {}
    for size in (0.0, 1.0, 3.0):
        item = ratings("en", np.full(8, size))
        item = replace(item, standard_errors=np.ones((1, 8)))
        widths[size] = unseen_intervals([item])["en"].half_width
    assert widths[0.0] < widths[1.0] < widths[3.0]


def test_another_surrogate_is_expected_to_know_the_mean_alone():
    rng = np.random.default_rng(0)
    holds = []
    for _ in range(400):
        truth = rng.normal(size=7)
        item = outcome("en", truth[:-1], np.full(6, truth[:-1].mean()))
        interval = unseen_intervals([item])["en"]
        holds.append(abs(truth[-1] - truth[:-1].mean()) <= interval.half_width)
    assert np.mean(holds) > 0.87


@pytest.mark.parametrize("scale", [0.01, 1.0, 50.0])
def test_intervals_scale_with_the_ratings(scale):
    item = ratings("en", np.linspace(-1.0, 1.0, 9))
    scaled = replace(
        item, predicted=scale * item.predicted, arena_ratings=scale * item.arena_ratings
    )
    width = unseen_intervals([item])["en"].half_width
    assert unseen_intervals([scaled])["en"].half_width == pytest.approx(scale * width)


def test_what_would_narrow_an_interval_is_a_number_of_judged_systems():
    spans = {}
    for systems in (3, 6, 12, 19):
        spans[systems] = rank_share(student_half_width(1.0, systems, np.empty(0)))
    assert spans[3] > 0.98
    assert list(spans.values()) == sorted(spans.values(), reverse=True)
    wanted = [systems_for_half(width, 6, 6) for width in (0.1, 0.9, 1.2, 1.8, 2.5)]
    assert wanted[:2] == [6, 6]  # enough already
    assert 6 < wanted[2] < wanted[3] < wanted[4]
    for systems in (3, 5, 9):
        half = systems_for_half(student_half_width(1.0, systems, np.empty(0)), systems, 0)
        assert rank_share(student_half_width(1.0, half, np.empty(0))) < 0.5


def test_no_interval_without_three_systems_or_where_all_are_equal():
    for systems in (1, 2):
        item = ratings("en", np.linspace(0.1, 0.2, systems))
        interval = unseen_intervals([replace(item, standard_errors=np.ones((1, systems)))])["en"]
        assert interval.half_width is None
        assert interval.limit
    equal = ratings("en", np.linspace(-1.0, 1.0, 6), spread=0.0)
    assert ALL_EQUAL in unseen_intervals([equal])["en"].limit
