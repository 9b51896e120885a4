"""Part of ``recomputed.py``: ratings by parts of the questions, drawn as the tables drew them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from copy import copy
from pathlib import Path

import numpy as np
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
        """Fit Bradley-Terry with a tie as half a win and a ridge; NaN without a verdict."""
        points, counts = self.points[questions], self.counts[questions]
        met = counts.sum(axis=(0, 1)) + counts.sum(axis=(0, 2)) > 0
        points, counts = points[:, met][:, :, met], counts[:, met][:, :, met]
        fitted = fit(points.sum(axis=0), counts.sum(axis=0), SIDE if is_sided else None)
        if is_sided:
            # Verdicts on a question hang together, so that the side's prior weighs more.
            precision = SIDE * design_effect(points, counts, fitted)
            fitted = fit(points.sum(axis=0), counts.sum(axis=0), precision)
        ratings = np.full(len(met), np.nan)
        ratings[met] = fitted[:-1].round(6)
        return ratings


def fit(points: np.ndarray, counts: np.ndarray, side_precision: float | None) -> np.ndarray:
    """Return the most probable ratings and the advantage of side A, if there is one: (S + 1,)."""
    size = len(points)
    fitted = np.zeros(size + 1)
    precisions = np.append(np.full(size, RIDGE), side_precision or 1e12)
    for _ in range(50):
        expected = expit(fitted[:size, None] - fitted[:size] + fitted[size])
        excess = points - counts * expected
        weights = counts * expected * (1 - expected)
        slope = np.append(excess.sum(axis=1) - excess.sum(axis=0), excess.sum())
        information = np.diag(precisions)
        of_systems = np.diag(weights.sum(axis=1) + weights.sum(axis=0)) - weights - weights.T
        of_side = weights.sum(axis=1) - weights.sum(axis=0)
        information[:size, :size] += of_systems
        information[size, :size] += of_side
        information[:size, size] += of_side
        information[size, size] += weights.sum()
        step = np.linalg.solve(information, slope - precisions * fitted)
        fitted += step
        if np.abs(step).max() < 1e-10:
            break
    return fitted


def design_effect(points: np.ndarray, counts: np.ndarray, fitted: np.ndarray) -> float:
    """Return the variance of systems' scores over questions, relative to independent verdicts."""
    ratings = fitted[:-1]
    expected = expit(ratings[:, None] - ratings + fitted[-1])
    excess = points - counts * expected
    scores = excess.sum(axis=2) - excess.sum(axis=1)
    weights = counts * expected * (1 - expected)
    information = (weights.sum(axis=2) + weights.sum(axis=1)).sum(axis=0)
    judged = (counts.sum(axis=2) + counts.sum(axis=1) > 0).sum(axis=0)
    effects = np.where(
        judged > 1, (scores**2).sum(axis=0) * judged / np.maximum(judged - 1, 1) / information, 1
    )
    return max(float(effects.mean()), 0.25)


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
        for language, verdicts in by_language(arenas / folder, judge):
            size = len(verdicts.points)
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
            yield Figure(name, printed, float(np.mean(taus[number])))
