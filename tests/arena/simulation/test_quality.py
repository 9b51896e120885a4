"""Realised errors match the rates, the truth follows from them, and systems that cannot be fail."""

import numpy as np
import pytest

from arena import UsageError
from arena.simulation import (
    LANGUAGES,
    NOISE,
    QUESTIONS,
    TIE_MARGIN,
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
    counts = {error: sum(errors[error] for _, errors in drawn) for error in drawn[0][1]}
    assert within(counts["wrong_language"], len(drawn), 0.2)
    assert within(counts["unsupported_addition"], len(drawn), 0.4)
    assert within(counts["truncation"], len(drawn), 0.25)
    assert within(counts["omission"], len(drawn) * FACTS_PER_ENTITY, 0.3)
    intact = sum(len(draft.intact) for draft, _ in drawn)
    assert within(counts["missing_citation"], intact, 0.3)
    assert within(counts["wrong_citation"], intact, 0.2)


def test_the_mean_utility_approaches_its_expectation():
    question = pose_questions("en", 1, 0)[0]
    utilities = [
        utility(count_errors(draft_answer(question, "sim-weak", RATES, seed), question))
        for seed in range(4000)
    ]
    error = np.std(utilities) / np.sqrt(len(utilities))
    assert abs(np.mean(utilities) - expected_utility(RATES)) < 4 * error


def test_judgments_are_drawn_as_often_as_the_model_says():
    equal = [SystemProfile(name="sim-a"), SystemProfile(name="sim-b"), SystemProfile(name="sim-c")]
    winners = [simulate(equal, seed=seed).arena.judgments["winner"] for seed in range(5)]
    ties = sum((drawn == "tie").sum() for drawn in winners)
    assert within(ties, sum(map(len, winners)), np.tanh(TIE_MARGIN / NOISE / 2))


def test_what_cannot_be_simulated_is_refused():
    with pytest.raises(UsageError, match="omission"):
        SystemProfile(omission=1.5, name="x")
    with pytest.raises(UsageError, match="missing_citation"):
        SystemProfile(missing_citation=0.6, elsewhere=2, name="x").rates("fi")
    with pytest.raises(UsageError, match="languages"):
        simulate(languages=["fi"])
