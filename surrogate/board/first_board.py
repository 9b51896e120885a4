"""A first board without any verdict: how far answers agree with others, references and labels.

Each feature that says so compares the answers to a question: an answer is above those with a lower
value. A rating is the share of the other systems' answers that a system's answers are above, mean
over features and questions. It says what the arena's own texts and labels say, and no more: no
judge has been asked, and what a judge values may lie elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from arena.data.seeds import generator
from arena.data.types import Floats
from arena.rating.posterior import PRIOR_COLUMNS
from arena.statistics.bootstrap import bootstrap_weights
from features.engine.columns import feature_columns
from surrogate.board.rows import NO_ANSWER, ranked_rows
from surrogate.learning.estimation.answer_texts import mean_cosines

CONSENSUS = "consensus"
REFERENCE_FEATURES = ("bleu", "rouge_l")
EVIDENCE = (CONSENSUS, *REFERENCE_FEATURES, "citation_recall", "citation_map")
"""Features of which more is better whatever is judged, as far as any is."""
ROUNDS = 1_000
LEVEL = (5.0, 95.0)
NO_VERDICT = "nobody has judged it"
NO_COMPARISON = "its answers could not be compared with those of another system"
IS_REFERENCE = "; its own answers are the references, with which they are not compared"
NO_VALUES = "no two answers to a question have a value"
NO_DIFFERENCE = "the same for all answers to a question"
CORRELATION, SPREAD = 0.5, 1.0
"""Of such ratings with those by verdicts, and the spread of the latter in logits: what six public
arenas have on average, see the guide of planning a budget."""


@dataclass(frozen=True)
class FirstRatings:
    """The systems of one language, rated without verdicts.

    Attributes:
        table: As ``tables.RATINGS``, best first: the rating is a share from 0 to 1,
            0.5 on average; ``low, high`` hold 90% of its bootstrap over questions; ranks and tiers
            are of the same bootstrap. What rests on verdicts is NaN.
        used: Features it rests on.
        left_out: Feature to why it says nothing.
        covariance: Of the ratings over resampled questions, systems by systems; NaN with one
            question.
    """

    table: pd.DataFrame
    used: tuple[str, ...]
    left_out: Mapping[str, str]
    covariance: pd.DataFrame


def first_ratings(
    X: pd.DataFrame,
    language: str,
    systems: Sequence[str],
    questions: int,
    reference: str | None = None,
    seed: int = 0,
) -> FirstRatings:
    """Rate the systems of a language without verdicts.

    Args:
        X: Columns ``language, system, query_id, answer`` and one a feature.
        language: Language code.
        systems: Every system of the arena.
        questions: How many the language has.
        reference: The system whose answers are the references, if there is one.
        seed: Of the bootstrap.
    """
    rows = X[X["language"] == language].sort_values(["query_id", "system"])
    shares, left_out = _evidence(rows, reference)
    wide = rows.assign(score=shares.mean(axis=1)).pivot_table(
        index="query_id", columns="system", values="score", aggfunc="mean"
    )
    draws = _resampled(wide, generator(seed, "first ratings", language))
    covariance = pd.DataFrame(draws, columns=wide.columns).cov(min_periods=2)
    rating = wide.mean(axis=0)
    low, high = np.percentile(draws, LEVEL, axis=0) if len(draws) else (np.nan, np.nan)
    spread = covariance * len(wide) / max(len(wide) - 1, 1)
    rated = pd.DataFrame({"rating": rating, "low": low, "high": high}).reindex(list(systems))
    answers = rows["system"].value_counts().reindex(list(systems)).fillna(0).astype(np.int64)
    compared = {_plain(name) for name in shares} & {*REFERENCE_FEATURES}
    notes = [
        NO_ANSWER
        if not count
        else NO_COMPARISON
        if np.isnan(value)
        else NO_VERDICT + (IS_REFERENCE if compared and name == reference else "")
        for name, value, count in zip(systems, rated["rating"], answers, strict=True)
    ]
    rated = rated.assign(
        answers=answers,
        coverage=answers / questions,
        split="unjudged",
        verdict_share=rated["rating"].where(rated["rating"].isna(), 0.0),
        note=notes,
    )
    table = ranked_rows(rated, spread, language, freedom=len(wide) - 1)
    return FirstRatings(table, tuple(shares), left_out, covariance)


def _evidence(rows: pd.DataFrame, reference: str | None) -> tuple[pd.DataFrame, dict[str, str]]:
    """Compare the answers to each question by every feature that tells: shares from 0 to 1.

    Answers of the reference system are not compared with themselves.

    Returns:
        A column a feature; and feature to why it was left out.
    """
    consensus = mean_cosines(rows["answer"].tolist(), pd.factorize(rows["query_id"])[0])
    told = rows.assign(**{CONSENSUS: consensus})
    shares, left_out = {}, {}
    is_reference = rows["system"] == reference
    for name in [name for name in feature_columns(told) if _plain(name) in EVIDENCE]:
        values = told[name].mask(is_reference & (_plain(name) in REFERENCE_FEATURES))
        share = shares_below(values, told["query_id"])
        if share.isna().all():
            left_out[name] = NO_VALUES
        elif (share.dropna() == 0.5).all():
            left_out[name] = NO_DIFFERENCE
        else:
            shares[name] = share
    return pd.DataFrame(shares, index=rows.index), left_out


def _plain(feature: str) -> str:
    """Name of a feature without its settings."""
    return re.split(r"[@(]", feature, maxsplit=1)[0]


def shares_below(values: pd.Series, questions: pd.Series) -> pd.Series:
    """Return the share of the other answers to the same question with a lower value.

    Ties count half; NaN without a value, and where no other answer has one.
    """
    groups = values.groupby(questions)
    others = groups.transform("count") - 1
    return (groups.rank() - 1) / others.where(others > 0)


def _resampled(wide: pd.DataFrame, random: np.random.Generator) -> Floats:
    """Return the ratings by resampled questions, shape (rounds, systems); none by one question."""
    if len(wide) < 2:
        return np.empty((0, wide.shape[1]))
    score, present = np.nan_to_num(wide.to_numpy(np.float64)), wide.notna().to_numpy(np.float64)
    times = bootstrap_weights(len(wide), ROUNDS, random).astype(np.float64)
    answered = times @ present
    means = np.divide(times @ score, answered, out=np.zeros_like(answered), where=answered > 0)
    return np.asarray(np.where(answered > 0, means, wide.mean(axis=0).to_numpy()))


def first_prior(ratings: pd.DataFrame) -> pd.DataFrame:
    """Put a first board's ratings on the scale of verdicts: what is expected before any is asked.

    Returns:
        Columns ``language, system, rating, standard_error``, in logits: ratings by verdicts are
        taken to spread by ``SPREAD`` and to correlate with these by ``CORRELATION``.
    """
    grouped = ratings.groupby("language")["rating"]
    spread = grouped.transform("std", ddof=0)
    away = (ratings["rating"] - grouped.transform("mean")) / spread.where(spread > 0)
    error = SPREAD * np.sqrt(1 - CORRELATION**2)
    return ratings.assign(
        rating=CORRELATION * SPREAD * away,
        standard_error=np.where(away.notna(), error, np.nan),
    )[list(PRIOR_COLUMNS)]
