"""Votes on a question each, by voters of their own taste."""

import numpy as np
import pandas as pd

NAMES = np.array(["x", "y", "z"])


def votes(n_voters, votes_of_one, seed=0, taste=0.0):
    """Votes on a question each; a voter likes each system by its own taste, N(0, taste^2)."""
    rng = np.random.default_rng(seed)
    voter = np.repeat(np.arange(n_voters), votes_of_one)
    first = rng.integers(0, 3, len(voter))
    second = (first + rng.integers(1, 3, len(voter))) % 3
    tastes = rng.normal(0.0, taste, (n_voters, 3)) if taste else np.zeros((n_voters, 3))
    logits = tastes[voter, first] - tastes[voter, second]
    won = rng.random(len(voter)) < 1 / (1 + np.exp(-logits))
    return pd.DataFrame(
        {
            "query_id": [f"q{number}" for number in range(len(voter))],
            "language": "en",
            "system_a": NAMES[first],
            "system_b": NAMES[second],
            "winner": np.where(won, "a", "b"),
            "judge": "people",
            "voter": [f"voter-{number}" for number in voter],
        }
    )
