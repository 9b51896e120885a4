"""The surrogate that learns from answers and features: systems that answer alike are rated alike.

A rating is a mean of its language, functions of the system's features (linear and smooth), a
function of how it writes, and a residual, in one Gaussian process over all systems and languages.
How it writes is the mean of its answers' vectors (a kernel in the spirit of the data kernel
perspective space, Helm et al., 2024, arXiv 2410.01106); features and texts count in each language
and averaged over languages, so that what is learned of a system in one is used in the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.linalg import block_diag
from scipy.spatial.distance import cdist

from arena.data.seeds import generator
from arena.rating.posterior import RatingPosterior
from features.engine.columns import feature_columns
from surrogate.learning.gaussian_process.profiles import (
    ANSWER,
    CONSENSUS,
    SystemProfiles,
    learn_profiles,
)
from surrogate.learning.posterior.observations import Observation, Observations, observe
from surrogate.learning.posterior.process import RESIDUAL, GaussianProcess, fit_process
from surrogate.learning.surrogate import (
    FEWEST_SYSTEMS,
    KEYS,
    NO_VALUE,
    Arrays,
    Asked,
    Surrogate,
    too_few,
    with_features,
)
from surrogate.learning.training import (
    DEFAULT_ROWS,
    KnownRatings,
    RowKind,
    TrainingRatings,
    training_ratings,
)

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

MOST_QUESTIONS = 200
"""Questions of a language that are learned from at most, so that a board stays small."""
SMALLEST_DIAGONAL = 1e-12
ENOUGH_SYSTEMS = 8
"""Judged systems of a language from which on systems are seen beside these; else beside all."""
UNKNOWN = 1e4
"""Sampling variance of a system without a verdict, in squared logits: as good as infinite."""
NO_DIFFERENCE = "the same for all training systems"


@dataclass(frozen=True)
class _Items:
    """N systems in languages, as kernels see them; U systems in all.

    Attributes:
        keys: Language and system of each.
        system: Place of each one's system among the U, shape (N,).
        features: Features of the system in the language, shape (N, F).
        texts: Texts likewise, shape (N, D).
        mean_features: Mean of a system's features over its languages, shape (U, F).
        texts_by_language: Language to the texts of the U systems, shape (U, D), over the root of
            how many languages each has; zeros without.
    """

    keys: tuple[tuple[str, str], ...]
    system: Integers
    features: Floats
    texts: Floats
    mean_features: Floats
    texts_by_language: Mapping[str, Floats]

    def at(self, keys: Sequence[tuple[str, str]]) -> _Items:
        """Keep some of the items, in this order, and what is known of their systems elsewhere."""
        place = {key: index for index, key in enumerate(self.keys)}
        kept = [place[key] for key in keys]
        return replace(
            self,
            keys=tuple(keys),
            system=self.system[kept],
            features=self.features[kept],
            texts=self.texts[kept],
        )

    @property
    def names(self) -> npt.NDArray[Any]:
        """System of each item, shape (N,)."""
        return np.array([name for _, name in self.keys], dtype=object)

    @property
    def languages(self) -> npt.NDArray[Any]:
        """Language of each item, shape (N,)."""
        return np.array([language for language, _ in self.keys], dtype=object)


def _items(profiles: Mapping[str, SystemProfiles]) -> _Items:
    """Put the systems of several languages together."""
    keys = tuple((language, name) for language, own in profiles.items() for name in own.systems)
    names = sorted({name for _, name in keys})
    place = {name: index for index, name in enumerate(names)}
    system = np.array([place[name] for _, name in keys], dtype=np.intp)
    features = np.concatenate([own.features for own in profiles.values()])
    times = np.bincount(system, minlength=len(names))
    totals = np.zeros((len(names), features.shape[1]))
    np.add.at(totals, system, features)
    texts = {}
    for language, own in profiles.items():
        texts[language] = np.zeros((len(names), own.texts.shape[1]))
        own_places = [place[name] for name in own.systems]
        texts[language][own_places] = own.texts / np.sqrt(times[own_places])[:, None]
    return _Items(
        keys,
        system,
        features,
        np.concatenate([own.texts for own in profiles.values()]),
        totals / times[:, None],
        texts,
    )


@dataclass(eq=False, repr=False)
class GaussianProcessSurrogate(Surrogate):
    """A Gaussian process over systems and languages.

    It learns from features, and from the answers where the table has a column ``answer``. It has
    no training rows of tournaments: their spread gives the noise of ratings.

    ``seed`` draws the questions kept where a language has more than 200; ``rows`` is not used. In a
    language with few judged systems among more that answered, where other languages have enough,
    all are seen beside each other and rated, their level the mean of all.
    """

    learns_tournaments: ClassVar[bool] = False
    pooled: ClassVar[bool] = True

    name: str = "gaussian-process"
    rows: RowKind = DEFAULT_ROWS
    seed: int = 0

    @property
    def signature(self) -> str:
        """The settings as part of a board's signature."""
        return f"surrogate:{self.name}"

    def restore(self, X: pd.DataFrame, ratings: KnownRatings, arrays: Mapping[str, Arrays]) -> Self:
        """Learn from all languages together, but for the texts in the arrays; see ``Surrogate``."""
        known = training_ratings(ratings)
        names = [name for name in feature_columns(X) if name != ANSWER]
        self.features_ = tuple(X[names].select_dtypes("number").columns)
        rows = _some_questions(X, known, self.seed)
        self.ratings_, self.failures_, self.profiles_ = {}, {}, {}
        answers = {name: rows[rows["language"] == name] for name in known}
        rated = {name: _rated_systems(answers[name], item) for name, item in known.items()}
        self.borrowing_ = _borrowing_languages(answers, rated)
        read = {(name, system) for name, systems in rated.items() for system in systems}
        for language, systems in rated.items():
            own, seen = answers[language], systems
            if systems:
                self.ratings_[language] = known[language].take(systems)
            if language in self.borrowing_:
                seen = sorted(own["system"].unique()) if systems else []
            elif len(systems) < FEWEST_SYSTEMS:
                reason = too_few(len(systems), len(self.features_))
                self.failures_[language] = f"{language}: {reason}"
                continue
            if seen:
                own = own[own["system"].isin(seen)]
                told = self.features_, arrays.get(language)
                self.profiles_[language] = learn_profiles(own, language, seen, *told)
                read |= {(language, system) for system in seen}
        kept = [key in read for key in zip(rows["language"], rows["system"], strict=True)]
        self.X_ = rows.loc[kept, [*KEYS, *self.features_]].reset_index(drop=True)
        self.process_ = self._condition() if self.profiles_ else None
        return self

    @property
    def left_out_(self) -> dict[str, dict[str, str]]:
        """Language to feature to why it could not be used."""
        return {
            language: {
                name: NO_VALUE if np.isnan(profiles.center[place]) else NO_DIFFERENCE
                for place, name in enumerate(profiles.names)
                if not profiles.usable[place] and name != CONSENSUS
            }
            for language, profiles in self.profiles_.items()
        }

    def predict(
        self,
        X: pd.DataFrame,
        questions: Asked | None = None,  # noqa: ARG002 - no missing answer counts
    ) -> pd.DataFrame:
        """Rate every system by its answers, with a standard error; see ``Surrogate.predict``."""
        items = self._items_of(X)
        counts = X.groupby(["language", "system"]).size()
        table = counts.rename("answers").reset_index()
        table["rating"] = table["standard_error"] = np.nan
        if items is not None and self.process_ is not None:
            mean, error = self._predicted(self.process_, items)
            mean = mean - [self.levels_.get(language, 0.0) for language, _ in items.keys]
            place = pd.MultiIndex.from_frame(table[["language", "system"]]).get_indexer(items.keys)
            table.loc[place, "rating"], table.loc[place, "standard_error"] = mean, error
        columns = ["language", "system", "rating", "answers", "standard_error"]
        return table[columns].sort_values(["language", "system"], ignore_index=True)

    def posterior(
        self, observed: Mapping[str, Observation], X: pd.DataFrame | None = None
    ) -> dict[str, RatingPosterior]:
        """Rate systems by answers and verdicts, with the weights learned; see ``Surrogate``."""
        if self.process_ is None:
            return {}
        known = {name: item.training for name, item in self.profiles_.items()}
        if X is not None:
            told = self._told(with_features(X, self))
            new = {str(name): own for name, own in told.groupby("language")}
            known |= {
                name: item.joined(self.profiles_[name].of(new[name]))
                for name, item in known.items()
                if name in new
            }
        items = _items(known)
        among = {
            name: observed[name].among(known[name].systems) for name in known if name in observed
        }
        others = self.borrowing_ if X is None else set(among)
        seen = Observations(
            {
                name: _with_unjudged(item, known[name].systems) if name in others else item
                for name, item in among.items()
            }
        )
        rated = items.at(seen.keys)
        kernels = self._kernels(rated, rated)
        found = seen.posteriors(self.process_.on(kernels, seen, seen.groups))
        return {
            name: _about_all(item, len(among[name].systems)) if name in self.borrowing_ else item
            for name, item in found.items()
        }

    def importances(self) -> pd.DataFrame:
        """Share of each feature in the linear part; see ``Surrogate.importances``."""
        parts = [pd.DataFrame(columns=["language", "feature", "importance"])]
        if self.process_ is None:
            return parts[0]
        dual, items = self.process_.dual / self.scales_[:, None], self.items_
        slopes = items.features.T @ dual[0]  # what a unit of a profile's feature adds
        if self._is_multilingual:
            slopes = slopes + items.mean_features[items.system].T @ dual[2]
        sizes = np.abs(slopes)[: len(self.features_)]
        for language, profiles in self.profiles_.items():
            reliable = sizes * profiles.reliability[: len(sizes)]
            used = np.where(profiles.usable[: len(sizes)], reliable, np.nan)
            total = np.nansum(used)
            shares = used / total if total > 0 else used
            columns = {"language": language, "feature": self.features_, "importance": shares}
            parts.append(pd.DataFrame(columns))
        return pd.concat(parts, ignore_index=True)

    def arrays(self) -> dict[str, Arrays]:
        """The vectors of the training answers, in place of the answers."""
        own = {language: profiles.arrays() for language, profiles in self.profiles_.items()}
        return {language: arrays for language, arrays in own.items() if arrays}

    def _told(self, X: pd.DataFrame) -> pd.DataFrame:
        """Leave out systems of which nothing is known in a language: no mean stands for these."""
        if self._reads and ANSWER in X:
            return X
        has_value = X[list(self.features_)].notna().any(axis=1)
        return X[has_value.groupby([X["language"], X["system"]]).transform("any")]

    @property
    def _reads(self) -> bool:
        return any(profiles.texts is not None for profiles in self.profiles_.values())

    @property
    def _is_multilingual(self) -> bool:
        return len(self.profiles_) > 1

    def _condition(self) -> GaussianProcess:
        """Learn the weights of the kernels, and condition on the ratings."""
        everybody = _items({name: own.training for name, own in self.profiles_.items()})
        seen = Observations(observe({name: self.ratings_[name] for name in self.profiles_}))
        self.items_ = everybody.at(seen.keys)
        distances = cdist(self.items_.features, self.items_.features, "sqeuclidean")
        apart = distances[np.triu_indices(len(distances), 1)]
        self.bandwidth_ = max(float(np.median(apart)), SMALLEST_DIAGONAL)
        self.scales_ = np.ones(1)
        kernels = self._kernels(self.items_, self.items_)
        diagonals = np.einsum("kmm->k", kernels) / kernels.shape[1]
        self.scales_ = np.where(diagonals > SMALLEST_DIAGONAL, diagonals, 1.0)
        kernels /= self.scales_[:, None, None]
        # Where no texts are read, much of what a system is like is not seen.
        share = RESIDUAL if self._reads else 1 / (len(kernels) + 1)
        groups, adjusted = self._groups(self.items_), not self._reads
        process = fit_process(kernels, seen, groups, share, adjusted)
        self.levels_ = {}
        for name in self.borrowing_ & self.profiles_.keys():
            own = everybody.at([key for key in everybody.keys if key[0] == name])
            self.levels_[name] = float(self._predicted(process, own)[0].mean())
        return process

    def _predicted(self, process: GaussianProcess, items: _Items) -> tuple[Floats, Floats]:
        """Mean and standard error of each item as the process has them, two of shape (M,)."""
        own = np.einsum("kmm->km", self._kernels(items, items))
        return process.predict(self._kernels(items, self.items_), own, self._groups(items))

    def _items_of(self, X: pd.DataFrame) -> _Items | None:
        """Return the systems of a table as kernels see them; None where nothing can be rated."""
        table = self._told(with_features(X, self))
        profiles = {}
        for name, rows in table.groupby("language"):
            language, systems = str(name), sorted(rows["system"].unique())
            if language in self.profiles_:
                profiles[language] = self.profiles_[language].of(rows)
            elif language not in self.failures_ and len(systems) >= FEWEST_SYSTEMS:
                profiles[language] = self._seen_beside_each_other(rows, language, systems)
        return _items(profiles) if profiles else None

    def _seen_beside_each_other(
        self, rows: pd.DataFrame, language: str, systems: list[str]
    ) -> SystemProfiles:
        """Profiles in a language where nobody is rated: other languages tell what features say."""
        if not self._reads:
            rows = rows.drop(columns=ANSWER, errors="ignore")
        elif ANSWER not in rows:
            rows = rows.assign(**{ANSWER: ""})
        return learn_profiles(rows, language, systems, self.features_).training

    def _kernels(self, one: _Items, other: _Items) -> Floats:
        """Kernels of the items of one with those of the other, shape (K, M, N).

        Of features, linear and smooth, and of their means over languages; then of texts, and of
        their means. Without texts, systems are alike to themselves in other languages.
        """
        places = np.ix_(one.system, other.system)
        found = [
            one.features @ other.features.T,
            np.exp(-cdist(one.features, other.features, "sqeuclidean") / self.bandwidth_),
        ]
        if self._is_multilingual:
            found.append((one.mean_features @ other.mean_features.T)[places])
        if self._reads:
            same = np.equal.outer(one.languages, other.languages)
            found.append(one.texts @ other.texts.T * same)
        if self._is_multilingual and self._reads:
            mean_texts = np.zeros((len(one.mean_features), len(other.mean_features)))
            for name in sorted(one.texts_by_language.keys() & other.texts_by_language.keys()):
                mean_texts += one.texts_by_language[name] @ other.texts_by_language[name].T
            found.append(mean_texts[places])
        elif self._is_multilingual:
            found.append(np.equal.outer(one.names, other.names).astype(np.float64))
        return np.asarray(np.stack(found) / self.scales_[:, None, None])

    def _groups(self, items: _Items) -> Floats:
        """Which language each item is in, shape (N, L)."""
        return np.asarray(np.equal.outer(items.languages, list(self.profiles_)).astype(np.float64))


