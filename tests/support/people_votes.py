"""Verdicts of a judge and votes of people on the same pairs, right as often as is asked for."""

import numpy as np
import pandas as pd

WINNERS = np.array(["a", "b"])


def votes_of(judge, truth, chance_right, random):
    """One verdict on each of the pairs, right with a given chance."""
    is_right = random.random(len(truth)) < chance_right
    return pd.DataFrame(
        {
            "query_id": [f"q{number}" for number in range(len(truth))],
            "language": "en",
            "system_a": np.array(["s", "s", "t"])[np.arange(len(truth)) % 3],
            "system_b": np.array(["t", "u", "u"])[np.arange(len(truth)) % 3],
            "winner": WINNERS[np.where(is_right, truth, 1 - truth)],
            "judge": judge,
        }
    )


def arena_of(judge_right, person_right, n_people=3, n_pairs=600):
    random = np.random.default_rng(0)
    truth = random.integers(0, 2, n_pairs)
    people = [votes_of(f"person:{n}", truth, person_right, random) for n in range(n_people)]
    return pd.concat([votes_of("j", truth, judge_right, random), *people], ignore_index=True)
