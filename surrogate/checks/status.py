"""Who is ranked: enough answers, no bar; what to remark; how sure a part of the answers makes."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from arena.data.types import Flags
from surrogate.checks.notes import Findings, Key, flag_judged
from surrogate.learning.surrogate import ANSWER_MARK, Surrogate

REMARK = "seen in its answers: "
"""Beginning of what a board remarks on a system's answers."""


def ranking_status(
    findings: Findings,
    surrogate: Surrogate,
    X: pd.DataFrame,
    n_questions: Mapping[str, int],
    judged: Mapping[str, Collection[str]],
) -> pd.DataFrame:
    """Find who is not ranked in each language and why, and what to remark.

    Args:
        findings: On the answers.
        surrogate: The board's.
        X: Feature table of the answers.
        n_questions: Language to its number of questions.
        judged: Language to systems whose verdicts tell how sure their ratings are.

    Returns:
        By ``language`` and ``system``: ``unranked`` (why; empty where it is ranked),
        ``original`` (the judged system it is a near-copy of, or empty), ``remark``, and
        ``variance`` of its rating for want of answers (squared logits).
    """
    n_answers = X.groupby(["language", "system"]).size()
    variances = variances_of_coverage(surrogate, X[~flag_judged(X, judged)], n_questions)
    rows = []
    for key, count in n_answers.items():
        reasons = []
        remarks = []
        asked_count = n_questions.get(key[0], 0)
        needed = needed_answers(asked_count)
        if count < needed:
            reasons.append(
                f"not ranked: it answered {count} of {asked_count} questions, "
                f"and {needed} are needed"
            )
        notes = findings.notes.get(key, ())
        bars = "; ".join(note.sentence for note in notes if note.is_bar)
        if bars:
            reasons.append(f"not ranked: {bars}")
        original = findings.originals.get(key, "")
        if original:
            remarks.append(f"near-copy of {original}, so it gets that rating")
        if notes:
            remarks.append(REMARK + "; ".join(note.sentence for note in notes))
        rows.append(("; ".join(reasons), original, "; ".join(remarks), variances.get(key, 0.0)))
    columns = ["unranked", "original", "remark", "variance"]
    return pd.DataFrame(rows, n_answers.index, columns)


def bar_from_ranks(status: pd.DataFrame, is_barred: Flags, reason: str) -> pd.DataFrame:
    """Keep systems from a rank, unless their answers already do, or they copy a judged system.

    Args:
        status: As of ``ranking_status``; NaN for a system without answers.
        is_barred: Whom to keep from a rank, one for each row.
        reason: Why.
    """
    texts = ["unranked", "original", "remark"]
    status = status.assign(**status[texts].astype(object).fillna(""))
    is_free = (status["unranked"] == "") & (status["original"] == "")
    return status.assign(unranked=status["unranked"].mask(is_free & is_barred, reason))


def without_remarks(note: str) -> str:
    """Return what a note says of a rating, without what it remarks on the system's answers."""
    return note.partition(REMARK)[0].removesuffix("; ")


def needed_answers(n_questions: int) -> int:
    """Return how many of a language's questions a system must have answered to be ranked."""
    least_share = 0.2
    fewest = 5
    # So many are always enough, however many questions were asked.
    enough = 50
    # Rounded first: a fifth of 25 must not become 6 by a rounding error.
    needed = math.ceil(round(least_share * n_questions, 9))
    return min(n_questions, max(fewest, min(needed, enough)))


def variances_of_coverage(
    surrogate: Surrogate, X: pd.DataFrame, n_questions: Mapping[str, int]
) -> dict[Key, float]:
    """Return by how much ratings vary for want of answers to all questions, in squared logits.

    The delete-a-group jackknife (Kott, 2001) of what the surrogate predicts, times the finite
    population correction 1 - n / Q: a system that answered all Q questions has none.

    Args:
        surrogate: The board's.
        X: Feature table; with the column ``answer`` where the surrogate reads answers.
        n_questions: Language to its number of questions.

    Returns:
        Language and system to the variance; systems that answered every question, or one alone,
        are left out.
    """
    most_groups = 10
    replicates = []
    corrections: dict[Key, float] = {}
    for (language, system), rows in X.groupby(["language", "system"]):
        n_answers = len(rows)
        total = n_questions.get(language, 0)
        if not 1 < n_answers < total:
            continue
        corrections[language, system] = 1 - n_answers / total
        rows = rows.sort_values("query_id", kind="stable")
        n_groups = min(most_groups, n_answers)
        groups = np.arange(n_answers) % n_groups
        for group in range(n_groups):
            # The mark keeps a replicate from being compared with its own system in the field.
            name = f"{system}{ANSWER_MARK}{group}"
            replicates.append(rows[groups != group].assign(system=name))
    if not replicates:
        return {}
    predictions = surrogate.predict(pd.concat(replicates, ignore_index=True))
    systems = predictions["system"].str.rsplit(ANSWER_MARK, n=1).str[0]
    ratings = predictions.groupby(["language", systems])["rating"]
    # The jackknife's variance of G replicates: (G - 1) / G times their sum of squares.
    variances = (ratings.count() - 1) * ratings.var(ddof=0)
    return {key: float(variances[key]) * factor for key, factor in corrections.items()}
