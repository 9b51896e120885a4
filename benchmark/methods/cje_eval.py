"""cje-eval: overlap with the other answers as a cheap score, calibrated by random verdicts."""

from __future__ import annotations

import pandas as pd
from cje import analyze_dataset
from entry import ask_at_random

FEWEST_LABELS = 10
"""Of cje-eval, for a calibration."""


def method(arena, ask, budget, seed):
    scores = overlaps(arena.answers)
    verdicts = ask_at_random(ask, seed)
    labels = points_by_answer(verdicts)
    if labels.notna().sum() < FEWEST_LABELS:
        return scores.groupby(level="system").mean().to_dict()
    draws = {}
    for (query_id, system), value in scores.items():
        draw = {"prompt_id": query_id, "judge_score": value}
        draw["oracle_label"] = labels.get((query_id, system))
        draws.setdefault(system, []).append(draw)
    result = analyze_dataset(fresh_draws_data=draws)
    return dict(zip(result.metadata["target_policies"], result.estimates.tolist(), strict=True))


def overlaps(answers: pd.DataFrame) -> pd.Series:
    """Mean Jaccard index of an answer's words with those of the other answers."""
    values = {}
    for query_id, rows in answers.groupby("query_id"):
        words = {row.system: set(row.answer.lower().split()) for row in rows.itertuples()}
        for system, of_system in words.items():
            others = [
                len(of_system & of_other) / max(len(of_system | of_other), 1)
                for other, of_other in words.items()
                if other != system
            ]
            values[query_id, system] = sum(others) / max(len(others), 1)
    return pd.Series(values).rename_axis(["query_id", "system"])


def points_by_answer(verdicts: pd.DataFrame) -> pd.Series:
    """Mean points of each answer that was asked about."""
    points_of_a = verdicts["winner"].map({"a": 1.0, "tie": 0.5, "b": 0.0})
    first = verdicts[["query_id"]].assign(system=verdicts["system_a"], points=points_of_a)
    second = verdicts[["query_id"]].assign(system=verdicts["system_b"], points=1 - points_of_a)
    return pd.concat([first, second]).groupby(["query_id", "system"])["points"].mean()
