"""The rows of a board: one rating of every system, by verdicts and surrogate together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.statistics.significance import NORMAL_90
from surrogate.board.intervals import NO_SURROGATE
from surrogate.board.ranked_rows import covariance_of, ranked_rows
from surrogate.board.summary import RatingInterval
from surrogate.board.tables import RATINGS

if TYPE_CHECKING:
    from surrogate.board.language_study import LanguageStudy

BY_STANDARD_ERRORS = RatingInterval(half_width=NORMAL_90, in_standard_errors=True)
"""The interval where none could be calibrated: the surrogate's own."""
SUBSTANTIAL_SHARE = 0.5
"""Share of a rating's information that comes from verdicts on the system. From here on, verdicts
bound the rating from above, even where the surrogate has seen nothing as good."""
RATING_COLUMNS = ["rating", "low", "high", "standard_error"]
POSTERIOR_COLUMNS = ["posterior", "error", "verdict_share"]
INTERVAL_COLUMNS = [
    "rank_low",
    "rank_high",
    "tier",
    "low",
    "high",
    "standard_error",
    "surrogate_low",
    "surrogate_high",
    "surrogate_error",
    "arena_low",
    "arena_high",
]
"""Columns of ``tables.RATINGS`` and ``tables.ARENA`` that say how sure a rating is."""
UNJUDGED_SPLITS = ["unjudged", "new"]
NO_STATUS = pd.DataFrame(columns=["unranked", "original", "remark", "variance"])

VANISHED = "not ranked: it was judged, but none of its answers are in the arena: were they lost?"
NO_ANSWER = "no answer here"
BEYOND = "no upper bound: may be better than every judged system, so have it judged"
NO_FEATURES = "no feature of its answers could be computed"
VERDICTS_ONLY = "by its verdicts alone: {}"
NOT_UNSEEN = "no rating by a surrogate that has not seen it: {}"
ONE_SIDED = "no interval: the judge says the same whatever the answers are"
UNJUDGED = "no verdicts here; estimated from those elsewhere"
BORROWED = "few verdicts here; also estimated from those elsewhere"


