"""Judgments in which all systems meet."""

import itertools

import numpy as np
import pandas as pd


def round_robin(systems=12, questions=30, seed=0, language="en"):
    """Judge all pairs; strengths rise with the number of the system, answers vary by question."""
    random = np.random.default_rng(seed)
    strength = np.linspace(-1.5, 1.5, systems)
    rows = []
    for question in range(questions):
        quality = strength + 0.7 * random.normal(size=systems)
        for one, other in itertools.combinations(range(systems), 2):
            better = quality[one] - quality[other] + random.logistic()
            winner = "tie" if abs(better) < 0.1 else "a" if better > 0 else "b"
            rows.append((f"q{question:03}", f"s{one:02}", f"s{other:02}", winner))
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])
    return table.assign(language=language, judge="judge")
