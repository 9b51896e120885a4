"""Realised errors match the rates; the truth and the teacher follow from them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from arena.simulation import (
    DEFAULT_SYSTEMS,
    LANGUAGES,
    QUESTIONS,
    ErrorRates,
    SystemProfile,
    expected_utility,
    simulate,
    utility,
)
from arena.simulation.answers import count_errors, draft_answer
from arena.simulation.facts import FACTS_PER_ENTITY, pose_questions

PERFECT = SystemProfile(name="sim-perfect")
RATES = ErrorRates(0.2, 0.3, 0.2, 0.4, 0.3, 0.25)


@pytest.fixture(scope="module")
def default():
    return simulate()


def within(successes, trials, rate, deviations=4.0):
    """Say whether a count lies within so many binomial standard deviations."""
    return abs(successes - trials * rate) <= deviations * np.sqrt(trials * rate * (1 - rate))


def test_realised_errors_match_the_rates():
    questions = [question for code in LANGUAGES for question in pose_questions(code, QUESTIONS, 0)]
    drawn = [
        (draft, count_errors(draft, question))
        for seed in range(10)
        for question in questions
        for draft in [draft_answer(question, "sim-weak", RATES, seed)]
    ]
    answers = len(drawn)
    counts = {
        error: sum(getattr(errors, error) for _, errors in drawn)
        for error in ("wrong_language", "unsupported_addition", "truncation", "omission")
    }
    assert within(counts["wrong_language"], answers, 0.2)
    assert within(counts["unsupported_addition"], answers, 0.4)
    assert within(counts["truncation"], answers, 0.25)
    assert within(counts["omission"], answers * FACTS_PER_ENTITY, 0.3)
    intact = sum(
        len(draft.facts) - (draft.cut is not None and bool(draft.facts)) for draft, _ in drawn
    )
    assert within(sum(errors.missing_citation for _, errors in drawn), intact, 0.3)
    assert within(sum(errors.wrong_citation for _, errors in drawn), intact, 0.2)


def test_the_mean_utility_approaches_its_expectation():
    question = pose_questions("en", 1, 0)[0]
    utilities = [
        utility(count_errors(draft_answer(question, "sim-weak", RATES, seed), question))
        for seed in range(4000)
    ]
    error = np.std(utilities) / np.sqrt(len(utilities))
    assert abs(np.mean(utilities) - expected_utility(RATES)) < 4 * error


def test_a_perfect_system_is_first_and_wins_most():
    simulation = simulate([*DEFAULT_SYSTEMS, PERFECT])
    first = simulation.truth[simulation.truth["rank"] == 1]
    assert list(first["system"]) == ["sim-perfect"] * len(LANGUAGES)
    assert (first["quality"] == 1.0).all()
    assert simulation.arena.info.reference_system == "sim-perfect"
    points = win_rates(simulation)
    assert points.mean(axis="columns").idxmax() == "sim-perfect"
    assert (points.loc["sim-perfect"] > 0.7).all()


def win_rates(simulation):
    """Share of points of each system (row) in each language (column), ties half."""
    judgments = simulation.arena.judgments
    points = judgments["winner"].map({"a": 1.0, "tie": 0.5, "b": 0.0})
    sides = [("system_a", points), ("system_b", 1.0 - points)]
    rows = pd.concat(
        pd.DataFrame({"system": judgments[side], "language": judgments["language"], "points": won})
        for side, won in sides
    )
    return rows.pivot_table(index="system", columns="language", values="points")


def test_win_rates_agree_with_the_truth(default):
    rates = win_rates(default)
    truth = default.truth.pivot_table(index="system", columns="language", values="quality")
    for language in LANGUAGES:
        tau = rates[language].corr(truth[language], method="kendall")
        assert 0.8 <= tau <= 0.97


def test_the_ranking_differs_between_languages(default):
    ranks = default.truth.pivot_table(index="system", columns="language", values="rank")
    assert len({tuple(ranks[language]) for language in LANGUAGES}) == len(LANGUAGES)


def test_default_systems_are_spread_with_close_neighbours(default):
    assert len(DEFAULT_SYSTEMS) >= 10
    assert default.arena.info.reference_system == "sim-atlas-large"
    for _, quality in default.truth.groupby("language")["quality"]:
        gaps = -np.diff(quality)
        assert quality.iloc[0] - quality.iloc[-1] > 0.3
        assert gaps.min() < 0.03
        assert quality.is_unique


def test_judgments_are_drawn_as_often_as_the_model_says():
    noise, margin = 0.2, 0.05
    equal = [SystemProfile(name="sim-a"), SystemProfile(name="sim-b"), SystemProfile(name="sim-c")]
    ties = total = 0
    for seed in range(5):
        winners = simulate(equal, judge_noise=noise, seed=seed).arena.judgments["winner"]
        ties += (winners == "tie").sum()
        total += len(winners)
    assert within(ties, total, np.tanh(margin / noise / 2))
