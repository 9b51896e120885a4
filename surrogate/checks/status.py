"""Who has no rank, and why: the one table of reasons, for boards and for new systems."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from surrogate.checks.copies import Key, flag_judged
from surrogate.learning.field import ANSWER
from surrogate.learning.surrogate import ANSWER_MARK, Surrogate

TOO_FEW = "not ranked: it answered {} of {} questions, and {} are needed"
UNPROVEN = "not ranked until it is judged: the surrogate is not shown to beat chance here"
VANISHED = "not ranked: it was judged, but none of its answers are in the arena: were they lost?"
ONE_SIDED = "no rank: the judge says the same whatever the answers are"
NO_ANSWER = "no answer here"
CONTRADICTED = "its verdicts contradict what its answers promise: they alone rate it"
COPIED = "near-copy of {}, so it gets that rating"
NO_FEATURES = "no feature of its answers could be computed"

UNJUDGED_SPLITS = ("unjudged", "new")
STATUS_COLUMNS = ["unranked", "original", "variance"]
COMPARING_COLUMNS = [
    "rank",
    "rank_low",
    "rank_high",
    "tier",
    "place",
    "place_low",
    "place_high",
    "low",
    "high",
    "standard_error",
    "surrogate_low",
    "surrogate_high",
    "surrogate_error",
    "arena_low",
    "arena_high",
]
"""Columns of a board's tables that order systems, or say how surely."""


def ranking_status(
    originals: Mapping[Key, str],
    surrogate: Surrogate,
    X: pd.DataFrame,
    n_questions: Mapping[str, int],
    judged: Mapping[str, Collection[str]],
) -> pd.DataFrame:
    """Find whose answers keep them from a rank in each language, and whose copies they are.

    Args:
        originals: Of ``near_copies``.
        surrogate: The board's.
        X: Feature table of the answers.
        n_questions: Language to its number of questions.
        judged: Language to systems whose verdicts tell how sure their ratings are.

    Returns:
        By ``language`` and ``system``, of those with answers: ``unranked`` (why its answers keep
        it from a rank until it is judged, or empty), ``original`` (the judged system it is a
        near-copy of, or empty), and ``variance`` of its rating for want of answers (squared
        logits).
    """
    # An empty text answers nothing.
    is_answered = pd.Series(True, X.index)
    if ANSWER in X:
        is_answered = X[ANSWER].str.strip() != ""
    n_answers = is_answered.groupby([X["language"], X["system"]]).sum()
    variances = variances_of_coverage(surrogate, X[~flag_judged(X, judged)], n_questions)
    rows = []
    for key, count in n_answers.items():
        asked_count = n_questions.get(key[0], 0)
        needed = needed_answers(asked_count)
        reason = TOO_FEW.format(count, asked_count, needed) if count < needed else ""
        rows.append((reason, originals.get(key, ""), variances.get(key, 0.0)))
    return pd.DataFrame(rows, n_answers.index, STATUS_COLUMNS)


def reasons_without_rank(systems: pd.DataFrame, unproven: Collection[str]) -> pd.Series:
    """Say of each system of a language why it has no rank; empty where it has one or no rating.

    What an unjudged system's answers say of it comes first. A judged one has a rank whatever they
    say, unless they are lost.

    Args:
        systems: By system: ``rating, split, answers``, and ``unranked, original`` as of
            ``ranking_status``.
        unproven: Systems whose rating rests on a surrogate that is not shown to work.
    """
    is_unjudged = systems["split"].isin(UNJUDGED_SPLITS)
    is_free = (systems["unranked"] == "") & (systems["original"] == "")
    rests_on_nothing = systems.index.isin(list(unproven)) & systems["rating"].notna()
    reasons = systems["unranked"].mask(is_free & rests_on_nothing, UNPROVEN)
    has_vanished = ~is_unjudged & (systems["answers"] == 0)
    return reasons.where(is_unjudged, "").mask(has_vanished, VANISHED)


def without_ranks(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out ranks and intervals of a judge that says the same whatever the answers are.

    Nothing tells its systems apart, and nobody has looked at whether they are alike.

    Args:
        rows: ``tables.RATINGS``, or ``tables.ARENA``.
    """
    is_rated = rows["rating"].notna()
    reason = pd.Series(ONE_SIDED, rows.index)
    notes = rows["note"].mask(is_rated, joined_texts(rows["note"], reason))
    columns = {name: rows[name].mask(is_rated) for name in COMPARING_COLUMNS if name in rows}
    return rows.assign(**columns, note=notes.astype(rows["note"].dtype))


def absence(rating: float, n_answers: int) -> str:
    """Return why there is no rating; empty where there is one."""
    if np.isfinite(rating):
        return ""
    return NO_FEATURES if n_answers else NO_ANSWER


def joined_texts(first: pd.Series, second: pd.Series) -> pd.Series:
    """Join two columns of texts row by row, empty ones left out."""
    joined = []
    for pair in zip(first, second, strict=True):
        joined.append("; ".join(text for text in pair if text))
    return pd.Series(joined, first.index)


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
