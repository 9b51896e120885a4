"""Part of ``recomputed.py``: ratings by parts of the questions, drawn as the tables drew them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from copy import copy
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from recomputed_verdicts import Figure, Stored, verdicts_of
from scipy.special import expit
from scipy.stats import kendalltau

ARENAS: dict[str, tuple[str, str | None, bool]] = {
    "trec-rag25": ("trec-rag25", None, False),
    "faithjudge": ("faithjudge", None, False),
    "nomiracl": ("nomiracl", None, False),
    "rakuda": ("rakuda", None, True),
    "crowd-rag": ("crowd-rag", "crowd-gold", True),
    "vicuna80": ("vicuna80", "gpt-4", True),
    "mt-bench": ("mt-bench-ko-en", "gpt-4o-mini", True),
}
"""Key to a folder, a judge, and whether the judge saw an answer first."""
SMALL = ("rakuda", "crowd-rag", "vicuna80", "mt-bench")
RIDGE = 0.1
SIDE = 4.0
"""Precision of the side's advantage, whose prior has a standard deviation of half a logit."""
NO_SIDE = 1e12
SPLITS = {"unseen": 200, "replication": 10}
NUMBERS = (3, 10)


def generator(seed: int, *keys: str) -> np.random.Generator:
    """Return the generator of a draw, seeded by what is drawn."""
    digest = hashlib.sha256("\x1f".join(keys).encode()).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest, "<u4").tolist()])


class Verdicts:
    """Points of systems on side A and counts, by question: (Q, S, S)."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.systems = np.array(sorted({*table["system_a"], *table["system_b"]}))
        self.questions = sorted(table["query_id"].unique())
        index = (
            pd.Categorical(table["query_id"], self.questions).codes,
            pd.Categorical(table["system_a"], self.systems).codes,
            pd.Categorical(table["system_b"], self.systems).codes,
        )
        points = table["winner"].map({"a": 1, "b": 0, "tie": 0.5})
        self.points, self.counts = np.zeros((2, len(self.questions), *[len(self.systems)] * 2))
        np.add.at(self.points, index, points)
        np.add.at(self.counts, index, 1)

    def among(self, systems: np.ndarray) -> Verdicts:
        """Keep some systems, by flags."""
        kept = copy(self)
        kept.systems = self.systems[systems]
        kept.points = self.points[:, systems][:, :, systems]
        kept.counts = self.counts[:, systems][:, :, systems]
        return kept

    def ratings(self, questions: np.ndarray, is_sided: bool) -> np.ndarray:
        """Rate by some questions; NaN without a verdict."""
        points, counts = self.points[questions], self.counts[questions]
        met = is_judged(counts)
        points, counts = points[:, met][:, :, met], counts[:, met][:, :, met]
        ratings = np.full(len(met), np.nan)
        ratings[met] = fitted_ratings(points, counts, is_sided)
        return ratings

    def resampled_ratings(self, resamples: np.ndarray, is_sided: bool) -> np.ndarray:
        """Rate by questions drawn again, (B, Q) to (B, S), where all systems have a verdict."""
        points, counts = self.points[resamples], self.counts[resamples]
        is_whole = is_judged(counts).all(axis=-1)
        return fitted_ratings(points[is_whole], counts[is_whole], is_sided)


def is_judged(counts: np.ndarray) -> np.ndarray:
    """Return which systems have verdicts: (..., Q, S, S) to (..., S)."""
    return np.asarray((counts.sum(axis=-1) + counts.sum(axis=-2)).sum(axis=-2) > 0)


def fitted_ratings(points: np.ndarray, counts: np.ndarray, is_sided: bool) -> np.ndarray:
    """Fit Bradley-Terry with a tie as half a win and a ridge: (..., Q, S, S) to (..., S)."""
    sums = points.sum(axis=-3), counts.sum(axis=-3)
    fitted = fit(*sums, SIDE if is_sided else NO_SIDE)
    if is_sided:
        # Verdicts on a question hang together, so that the side's prior weighs more.
        fitted = fit(*sums, SIDE * design_effect(points, counts, fitted))
    return np.asarray(fitted[..., :-1].round(6))


def fit(points: np.ndarray, counts: np.ndarray, side_precision: npt.ArrayLike) -> np.ndarray:
    """Return the most probable ratings and the advantage of side A: (..., S, S) to (..., S + 1)."""
    size = points.shape[-1]
    fitted = np.zeros((*points.shape[:-2], size + 1))
    precisions = np.full(fitted.shape, RIDGE)
    precisions[..., size] = side_precision
    information = np.zeros((*fitted.shape, size + 1))
    for _ in range(50):
        expected = win_rates(fitted)
        excess = points - counts * expected
        weights = counts * expected * (1 - expected)
        slope = precisions * -fitted
        slope[..., :size] += excess.sum(axis=-1) - excess.sum(axis=-2)
        slope[..., size] += excess.sum(axis=(-1, -2))
        degrees = weights.sum(axis=-1) + weights.sum(axis=-2)
        of_side = weights.sum(axis=-1) - weights.sum(axis=-2)
        information[..., :size, :size] = -weights - weights.swapaxes(-1, -2)
        information[..., :size, :size] += degrees[..., None] * np.eye(size)
        information[..., size, :size] = of_side
        information[..., :size, size] = of_side
        information[..., size, size] = weights.sum(axis=(-1, -2))
        step = np.linalg.solve(
            information + precisions[..., None] * np.eye(size + 1), slope[..., None]
        )
        fitted += step[..., 0]
        if np.abs(step).max() < 1e-10:
            break
    return fitted


def win_rates(fitted: np.ndarray) -> np.ndarray:
    """Return how often the system on side A wins: (..., S + 1) to (..., S, S)."""
    ratings = fitted[..., :-1]
    return np.asarray(expit(ratings[..., None] - ratings[..., None, :] + fitted[..., -1:, None]))


def design_effect(points: np.ndarray, counts: np.ndarray, fitted: np.ndarray) -> np.ndarray:
    """Return the variance of systems' scores over questions, relative to independent verdicts."""
    expected = win_rates(fitted)[..., None, :, :]
    excess = points - counts * expected
    scores = excess.sum(axis=-1) - excess.sum(axis=-2)
    weights = counts * expected * (1 - expected)
    information = (weights.sum(axis=-1) + weights.sum(axis=-2)).sum(axis=-2)
    judged = (counts.sum(axis=-1) + counts.sum(axis=-2) > 0).sum(axis=-2)
    effects = np.where(
        judged > 1, (scores**2).sum(axis=-2) * judged / np.maximum(judged - 1, 1) / information, 1
    )
    return np.asarray(np.maximum(effects.mean(axis=-1), 0.25))


