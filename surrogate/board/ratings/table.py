"""The one rating of every system: by verdicts and surrogate together, with both beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.rating.intervals import ranks_and_tiers
from arena.rating.published import PublishedTournaments
from arena.statistics.significance import NORMAL_90
from surrogate.board.language import LanguageFit
from surrogate.board.ratings.intervals import NO_SURROGATE
from surrogate.board.summary import NO_RATINGS, RatingInterval
from surrogate.board.tables import RATINGS
from surrogate.integrity.coverage import widened
from surrogate.integrity.standing import Standing
from surrogate.learning.posterior.ratings import expected_ratings

Floats = npt.NDArray[np.float64]
RatedBy = Literal["posterior", "surrogate"]
"""Whether verdicts correct what the surrogate expects."""

NOTHING_WRONG = Standing()

VANISHED = "not ranked: it is judged, and none of its answers is here: were they lost?"
NO_ANSWER = "no answer in this language"
BEYOND = "may be better than every judged system, so that there is no upper bound: have it judged"
NO_FEATURES = "no feature of its answers could be computed"
VERDICTS_ONLY = "by its verdicts alone: {}"
NOT_UNSEEN = "no rating by a surrogate that has not seen it: {}"
UNJUDGED = "no verdict in this language: by what those in others tell of answers"
BORROWED = "few verdicts in this language: also by what those in others tell of answers"


def board_ratings(
    fit: LanguageFit,
    predicted: pd.DataFrame,
    systems: Sequence[str],
    interval: RatingInterval = NO_RATINGS,
    by: RatedBy = "posterior",
    standing: Standing = NOTHING_WRONG,
) -> pd.DataFrame:
    """Rate every system of the arena in one language.

    A judged system's rating is the posterior of what the surrogate expects of its answers and of
    its verdicts; an unjudged one's is what the surrogate expects. By the surrogate alone all are
    rated by what it predicts once it is trained, on these systems too: the synthetic leaderboard
    of MIRAGE-Bench (figure 4, right), with intervals as wide as for systems it has not seen.

    Args:
        fit: What was trained.
        predicted: What the surrogate predicts, of all languages.
        systems: Every system of the arena.
        interval: How wide the conformal interval is of what a surrogate expects.
        by: Whether verdicts correct what the surrogate expects.
        standing: Which unjudged systems are not ranked or stand beside what they copy, and what
            to remark of any.

    Returns:
        ``tables.RATINGS``, best first, unranked systems last. ``low, high`` is the 90% interval of
        the rating; an unjudged system that may be better than all judged ones has no upper bound
        (infinity). ``rank_low, rank_high`` holds all ranks at once at 95%, and systems of a
        ``tier`` are not distinguishable from its best one. ``verdict_share`` says how much of a
        rating rests on the system's own verdicts. ``surrogate_rating`` is by a surrogate that has
        not seen the system or its verdicts, with its conformal interval; ``arena_*`` is by verdicts
        alone. ``coverage`` is the share of questions answered; ``split`` ``train``, ``holdout`` or
        ``unjudged``.
    """
    expected = _widened(_expected(fit, predicted, systems, interval), standing.variances)
    table = expected.join(_posterior(fit))
    if by == "surrogate":
        table = _predicted(fit, predicted, table, interval)
    unjudged = table["posterior"].isna()
    if by == "posterior":
        table["rating"] = table["posterior"].where(~unjudged, table["surrogate_rating"])
        width = NORMAL_90 * table["error"]
        table["low"] = (table["rating"] - width).where(~unjudged, table["surrogate_low"])
        table["high"] = (table["rating"] + width).where(~unjudged, table["surrogate_high"])
    bounds = ["rating", "low", "high"]
    for name, original in standing.originals.items():
        table.loc[name, bounds] = table.loc[original, bounds]
    vanished = (table["split"] != "unjudged") & (table["answers"] == 0)
    barred = (table["split"] == "unjudged") & table.index.isin(list(standing.unranked)) | vanished
    table.loc[barred, bounds] = np.nan
    table["verdict_share"] = table["verdict_share"].where(
        ~unjudged, table["rating"].where(table["rating"].isna(), 0.0)
    )
    table["rank"] = table["rating"].rank(ascending=False, method="min")
    covariance = covariance_of_ratings(fit, table.rename_axis("system").reset_index(), by)
    table = table.join(_bounded(table["rating"].dropna(), covariance))
    arena = fit.ratings.table.set_index("system")[["rank", "rating", "low", "high"]]
    table = table.join(arena.add_prefix("arena_"))
    table["note"] = [
        VANISHED
        if vanished[name]
        else standing.note(str(name), _note(fit, row), is_barred=bool(barred[name]))
        for name, row in table.to_dict("index").items()
    ]
    whole = ["rank", "rank_low", "rank_high", "tier"]
    table = table.rename_axis("system").reset_index().assign(language=fit.language)
    ordered = table.astype(dict.fromkeys(whole, "Int64")).sort_values(
        ["rank", "system"], kind="stable"
    )
    return ordered[RATINGS.names]


def covariance_of_ratings(
    fit: LanguageFit, table: pd.DataFrame, by: RatedBy = "posterior"
) -> pd.DataFrame:
    """Return how ratings of a language vary together.

    Args:
        fit: What was trained.
        table: Columns ``system, rating, low``.
        by: As for ``board_ratings``.

    Returns:
        Systems by systems that have a rating: the posterior's covariance of judged ones; others
        vary on their own, as wide as their interval. NaN of ratings without an interval.
    """
    own = independent_covariance(table)
    judged = [name for name in fit.posterior.systems if name in own.index]
    if by == "posterior":
        places = [list(fit.posterior.systems).index(name) for name in judged]
        own.loc[judged, judged] = fit.posterior.covariance[np.ix_(places, places)]
    lacking = _lack_errors(fit)
    without = [name for name in np.compress(lacking, fit.posterior.systems) if name in own.index]
    own.loc[without] = np.nan
    own[without] = np.nan
    return own


def independent_covariance(table: pd.DataFrame) -> pd.DataFrame:
    """Return the covariance of ratings that vary each on its own, as wide as its interval.

    Args:
        table: Columns ``system, rating, low``.

    Returns:
        Systems by systems that have a rating; NaN in the diagonal of those without an interval.
    """
    rated = table[table["rating"].notna()].set_index("system")
    spread = (rated["rating"] - rated["low"]) / NORMAL_90
    names = list(rated.index)
    return pd.DataFrame(np.diag(spread.to_numpy(np.float64) ** 2), names, names)


def _predicted(
    fit: LanguageFit, predicted: pd.DataFrame, table: pd.DataFrame, interval: RatingInterval
) -> pd.DataFrame:
    """Rate all systems by the trained surrogate; no rating rests on a system's own verdicts."""
    own = predicted[predicted["language"] == fit.language].set_index("system")
    rating = own["rating"].reindex(table.index)
    errors = own.get("standard_error", pd.Series(np.nan, own.index)).reindex(table.index)
    bounds = [interval.around(*pair) for pair in zip(rating, errors, strict=True)]
    return table.assign(
        posterior=np.nan,
        rating=rating,
        low=[low for low, _ in bounds],
        high=np.where(table["is_beyond"], np.inf, [high for _, high in bounds]),
    )


