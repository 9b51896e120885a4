"""Ranks by verdicts, places by predictions, and who has neither and why."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from arena.rating.intervals import ranks_and_tiers
from surrogate.board.intervals import variances_of_coverage
from surrogate.board.tables import RATINGS
from surrogate.checks.copies import Key, flag_judged
from surrogate.learning.peers import ANSWER
from surrogate.learning.surrogate import Surrogate

PLACE_COLUMNS = ["place", "place_low", "place_high"]
RANK_COLUMNS = ["rank", "rank_low", "rank_high"]
ARENA_COLUMNS = ["arena_rank", "arena_rating", "arena_low", "arena_high"]
"""Columns by verdicts alone."""
FEWEST_JUDGED_QUESTIONS = 3
"""Verdicts rank a system that was judged on at least this many questions."""
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
COMPARING_COLUMNS = [
    *RANK_COLUMNS,
    "tier",
    *PLACE_COLUMNS,
    "wins_low",
    "wins_high",
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


def needed_questions(n_judged: int) -> int:
    """Return the judged questions that a rank needs, or all."""
    return min(FEWEST_JUDGED_QUESTIONS, n_judged) or FEWEST_JUDGED_QUESTIONS


def with_placed_notes(rows: pd.DataFrame, judged_questions: pd.Series, needed: int) -> pd.DataFrame:
    """Mark (``is_placed``) and note systems judged on fewer questions than ``needed``."""
    counts = judged_questions.reindex(rows.index)
    is_placed = (counts < needed) & rows["rating"].notna()
    reasons = counts.map(lambda count: FEW_JUDGED.format(count, needed) if count else NOT_JUDGED)
    reasons = reasons.where(is_placed, "")
    return rows.assign(is_placed=is_placed, note=joined_texts(reasons, rows["note"]))


def places_among(rows: pd.DataFrame, ratings: pd.Series) -> pd.DataFrame:
    """Return the places (``PLACE_COLUMNS``) of ratings and bounds.

    Without ranked systems, rows are placed among each other.
    """
    compared = (ratings if len(ratings) else rows["rating"]).dropna().astype(float)
    ascending = np.sort(compared.to_numpy())
    own = compared.reindex(rows.index)
    places = pd.DataFrame(index=rows.index)
    # The better the rating, the lower the place: an interval's high end gives the lowest.
    for place_column, bound in zip(PLACE_COLUMNS, ("rating", "high", "low"), strict=True):
        values = rows[bound].astype(float)
        n_above = len(ascending) - np.searchsorted(ascending, values, side="right")
        # No system is above itself.
        taken = 1 + n_above - (own > values)
        places[place_column] = taken.astype("Int64").mask(values.isna())
    return places


def ranks_and_places(places: pd.DataFrame, is_placed: pd.Series) -> pd.DataFrame:
    """Take a place for a rank, unless only placed."""
    ranks = places.set_axis(RANK_COLUMNS, axis=1)
    return ranks.mask(is_placed).join(places.where(is_placed))


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
    is_placed = rows.get("is_placed", pd.Series(False, rows.index))
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


def counting_languages(ratings: pd.DataFrame) -> list[str]:
    """Return languages that rank at least half of all ranked systems; all if none does."""
    ranked = ratings[ratings["rank"].notna()]
    n_ranked = ranked.groupby("language").size()
    counting = n_ranked.index[2 * n_ranked >= ranked["system"].nunique()]
    return sorted(counting if len(counting) else ratings["language"].unique())


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


def reasons_without_rank(systems: pd.DataFrame, unproven: Collection[str]) -> pd.Series:
    """Say why systems have no rank, else empty; of judged ones only if their answers are gone."""
    is_unjudged = systems["split"].isin(UNJUDGED_SPLITS)
    is_free = (systems["unranked"] == "") & (systems["original"] == "")
    rests_on_nothing = systems.index.isin(list(unproven)) & systems["rating"].notna()
    reasons = systems["unranked"].mask(is_free & rests_on_nothing, UNPROVEN)
    has_vanished = ~is_unjudged & (systems["answers"] == 0)
    return reasons.where(is_unjudged, "").mask(has_vanished, VANISHED)


def without_ranks(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out ranks of a judge that always says the same."""
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
