"""The rows of a board: one rating of every system, by verdicts and surrogate together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.rating.intervals import ranks_and_tiers
from arena.statistics.significance import NORMAL_90
from surrogate.board.intervals import NO_SURROGATE
from surrogate.board.summary import UNPROVEN, RatingInterval
from surrogate.board.tables import RATINGS

if TYPE_CHECKING:
    from surrogate.board.study import LanguageStudy


BY_STANDARD_ERRORS = RatingInterval(half_width=NORMAL_90, in_standard_errors=True)
"""The interval where none could be calibrated: the surrogate's own."""
SUBSTANTIAL_SHARE = 0.5
"""Of a rating's information from verdicts on the system, from which they bound it from above."""
BOUNDS = ["rating", "low", "high"]
POSTERIOR = ["posterior", "error", "verdict_share"]
NOTHING_SEEN = pd.DataFrame(columns=["unranked", "original", "remark", "variance"])

VANISHED = "not ranked: it is judged, and none of its answers is here: were they lost?"
NO_ANSWER = "no answer here"
BEYOND = "no upper bound: may be better than every judged system, so have it judged"
NO_FEATURES = "no feature of its answers could be computed"
VERDICTS_ONLY = "by its verdicts alone: {}"
NOT_UNSEEN = "no rating by a surrogate that has not seen it: {}"
ONE_SIDED = "no interval: the judge says the same whatever the answers are"
UNJUDGED = "no verdicts here; estimated from those elsewhere"
BORROWED = "few verdicts here; also estimated from those elsewhere"