def rated_rows(
    estimates: pd.DataFrame,
    interval: RatingInterval,
    status: pd.DataFrame,
    originals: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Rate the systems of one language: judged, unjudged and new ones.

    A judged system's rating is the posterior. Without verdicts it is the surrogate's prediction,
    with its conformal interval, which is wider where answers are missing.

    Args:
        estimates: By system: ``expected, expected_error`` (by a surrogate that has not seen it),
            ``posterior, error, verdict_share`` (NaN without verdicts), ``answers, coverage``,
            ``split``, and ``why`` an estimate is missing. ``trained, trained_error``, where
            present, rate the systems without a posterior instead of ``expected``: by the surrogate
            that was trained on all of them.
        interval: Conformal interval of the surrogate's predictions.
        status: By system, see ``integrity.notes``: who is not ranked, which system it copies, what
            to remark, and the variance due to missing answers.
        originals: Rows of the systems that copies take their rating from; by default those made
            here.

    Returns:
        By system, the columns of ``tables.RATINGS`` except ranks and those by verdicts alone. The
        upper bound of a system that may be better than every judged one is infinite.
    """
    table = estimates.join(status[list(NO_STATUS.columns)])
    texts = table[["unranked", "original", "remark"]].astype(object).fillna("").astype("str")
    is_unjudged = table["split"].isin(UNJUDGED_SPLITS)
    has_posterior = table["posterior"].notna()
    rows = _rows_with_intervals(table, interval)
    sources = rows if originals is None else originals
    copies = texts.loc[texts["original"] != "", "original"]
    for name, original in copies.items():
        rows.loc[name, RATING_COLUMNS] = sources.loc[original, RATING_COLUMNS].astype(float)

    has_vanished = ~is_unjudged & (table["answers"] == 0)
    is_barred = is_unjudged & (texts["unranked"] != "")
    reasons = table["why"].mask(np.isinf(rows["high"]), BEYOND)
    notes = _joined_texts(reasons, texts["remark"])
    notes = notes.mask(is_barred, texts["unranked"]).mask(has_vanished, VANISHED)
    rows.loc[is_barred | has_vanished, RATING_COLUMNS] = np.nan
    zero_if_rated = rows["rating"].where(rows["rating"].isna(), 0.0)
    return rows.assign(
        verdict_share=table["verdict_share"].where(has_posterior, zero_if_rated),
        answers=table["answers"].astype("int64"),
        coverage=table["coverage"],
        split=table["split"],
        note=notes,
    )


def _rows_with_intervals(table: pd.DataFrame, interval: RatingInterval) -> pd.DataFrame:
    """Rate systems with and without their verdicts, with intervals; see ``rated_rows``."""
    missing_answers_width = NORMAL_90 * np.sqrt(table["variance"].astype(float).fillna(0.0))
    is_unjudged = table["split"].isin(UNJUDGED_SPLITS)
    has_posterior = table["posterior"].notna()
    unseen_width = np.hypot(interval.width(table["expected_error"]), missing_answers_width)
    is_unseen_unbounded = is_unjudged & interval.reaches_beyond(
        table["expected"], table["expected_error"]
    )
    rating, width = _ratings_and_widths(table, interval, missing_answers_width)
    has_few_verdicts = is_unjudged & has_posterior & (table["verdict_share"] < SUBSTANTIAL_SHARE)
    is_unbounded = is_unseen_unbounded.where(
        ~has_posterior, has_few_verdicts & interval.reaches_beyond(rating, table["expected_error"])
    )
    by_surrogate = _interval_columns(table["expected"], unseen_width, is_unseen_unbounded)
    by_surrogate = by_surrogate.rename(columns={"standard_error": "error"})
    rows = _interval_columns(rating, width, is_unbounded)
    return rows.join(by_surrogate.add_prefix("surrogate_"))


def _ratings_and_widths(
    table: pd.DataFrame, interval: RatingInterval, missing_answers_width: pd.Series
) -> tuple[pd.Series, pd.Series]:
    """Return ratings and half-widths of their intervals: the posterior's, else the prediction's."""
    has_posterior = table["posterior"].notna()
    predicted = table.get("trained", table["expected"])
    predicted_error = table.get("trained_error", table["expected_error"])
    predicted_width = np.hypot(interval.width(predicted_error), missing_answers_width)
    # Missing answers matter only for the part of a rating that does not come from verdicts.
    unjudged_share = 1 - table["verdict_share"]
    posterior_width = np.hypot(NORMAL_90 * table["error"], missing_answers_width * unjudged_share)
    ratings = table["posterior"].where(has_posterior, predicted)
    return ratings, posterior_width.where(has_posterior, predicted_width)


def _interval_columns(
    ratings: pd.Series, widths: pd.Series, is_unbounded: pd.Series
) -> pd.DataFrame:
    """Arrange ratings with their intervals."""
    return pd.DataFrame(
        {
            "rating": ratings,
            "low": ratings - widths,
            "high": (ratings + widths).mask(is_unbounded, np.inf),
            "standard_error": widths / NORMAL_90,
        }
    )


def _joined_texts(first: pd.Series, second: pd.Series) -> pd.Series:
    """Join two columns of texts row by row, empty ones left out."""
    joined = []
    for pair in zip(first, second, strict=True):
        joined.append("; ".join(text for text in pair if text))
    return pd.Series(joined, first.index)


def judged_rows(
    study: LanguageStudy,
    predictions: pd.DataFrame,
    systems: Sequence[str],
    interval: RatingInterval,
    status: pd.DataFrame,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rate every system of the arena in a language with verdicts.

    A judged system's rating is the posterior; an unjudged one's is the surrogate's prediction. On
    a board by the surrogate alone, the trained surrogate rates all of them, including those it was
    trained on: the synthetic leaderboard of MIRAGE-Bench (figure 4, right), with intervals as wide
    as for systems it has not seen.

    Args:
        study: Results of training in this language.
        predictions: The surrogate's predictions in this language, by system.
        systems: Every system of the arena.
        interval: As of ``rated_rows``.
        status: As of ``rated_rows``.

    Returns:
        ``tables.RATINGS``, and the covariance of the ratings.
    """
    trained = _predicted_estimates(predictions, systems, len(study.data.questions))
    unseen = _unseen_ratings(study, predictions).reindex(trained.index)
    posterior = _posterior_columns(study).reindex(trained.index)
    estimates = trained.assign(
        expected=unseen["rating"],
        expected_error=unseen["standard_error"],
        split=_splits(study, systems),
    )
    if study.rated_by == "posterior":
        estimates[POSTERIOR_COLUMNS] = posterior
    else:
        estimates["trained"] = trained["expected"]
        estimates["trained_error"] = trained["expected_error"]
        estimates[["error", "verdict_share"]] = posterior[["error", "verdict_share"]]
    is_predicted = trained["expected"].notna()
    estimates["why"] = [
        _why(study, row, was_predicted)
        for row, was_predicted in zip(estimates.to_dict("records"), is_predicted, strict=True)
    ]
    if study.borrows and interval.half_width is None:
        interval = BY_STANDARD_ERRORS
    rows = rated_rows(estimates, interval, status)
    covariance = covariance_of(rows, study)
    arena = study.ratings.table.set_index("system")[["rank", "rating", "low", "high"]]
    return ranked_rows(rows, covariance, study.language, arena), covariance


def _unseen_ratings(study: LanguageStudy, predictions: pd.DataFrame) -> pd.DataFrame:
    """Return each system's rating by a surrogate that has not seen it: judged ones are left out."""
    judged = study.unseen_ratings.set_index("system")
    never_judged = predictions.index.difference(judged.index)
    return pd.concat([judged, predictions.loc[never_judged]])


def _splits(study: LanguageStudy, systems: Sequence[str]) -> list[str]:
    """Say of each system whether the surrogate was trained on it."""
    trained = set(study.data.systems)
    held_out = set(study.holdout)
    splits = []
    for name in systems:
        if name in held_out:
            splits.append("holdout")
        elif name in trained:
            splits.append("train")
        else:
            splits.append("unjudged")
    return splits


def _posterior_columns(study: LanguageStudy) -> pd.DataFrame:
    """Return the posterior's rating, standard error and verdict share by system."""
    posterior = study.posterior
    columns = pd.DataFrame(
        {
            "posterior": posterior.ratings,
            "error": posterior.standard_errors,
            "verdict_share": posterior.shares,
        },
        list(posterior.systems),
    )
    columns.loc[columns.index.isin(list(study.without_error)), "error"] = np.nan
    return columns


def unjudged_rows(
    language: str,
    predictions: pd.DataFrame,
    systems: Sequence[str],
    n_questions: int,
    barred: pd.DataFrame,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rate the systems in a language without a verdict, by the surrogate's predictions.

    Arguments and results as of ``judged_rows``; no row where the surrogate rates nobody. Those
    that are ``barred``, as of ``rated_rows``' ``status``, have no rank until they are judged.
    """
    estimates = _predicted_estimates(predictions, systems, n_questions)
    if estimates["expected_error"].isna().all() or estimates["expected"].isna().all():
        return RATINGS.empty(), pd.DataFrame()
    reasons = []
    for rating, answers in zip(estimates["expected"], estimates["answers"], strict=True):
        reasons.append(absence(rating, answers) or UNJUDGED)
    estimates["why"] = reasons
    rows = rated_rows(estimates, BY_STANDARD_ERRORS, barred)
    covariance = covariance_of(rows)
    return ranked_rows(rows, covariance, language), covariance


def without_intervals(rows: pd.DataFrame) -> pd.DataFrame:
    """Take the intervals from ratings by a judge that says the same whatever the answers are.

    They would say how sure it is that all systems are alike, which nobody has looked at.

    Args:
        rows: ``tables.RATINGS``, or ``tables.ARENA``.
    """
    unknown = [name for name in INTERVAL_COLUMNS if name in rows]
    is_rated = rows["rating"].notna()
    reason = pd.Series(ONE_SIDED, rows.index)
    notes = rows["note"].mask(is_rated, _joined_texts(rows["note"], reason))
    columns = dict.fromkeys(unknown, np.nan)
    return rows.assign(**columns, note=notes.astype(rows["note"].dtype))


def absence(rating: float, n_answers: int) -> str:
    """Return why there is no rating; empty where there is one."""
    if np.isfinite(rating):
        return ""
    return NO_FEATURES if n_answers else NO_ANSWER


def _predicted_estimates(
    predictions: pd.DataFrame, systems: Sequence[str], n_questions: int
) -> pd.DataFrame:
    """Arrange a surrogate's predictions in one language as ``rated_rows`` takes them."""
    rows = predictions.reindex(list(systems))
    answers = rows["answers"].fillna(0).astype("int64")
    # A surrogate without standard errors has no such column.
    errors = rows.get("standard_error", pd.Series(np.nan, rows.index))
    return pd.DataFrame(
        {
            "expected": rows["rating"].astype(float),
            "expected_error": errors.astype(float),
            "posterior": np.nan,
            "error": np.nan,
            "verdict_share": np.nan,
            "answers": answers,
            "coverage": answers / n_questions,
            "split": "unjudged",
        }
    )


def _why(study: LanguageStudy, row: dict[str, float], was_predicted: bool) -> str:
    """Return why an estimate of a system is missing, or how else its rating came about."""
    n_answers = int(row["answers"])
    has_posterior = bool(np.isfinite(row["posterior"]))
    prediction = row.get("trained", row["expected"])
    if not has_posterior and not np.isfinite(prediction):
        return "" if study.failure else absence(math.nan, n_answers)
    if study.borrows and n_answers:
        return BORROWED
    if np.isfinite(row["expected"]):
        return ""
    if study.failure or not was_predicted:
        return VERDICTS_ONLY.format(study.failure or absence(math.nan, n_answers))
    by_verdicts_alone = has_posterior and row["verdict_share"] == 1
    sentence = VERDICTS_ONLY if by_verdicts_alone else NOT_UNSEEN
    return sentence.format("; ".join(study.unseen.reasons) or NO_SURROGATE)
