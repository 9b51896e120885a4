"""The rows of a board: one rating of every system."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from arena.statistics.significance import NORMAL_90
from surrogate.board.rank_reasons import (
    COPIED,
    TOO_FEW,
    UNJUDGED_SPLITS,
    joined_texts,
    needed_answers,
    reasons_without_rank,
)
from surrogate.board.summary import RatingInterval
from surrogate.checks.copies import Key, flag_judged
from surrogate.learning.peers import ANSWER
from surrogate.learning.surrogate import ANSWER_MARK, Surrogate

SUBSTANTIAL_SHARE = 0.5
"""Share of a rating's information that comes from verdicts on the system. From here on, verdicts
bound the rating from above, even where the surrogate has seen nothing as good."""
RATING_COLUMNS = ["rating", "low", "high", "standard_error"]
STATUS_COLUMNS = ["unranked", "original", "variance"]
POSTERIOR_COLUMNS = ["posterior", "posterior_error", "verdict_share"]

BEYOND = "no upper bound: may be better than every judged system, so have it judged"


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


def rated_rows(
    estimates: pd.DataFrame,
    interval: RatingInterval,
    status: pd.DataFrame,
    unproven: Collection[str],
    originals: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Rate the systems of one language: judged, unjudged and new ones.

    A rating is the posterior, or the surrogate's prediction with its conformal interval, open above
    where a system may be better than every judged one.

    Args:
        estimates: By system, with their ``_error``: ``posterior``, ``predicted`` (without a
            posterior), ``unseen`` (when left out); and ``verdict_share, answers, coverage, split,
            why``.
        interval: Conformal interval of the surrogate's predictions.
        status: By system, as in ``ranking_status``.
        unproven: As in ``reasons_without_rank``.
        originals: Rows that copies take ratings from; by default those made here.
    """
    table = estimates.join(status)
    texts = table[["unranked", "original"]].astype(object).fillna("").astype("str")
    has_posterior = table["posterior"].notna()
    rows = _rows_with_intervals(table, interval)
    sources = rows if originals is None else originals
    copies = texts.loc[texts["original"] != "", "original"]
    for name, original in copies.items():
        # Verdicts on a copy may rate it below its original, never above.
        is_below = rows.loc[name, "rating"] < sources.loc[original, "rating"]
        if not (has_posterior[name] and is_below):
            rows.loc[name, RATING_COLUMNS] = sources.loc[original, RATING_COLUMNS].astype(float)

    systems = texts.assign(rating=rows["rating"], split=table["split"], answers=table["answers"])
    unranked = reasons_without_rank(systems, unproven)
    copied = texts["original"].map(lambda name: COPIED.format(name) if name else "")
    notes = joined_texts(table["why"].mask(np.isinf(rows["high"]), BEYOND), copied)
    notes = notes.mask(unranked != "", unranked)
    rows.loc[unranked != "", RATING_COLUMNS] = np.nan
    zero_if_rated = rows["rating"].where(rows["rating"].isna(), 0.0)
    return rows.assign(
        verdict_share=table["verdict_share"].where(has_posterior, zero_if_rated),
        answers=table["answers"].astype("int64"),
        coverage=table["coverage"],
        split=table["split"],
        note=notes,
        is_placed=False,
    )


def _rows_with_intervals(table: pd.DataFrame, interval: RatingInterval) -> pd.DataFrame:
    rows = _rows_by_surrogate(table, "predicted", interval)
    has_posterior = table["posterior"].notna()
    rows[has_posterior] = _rows_by_posterior(table, interval)[has_posterior]
    unseen = _rows_by_surrogate(table, "unseen", interval)
    unseen = unseen.rename(columns={"standard_error": "error"})
    return rows.join(unseen.add_prefix("surrogate_"))


def _rows_by_surrogate(table: pd.DataFrame, name: str, interval: RatingInterval) -> pd.DataFrame:
    ratings = table[name]
    errors = table[f"{name}_error"]
    widths = np.hypot(interval.width(errors), _missing_answers_width(table))
    is_unjudged = table["split"].isin(UNJUDGED_SPLITS)
    is_unbounded = is_unjudged & interval.reaches_beyond(ratings, errors)
    return _interval_columns(ratings, widths, is_unbounded)


def _rows_by_posterior(table: pd.DataFrame, interval: RatingInterval) -> pd.DataFrame:
    ratings = table["posterior"]
    # Missing answers matter only for the part of a rating that does not come from verdicts.
    missing_width = _missing_answers_width(table) * (1 - table["verdict_share"])
    widths = np.hypot(NORMAL_90 * table["posterior_error"], missing_width)
    is_unjudged = table["split"].isin(UNJUDGED_SPLITS)
    has_few_verdicts = table["verdict_share"] < SUBSTANTIAL_SHARE
    reaches_beyond = interval.reaches_beyond(ratings, table["unseen_error"])
    return _interval_columns(ratings, widths, is_unjudged & has_few_verdicts & reaches_beyond)


def _missing_answers_width(table: pd.DataFrame) -> pd.Series:
    return NORMAL_90 * np.sqrt(table["variance"].astype(float).fillna(0.0))


def _interval_columns(
    ratings: pd.Series, widths: pd.Series, is_unbounded: pd.Series
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "rating": ratings,
            "low": ratings - widths,
            "high": (ratings + widths).mask(is_unbounded, np.inf),
            "standard_error": widths / NORMAL_90,
        }
    )


def predicted_estimates(
    predictions: pd.DataFrame, systems: Sequence[str], n_questions: int
) -> pd.DataFrame:
    """Arrange predictions of unseen systems as ``rated_rows`` takes them."""
    rows = predictions.reindex(list(systems))
    answers = rows["answers"].fillna(0).astype("int64")
    # A surrogate without standard errors has no such column.
    errors = rows.get("standard_error", pd.Series(np.nan, rows.index)).astype(float)
    ratings = rows["rating"].astype(float)
    return pd.DataFrame(
        {
            "posterior": np.nan,
            "posterior_error": np.nan,
            "verdict_share": np.nan,
            "predicted": ratings,
            "predicted_error": errors,
            "unseen": ratings,
            "unseen_error": errors,
            "answers": answers,
            "coverage": answers / n_questions,
            "split": "unjudged",
        }
    )
