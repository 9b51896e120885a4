"""The rows of a board: one rating of every system."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.statistics.significance import NORMAL_90
from surrogate.board.intervals import NO_SURROGATE
from surrogate.board.rank_reasons import (
    COPIED,
    FEWEST_JUDGED_QUESTIONS,
    STATUS_COLUMNS,
    UNJUDGED_SPLITS,
    absence,
    joined_texts,
    needed_questions,
    reasons_without_rank,
    with_placed_notes,
)
from surrogate.board.ranks import ranked_rows
from surrogate.board.summary import RatingInterval
from surrogate.board.tables import RATINGS, empty_board_table
from surrogate.board.wins import with_wins

if TYPE_CHECKING:
    from surrogate.board.language_study import LanguageStudy

BY_STANDARD_ERRORS = RatingInterval(half_width=NORMAL_90, in_standard_errors=True)
"""The interval where none could be calibrated: the surrogate's own."""
SUBSTANTIAL_SHARE = 0.5
"""Share of a rating's information that comes from verdicts on the system. From here on, verdicts
bound the rating from above, even where the surrogate has seen nothing as good."""
RATING_COLUMNS = ["rating", "low", "high", "standard_error"]
POSTERIOR_COLUMNS = ["posterior", "posterior_error", "verdict_share"]
NO_STATUS = pd.DataFrame(columns=STATUS_COLUMNS)

BEYOND = "no upper bound: may be better than every judged system, so have it judged"
VERDICTS_ONLY = "by its verdicts alone: {}"
NOT_UNSEEN = "not rated by a surrogate trained without it: {}"
UNJUDGED = "no verdicts here; estimated from those elsewhere"
UNCONNECTED = "rated by its answers: its verdicts connect it with no system of the largest group"
BORROWED = "few verdicts here; also estimated from those elsewhere"


