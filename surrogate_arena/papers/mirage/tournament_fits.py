"""Surrogates of single tournaments: R² on held-out systems (table 5), shares of features."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import open_arena
from arena.data.types import Flags, Floats
from arena.statistics.bootstrap import percentile_interval, seed_sequence
from surrogate.board.board import Board
from surrogate.board.judged_board import tournament_settings
from surrogate.board.view import arena_view
from surrogate.learning.language_data import LanguageData, language_data
from surrogate.learning.surrogate import Surrogate, reseeded


class TournamentFit(NamedTuple):
    """A surrogate trained on a single tournament of one language.

    Ratings of systems, coefficients and held-out flags have shape (S,), shares of features (F,).
    """

    ratings: Floats
    shares: Floats
    coefficients: Floats
    is_held: Flags

    @property
    def holdout_r2(self) -> float:
        """Return R² on the held-out systems."""
        return r2(self.coefficients[self.is_held], self.ratings[self.is_held])

    @property
    def train_r2(self) -> float:
        """Return R² on the systems trained on."""
        return r2(self.coefficients[~self.is_held], self.ratings[~self.is_held])


def r2(coefficients: Floats, predicted: Floats) -> float:
    """Return R² over systems; NaN of fewer than two, or of equal coefficients."""
    smallest_spread = 1e-6  # logits; coefficients that are closer are equal
    is_known = np.isfinite(coefficients) & np.isfinite(predicted)
    if is_known.sum() < 2 or np.ptp(coefficients[is_known]) < smallest_spread:
        return float("nan")
    residuals = coefficients[is_known] - predicted[is_known]
    centered = coefficients[is_known] - coefficients[is_known].mean()
    return float(1 - residuals @ residuals / (centered @ centered))


def fit_tournament(
    data: LanguageData, surrogate: Surrogate, holdout: tuple[str, ...], index: int, seed: int
) -> TournamentFit:
    """Train on one tournament without held-out systems, and rate all.

    Lines 1 to 7 of Algorithm 1 of MIRAGE-Bench.

    Raises:
        UsageError: If the tournament rates fewer than three of the systems.
    """
    # One tournament has one row per system, whose features are those of its own questions.
    untrained = reseeded(surrogate, seed, rows="system", n_jobs=1)
    ratings = {data.language: data.tournaments.single(index)}
    fitted = untrained.fit(data.without_answers_of(holdout).X, ratings)
    questions = data.tournaments.battles.questions
    times_drawn = dict(zip(questions, data.tournaments.draws[index].tolist(), strict=True))
    rows = data.rows()
    drawn = rows.take(np.repeat(np.arange(len(rows)), rows["query_id"].map(times_drawn)))
    asked = tuple(name for name, times in times_drawn.items() if times)
    predictions = fitted.predict(drawn, {data.language: asked}).set_index("system")["rating"]
    importances = fitted.importances()
    shares = importances.loc[importances["language"] == data.language, "importance"]
    return TournamentFit(
        ratings=predictions.reindex(list(data.systems)).to_numpy(np.float64),
        shares=shares.fillna(0.0).to_numpy(np.float64),
        coefficients=data.tournaments.coefficients[index],
        is_held=np.isin(data.systems, holdout),
    )


def tournament_fits(
    board: Board, arena: Arena | Path | str | None = None
) -> dict[str, list[TournamentFit]]:
    """Train a board's surrogate on each of its tournaments alone, by language.

    There is none of a surrogate of all languages together. ``arena`` is by default the board's.
    """
    surrogate = board.surrogate
    if surrogate.pooled:
        return {}
    settings = board.summary.settings
    opened = open_arena(board.own_arena() if arena is None else arena)
    judged = arena_view(opened, settings, settings.temperatures).judged_by(settings.judge)
    languages = language_data(judged, board.features, tournament_settings(settings))
    fits: dict[str, list[TournamentFit]] = {}
    for data in languages:
        holdout = tuple(name for name in settings.holdout if name in data.systems)
        data = replace(data, X=data.X[data.X["system"].isin(judged.rated_systems)])
        fits[data.language] = []
        for index in range(len(data.tournaments.draws)):
            keys = ("surrogate", data.language, "tournament", str(index))
            seed = int(seed_sequence(surrogate.seed, *keys).generate_state(1)[0])
            # A tournament may rate too few systems.
            with suppress(UsageError):
                fit = fit_tournament(data, surrogate, holdout, index, seed)
                fits[data.language].append(fit)
    return fits


def holdout_r2(board: Board) -> pd.DataFrame:
    """Return R² on the systems that a board held out, over its tournaments (table 5).

    Returns:
        Columns ``language``, ``tournaments`` with a defined R², their ``mean``, and ``low`` and
        ``high``, which hold 95% of them.
    """
    rows = []
    for language, fits in tournament_fits(board).items():
        values = np.array([fit.holdout_r2 for fit in fits])
        defined = values[np.isfinite(values)]
        mean = float(defined.mean()) if defined.size else float("nan")
        rows.append([language, len(defined), mean, *percentile_interval(defined)])
    return pd.DataFrame(rows, columns=["language", "tournaments", "mean", "low", "high"])


def share_quantiles(board: Board, arena: Arena | Path | str | None = None) -> pd.DataFrame:
    """Return how features' shares spread over tournaments, mean over languages (figure 5).

    Rows are features that the board's surrogate uses, columns quantiles.
    """
    quantiles = [0.025, 0.25, 0.5, 0.75, 0.975]
    final = board.importances.set_index(["language", "feature"])["importance"].dropna()
    parts = [pd.DataFrame(np.nan, final.index.unique("feature"), quantiles)]
    for language, fits in tournament_fits(board, arena).items():
        if fits and language in final.index.unique("language"):
            shares = pd.DataFrame([fit.shares for fit in fits], columns=board.surrogate.features_)
            parts.append(shares[list(final[language].index)].quantile(quantiles).T)
    return pd.concat(parts).groupby(level=0).mean()
