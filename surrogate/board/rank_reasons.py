"""Why a system has no rank, or only a place."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from surrogate.checks.copies import Key, flag_judged
from surrogate.learning.peers import ANSWER
from surrogate.learning.surrogate import ANSWER_MARK, Surrogate

FEWEST_JUDGED_QUESTIONS = 3
"""Verdicts rank a system that was judged on at least this many questions."""
UNCONNECTED = "rated by its answers: its verdicts connect it with no system of the largest group"
NOT_JUDGED = "placed by its answers: nobody has judged it here"
FEW_JUDGED = "placed: judged on {} of the {} questions that rank a system"
TOO_FEW = "not ranked: it answered {} of {} questions, and {} are needed"
UNPROVEN = "not ranked until it is judged: the surrogate is not shown to beat chance here"
VANISHED = "not ranked: it was judged, but none of its answers are in the arena: were they lost?"
ONE_SIDED = "no rank: the judge says the same whatever the answers are"
NO_ANSWER = "no answer here"
CONTRADICTED = "its verdicts contradict what its answers promise: they decide its rating"
COPIED = "near-copy of {}, so it gets that rating"
NO_FEATURES = "no feature of its answers could be computed"

UNJUDGED_SPLITS = ("unjudged", "new")
STATUS_COLUMNS = ["unranked", "original", "variance"]


def needed_questions(n_judged: int) -> int:
    """Return the judged questions that a rank needs, or all."""
    return min(FEWEST_JUDGED_QUESTIONS, n_judged) or FEWEST_JUDGED_QUESTIONS


def with_placed_notes(rows: pd.DataFrame, judged_questions: pd.Series, needed: int) -> pd.DataFrame:
    """Mark (``is_placed``) and note systems judged on fewer questions than ``needed``."""
    counts = judged_questions.reindex(rows.index)
    is_placed = (counts < needed) & rows["rating"].notna()
    reasons = counts.map(lambda count: FEW_JUDGED.format(count, needed) if count else NOT_JUDGED)
    # The note of an unconnected system already says why its verdicts do not count.
    is_unconnected = rows["note"].str.startswith(UNCONNECTED)
    reasons = reasons.where(is_placed & ~is_unconnected, "")
    return rows.assign(is_placed=is_placed, note=joined_texts(reasons, rows["note"]))


def ranking_status(
    originals: Mapping[Key, str],
    surrogate: Surrogate,
    X: pd.DataFrame,
    n_questions: Mapping[str, int],
    judged: Mapping[str, Collection[str]],
) -> pd.DataFrame:
    """Find whose answers prevent a rank, and whose copies they are.

    Returns:
        By language and system: ``unranked`` (why), ``original`` (what it copies), and ``variance``
        due to missing answers (squared logits).
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


def variances_of_coverage(
    surrogate: Surrogate, X: pd.DataFrame, n_questions: Mapping[str, int]
) -> dict[Key, float]:
    """Return variances of predictions due to missing answers, in squared logits.

    The delete-a-group jackknife (Kott, 2001), times 1 - n / Q, of systems that answered more than
    one but not all of Q questions.
    """
    replicates = []
    corrections: dict[Key, float] = {}
    for (language, system), rows in X.groupby(["language", "system"]):
        total = n_questions.get(language, 0)
        if 1 < len(rows) < total:
            corrections[language, system] = 1 - len(rows) / total
            replicates += _replicates(rows)
    if not replicates:
        return {}
    predictions = surrogate.predict(pd.concat(replicates, ignore_index=True))
    systems = predictions["system"].str.rsplit(ANSWER_MARK, n=1).str[0]
    ratings = predictions.groupby(["language", systems])["rating"]
    # The jackknife's variance of G replicates: (G - 1) / G times their sum of squares.
    variances = (ratings.count() - 1) * ratings.var(ddof=0)
    return {key: float(variances[key]) * factor for key, factor in corrections.items()}


def _replicates(rows: pd.DataFrame) -> list[pd.DataFrame]:
    most_groups = 10
    n_groups = min(most_groups, len(rows))
    groups = np.arange(len(rows)) % n_groups
    rows = rows.sort_values("query_id", kind="stable")
    replicates = []
    for group in range(n_groups):
        # The mark keeps a replicate from being compared with its own system among the peers.
        names = rows["system"] + f"{ANSWER_MARK}{group}"
        replicates.append(rows.assign(system=names)[groups != group])
    return replicates


def reasons_without_rank(systems: pd.DataFrame, unproven: Collection[str]) -> pd.Series:
    """Say why systems have no rank, else empty; of judged ones only if their answers are gone."""
    is_unjudged = systems["split"].isin(UNJUDGED_SPLITS)
    is_free = (systems["unranked"] == "") & (systems["original"] == "")
    rests_on_nothing = systems.index.isin(list(unproven)) & systems["rating"].notna()
    reasons = systems["unranked"].mask(is_free & rests_on_nothing, UNPROVEN)
    has_vanished = ~is_unjudged & (systems["answers"] == 0)
    return reasons.where(is_unjudged, "").mask(has_vanished, VANISHED)


def absence(rating: float, n_answers: int) -> str:
    """Return why there is no rating; empty where there is one."""
    if np.isfinite(rating):
        return ""
    return NO_FEATURES if n_answers else NO_ANSWER


def joined_texts(first: pd.Series, second: pd.Series) -> pd.Series:
    """Join two columns of texts, empty ones left out."""
    joined = []
    for pair in zip(first, second, strict=True):
        joined.append("; ".join(text for text in pair if text))
    return pd.Series(joined, first.index)


def needed_answers(n_questions: int) -> int:
    """Return the answers that a rank needs."""
    least_share = 0.2
    fewest = 5
    # This many are enough, however many questions were asked.
    enough = 50
    # Rounded first: a fifth of 25 must not become 6 by a rounding error.
    needed = math.ceil(round(least_share * n_questions, 9))
    return min(n_questions, max(fewest, min(needed, enough)))