def by_language(folder: Path, judge: str | None) -> Iterator[tuple[str, Verdicts]]:
    for language, table in verdicts_of(folder, judge).groupby("language"):
        yield str(language), Verdicts(table)


def tau(first: np.ndarray, second: np.ndarray) -> float:
    return float(kendalltau(first, second, nan_policy="omit").statistic)


def half_with_half(arenas: Path, stored: Stored) -> Iterator[Figure]:
    """Rate by two halves of the questions."""
    for key in SMALL:
        folder, judge, _ = ARENAS[key]
        taus = []
        for _, verdicts in by_language(arenas / folder, judge):
            random = generator(0, "split half")
            size = len(verdicts.points)
            of_language = []
            for _ in range(SPLITS["unseen"]):
                is_first = random.permutation(size) < size // 2
                halves = [verdicts.ratings(part, False) for part in (is_first, ~is_first)]
                of_language.append(tau(*halves))
            taus.append(np.nanmean(of_language))
        printed = stored["unseen"][key]["cells"][6]
        yield Figure(f"{key}: half of the questions with the other", printed, float(np.mean(taus)))


def verdicts_alone(arenas: Path, stored: Stored) -> Iterator[Figure]:
    """Rate by few questions of one half, and by all of the other."""
    for key, (folder, judge, is_sided) in ARENAS.items():
        taus: dict[int, list[float]] = {number: [] for number in NUMBERS}
        n_pairs = 0
        for language, verdicts in by_language(arenas / folder, judge):
            size = len(verdicts.points)
            n_pairs += math.comb(len(verdicts.systems), 2)
            for number in NUMBERS:
                of_language = []
                for split in range(SPLITS["replication"]):
                    order = generator(0, "replication", language, str(split)).permutation(size)
                    first, second = order[: size // 2], order[size // 2 :]
                    parts = (first[:number], second)
                    of_language.append(tau(*(verdicts.ratings(part, is_sided) for part in parts)))
                taus[number].append(float(np.nanmean(of_language)))
        for number in NUMBERS:
            printed = stored["replication"][f"{key}:{number}"]["cells"][2]
            name = f"{key}: verdicts on {number} questions alone"
            # A board weighs the prior of the advantage of side A by the design effect, which may
            # turn a pair of nearly equal systems in one of the splits.
            error = 2 / (n_pairs * SPLITS["replication"]) if is_sided else 0.0
            yield Figure(name, printed, float(np.mean(taus[number])), error=error)
