"""Bootstrapped tournaments (MIRAGE-Bench, Algorithm 1) and the arena ratings they give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.rating.battles import Battles, TieRule, components, count_battles
from arena.rating.bradley_terry import DEFAULT_RIDGE, fit_bradley_terry

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

DEFAULT_TOURNAMENTS = 200
DEFAULT_QUESTIONS = 100
INTERVAL = (2.5, 97.5)
DECIMALS = 8
"""Kept of coefficients (log-odds), so that what is learned from them rests on no rounding error."""

ALL_WON = "wins every battle; its rating is bounded by the prior only"
ALL_LOST = "loses every battle; its rating is bounded by the prior only"
NOT_CONNECTED = "no judgments connect it with the largest group of systems"


@dataclass(frozen=True)
class Tournaments:
    """T tournaments of one language, each over questions drawn with replacement.

    Attributes:
        battles: Win counts per question.
        draws: How often each tournament drew each question, shape (T, Q).
        coefficients: Bradley-Terry coefficients (log-odds, centerd on 0), shape (T, S); NaN
            where a tournament holds no battle that connects the system with the others.
        questions_per_tournament: Questions drawn, with replacement, for each tournament.
        ridge: Precision of the prior in the Bradley-Terry fits.
        seed: The user's seed.
        notes: System to what makes its rating degenerate.
    """

    battles: Battles
    draws: Integers
    coefficients: Floats
    questions_per_tournament: int
    ridge: float
    seed: int
    notes: dict[str, str]

    @property
    def systems(self) -> tuple[str, ...]:
        """The judged systems, sorted by name."""
        return self.battles.systems

    @property
    def mean_coefficients(self) -> Floats:
        """Mean coefficient of each system over tournaments, shape (S,); NaN if never rated."""
        held = np.isfinite(self.coefficients)
        totals = np.where(held, self.coefficients, 0.0).sum(axis=0)
        times = held.sum(axis=0)
        missing = np.full(len(times), np.nan)
        return np.asarray(np.divide(totals, times, out=missing, where=times > 0))

    @property
    def signature(self) -> str:
        """The settings that reproduce these tournaments."""
        return (
            f"tournaments:{len(self.draws)}|questions:{self.questions_per_tournament}"
            f"|ties:{self.battles.ties}|ridge:{self.ridge:g}|seed:{self.seed}"
        )

    def ratings(self) -> pd.DataFrame:
        """Rate the judged systems.

        Returns:
            Columns ``system, rating, low, high, rank, note``: the mean coefficient over
            tournaments, its 95% percentile interval, the rank (1 the best, equal ratings share
            the better rank) and what makes a rating degenerate; best first. A system that no
            judgments connect has no rating.
        """
        mean = self.mean_coefficients
        rated = np.isfinite(mean)
        bounds = np.full((2, len(self.systems)), np.nan)
        bounds[:, rated] = np.nanpercentile(self.coefficients[:, rated], INTERVAL, axis=0)
        table = pd.DataFrame(
            {
                "system": self.systems,
                "rating": mean,
                "low": bounds[0],
                "high": bounds[1],
                "rank": pd.Series(mean).rank(ascending=False, method="min").astype("Int64"),
                "note": [self.notes.get(system, "") for system in self.systems],
            }
        )
        return table.sort_values(["rank", "system"], kind="stable").reset_index(drop=True)


def bootstrap_tournaments(
    judgments: pd.DataFrame,
    tournaments: int = DEFAULT_TOURNAMENTS,
    questions: int = DEFAULT_QUESTIONS,
    ties: TieRule = "half",
    ridge: float = DEFAULT_RIDGE,
    seed: int = 0,
) -> Tournaments:
    """Bootstrap tournaments over questions and fit each (MIRAGE-Bench, Algorithm 1).

    Args:
        judgments: Columns ``query_id, language, system_a, system_b, winner``; of one language
            and one judge.
        tournaments: Number of tournaments N_t.
        questions: Questions N_q drawn with replacement for each tournament, at most the number
            judged (a larger sample would make intervals too narrow).
        ties: ``half`` or ``drop``.
        ridge: Precision of the prior on coefficients; see ``fit_bradley_terry``.
        seed: Seed of the draws.

    Raises:
        UsageError: For a number below 1, several languages, or no judgments.
        ConvergenceError: With ``ridge`` 0 where a tournament has no maximum likelihood.
    """
    if tournaments < 1 or questions < 1:
        raise UsageError("tournaments and questions must be at least 1")
    languages = sorted(judgments["language"].unique())
    if len(languages) > 1:
        raise UsageError(f"one language at a time, not {', '.join(languages)}")
    battles = count_battles(judgments, ties)
    drawn = min(questions, len(battles.questions))
    draws = _draw_questions(battles, tournaments, drawn, seed, languages[0])
    return Tournaments(
        battles=battles,
        draws=draws,
        coefficients=fit_coefficients(battles, draws, ridge),
        questions_per_tournament=drawn,
        ridge=ridge,
        seed=seed,
        notes=_notes(battles),
    )


def fit_coefficients(battles: Battles, draws: Integers, ridge: float) -> Floats:
    """Fit the Bradley-Terry coefficients of every tournament.

    Args:
        battles: Win counts of Q questions and S systems, of which some have met.
        draws: How often each tournament holds each question, shape (T, Q).
        ridge: Precision of the prior on coefficients; see ``fit_bradley_terry``.

    Returns:
        Shape (T, S), as ``Tournaments.coefficients``.

    Raises:
        ConvergenceError: With ``ridge`` 0 where a tournament has no maximum likelihood.
    """
    points, counts = battles.weighted(draws)
    fit = fit_bradley_terry(
        points, counts, battles.first, battles.second, len(battles.systems), ridge
    )
    return _centerd(np.where(_connected(battles, counts), fit.coefficients, np.nan))


def _draw_questions(
    battles: Battles, tournaments: int, drawn: int, seed: int, language: str
) -> Integers:
    random = generator(seed, "tournaments", language)
    available = len(battles.questions)
    return random.multinomial(drawn, np.full(available, 1.0 / available), size=tournaments)


def _connected(battles: Battles, counts: Floats) -> npt.NDArray[np.bool_]:
    """Tell which systems belong to the largest connected group, overall and per tournament."""
    overall = components(battles, battles.counts.sum(axis=0)) == 0
    connected = np.tile(overall, (len(counts), 1))
    for tournament in np.flatnonzero((counts == 0).any(axis=1)):
        connected[tournament] &= components(battles, counts[tournament]) == 0
    return connected


def _centerd(coefficients: Floats) -> Floats:
    """Center each tournament's coefficients, without the digits that differ between machines."""
    centerd = coefficients - np.nanmean(coefficients, axis=1, keepdims=True)
    return np.asarray(np.round(centerd, DECIMALS))


def _notes(battles: Battles) -> dict[str, str]:
    wins, losses = battles.wins_and_losses()
    group = components(battles, battles.counts.sum(axis=0))
    notes = {}
    for index, system in enumerate(battles.systems):
        if group[index] != 0:
            notes[system] = NOT_CONNECTED
        elif losses[index] == 0:
            notes[system] = ALL_WON
        elif wins[index] == 0:
            notes[system] = ALL_LOST
    return notes
