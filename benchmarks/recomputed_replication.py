"""Part of ``recomputed.py``: what the default surrogate adds to few verdicts, from its ratings.

Ratings by verdicts alone, and by those on the other half, are fitted here; those by verdicts and
surrogate, and their errors, are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from recomputed_ratings import ARENAS, SPLITS, Verdicts, by_language, generator
from recomputed_verdicts import Figure, Stored, figures_of, simulated
from scipy.stats import norm

RESAMPLES = 1000
TAU, GAIN, INSIDE = 3, 4, 5
"""Columns of the table."""


class Split(NamedTuple):
    """Ratings of systems from few questions of one half, and from the other."""

    systems: np.ndarray
    combined: np.ndarray
    errors: np.ndarray
    verdicts: np.ndarray
    other_half: np.ndarray

    @property
    def inside(self) -> float:
        """Share of systems within 90% intervals."""
        residuals = self.combined - self.other_half
        bounds = norm.ppf(0.95) * self.errors
        return float(np.mean(np.abs(residuals - residuals.mean()) <= bounds))

    def taus(self, times: np.ndarray) -> np.ndarray:
        """Return tau-b with the other half, of combined ratings and verdicts: (B, S) to (2, B)."""
        one, other = np.triu_indices(len(self.systems), 1)
        weights = times[:, one] * times[:, other]
        rows = np.array([self.combined, self.verdicts, self.other_half]).round(6)
        orders = np.sign(rows[:, one] - rows[:, other])
        untied = np.abs(orders) @ weights.T
        with np.errstate(invalid="ignore"):
            taus = (orders[:2] * orders[2]) @ weights.T / np.sqrt(untied[:2] * untied[2])
        return np.asarray(taus)


def replication(key: str, arenas: Path, predictions: Path, stored: Stored) -> Iterator[Figure]:
    """Compare all cells of an arena but tau of verdicts alone."""
    folder, judge, is_sided = ARENAS[key]
    table = pd.read_csv(predictions / f"{key}.replication.csv")
    for number, of_number in table.groupby("questions"):
        languages = [
            splits_of(verdicts, rows, language, is_sided)
            for language, verdicts in by_language(arenas / folder, judge)
            if len(rows := of_number[of_number["language"] == language])
        ]
        yield from figures(f"{key}:{number}", languages, stored)


def splits_of(verdicts: Verdicts, rows: pd.DataFrame, language: str, is_sided: bool) -> list[Split]:
    """Fit the verdicts of each split of a language."""
    size = len(verdicts.points)
    splits = []
    for split in range(SPLITS["replication"]):
        order = generator(0, "replication", language, str(split)).permutation(size)
        number = rows["questions"].iloc[0]
        parts = (order[: size // 2][:number], order[size // 2 :])
        alone, other_half = (verdicts.ratings(part, is_sided) for part in parts)
        known = np.isfinite(alone) & np.isfinite(other_half)
        systems = verdicts.systems[known]
        read = rows[rows["repeat"] == split].set_index("system").loc[systems]
        combined, errors = read["combined"].to_numpy(), read["error"].to_numpy()
        splits.append(Split(systems, combined, errors, alone[known], other_half[known]))
    return splits


def figures(key: str, languages: list[list[Split]], stored: Stored) -> Iterator[Figure]:
    """Compare means over splits, then languages; intervals are over systems."""
    cells = stored["replication"][key]["cells"]
    names = np.unique(np.concatenate([part.systems for parts in languages for part in parts]))

    def taus(times: np.ndarray) -> np.ndarray:
        means = []
        for parts in languages:
            of_splits = [part.taus(times[:, np.isin(names, part.systems)]) for part in parts]
            means.append(finite_mean(of_splits))
        return finite_mean(means)

    def interval(rng: np.random.Generator) -> np.ndarray:
        even = np.full(len(names), 1 / len(names))
        combined, verdicts = taus(rng.multinomial(len(names), even, size=RESAMPLES))
        return np.asarray(np.nanpercentile(combined - verdicts, [2.5, 97.5]))

    combined, verdicts = taus(np.ones((1, len(names))))[:, 0]
    yield Figure(f"{key}: verdicts and surrogate", cells[TAU], float(combined))
    bounds, errors = simulated(interval)
    found, spread = [combined - verdicts, *bounds], [0, *errors]
    yield from figures_of(f"{key}: gain of the surrogate", cells[GAIN], found, spread)
    inside = np.mean([part.inside for parts in languages for part in parts])
    yield Figure(f"{key}: inside 90% intervals", cells[INSIDE], float(inside))


def finite_mean(parts: list[np.ndarray]) -> np.ndarray:
    stacked = np.array(parts)
    known = np.isfinite(stacked)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, stacked, 0).sum(axis=0) / known.sum(axis=0))