def rated_rows(
    estimates: pd.DataFrame,
    interval: RatingInterval,
    status: pd.DataFrame,
    unproven: Collection[str] = (),
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


def rows_with_verdicts(
    study: LanguageStudy,
    predictions: pd.DataFrame,
    systems: Sequence[str],
    *,
    interval: RatingInterval,
    status: pd.DataFrame,
    unproven: Collection[str],
    unjudged: str,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rate all systems of a language with verdicts; return the covariance, too.

    Judged systems have the posterior, others the surrogate's prediction; so have all on a board by
    the surrogate alone (MIRAGE-Bench, figure 4, right).
    """
    if study.borrows and interval.half_width is None:
        interval = BY_STANDARD_ERRORS
    rows = rated_rows(_estimates(study, predictions, systems), interval, status, unproven)
    if unjudged == "placed":
        judged_questions = _judged_questions(study, systems)
        needed = needed_questions(int(judged_questions.max()))
        rows = with_placed_notes(rows, judged_questions, needed)
    covariance = covariance_of(rows, study)
    rows = with_wins(rows, covariance)
    columns = ["rank", "rating", "low", "high"]
    verdict_ratings = study.ratings.table.set_index("system")[columns]
    return ranked_rows(rows, covariance, study.language, verdict_ratings), covariance


def _judged_questions(study: LanguageStudy, systems: Sequence[str]) -> pd.Series:
    judgments = study.data.judgments
    if judgments.empty:
        counts = pd.Series(FEWEST_JUDGED_QUESTIONS, list(study.data.systems))
        return counts.reindex(list(systems), fill_value=0)
    sides = []
    for side in ("system_a", "system_b"):
        judged_there = judgments[["query_id", side]].drop_duplicates()
        sides.append(judged_there.rename(columns={side: "system"}))
    judged = pd.concat(sides).astype(str).drop_duplicates()
    return judged["system"].value_counts().reindex(list(systems), fill_value=0)


def _estimates(
    study: LanguageStudy, predictions: pd.DataFrame, systems: Sequence[str]
) -> pd.DataFrame:
    estimates = predicted_estimates(predictions, systems, len(study.data.questions))
    by_trained = estimates["predicted"]
    unseen = _unseen_ratings(study, predictions).reindex(estimates.index)
    estimates["unseen"] = unseen["rating"]
    estimates["unseen_error"] = unseen["standard_error"]
    if study.rated_by == "posterior":
        estimates["predicted"] = estimates["unseen"]
        estimates["predicted_error"] = estimates["unseen_error"]
        estimates[POSTERIOR_COLUMNS] = _posterior_columns(study).reindex(estimates.index)
    reasons = []
    for row, rating in zip(estimates.to_dict("records"), by_trained, strict=True):
        reasons.append(_why(study, row, has_prediction=bool(np.isfinite(rating))))
    for index, name in enumerate(systems):
        if name in study.data.unconnected and np.isfinite(by_trained[name]):
            reasons[index] = UNCONNECTED
    return estimates.assign(split=_splits(study, systems), why=reasons)


def _unseen_ratings(study: LanguageStudy, predictions: pd.DataFrame) -> pd.DataFrame:
    judged = study.unseen_ratings.set_index("system")
    never_judged = predictions.index.difference(judged.index)
    return pd.concat([judged, predictions.loc[never_judged]])


def _splits(study: LanguageStudy, systems: Sequence[str]) -> list[str]:
    judged = set(study.data.systems)
    held_out = set(study.holdout)
    splits = []
    for name in systems:
        if name in held_out:
            splits.append("holdout")
        elif name in judged:
            splits.append("train")
        else:
            splits.append("unjudged")
    return splits


def _posterior_columns(study: LanguageStudy) -> pd.DataFrame:
    posterior = study.posterior
    columns = pd.DataFrame(
        {
            "posterior": posterior.ratings,
            "posterior_error": posterior.standard_errors,
            "verdict_share": posterior.shares,
        },
        list(posterior.systems),
    )
    columns.loc[columns.index.isin(list(study.without_error)), "posterior_error"] = np.nan
    return columns


def rows_without_verdicts(
    language: str,
    predictions: pd.DataFrame,
    systems: Sequence[str],
    *,
    n_questions: int,
    unproven: Collection[str],
    unjudged: str,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rate a language without verdicts by predictions, if any."""
    estimates = predicted_estimates(predictions, systems, n_questions)
    if estimates["predicted_error"].isna().all() or estimates["predicted"].isna().all():
        return empty_board_table(RATINGS), pd.DataFrame()
    reasons = []
    for rating, answers in zip(estimates["predicted"], estimates["answers"], strict=True):
        reasons.append(absence(rating, answers) or UNJUDGED)
    estimates["why"] = reasons
    rows = rated_rows(estimates, BY_STANDARD_ERRORS, NO_STATUS, unproven)
    if unjudged == "placed":
        rows = rows.assign(is_placed=rows["rating"].notna())
    covariance = covariance_of(rows)
    rows = with_wins(rows, covariance)
    return ranked_rows(rows, covariance, language), covariance


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


def _why(study: LanguageStudy, row: dict[str, float], has_prediction: bool) -> str:
    n_answers = int(row["answers"])
    has_posterior = bool(np.isfinite(row["posterior"]))
    if not has_posterior and not np.isfinite(row["predicted"]):
        # The language's own notes have the failure.
        return "" if study.failure else absence(math.nan, n_answers)
    if study.borrows and n_answers:
        return BORROWED
    if np.isfinite(row["unseen"]):
        return ""
    if study.failure:
        return VERDICTS_ONLY.format(study.failure.removeprefix(f"{study.language}: "))
    if not has_prediction:
        return VERDICTS_ONLY.format(absence(math.nan, n_answers))
    reason = "; ".join(study.unseen.reasons) or NO_SURROGATE
    if has_posterior and row["verdict_share"] == 1:
        return VERDICTS_ONLY.format(reason)
    return NOT_UNSEEN.format(reason)


def covariance_of(rows: pd.DataFrame, study: LanguageStudy | None = None) -> pd.DataFrame:
    """Return the covariance of a language's ratings; NaN without intervals.

    Judged systems vary as the study's posterior does, others on their own.
    """
    rated = rows[rows["rating"].notna()]
    variances = rated["standard_error"].to_numpy(np.float64) ** 2
    covariance = pd.DataFrame(np.diag(variances), rated.index, rated.index)
    if study is None:
        return covariance
    posterior = study.posterior
    judged = [name for name in posterior.systems if name in covariance.index]
    if study.rated_by == "posterior":
        indices = [posterior.systems.index(name) for name in judged]
        covariance.loc[judged, judged] = posterior.covariance[np.ix_(indices, indices)]
    without_error = [name for name in judged if name in study.without_error]
    covariance.loc[without_error] = np.nan
    covariance[without_error] = np.nan
    return covariance