def _expected(
    fit: LanguageFit, predicted: pd.DataFrame, systems: Sequence[str], interval: RatingInterval
) -> pd.DataFrame:
    """What surrogates expect that have not seen the system's verdicts, by system."""
    own = predicted[predicted["language"] == fit.language].set_index("system")
    answers = own["answers"].reindex(list(systems)).fillna(0).astype(np.int64)
    known = own["rating"].reindex(list(systems)).notna().to_numpy()
    judged = expected_ratings(fit.unseen).set_index("system")
    unjudged = [name for name in own.index if name not in judged.index]
    both = pd.concat([judged, own.loc[unjudged]]).reindex(list(systems))
    rating = both["rating"].to_numpy(np.float64)
    errors = both["standard_error"].to_numpy(np.float64)
    bounds = [interval.around(*pair) for pair in zip(rating, errors, strict=True)]
    if fit.borrows and interval.half_width is None:
        width = NORMAL_90 * errors
        bounds = list(zip(rating - width, rating + width, strict=True))
    names = zip(systems, rating, errors, strict=True)
    beyond = [name not in judged.index and interval.reaches_beyond(*pair) for name, *pair in names]
    held, trained = set(fit.holdout), set(fit.data.systems)
    return pd.DataFrame(
        {
            "surrogate_rating": rating,
            "surrogate_low": [low for low, _ in bounds],
            "surrogate_high": np.where(beyond, np.inf, [high for _, high in bounds]),
            "is_beyond": beyond,
            "is_known": known,
            "answers": answers,
            "coverage": answers / len(fit.data.questions),
            "split": [
                "holdout" if name in held else "train" if name in trained else "unjudged"
                for name in systems
            ],
        },
        index=list(systems),
    )


def _widened(expected: pd.DataFrame, variances: Mapping[str, float]) -> pd.DataFrame:
    """Widen the intervals of systems that did not answer everything."""
    for name, variance in variances.items():
        if name in expected.index:
            row = expected.loc[name, ["surrogate_rating", "surrogate_low", "surrogate_high"]]
            rating, low, high = map(float, row)
            bounds = widened(rating, low, high, variance)
            expected.loc[name, ["surrogate_low", "surrogate_high"]] = bounds
    return expected


