"""Part of ``recomputed.py``: tau on unseen systems, from the ratings that surrogates gave them.

The forest and the regression are trained again by scikit-learn, on the same features and folds. The
default surrogate has no counterpart elsewhere: its ratings are compared with own ones by verdicts.

What is trained again differs by its tournaments and seeds. Its error is the spread of differences
over splits, and too small by what these share: the printed ones have the same tournaments in each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from recomputed_ratings import ARENAS, Verdicts, by_language
from recomputed_verdicts import Figure, Stored, simulated
from sklearn.ensemble import RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

COLUMNS = {"default": 1, "random-forest": 2, "linear": 3, "answer_length": 4}
DIFFERENCE = 5
TOURNAMENTS = 50
QUESTIONS = 100
KEYS = ["system", "query_id"]
# Fewer trees than the library's 100, since this is a check.
MODELS = {
    "random-forest": partial(RandomForestRegressor, n_estimators=30),
    "linear": LinearRegression,
}


class Ranked:
    """Ratings of the systems of a language by split, with folds and ratings by verdicts."""

    def __init__(self, ratings: np.ndarray, folds: np.ndarray, rated: Rated) -> None:
        self.systems = rated.systems
        one, other = np.triu_indices(len(self.systems), 1)
        is_together = folds[:, one] == folds[:, other]
        orders = [
            np.sign((part[:, one] - part[:, other]).round(8)) for part in (ratings, rated.truth)
        ]
        predicted, judged = (np.where(is_together, part, 0) for part in orders)
        self.pairs = (one, other)
        self.counts = np.array([predicted * judged, np.abs(predicted), np.abs(judged)])

    def tau(self, splits: slice = slice(None), times: np.ndarray | None = None) -> np.ndarray:
        """Return tau-b of pairs held out together, in resamples of the systems: (B, S) to (B,)."""
        if times is None:
            times = np.ones((1, len(self.systems)))
        weights = times[:, self.pairs[0]] * times[:, self.pairs[1]]
        products, untied, untied_judged = self.counts[:, splits].sum(axis=1) @ weights.T
        with np.errstate(invalid="ignore"):
            return np.asarray(products / np.sqrt(untied * untied_judged))


class Rated:
    """Systems of a language: their ratings by all verdicts, features of their answers."""

    def __init__(self, verdicts: Verdicts, features: pd.DataFrame) -> None:
        self.verdicts = verdicts
        self.systems = verdicts.systems
        self.truth = verdicts.ratings(np.arange(len(verdicts.points)), is_sided=False)[None]
        index = pd.MultiIndex.from_product([verdicts.systems, verdicts.questions])
        rows = features.drop_duplicates(KEYS).set_index(KEYS).select_dtypes("number")
        self.names = list(rows)
        self.features = rows.reindex(index).to_numpy(float).reshape(*map(len, index.levels), -1)

    @property
    def mean_lengths(self) -> np.ndarray:
        """Systems' mean words, (S,)."""
        return np.asarray(
            np.nanmean(self.features[:, :, self.names.index("answer_length")], axis=1)
        )

    def means(self, weights: np.ndarray) -> np.ndarray:
        """Return systems' mean features over drawn questions: (Q,) to (S, F)."""
        known = np.isfinite(self.features)
        sums = np.einsum("q,sqf->sf", weights, np.where(known, self.features, 0))
        with np.errstate(invalid="ignore"):
            return np.asarray(sums / np.einsum("q,sqf->sf", weights, known.astype(float)))

    def trained(self, name: str, folds: np.ndarray) -> np.ndarray:
        """Rate every fold of every split by what learned from the other systems: (R, S)."""
        ratings = np.full(folds.shape, np.nan)
        for split, row in enumerate(folds):
            for fold in np.unique(row):
                held = row == fold
                ratings[split, held] = self.rated_by_others(
                    name, held, np.random.default_rng(split)
                )
        return ratings

    def rated_by_others(self, name: str, held: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Rate held-out systems; the others' ratings are bootstrapped over questions."""
        n_questions = self.features.shape[1]
        even = np.full(n_questions, 1 / n_questions)
        rows, targets = [], []
        for weights in rng.multinomial(min(QUESTIONS, n_questions), even, size=TOURNAMENTS):
            questions = np.repeat(np.arange(n_questions), weights)
            rows.append(self.means(weights)[~held])
            targets.append(self.verdicts.among(~held).ratings(questions, is_sided=False))
        features, ratings = np.concatenate(rows), np.concatenate(targets)
        usable = np.isfinite(ratings)
        columns = np.isfinite(features).any(axis=0)
        model = make_pipeline(SimpleImputer(strategy="median"), MODELS[name]())
        model.fit(features[usable][:, columns], ratings[usable])
        return np.asarray(model.predict(self.means(np.ones(n_questions))[held][:, columns]))


def unseen(key: str, arenas: Path, predictions: Path, stored: Stored) -> Iterator[Figure]:
    """Compare all cells of an arena but the ceiling."""
    folder, judge, _ = ARENAS[key]
    table = pd.read_csv(predictions / f"{key}.ratings.csv")
    features = pd.read_csv(predictions / f"{key}.features.csv", dtype={"query_id": str})
    cells = stored["unseen"][key]["cells"]
    contenders: dict[str, list[Ranked]] = {name: [] for name in COLUMNS}
    again: dict[str, list[np.ndarray]] = {name: [] for name in MODELS}
    for language, verdicts in by_language(arenas / folder, judge):
        rows = features[features["language"] == language].drop(columns="language")
        rated = Rated(verdicts, rows)
        for name, ratings in table[table["language"] == language].groupby("rated_by"):
            wide = ratings.pivot(index="split", columns="system", values=["rating", "fold"])
            by_split, folds = (wide[part][rated.systems].to_numpy() for part in ("rating", "fold"))
            ranked = Ranked(by_split, folds, rated)
            contenders[str(name)].append(ranked)
            if name in MODELS:
                trained = Ranked(rated.trained(str(name), folds), folds, rated)
                splits = [slice(split, split + 1) for split in range(len(folds))]
                differences = [trained.tau(split) - ranked.tau(split) for split in splits]
                again[str(name)].append(np.concatenate(differences))
        lengths = np.tile(rated.mean_lengths, (len(folds), 1))
        contenders["answer_length"].append(Ranked(lengths, folds, rated))
    for name, column in COLUMNS.items():
        yield from with_error(f"{key}, unseen: {name}", [(1, contenders[name])], cells[column])
    forest = [(1, contenders["default"]), (-1, contenders["random-forest"])]
    yield from with_error(f"{key}, unseen: default less forest", forest, cells[DIFFERENCE])
    for name, parts in again.items():
        difference = np.nanmean(parts, axis=0)
        error = float(difference.std(ddof=1) / np.sqrt(len(difference)))
        printed = cells[COLUMNS[name]][0]
        found = printed + float(difference.mean())
        yield Figure(f"{key}, unseen: {name}, trained again", printed, found, error=error)


def with_error(
    name: str, terms: Sequence[tuple[int, list[Ranked]]], cell: Sequence[float]
) -> Iterator[Figure]:
    """Compare a tau, or a difference of two, and its bootstrap error over systems."""
    value = sum(sign * np.mean([part.tau() for part in parts]) for sign, parts in terms)
    yield Figure(name, cell[0], float(value))
    names = sorted({system for _, parts in terms for part in parts for system in part.systems})

    def error(rng: np.random.Generator) -> float:
        times = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=1000)
        total = np.zeros(len(times))
        for sign, parts in terms:
            own = [times[:, np.isin(names, part.systems)] for part in parts]
            taus = [part.tau(times=drawn) for part, drawn in zip(parts, own, strict=True)]
            total += sign * pd.DataFrame(taus).mean().to_numpy()
        return float(np.nanstd(total, ddof=1))

    found, spread = simulated(error)
    yield Figure(f"{name}, error", cell[1], float(found), error=float(spread))