def _rated_systems(rows: pd.DataFrame, rated: TrainingRatings) -> list[str]:
    """Systems that have both answers and a rating."""
    answering = pd.Series(rated.means, list(rated.systems)).dropna()
    return [name for name in answering.index if name in set(rows["system"])]


def _some_questions(
    X: pd.DataFrame, ratings: Mapping[str, TrainingRatings], seed: int
) -> pd.DataFrame:
    """Keep 200 questions of a language at most, the judged ones first."""
    kept = []
    for language, rows in X.groupby("language", sort=True):
        questions = sorted(rows["query_id"].unique())
        if len(questions) > MOST_QUESTIONS:
            rated = ratings.get(str(language))
            judged = set() if rated is None else set(rated.questions)
            drawn = generator(seed, "questions learned from", str(language))
            order = drawn.permutation(len(questions))
            first = sorted(order, key=lambda place: questions[place] not in judged)
            questions = [questions[place] for place in first[:MOST_QUESTIONS]]
        kept.append(rows[rows["query_id"].isin(set(questions))])
    return pd.concat(kept, ignore_index=True) if kept else X


def _borrowing_languages(
    answers: Mapping[str, pd.DataFrame], rated: Mapping[str, Sequence[str]]
) -> frozenset[str]:
    """Find the languages with so few rated systems that all are seen beside each other.

    As in a language without any, features and texts are those beside all systems that answered;
    the few ratings are data like those of other languages. Elsewhere there must be more of them.
    """
    most = max((len(systems) for systems in rated.values()), default=0)
    if most < FEWEST_SYSTEMS:
        return frozenset()
    enough = ENOUGH_SYSTEMS if most >= ENOUGH_SYSTEMS else FEWEST_SYSTEMS
    return frozenset(
        language
        for language, systems in rated.items()
        if len(systems) < enough and answers[language]["system"].nunique() >= FEWEST_SYSTEMS
    )


def _with_unjudged(observed: Observation, systems: Sequence[str]) -> Observation:
    """Put systems that have no verdict behind those that have."""
    others = [name for name in systems if name not in observed.systems]
    return replace(
        observed,
        systems=observed.systems + tuple(others),
        ratings=np.concatenate([observed.ratings, np.zeros(len(others))]),
        noise=np.asarray(block_diag(observed.noise, UNKNOWN * np.eye(len(others)))),
    )


def _about_all(found: RatingPosterior, judged: int) -> RatingPosterior:
    """Rate about the mean of all systems, of which the first have verdicts.

    These were rated about their own mean: where it lies is not known, and nobody's verdicts tell.
    """
    size = len(found.systems)
    middle = np.eye(size) - 1 / size
    own = np.where(np.arange(size) < judged, found.shares - 1 / max(judged, 1), 0.0)
    return RatingPosterior(
        found.systems,
        middle @ found.ratings,
        middle @ found.covariance @ middle,
        np.clip(own, 0.0, 1.0),
    )
