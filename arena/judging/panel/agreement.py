"""A judge held against the other judges of the same pairs: kappa of verdicts, tau of systems."""

from __future__ import annotations

import pandas as pd

from arena.data.schema import WINNERS
from arena.diagnostics.judge_agreement import agreement_table
from arena.diagnostics.verdicts import ITEM, QUESTION_PAIR, majorities, verdicts
from arena.rating.bradley_terry import DEFAULT_RIDGE
from arena.rating.ratings import rate
from arena.statistics.rank_agreement import SAME_RATING_DECIMALS, kendall_taus

MOST_OTHERS = 10
"""Other judges a language, those with the most pairs in common first."""

COLUMNS = ["language", "judge", "other_judge", "items", "agreement", "kappa", "low", "high", "tau"]


def agreement_with_others(judgments: pd.DataFrame, judge: str, seed: int = 0) -> pd.DataFrame:
    """Hold a judge against every other judge of the same pairs.

    Several verdicts of a judge on a pair count as their majority, whichever side a system was on.

    Args:
        judgments: Columns ``query_id, language, system_a, system_b, winner, judge``.
        judge: The judge.
        seed: Seed of the bootstrap.

    Returns:
        ``COLUMNS``, a row a language and other judge with pairs in common: their number, the share
        of equal verdicts, Cohen's kappa and its 95% bootstrap interval over questions (see
        ``agreement_table``), and Kendall's tau-b of the systems as both rank them by these pairs
        (NaN where either ranks no system above another). Judges after the first ``MOST_OTHERS`` a
        language are left out.
    """
    items = majorities(verdicts(judgments), ITEM)
    own = items[items["rater"] == judge]
    both = items[items["rater"] != judge].merge(own[[*QUESTION_PAIR, "outcome"]], on=QUESTION_PAIR)
    rows = []
    for language, part in both.groupby("language"):
        counts = part["rater"].value_counts()
        for other in sorted(counts.index, key=lambda name: (-counts[name], name))[:MOST_OTHERS]:
            shared = part[part["rater"] == other]
            theirs = _judgments(shared, "outcome_x", str(other))
            ours = _judgments(shared, "outcome_y", judge)
            found = agreement_table(verdicts(pd.concat([theirs, ours])), seed).iloc[0]
            measured = [found[name] for name in ("items", "agreement", "kappa", "low", "high")]
            rows.append((language, judge, other, *measured, _tau(ours, theirs)))
    return pd.DataFrame(rows, columns=COLUMNS)


def _judgments(shared: pd.DataFrame, outcome: str, judge: str) -> pd.DataFrame:
    """Return one verdict an item, the first system by name on side A."""
    names = {1: WINNERS[0], -1: WINNERS[1], 0: WINNERS[2]}
    table = shared[QUESTION_PAIR].rename(columns={"first": "system_a", "second": "system_b"})
    return table.assign(winner=shared[outcome].map(names), judge=judge)


def _tau(one: pd.DataFrame, other: pd.DataFrame) -> float:
    first, second = (
        rate(table, ridge=DEFAULT_RIDGE, rounds=0).table.sort_values("system")["rating"]
        for table in (one, other)
    )
    both = (first.to_numpy(float)[None], second.to_numpy(float)[None])
    return float(kendall_taus(*both, SAME_RATING_DECIMALS)[0, 0])
