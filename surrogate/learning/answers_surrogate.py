"""The default surrogate: a system's rating by what verdicts say of answers like its own.

It blends predictions by answers' scores (``question_scores``) and by whole systems
(``system_ridge``). Formulas: docs/reference/surrogate.md, sections 1 to 3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
import pandas as pd

from arena.data.types import Floats
from features.engine.extraction import FEATURE_KEY, feature_columns
from surrogate.learning.copied_wording import beside_originals, copied_shares, uncopied_part
from surrogate.learning.peers import (
    ANSWER,
    CONSENSUS,
    PeerAnswers,
    PeerView,
    system_batches,
    views_of,
)
from surrogate.learning.question_scores import (
    QuestionScores,
    Scored,
    explained,
    preference_slopes,
    shipped_weights,
)
from surrogate.learning.surrogate import (
    BLEND,
    EXPLANATION_COLUMNS,
    FEWEST_SYSTEMS,
    IMPORTANCE_COLUMNS,
    OBSERVED,
    Arrays,
    Asked,
    Covariances,
    Surrogate,
    joined,
    too_few,
    with_features,
)
from surrogate.learning.system_ridge import Blend, SystemRidge
from surrogate.learning.system_vectors import Scale, SystemVectors
from surrogate.learning.training_data import (
    DEFAULT_ROWS,
    KnownRatings,
    RowKind,
    arranged,
    drawn_rows,
    rating_keys,
    training_ratings,
    unread_questions,
    without_repeats,
)


@dataclass(eq=False)
class AnswersSurrogate(Surrogate):
    """Learns from verdicts on answers, all languages together, by features and texts (``answer``).

    ``seed`` draws training rows of over 200 questions or 300 systems; ``rows`` is not used;
    ``preferences`` of other arenas' judges weigh features.

    Attributes:
        peers_: Language to all systems that answered.
        scores_: Prediction of answers' scores; None where only ratings are known.
        levels_: Language to the mean rating of its systems (logits).
        observed_: Language to the observed ratings of its systems (logits, centered on 0).
    """

    pooled: ClassVar[bool] = True
    has_errors: ClassVar[bool] = True
    reads_texts: ClassVar[bool] = True

    name: str = "default"
    rows: RowKind = DEFAULT_ROWS
    seed: int = 0
    preferences: Mapping[str, float] = field(default_factory=shipped_weights)

    @property
    def signature(self) -> str:
        """Settings as part of a board's signature."""
        return f"surrogate:{self.name}"

    def fit_with(
        self, X: pd.DataFrame, ratings: KnownRatings, arrays: Mapping[str, Arrays]
    ) -> Self:
        """Learn from all languages, with vectors for texts."""
        names = [name for name in feature_columns(X) if name not in (ANSWER, CONSENSUS)]
        kinds = X.dtypes
        self.features_ = tuple(name for name in names if kinds[name].kind in "iuf")
        self.ratings_ = {}
        self.failures_ = {}
        self.peers_ = {}
        training_rows = []
        X = without_repeats(X)
        indices = X.groupby("language").indices
        for language, rated in sorted(training_ratings(ratings).items()):
            rows = drawn_rows(X.take(indices.get(language, [])), rated, self.seed)
            answering = set(rows["system"].unique())
            known = np.compress(~np.isnan(rated.means), rated.systems)
            systems = [name for name in known.tolist() if name in answering]
            if systems:
                self.ratings_[language] = rated.take(systems)
                training_rows.append(rows)
            if systems and len(answering) >= FEWEST_SYSTEMS:
                vectors = arrays.get(language)
                self.peers_[language] = PeerAnswers.of(rows, language, self.features_, vectors)
            else:
                reason = too_few(len(systems), len(self.features_))
                self.failures_[language] = f"{language}: {reason}"
        columns = [*FEATURE_KEY, *self.features_]
        learned = pd.concat(training_rows or [X.iloc[:0]], ignore_index=True)
        self.X_ = learned.reindex(columns=columns)
        self._learn(arrays)
        return self

    def unread_questions(self, X: pd.DataFrame, judged: Collection[str]) -> set[str]:
        """Return the questions of one language that are not drawn."""
        return unread_questions(X, judged, self.seed)

    def _learn(self, arrays: Mapping[str, Arrays]) -> None:
        ratings = self._ratings_learned_from()
        # The other languages are rated by what is learned in these.
        self.borrowing_ = frozenset(self.peers_.keys() - ratings.keys())
        self.levels_ = {language: float(np.nanmean(values)) for language, values in ratings.items()}
        if not ratings:
            self._fail_everywhere()
            return
        self.scores_ = self._fitted_scores(list(ratings))
        views = self._self_views()
        self.ridge_ = SystemRidge.fit(views, ratings, is_alone=self.scores_ is None)
        if BLEND in arrays:
            self.observed_ = {language: arrays[OBSERVED][language] for language in ratings}
            self.blend_ = Blend(*arrays[BLEND]["numbers"].tolist())
        else:
            # Ranking new systems loads a fitted surrogate, which needs none of this.
            from surrogate.learning.observations import observe, rating_reliability

            observations = observe({language: self.ratings_[language] for language in ratings})
            self.observed_ = {name: known.ratings for name, known in observations.items()}
            self.blend_ = self._fitted_blend(ratings, rating_reliability(observations))
        if self.borrowing_:
            # Nobody's verdicts tell their level: the mean of a language's systems is taken as 0.
            predictions = self._predicted(views.items(), self._scales(self.peers_))["rating"]
            means = predictions.groupby("language").mean()
            for language in self.borrowing_:
                self.levels_[language] = -float(means[language])

    def _self_views(self) -> dict[str, PeerView]:
        """Compare the peers of each language with each other."""
        return {language: peers.self_view for language, peers in self.peers_.items()}

    def _ratings_learned_from(self) -> dict[str, Floats]:
        if not any(peers.names for peers in self.peers_.values()):
            return {}
        ratings = {}
        for language in self.peers_:
            if len(self.ratings_[language].systems) >= FEWEST_SYSTEMS:
                ratings[language] = self._field_ratings(language)
        return ratings

    def _fail_everywhere(self) -> None:
        for language in self.peers_:
            reason = too_few(len(self.ratings_[language].systems), len(self.features_))
            self.failures_[language] = f"{language}: {reason}"
        self.peers_ = {}
        self.borrowing_ = frozenset()

    def _fitted_scores(self, languages: Sequence[str]) -> QuestionScores | None:
        scored = {}
        for language in languages:
            peers = self.peers_[language]
            scores = Scored.of(peers.self_view, peers.tensor.questions, self.ratings_[language])
            if scores.judged.any():
                scored[language] = scores
        return QuestionScores.fit(scored, self._preferences()) if scored else None

    def _preferences(self) -> Floats:
        peers_by_language = list(self.peers_.values())
        has_values = np.zeros(len(peers_by_language[0].names), dtype=bool)
        for peers in peers_by_language:
            has_values |= np.isfinite(peers.self_view.values).any(axis=(0, 1))
        return preference_slopes(self.preferences, peers_by_language[0].names, has_values)

    def _field_ratings(self, language: str) -> Floats:
        rated = self.ratings_[language]
        return arranged(rated.means, rated.systems, self.peers_[language].tensor.systems)

    def _observed_ratings(self, language: str) -> Floats:
        systems = self.peers_[language].tensor.systems
        return arranged(self.observed_[language], self.ratings_[language].systems, systems)

    def _fitted_blend(self, ratings: Mapping[str, Floats], reliability: float) -> Blend:
        """Learn it from rated systems when left out."""
        scores = []
        targets = []
        for language, values in ratings.items():
            is_rated = np.isfinite(values)
            predicted = np.zeros(len(values))
            if self.scores_ is not None and language in self.scores_.left_out:
                predicted = np.nan_to_num(self.scores_.left_out[language])
            scores.append(predicted[is_rated])
            centered = values[is_rated] - values[is_rated].mean()
            # The mean holds the system itself; its distance from the others' mean is predicted.
            targets.append(centered / (1 - 1 / len(centered)))
        ridge = self.ridge_.left_out
        parts = np.column_stack([np.concatenate(scores), ridge.ratings])
        return Blend.fit(parts, np.concatenate(targets), ridge.variances, reliability)

    def _scales(self, peers_by_language: Mapping[str, PeerAnswers]) -> dict[str, Scale]:
        scales = {}
        for language, peers in peers_by_language.items():
            scale = self.ridge_.scales.get(language)
            if scale is None:
                everybody = np.ones(len(peers.tensor.systems), dtype=bool)
                scale = Scale.of(peers.self_view, everybody)
            scales[language] = scale
        return scales

    def _predicted(
        self, compared: Iterable[tuple[str, PeerView]], scales: Mapping[str, Scale]
    ) -> pd.DataFrame:
        """Return ``rating``, relative to its language's level, and ``standard_error``."""
        views = {}
        shares = {}
        scores = []
        uncopied_views = {}
        for language, view in compared:
            views[language] = view
            copied = np.zeros((len(view.answered.T), *view.is_self.shape))
            if self._reads and language in self.ridge_.scales:
                is_rated = np.isfinite(self._field_ratings(language))
                copied = copied_shares(view, self.peers_[language].self_view, is_rated)
                shares[language] = copied
            if self.scores_ is not None:
                scores.append(self.scores_.predict(language, view, copied))
            uncopied_views[language] = uncopied_part(view, copied)
        if not views:
            columns = ["rating", "standard_error"]
            return pd.DataFrame(index=rating_keys({}), columns=columns, dtype=np.float64)
        by_ridge = self.ridge_.predict(uncopied_views, scales)
        parts = np.zeros((len(by_ridge.ratings), 2))
        parts[:, 1] = by_ridge.ratings
        if scores:
            parts[:, 0] = np.nan_to_num(np.concatenate(scores))
        ratings = self.blend_.ratings(parts)
        end = 0
        for language, view in views.items():
            start, end = end, end + len(view.systems)
            if language in shares:
                ratings[start:end] = beside_originals(
                    ratings[start:end],
                    view,
                    self.peers_[language].self_view,
                    rated=self.blend_.reliability * self._observed_ratings(language),
                    shares=shares[language],
                )
        errors = self.blend_.standard_errors(by_ridge.variances)
        return pd.DataFrame({"rating": ratings, "standard_error": errors}, by_ridge.keys)

    def covariances(self, X: pd.DataFrame | None = None) -> Covariances | None:
        """Return how alike systems are."""
        if not self.peers_:
            return None
        scales = self._scales(self.peers_)
        views = self._self_views()
        vectors = SystemVectors.of(views, scales)
        if X is not None:
            rows = self._usable_rows(with_features(X, self))
            rows = rows[rows["language"].isin(list(self.peers_))]
            keys = pd.MultiIndex.from_frame(rows[["language", "system"]])
            for batch in system_batches(rows[~keys.isin(vectors.keys)]):
                new_views = dict(views_of(self.peers_, batch))
                if new_views:
                    vectors = vectors.joined(SystemVectors.of(new_views, scales))
        return Covariances(vectors.keys, vectors.covariances())

    @property
    def left_out_(self) -> dict[str, dict[str, str]]:
        """Language to feature to why it could not be used."""
        return {
            language: peers.unused_features(self.features_)
            for language, peers in self.peers_.items()
        }

    def predict(
        self,
        X: pd.DataFrame,
        questions: Asked | None = None,  # noqa: ARG002 - no missing answer counts
    ) -> pd.DataFrame:
        """Rate every system by its answers, with a standard error."""
        n_answers = X.groupby(["language", "system"]).size()
        rows = without_repeats(self._usable_rows(with_features(X, self)))
        if not self._reads:
            rows = rows.drop(columns=ANSWER, errors="ignore")
        elif ANSWER not in rows:
            rows = rows.assign(**{ANSWER: ""})
        peers = dict(self.peers_)
        if peers:
            peers.update(self._new_peers(rows))
        scales = self._scales(peers)
        parts = [self._predicted(views_of(peers, batch), scales) for batch in system_batches(rows)]
        predicted = pd.concat(parts or [self._predicted([], scales)])
        levels = dict(self.levels_)
        for language in peers.keys() - levels.keys():
            levels[language] = -float(predicted.loc[language, "rating"].mean())
        languages = predicted.index.get_level_values("language")
        predicted["rating"] += [levels[language] for language in languages]
        rated = predicted.reindex(n_answers.index).reset_index()
        rated.insert(3, "answers", n_answers.to_numpy())
        return rated

    def _new_peers(self, rows: pd.DataFrame) -> dict[str, PeerAnswers]:
        peers_by_language = {}
        new_languages = set(rows["language"].unique()) - self.peers_.keys() - self.failures_.keys()
        for language in sorted(new_languages):
            part = rows[rows["language"] == language]
            if part["system"].nunique() >= FEWEST_SYSTEMS:
                peers_by_language[language] = PeerAnswers.of(part, language, self.features_)
        return peers_by_language

    def _usable_rows(self, X: pd.DataFrame) -> pd.DataFrame:
        """Leave out systems without any value in a language: no mean may replace them."""
        if self._reads and ANSWER in X:
            return X
        has_value = X[list(self.features_)].notna().any(axis=1)
        return X[has_value.groupby([X["language"], X["system"]]).transform("any")]

    @property
    def _reads(self) -> bool:
        return any(peers.hashes is not None for peers in self.peers_.values())

    def importances(self) -> pd.DataFrame:
        """Return the spread of each feature's contributions."""
        left_out = self.left_out_
        views = self._self_views()
        parts = []
        for language, contributions in self._contributions(views).items():
            is_rated = np.isfinite(self._field_ratings(language))
            spreads = contributions[is_rated, : len(self.features_)].std(axis=0)
            is_unused = [name in left_out[language] for name in self.features_]
            spreads = np.where(is_unused, np.nan, spreads)
            total = np.nansum(spreads) or 1.0
            part = pd.DataFrame({"language": language, "feature": self.features_})
            parts.append(part.assign(importance=spreads / total))
        return joined(parts, IMPORTANCE_COLUMNS)

    def explain(self, X: pd.DataFrame) -> pd.DataFrame:
        """Say what moves each rating."""
        views = dict(views_of(self.peers_, self._usable_rows(with_features(X, self))))
        parts = []
        for language, contributions in self._contributions(views).items():
            scored = None
            if self.scores_ is not None and self._reads:
                scored = self.scores_.languages.get(language)
            peers = self.peers_[language]
            parts.append(explained(peers, views[language], contributions, scored))
        return joined(parts, EXPLANATION_COLUMNS)

    def _contributions(self, views: Mapping[str, PeerView]) -> dict[str, Floats]:
        """Return the logits that each feature adds to the ratings, shape (M, F), by language."""
        if not views:
            return {}
        vectors = SystemVectors.of(views, self._scales(self.peers_))
        by_ridge = self.blend_.ridge_weight * self.ridge_.contributions(vectors)
        contributions = {}
        for language, view in views.items():
            added = np.zeros(view.means.shape)
            rows = by_ridge[vectors.languages == language]
            added[:, : rows.shape[1]] = rows
            if self.scores_ is not None:
                n_answers = np.maximum(view.answered.sum(axis=1), 1)
                mean_ranks = view.ranks.sum(axis=1) / n_answers[:, None]
                added += self.blend_.score_weight * (mean_ranks * self.scores_.slopes)
            contributions[language] = self.blend_.slope * added
        return contributions

    def arrays(self) -> dict[str, Arrays]:
        """Return the vectors of the peers' answers, the observed ratings and the blend."""
        arrays: dict[str, Arrays] = {}
        for language, peers in self.peers_.items():
            if peers.hashes is not None:
                arrays[language] = dict(vars(peers.hashes))
        if self.peers_:
            arrays[OBSERVED] = self.observed_
            arrays[BLEND] = {"numbers": np.array(self.blend_)}
        return arrays