def _posterior(fit: LanguageFit) -> pd.DataFrame:
    known = fit.posterior
    return pd.DataFrame(
        {
            "posterior": known.ratings,
            "error": np.where(_lack_errors(fit), np.nan, known.standard_errors),
            "verdict_share": known.shares,
        },
        index=list(known.systems),
    )


def _lack_errors(fit: LanguageFit) -> npt.NDArray[np.bool_]:
    """Which ratings have no error, published or assumed, so that they have no interval."""
    known = fit.data.tournaments
    if not isinstance(known, PublishedTournaments):
        return np.zeros(len(fit.posterior.systems), dtype=bool)
    errors = dict(zip(known.systems, known.errors, strict=True))
    return np.isnan([errors.get(name, 0.0) for name in fit.posterior.systems])


def _bounded(rating: pd.Series, covariance: pd.DataFrame) -> pd.DataFrame:
    """Bound the ranks of rated systems, and group them, by how all ratings vary together."""
    spread = covariance.loc[rating.index, rating.index].to_numpy(np.float64)
    return pd.DataFrame(ranks_and_tiers(rating.to_numpy(np.float64), spread), index=rating.index)


def unjudged_ratings(
    language: str, predicted: pd.DataFrame, systems: Sequence[str], questions: int
) -> pd.DataFrame:
    """Rate the systems in a language without a verdict, by what other languages tell of answers.

    Args:
        language: Language code.
        predicted: What the surrogate predicts, of all languages, with standard errors.
        systems: Every system of the arena.
        questions: Number of questions in the language.

    Returns:
        ``tables.RATINGS`` as ``board_ratings``, intervals by the surrogate's standard errors; no
        row where the surrogate rates nobody in the language.
    """
    own = predicted[predicted["language"] == language].set_index("system").reindex(list(systems))
    if "standard_error" not in own or own["rating"].notna().sum() == 0:
        return RATINGS.empty()
    answers = own["answers"].fillna(0).astype(np.int64)
    width = NORMAL_90 * own["standard_error"]
    low, high = own["rating"] - width, own["rating"] + width
    rated = own["rating"].dropna()
    spread = np.diag(own.loc[rated.index, "standard_error"].to_numpy(np.float64) ** 2)
    missing = dict.fromkeys(("arena_rank", "arena_rating", "arena_low", "arena_high"), np.nan)
    table = pd.DataFrame(
        {
            **{"language": language, "rank": rated.rank(ascending=False, method="min")},
            **{"rating": own["rating"], "low": low, "high": high},
            **{"surrogate_rating": own["rating"], "surrogate_low": low, "surrogate_high": high},
            **{"answers": answers, "coverage": answers / questions, "split": "unjudged"},
            "verdict_share": own["rating"].where(own["rating"].isna(), 0.0),
            "note": [
                absence(*pair) or UNJUDGED for pair in zip(own["rating"], answers, strict=True)
            ],
            **missing,
        },
        index=own.index,
    ).join(_bounded(rated, pd.DataFrame(spread, rated.index, rated.index)))
    whole = dict.fromkeys(["rank", "rank_low", "rank_high", "tier"], "Int64")
    table = table.rename_axis("system").reset_index().astype(whole)
    return table.sort_values(["rank", "system"], kind="stable")[RATINGS.names]


def _note(fit: LanguageFit, row: dict[str, object]) -> str:
    rating, expected = float(str(row["rating"])), float(str(row["surrogate_rating"]))
    answers = int(str(row["answers"]))
    if row["is_beyond"]:
        return BEYOND
    if np.isfinite(rating) and fit.borrows and answers:
        return BORROWED
    if np.isfinite(rating) and not np.isfinite(expected):
        return _without_unseen(fit, row, answers)
    return "" if fit.failure else absence(rating, answers)


def _without_unseen(fit: LanguageFit, row: dict[str, object], answers: int) -> str:
    """Say why nothing is known of a rated system by a surrogate that has not seen it."""
    if fit.failure or not row["is_known"]:
        return VERDICTS_ONLY.format(fit.failure or absence(float("nan"), answers))
    is_by_both = float(str(row["verdict_share"])) < 1
    said = NOT_UNSEEN if is_by_both else VERDICTS_ONLY
    return said.format("; ".join(fit.unseen.reasons) or NO_SURROGATE)


def absence(rating: float, answers: int) -> str:
    """Say why there is no rating, where there is none."""
    if np.isfinite(rating):
        return ""
    return NO_FEATURES if answers else NO_ANSWER
