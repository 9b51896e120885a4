"""The rows of a language's board: of its study, or by predictions alone."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.rating.intervals import ranks_and_tiers
from arena.statistics.significance import NORMAL_90
from surrogate.board.intervals import NO_SURROGATE
from surrogate.board.rank_reasons import (
    FEWEST_JUDGED_QUESTIONS,
    UNCONNECTED,
    absence,
    needed_questions,
    with_placed_notes,
)
from surrogate.board.ranks import (
    ARENA_COLUMNS,
    PLACE_COLUMNS,
    RANK_COLUMNS,
    places_among,
    with_wins,
)
from surrogate.board.rating_rows import (
    POSTERIOR_COLUMNS,
    STATUS_COLUMNS,
    predicted_estimates,
    rated_rows,
)
from surrogate.board.summary import RatingInterval
from surrogate.board.tables import RATINGS, empty_board_table

if TYPE_CHECKING:
    from surrogate.board.language_study import LanguageStudy

BY_STANDARD_ERRORS = RatingInterval(half_width=NORMAL_90, in_standard_errors=True)
"""The interval where none could be calibrated: the surrogate's own."""
NO_STATUS = pd.DataFrame(columns=STATUS_COLUMNS)
VERDICTS_ONLY = "by its verdicts alone: {}"
NOT_UNSEEN = "not rated by a surrogate trained without it: {}"
UNJUDGED = "no verdicts here: estimated from those elsewhere"
BORROWED = "few verdicts here: also estimated from those elsewhere"


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
        rows = with_placed_notes(rows, judged_questions, needed, study.data.unconnected)
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
    for name, row in zip(systems, estimates.to_dict("records"), strict=True):
        has_prediction = bool(np.isfinite(by_trained[name]))
        if has_prediction and name in study.data.unconnected:
            reasons.append(UNCONNECTED)
        else:
            reasons.append(_why(study, row, has_prediction))
    return estimates.assign(split=_splits(study, systems), why=reasons)


def _unseen_ratings(study: LanguageStudy, predictions: pd.DataFrame) -> pd.DataFrame:
    judged = study.unseen_ratings.set_index("system")
    never_judged = predictions.index.difference(judged.index)
    return pd.concat([judged, predictions.loc[never_judged]])


def _splits(study: LanguageStudy, systems: Sequence[str]) -> list[str]:
    splits = dict.fromkeys(systems, "unjudged")
    splits.update(dict.fromkeys(study.data.systems, "train"))
    splits.update(dict.fromkeys(study.holdout, "holdout"))
    return [splits[name] for name in systems]


def _posterior_columns(study: LanguageStudy) -> pd.DataFrame:
    columns = study.posterior.table.set_index("system").set_axis(POSTERIOR_COLUMNS, axis=1)
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


def ranked_rows(
    rows: pd.DataFrame,
    covariance: pd.DataFrame,
    language: str,
    verdict_ratings: pd.DataFrame | None = None,
    freedom: float = math.inf,
) -> pd.DataFrame:
    """Rank a language's rated systems, and place the others.

    Rows with ``is_placed`` take no rank. The best are first, then placed systems, then others.
    """
    is_placed = rows["is_placed"]
    ratings = rows.loc[~is_placed, "rating"].dropna()
    rated_covariance = covariance.loc[ratings.index, ratings.index].to_numpy(np.float64)
    ranks = ranks_and_tiers(ratings.to_numpy(float), rated_covariance, freedom)
    table = rows.join(pd.DataFrame(ranks, ratings.index))
    table = table.join(places_among(rows[is_placed], ratings))
    table["language"] = language
    table["rank"] = ratings.rank(ascending=False, method="min")
    if verdict_ratings is None:
        by_verdicts = pd.DataFrame(np.nan, rows.index, ARENA_COLUMNS)
    else:
        by_verdicts = verdict_ratings.add_prefix("arena_")
    table = table.join(by_verdicts).rename_axis("system").reset_index()
    table = table.astype(dict.fromkeys([*RANK_COLUMNS, "tier", *PLACE_COLUMNS], "Int64"))
    table["descending_rating"] = -table["rating"].where(table["rank"].isna())
    table = table.sort_values(["rank", "descending_rating", "system"], kind="stable")
    # Selected strictly: a misspelt column is a KeyError, not a column of NaN.
    return table[list(RATINGS.columns)]