def rated_rows(
    known: pd.DataFrame,
    interval: RatingInterval,
    looks: pd.DataFrame = NOTHING_SEEN,
    judged: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Rate systems of one language: judged, unjudged and new ones.

    A rating is the posterior of what the surrogate expects and of the verdicts; without verdicts
    it is what the surrogate expects, with its conformal interval, wider where answers are missing.

    Args:
        known: By system: ``expected, expected_error`` (by a surrogate that has not seen it),
            ``posterior, error, verdict_share`` (NaN without verdicts), ``answers, coverage``,
            ``split``, and ``why`` something is not known. ``predicted, predicted_error`` are what
            those without a posterior are rated by, where it is something else.
        interval: How wide the conformal interval is of what a surrogate expects.
        looks: By system, see ``integrity.notes``: who is not ranked, who stands beside what it
            copies, what to remark, and the variance for want of answers.
        judged: Ratings that copies may stand beside, by system; by default those made here.

    Returns:
        By system, the columns of ``tables.RATINGS`` but ranks and what is by verdicts alone; the
        upper bound of one that may be better than every judged system is infinite.
    """
    table = known.join(looks.reindex(columns=NOTHING_SEEN.columns))
    texts = table[["unranked", "original", "remark"]].astype(object).fillna("").astype("str")
    spread = NORMAL_90 * np.sqrt(table["variance"].astype(float).fillna(0.0))
    expected, error, share = table["expected"], table["expected_error"], table["verdict_share"]
    by, by_error = (table.get(f"predicted{end}", table[f"expected{end}"]) for end in ("", "_error"))
    is_free = table["split"].isin(["unjudged", "new"])
    is_judged = table["posterior"].notna()
    width = np.hypot(interval.width(error), spread)
    beyond = is_free & interval.reaches_beyond(expected, error)
    rating = table["posterior"].where(is_judged, by)
    reach = np.hypot(NORMAL_90 * table["error"], spread * (1 - share)).where(
        is_judged, np.hypot(interval.width(by_error), spread)
    )
    few = is_free & is_judged & (share < SUBSTANTIAL_SHARE)
    endless = beyond.where(~is_judged, few & interval.reaches_beyond(rating, error))
    rows = pd.DataFrame(
        {
            "rating": rating,
            "low": rating - reach,
            "high": (rating + reach).mask(endless, np.inf),
            "surrogate_rating": expected,
            "surrogate_low": expected - width,
            "surrogate_high": (expected + width).mask(beyond, np.inf),
        }
    )
    beside = rows if judged is None else judged
    for name, original in texts.loc[texts["original"] != "", "original"].items():
        rows.loc[name, BOUNDS] = beside.loc[original, BOUNDS].astype(float)
    vanished = ~is_free & (table["answers"] == 0)
    barred = is_free & (texts["unranked"] != "")
    why = table["why"].mask(np.isinf(rows["high"]), BEYOND)
    notes = pd.Series(
        ["; ".join(filter(None, pair)) for pair in zip(why, texts["remark"], strict=True)],
        rows.index,
    )
    rows.loc[barred | vanished, BOUNDS] = np.nan
    return rows.assign(
        verdict_share=share.where(is_judged, rows["rating"].where(rows["rating"].isna(), 0.0)),
        answers=table["answers"].astype("int64"),
        coverage=table["coverage"],
        split=table["split"],
        note=notes.mask(barred, texts["unranked"]).mask(vanished, VANISHED),
    )


def ranked_rows(
    rows: pd.DataFrame,
    covariance: pd.DataFrame,
    language: str,
    arena: pd.DataFrame | None = None,
    freedom: float = math.inf,
) -> pd.DataFrame:
    """Rank the rated systems of a language.

    Args:
        rows: As of ``rated_rows``.
        covariance: Of the ratings, see ``covariance_of``.
        language: Language code.
        arena: By system: ``rank, rating, low, high`` by verdicts alone.
        freedom: Degrees of freedom of the covariance.

    Returns:
        ``tables.RATINGS``, best first, unranked systems last. ``rank_low, rank_high`` holds all
        ranks at once at 95%, and systems of a ``tier`` are not distinguishable from its best one.
    """
    rating = rows["rating"].dropna()
    spread = covariance.loc[rating.index, rating.index].to_numpy(np.float64)
    found = pd.DataFrame(ranks_and_tiers(rating.to_numpy(float), spread, freedom), rating.index)
    table = rows.assign(
        language=language, rank=rows["rating"].rank(ascending=False, method="min")
    ).join(found)
    if arena is not None:
        table = table.join(arena.add_prefix("arena_"))
    whole = dict.fromkeys(["rank", "rank_low", "rank_high", "tier"], "Int64")
    table = table.rename_axis("system").reset_index().astype(whole)
    return table.sort_values(["rank", "system"], kind="stable").reindex(columns=list(RATINGS.names))


def covariance_of(rows: pd.DataFrame, study: LanguageStudy | None = None) -> pd.DataFrame:
    """Return how ratings of a language vary together, systems by systems that have a rating.

    Args:
        rows: By system: ``rating, low``.
        study: The posterior's covariance is that of judged ones; others, and all by default, vary
            on their own, as wide as their interval. NaN of ratings without an interval.
    """
    rated = rows[rows["rating"].notna()]
    own = (rated["rating"] - rated["low"]).to_numpy(np.float64) / NORMAL_90
    covariance = pd.DataFrame(np.diag(own**2), rated.index, rated.index)
    if study is None:
        return covariance
    known = study.posterior
    judged = [name for name in known.systems if name in covariance.index]
    if study.by == "posterior":
        places = [known.systems.index(name) for name in judged]
        covariance.loc[judged, judged] = known.covariance[np.ix_(places, places)]
    without = [name for name in judged if name in study.without_error]
    covariance.loc[without] = np.nan
    covariance[without] = np.nan
    return covariance


def judged_rows(
    study: LanguageStudy,
    predicted: pd.DataFrame,
    systems: Sequence[str],
    interval: RatingInterval,
    looks: pd.DataFrame,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rate every system of the arena in a language with verdicts.

    A judged system's rating is the posterior; an unjudged one's is what the surrogate expects. By
    the surrogate alone all are rated by what it predicts once it is trained, on these systems too:
    the synthetic leaderboard of MIRAGE-Bench (figure 4, right), with intervals as wide as for
    systems it has not seen.

    Args:
        study: What was trained.
        predicted: What the surrogate predicts in this language, by system.
        systems: Every system of the arena.
        interval: As of ``rated_rows``.
        looks: Likewise.

    Returns:
        ``tables.RATINGS``, and the covariance of the ratings.
    """
    from surrogate.learning.estimation.ratings import expected_ratings

    known = _predictions(predicted, systems, len(study.data.questions))
    is_known = known["expected"].notna()
    unseen = expected_ratings(study.unseen).set_index("system")
    unseen = pd.concat([unseen, predicted.loc[predicted.index.difference(unseen.index)]])
    if study.by == "surrogate":  # by what it predicts once it is trained on all
        known[["predicted", "predicted_error"]] = known[["expected", "expected_error"]]
    known["expected"] = unseen["rating"].reindex(known.index)
    known["expected_error"] = unseen["standard_error"].reindex(known.index)
    trained, held = set(study.data.systems), set(study.holdout)
    known["split"] = [
        "holdout" if name in held else "train" if name in trained else "unjudged"
        for name in systems
    ]
    by_verdicts = study.posterior
    values = (by_verdicts.ratings, by_verdicts.standard_errors, by_verdicts.shares)
    own = pd.DataFrame(dict(zip(POSTERIOR, values, strict=True)), list(by_verdicts.systems))
    own.loc[own.index.isin(list(study.without_error)), "error"] = np.nan
    known[POSTERIOR] = own.reindex(known.index)
    if study.by == "surrogate":
        known["posterior"] = np.nan
    known["why"] = [
        _why(study, row, is_one)
        for row, is_one in zip(known.to_dict("records"), is_known, strict=True)
    ]
    if study.borrows and interval.half_width is None:
        interval = BY_STANDARD_ERRORS
    rows = rated_rows(known, interval, looks)
    covariance = covariance_of(rows, study)
    arena = study.ratings.table.set_index("system")[["rank", "rating", "low", "high"]]
    return ranked_rows(rows, covariance, study.language, arena), covariance


def unjudged_rows(
    language: str,
    predicted: pd.DataFrame,
    systems: Sequence[str],
    questions: int,
    barred: Sequence[str] = (),
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rate the systems in a language without a verdict, by what other languages tell of answers.

    Arguments and results as of ``judged_rows``; no row where the surrogate rates nobody. Those
    that are ``barred`` have no rank until they are judged.
    """
    known = _predictions(predicted, systems, questions)
    if known["expected_error"].isna().all() or known["expected"].isna().all():
        return RATINGS.empty(), pd.DataFrame()
    known["why"] = [
        absence(*pair) or UNJUDGED for pair in zip(known["expected"], known["answers"], strict=True)
    ]
    looks = pd.DataFrame(
        {"unranked": UNPROVEN, "original": "", "remark": "", "variance": 0.0}, list(barred)
    )
    rows = rated_rows(known, BY_STANDARD_ERRORS, looks)
    covariance = covariance_of(rows)
    return ranked_rows(rows, covariance, language), covariance


def without_intervals(rows: pd.DataFrame) -> pd.DataFrame:
    """Take the intervals from ratings by a judge that says the same whatever the answers are.

    They would say how sure it is that all systems are alike, which nobody has looked at.

    Args:
        rows: ``tables.RATINGS``, or ``tables.ARENA``.
    """
    bounds = [name for name in rows if str(name).endswith(("low", "high"))]
    is_rated = rows["rating"].notna()
    with_reason = [f"{note}; {ONE_SIDED}" if note else ONE_SIDED for note in rows["note"]]
    notes = rows["note"].mask(is_rated, pd.Series(with_reason, rows.index, rows["note"].dtype))
    return rows.assign(**dict.fromkeys(bounds, np.nan), tier=np.nan, note=notes)


def absence(rating: float, answers: int) -> str:
    """Say why there is no rating, where there is none."""
    return "" if np.isfinite(rating) else NO_FEATURES if answers else NO_ANSWER


def _predictions(predicted: pd.DataFrame, systems: Sequence[str], questions: int) -> pd.DataFrame:
    """Arrange what a surrogate predicts in one language as ``rated_rows`` has it, by system."""
    own = predicted.reindex(list(systems))
    own = own.reindex(columns=["rating", "standard_error", "answers"])
    answers = own["answers"].fillna(0).astype("int64")
    known = pd.DataFrame(
        {
            **{"expected": own["rating"], "expected_error": own["standard_error"]},
            **{"answers": answers, "coverage": answers / questions, "split": "unjudged"},
            **dict.fromkeys(POSTERIOR, np.nan),
        }
    )
    return known.astype({"expected": float, "expected_error": float, "posterior": float})


def _why(study: LanguageStudy, row: dict[str, float], is_predicted: bool) -> str:
    """Say why something is not known of a system, or how else its rating came about."""
    answers, point = int(row["answers"]), row.get("predicted", row["expected"])
    is_rated = np.isfinite(row["posterior"]) or np.isfinite(point)
    if not is_rated:
        return "" if study.failure else absence(np.nan, answers)
    if study.borrows and answers:
        return BORROWED
    if np.isfinite(row["expected"]):
        return ""
    if study.failure or not is_predicted:
        return VERDICTS_ONLY.format(study.failure or absence(np.nan, answers))
    is_alone = np.isfinite(row["posterior"]) and row["verdict_share"] == 1
    said = VERDICTS_ONLY if is_alone else NOT_UNSEEN
    return said.format("; ".join(study.unseen.reasons) or NO_SURROGATE)
