"""What a surrogate's rating is worth in verdicts: on errors that are known."""

import numpy as np
import pandas as pd
import pytest

from arena.rating.tournaments import bootstrap_tournaments
from surrogate.learning.outcomes import Outcome
from surrogate.learning.posterior.observations import observe
from surrogate.learning.posterior.worth import worth_of
from surrogate.learning.training import training_ratings

STRENGTHS = np.linspace(-1, 1, 12)


def judged(questions, seed=0):
    random = np.random.default_rng(seed)
    first, second = np.triu_indices(12, 1)
    rows = [
        pd.DataFrame(
            {
                "query_id": f"q{question}",
                "system_a": [f"s{place:02}" for place in first],
                "system_b": [f"s{place:02}" for place in second],
                "winner": np.where(
                    random.random(len(first))
                    < 1 / (1 + np.exp(STRENGTHS[second] - STRENGTHS[first])),
                    "a",
                    "b",
                ),
            }
        )
        for question in range(questions)
    ]
    table = pd.concat(rows, ignore_index=True).assign(language="en")
    return training_ratings({"en": bootstrap_tournaments(table, 2)})


def outcome(error, scale=None, seed=1):
    random = np.random.default_rng(seed)
    predicted = STRENGTHS + error * random.normal(size=(400, 12))
    errors = None if scale is None else np.full(predicted.shape, scale)
    names = tuple(f"s{place:02}" for place in range(12))
    return Outcome("en", names, predicted, np.tile(STRENGTHS, (400, 1)), None, errors)


@pytest.mark.parametrize("scale", [None, 0.1, 0.5])
def test_it_is_the_number_of_verdicts_with_as_large_an_error(scale):
    worth = worth_of([outcome(0.3, scale)], judged(60))
    unit = 1.0 if scale is None else scale
    verdicts = worth.verdict_variance / (worth.error_variance * unit**2)
    errors = {}
    for questions in (2, 4, 8, 16):
        ratings = [observe(judged(questions, seed))["en"].ratings for seed in range(30)]
        errors[questions * 11] = np.mean((np.array(ratings) - STRENGTHS) ** 2)
    true = np.interp(np.log(0.3**2), np.log(list(errors.values())[::-1]), list(errors)[::-1])
    assert verdicts == pytest.approx(true, rel=0.25)


def test_without_battles_or_errors_it_is_not_known():
    table = pd.DataFrame(
        {"language": "en", "system": outcome(0.3).systems, "rating": STRENGTHS, "variance": 0.1}
    )
    assert worth_of([outcome(0.3)], training_ratings(table)) is None
    few = judged(2)
    known = observe(few)["en"].ratings
    exact = Outcome("en", outcome(0.3).systems, known[None], known[None])
    assert worth_of([exact], few) is None
