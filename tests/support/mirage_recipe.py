"""MIRAGE-Bench's recipe (Algorithm 1, section 4.3), step by step, on the packages the paper used.

choix fits the tournaments; scikit-learn or xgboost learns. ``build_board(arena, preset="mirage")``
gives the same numbers, much faster: it solves all tournaments at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import choix
import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.types import Flags, Floats
from arena.rating.battles import Battles
from arena.rating.tournaments import DECIMALS
from arena.statistics.bootstrap import bootstrap_weights, generator, seed_sequence
from features.engine.extraction import feature_columns
from surrogate.learning.regression import made


@dataclass(frozen=True)
class PublishedRatings:
    """Ratings of one language by the published recipe.

    Attributes:
        systems: The S judged systems, sorted by name.
        coefficients: Bradley-Terry coefficients of each tournament, centered on 0, shape (T, S).
        n_fallbacks: Tournaments without a maximum likelihood, which have choix's weak prior.
        holdout_r2: R² on the held-out systems, of a surrogate of each tournament, shape (T,).
        ratings: Predictions of the surrogate of all tournaments, shape (S,); the leaderboard.
    """

    systems: tuple[str, ...]
    coefficients: Floats
    n_fallbacks: int
    holdout_r2: Floats
    ratings: Floats


def fit_with_choix(
    judgments: pd.DataFrame, drawn: Sequence[str], systems: Sequence[str]
) -> tuple[Floats, bool]:
    """Fit the battles of one tournament with choix.

    Args:
        judgments: As ``run_recipe`` takes them; ties are skipped.
        drawn: Ids of questions; one that was drawn twice counts twice.
        systems: The systems, in the order of the coefficients.

    Returns:
        Coefficients centered on 0, shape (S,), and whether the likelihood has no maximum, so that
        ``opt_pairwise`` with its weak prior fitted them.
    """
    index = {system: number for number, system in enumerate(systems)}
    n_draws = Counter(drawn)
    comparisons = []
    is_counted = judgments["query_id"].isin(drawn) & (judgments["winner"] != "tie")
    for row in judgments[is_counted].itertuples():
        side_a, side_b = index[row.system_a], index[row.system_b]
        winner, loser = (side_a, side_b) if row.winner == "a" else (side_b, side_a)
        comparisons += [(winner, loser)] * n_draws[row.query_id]
    try:
        with np.errstate(all="ignore"):  # a system that wins all absorbs the Markov chain
            coefficients = choix.ilsr_pairwise(len(systems), comparisons)
        is_fallback = False
    except (ValueError, RuntimeError):
        coefficients = choix.opt_pairwise(len(systems), comparisons, tol=1e-12)
        is_fallback = True
    return coefficients - coefficients.mean(), is_fallback


Fitter = Callable[[pd.DataFrame, Sequence[str], Sequence[str]], tuple[Floats, bool]]
"""Fits one tournament, as ``fit_with_choix`` does."""


def run_recipe(
    judgments: pd.DataFrame,
    features: pd.DataFrame,
    holdout: Sequence[str],
    *,
    tournaments: int = 200,
    questions: int = 100,
    seed: int = 0,
    regressor: str = "random-forest",
    fit: Fitter = fit_with_choix,
) -> PublishedRatings:
    """Rate the systems of one language as the paper did.

    Args:
        judgments: Columns ``query_id, language, system_a, system_b, winner``, of one judge.
        features: Columns ``language, system, query_id`` and the features of every answer.
        holdout: Systems to keep out of training.
        tournaments: Number of tournaments, N_t.
        questions: Questions drawn with replacement for each, N_q.
        seed: Random seed; ``build_board`` with the same one draws the same.
        regressor: One that table 3 compares, such as ``random-forest`` or ``xgboost``.
        fit: Fits the battles of each tournament.
    """
    from sklearn.metrics import r2_score

    language = _only_language(judgments)
    battles = Battles.from_judgments(judgments).counted("drop")  # section 4.3: ties are dropped
    systems = battles.systems
    judged_values = _feature_values(features, language, systems, battles.questions)
    is_trained = ~np.isin(systems, holdout)

    # Algorithm 1, lines 1 to 4: draw questions, and fit the battles on them.
    draws = bootstrap_weights(
        battles.n_questions,
        tournaments,
        generator(seed, "tournaments", language),
        min(questions, battles.n_questions),
    )
    coefficients = np.empty((tournaments, len(systems)))
    holdout_r2 = np.empty(tournaments)
    n_fallbacks = 0
    for number, counts in enumerate(draws):
        drawn = np.repeat(np.arange(battles.n_questions), counts)
        drawn_questions = [battles.questions[index] for index in drawn]
        fitted, is_fallback = fit(judgments, drawn_questions, systems)
        coefficients[number] = np.round(fitted, DECIMALS)
        n_fallbacks += is_fallback
        # Lines 5 to 7: a surrogate of this tournament, on means of features over its questions.
        tournament_seed = _seed(seed, language, "tournament", str(number))
        predictions = _predictions(
            made(regressor, _seed(tournament_seed, language, "final")),
            judged_values[drawn].mean(axis=0),
            coefficients[number],
            is_trained,
        )
        holdout_r2[number] = r2_score(coefficients[number][~is_trained], predictions[~is_trained])

    # The leaderboard is of all questions, judged or not.
    all_values = _feature_values(features, language, systems)
    ratings = _predictions(
        made(regressor, _seed(seed, language, "final")),
        all_values.mean(axis=0),
        np.round(coefficients.mean(axis=0), DECIMALS),
        is_trained,
    )
    return PublishedRatings(systems, coefficients, n_fallbacks, holdout_r2, ratings)


def _only_language(judgments: pd.DataFrame) -> str:
    languages = sorted(judgments["language"].unique())
    if len(languages) != 1:
        raise UsageError(f"the recipe rates one language at a time, not {', '.join(languages)}")
    return str(languages[0])


def _feature_values(
    features: pd.DataFrame,
    language: str,
    systems: Sequence[str],
    questions: Sequence[str] | None = None,
) -> Floats:
    """Return features of answers, shape (Q, S, F); a missing value counts 0, as published."""
    names = feature_columns(features)
    table = features[features["language"] == language].set_index(["query_id", "system"])
    if questions is None:
        questions = sorted(table.index.unique("query_id"))
    index = pd.MultiIndex.from_product([questions, systems])
    values = table[names].reindex(index).fillna(0.0).to_numpy(np.float64)
    return np.asarray(values).reshape(len(questions), len(systems), len(names))


def _predictions(
    regressor: Any,
    rows: Floats,
    targets: Floats,
    is_trained: Flags,
) -> Floats:
    """Train on the rows of some systems, shape (S, F), and predict all; shape (S,)."""
    # Forests depend on the order of rows: worst first is an order that no name changes.
    order = np.flatnonzero(is_trained)
    order = order[np.argsort(targets[order], kind="stable")]
    # Weights of 1 change nothing but the stream of random numbers, which is then that of boards.
    regressor.fit(rows[order], targets[order], sample_weight=np.ones(len(order)))
    return np.asarray(regressor.predict(rows))


def _seed(seed: int, language: str, *keys: str) -> int:
    return int(seed_sequence(seed, "surrogate", language, *keys).generate_state(1)[0])
