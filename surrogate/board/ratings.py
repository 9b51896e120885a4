"""The one rating of every system: by verdicts and surrogate together, with both beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.seeds import generator
from arena.rating.ratings import ranks_and_tiers
from surrogate.board.language import LanguageFit
from surrogate.board.summary import NO_RATINGS, RatingInterval
from surrogate.learning.posterior import expected_ratings
from surrogate.learning.replication import NORMAL_90

Floats = npt.NDArray[np.float64]

BOARD_COLUMNS = [
    *("language", "system", "rank", "rank_low", "rank_high", "tier"),
    *("rating", "low", "high", "verdict_share"),
    *("surrogate_rating", "surrogate_low", "surrogate_high"),
    *("arena_rank", "arena_rating", "arena_low", "arena_high"),
    *("coverage", "answers", "split", "note"),
]
DRAWS = 1_000
"""Of all ratings together, from which ranks and tiers are made."""

NO_ANSWER = "no answer in this language"
BEYOND = "may be better than every judged system, so that there is no upper bound: have it judged"
NO_FEATURES = "no feature of its answers could be computed"
VERDICTS_ONLY = "by its verdicts alone: {}"


def board_ratings(
    fit: LanguageFit,
    predicted: pd.DataFrame,
    systems: Sequence[str],
    interval: RatingInterval = NO_RATINGS,
) -> pd.DataFrame:
    """Rate every system of the arena in one language.

    A judged system's rating is the posterior of what the surrogate expects of its answers and of
    its verdicts; an unjudged one's is what the surrogate expects.

    Args:
        fit: What was trained.
        predicted: What the surrogate predicts, of all languages.
        systems: Every system of the arena.
        interval: How wide the conformal interval is of what a surrogate expects.

    Returns:
        ``BOARD_COLUMNS``, best first, unranked systems last. ``low, high`` is the 90% interval of
        the rating; an unjudged system that may be better than all judged ones has no upper bound
        (infinity). ``rank_low, rank_high`` holds all ranks at once at 95%, and systems of a
        ``tier`` are not distinguishable from its best one. ``verdict_share`` says how much of a
        rating rests on the system's own verdicts. ``surrogate_rating`` is by a surrogate that has
        not seen the system or its verdicts, with its conformal interval; ``arena_*`` is by
        verdicts alone. ``coverage`` is the share of questions answered; ``split`` is ``train``,
        ``holdout`` or ``unjudged``.
    """
    table = _expected(fit, predicted, systems, interval).join(_posterior(fit))
    unjudged = table["posterior"].isna()
    table["rating"] = table["posterior"].where(~unjudged, table["surrogate_rating"])
    width = NORMAL_90 * table["error"]
    table["low"] = (table["rating"] - width).where(~unjudged, table["surrogate_low"])
    table["high"] = (table["rating"] + width).where(~unjudged, table["surrogate_high"])
    table["verdict_share"] = table["verdict_share"].where(
        ~unjudged, table["rating"].where(table["rating"].isna(), 0.0)
    )
    table["rank"] = table["rating"].rank(ascending=False, method="min")
    table = table.join(_ranks(fit, table))
    arena = fit.ratings.table.set_index("system")[["rank", "rating", "low", "high"]]
    table = table.join(arena.add_prefix("arena_"))
    table["note"] = [_note(fit, row) for row in table.to_dict("index").values()]
    whole = ["rank", "rank_low", "rank_high", "tier"]
    table = table.rename_axis("system").reset_index().assign(language=fit.language)
    ordered = table.astype(dict.fromkeys(whole, "Int64")).sort_values(
        ["rank", "system"], kind="stable"
    )
    return ordered[BOARD_COLUMNS]


def _expected(
    fit: LanguageFit, predicted: pd.DataFrame, systems: Sequence[str], interval: RatingInterval
) -> pd.DataFrame:
    """What surrogates expect that have not seen the system's verdicts, by system."""
    own = predicted[predicted["language"] == fit.language].set_index("system")
    answers = own["answers"].reindex(list(systems)).fillna(0).astype(np.int64)
    judged = expected_ratings(fit.unseen).set_index("system")
    unjudged = [name for name in own.index if name not in judged.index]
    both = pd.concat([judged, own.loc[unjudged]]).reindex(list(systems))
    rating = both["rating"].to_numpy(np.float64)
    errors = both["standard_error"].to_numpy(np.float64)
    bounds = [interval.around(*pair) for pair in zip(rating, errors, strict=True)]
    names = zip(systems, rating, errors, strict=True)
    beyond = [name not in judged.index and interval.reaches_beyond(*pair) for name, *pair in names]
    held, trained = set(fit.holdout), set(fit.data.systems)
    return pd.DataFrame(
        {
            "surrogate_rating": rating,
            "surrogate_low": [low for low, _ in bounds],
            "surrogate_high": np.where(beyond, np.inf, [high for _, high in bounds]),
            "is_beyond": beyond,
            "answers": answers,
            "coverage": answers / len(fit.data.questions),
            "split": [
                "holdout" if name in held else "train" if name in trained else "unjudged"
                for name in systems
            ],
        },
        index=list(systems),
    )


def _posterior(fit: LanguageFit) -> pd.DataFrame:
    known = fit.posterior
    return pd.DataFrame(
        {
            "posterior": known.ratings,
            "error": known.standard_errors,
            "verdict_share": known.shares,
        },
        index=list(known.systems),
    )


def _ranks(fit: LanguageFit, table: pd.DataFrame) -> pd.DataFrame:
    """Bound the ranks of the rated systems and group them, by draws of all ratings together."""
    rated = table[table["rating"].notna()]
    known = fit.posterior
    random = generator(fit.data.tournaments.seed, "ranks", fit.language)
    judged = random.multivariate_normal(known.ratings, known.covariance, DRAWS, method="eigh")
    draws = pd.DataFrame(judged, columns=list(known.systems))
    spread = ((rated["rating"] - rated["low"]) / NORMAL_90).fillna(0.0)
    for name in rated.index.difference(draws.columns):
        draws[name] = rated.at[name, "rating"] + spread[name] * random.normal(size=DRAWS)
    found = ranks_and_tiers(
        rated["rating"].to_numpy(np.float64), draws[list(rated.index)].to_numpy(np.float64)
    )
    return pd.DataFrame(found, index=rated.index)


def _note(fit: LanguageFit, row: dict[str, object]) -> str:
    rating, expected = float(str(row["rating"])), float(str(row["surrogate_rating"]))
    answers = int(str(row["answers"]))
    if row["is_beyond"]:
        return BEYOND
    if np.isfinite(rating) and not np.isfinite(expected):
        return VERDICTS_ONLY.format(fit.failure or absence(expected, answers))
    return "" if fit.failure else absence(rating, answers)


def absence(rating: float, answers: int) -> str:
    """Say why there is no rating, where there is none."""
    if np.isfinite(rating):
        return ""
    return NO_FEATURES if answers else NO_ANSWER
