"""The default surrogate: a system's rating by what verdicts say of answers like its own.

A blend of two predictions, both linear in the verdicts and in closed form: of its answers' scores
on their questions (``question_scores``), and of its rating as a whole (``system_ridge``). Each is
divided by its size for systems left out; the first counts twice. What a unit of the blend is worth
in logits is learned from the systems left out, and so is the error.

Derivation: docs/guides/surrogate.md, sections 1 to 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from arena.data.schema import QUESTION_KEY
from arena.data.seeds import generator
from arena.data.types import Floats
from arena.statistics.significance import NORMAL_90
from features.engine.columns import feature_columns
from surrogate.learning.estimation.field import ANSWER, CONSENSUS, Field, FieldView
from surrogate.learning.estimation.question_scores import QuestionScores, Scored
from surrogate.learning.estimation.system_looks import Looks, Scale
from surrogate.learning.estimation.system_ridge import SystemRidge
from surrogate.learning.surrogate import (
    EFFECT_COLUMNS,
    EXPLANATION_COLUMNS,
    FEWEST_SYSTEMS,
    KEYS,
    NO_VALUE,
    Arrays,
    Asked,
    Covariances,
    Surrogate,
    too_few,
    with_features,
)
from surrogate.learning.training import (
    DEFAULT_ROWS,
    KnownRatings,
    RowKind,
    TrainingRatings,
    finite_means,
    training_ratings,
)

MOST_QUESTIONS = 200
MOST_SYSTEMS = 300
"""Maximum of a language to learn from, so that a board stays small and time is bounded."""
SMALLEST = 1e-9
"""Below it, a number is 0 but for rounding."""


@dataclass(eq=False)
class AnswersSurrogate(Surrogate):
    """Learns from verdicts on answers, all languages together.

    It learns from features, and from the answers where the table has a column ``answer``; where
    only ratings are known, from these. Every system that answered, judged or not, is in the field
    that answers are compared with. ``seed`` draws the rows to learn from where a language has more
    than 200 questions or 300 systems, judged ones first; ``rows`` is not used.

    Attributes:
        fields_: Language to the systems that answers are compared with.
        scores_: Prediction of answers' scores; None where only ratings are known.
        ridge_: Prediction of systems' ratings.
        weights_: Weight of both predictions in the blend, shape (2,).
        slope_: Logits per unit of the blend.
        error_: Standard error of a rating of usual variance (logits).
        usual_variance_: Mean predictive variance of the systems left out.
        levels_: Language to the mean rating of its systems (logits).
    """

    pooled: ClassVar[bool] = True
    reads_texts: ClassVar[bool] = True

    name: str = "answers"
    rows: RowKind = DEFAULT_ROWS
    seed: int = 0

    @property
    def signature(self) -> str:
        """The settings as part of a board's signature."""
        return f"surrogate:{self.name}"

    def restore(self, X: pd.DataFrame, ratings: KnownRatings, arrays: Mapping[str, Arrays]) -> Self:
        """Learn from all languages, with vectors in place of texts; see ``Surrogate.restore``."""
        names = [name for name in feature_columns(X) if name not in (ANSWER, CONSENSUS)]
        self.features_ = tuple(X[names].select_dtypes("number").columns)
        self.ratings_ = {}
        self.failures_ = {}
        self.fields_ = {}
        training_rows = []
        for language, rated in sorted(training_ratings(ratings).items()):
            rows = self._drawn_rows(X[X["language"] == language], rated)
            answering = set(rows["system"])
            means = pd.Series(rated.means, list(rated.systems)).dropna()
            systems = [name for name in means.index if name in answering]
            if systems:
                self.ratings_[language] = rated.take(systems)
                training_rows.append(rows)
            if systems and len(answering) >= FEWEST_SYSTEMS:
                vectors = arrays.get(language)
                self.fields_[language] = Field.of(rows, language, self.features_, vectors)
            else:
                reason = too_few(len(systems), len(self.features_))
                self.failures_[language] = f"{language}: {reason}"
        columns = [*KEYS, *self.features_]
        self.X_ = pd.concat([X.iloc[:0], *training_rows])[columns].reset_index(drop=True)
        self._learn()
        return self

    def _drawn_rows(self, rows: pd.DataFrame, rated: TrainingRatings) -> pd.DataFrame:
        """Keep one answer per system and question, of at most so many of both.

        Judged systems and questions come first; the rest is drawn at random.
        """
        rows = rows.drop_duplicates(["system", "query_id"])
        for column, judged, most in (
            ("query_id", rated.questions, MOST_QUESTIONS),
            ("system", rated.systems, MOST_SYSTEMS),
        ):
            names = sorted(rows[column].unique())
            if len(names) <= most:
                continue
            random = generator(self.seed, f"{column} learned from", rows["language"].iloc[0])
            shuffled = [names[index] for index in random.permutation(len(names))]
            first = set(judged)
            chosen = sorted(shuffled, key=lambda name: name not in first)[:most]
            rows = rows[rows[column].isin(set(chosen))]
        return rows

    def _learn(self) -> None:
        """Fit both parts, and learn from the systems left out what their blend is worth."""
        ratings = {language: self._field_ratings(language) for language in self.fields_}
        n_rated = {language: int(np.isfinite(own).sum()) for language, own in ratings.items()}
        learned = [name for name in sorted(n_rated) if n_rated[name] >= FEWEST_SYSTEMS]
        if not learned or not any(field.names for field in self.fields_.values()):
            for language, count in n_rated.items():
                reason = too_few(count, len(self.features_))
                self.failures_[language] = f"{language}: {reason}"
            self.fields_ = {}
            learned = []
        self.borrowing_ = frozenset(self.fields_.keys() - set(learned))
        self.levels_ = {language: float(np.nanmean(ratings[language])) for language in learned}
        if not learned:
            return
        views = {language: field.own for language, field in self.fields_.items()}
        scored = {}
        for language in learned:
            tensor = self.fields_[language].tensor
            scores = Scored.of(views[language], tensor.questions, self.ratings_[language])
            if scores.judged.any():
                scored[language] = scores
        self.scores_ = QuestionScores.fit(scored) if scored else None
        learned_ratings = {language: ratings[language] for language in learned}
        self.ridge_ = SystemRidge.fit(views, learned_ratings, is_alone=self.scores_ is None)
        self._blend(learned_ratings)
        if self.borrowing_:
            # Nobody's verdicts tell their level: the mean of a language's systems is taken as 0.
            predictions = self._predicted(views, self._scales(self.fields_))["rating"]
            means = predictions.groupby("language").mean()
            for language in self.borrowing_:
                self.levels_[language] = -float(means[language])

    def _field_ratings(self, language: str) -> Floats:
        """Rating of each system of a field, shape (N,); NaN of those without."""
        rated = self.ratings_[language]
        means = pd.Series(rated.means, list(rated.systems))
        systems = list(self.fields_[language].tensor.systems)
        return np.asarray(means.reindex(systems).to_numpy(np.float64))

    def _blend(self, rated: Mapping[str, Floats]) -> None:
        """Learn the units of both parts, the slope and the error, from systems left out."""
        table = pd.concat(
            [self._left_out_predictions(language, ratings) for language, ratings in rated.items()],
            ignore_index=True,
        )
        target = table["target"].to_numpy(np.float64)
        parts = table[["scores", "ridge"]].to_numpy(np.float64)
        self.weights_ = _blend_weights(parts, target)
        predictions = parts @ self.weights_
        self.slope_ = _calibration_slope(predictions, target)
        residuals = target - self.slope_ * predictions
        degrees_of_freedom = max(len(residuals) - 1, 1)
        # The error is estimated from few systems, so a normal interval would be too narrow:
        # Student's quantile replaces the normal one of a 90% interval.
        student_factor = stdtrit(degrees_of_freedom, 0.95) / NORMAL_90
        residual_variance = float(residuals @ residuals) / degrees_of_freedom
        self.error_ = float(np.sqrt(residual_variance) * student_factor)
        self.usual_variance_ = float(table["variance"].mean())

    def _left_out_predictions(self, language: str, ratings: Floats) -> pd.DataFrame:
        """Return what both parts predict of each rated system when it is left out.

        Args:
            language: Of the field.
            ratings: Rating of each system of the field, shape (N,); NaN of those without.

        Returns:
            Columns ``language, system, scores, ridge, variance, target``, one row per rated system.
        """
        is_rated = np.isfinite(ratings)
        systems = np.array(self.fields_[language].tensor.systems, dtype=object)[is_rated]
        scores = np.zeros(len(ratings))
        if self.scores_ is not None and language in self.scores_.left_out:
            scores = np.nan_to_num(self.scores_.left_out[language])
        keys = [(language, system) for system in systems]
        centered = ratings[is_rated] - ratings[is_rated].mean()
        # The mean holds the system itself; what is predicted is its distance from the others' mean.
        target = centered / (1 - 1 / len(systems))
        return pd.DataFrame(
            {
                "language": language,
                "system": systems,
                "scores": scores[is_rated],
                "ridge": [self.ridge_.left_out[key] for key in keys],
                "variance": [self.ridge_.left_out_variances[key] for key in keys],
                "target": target,
            }
        )

    def _scales(self, fields: Mapping[str, Field]) -> dict[str, Scale]:
        """Return how fields are standardized: by the rated systems, or by all where none are."""
        scales = {}
        for language, field in fields.items():
            scale = self.ridge_.scales.get(language)
            if scale is None:
                everybody = np.ones(len(field.tensor.systems), dtype=bool)
                scale = Scale.of(field.own, everybody)
            scales[language] = scale
        return scales

    def _predicted(
        self, views: Mapping[str, FieldView], scales: Mapping[str, Scale]
    ) -> pd.DataFrame:
        """Rate systems relative to the level of their language, by language and system.

        Returns:
            Columns ``rating`` and ``standard_error``.
        """
        by_ridge = self.ridge_.predict(views, scales)
        parts = np.zeros((len(by_ridge), 2))
        parts[:, 1] = by_ridge["rating"]
        if self.scores_ is not None:
            scores = [self.scores_.predict(language, view) for language, view in views.items()]
            parts[:, 0] = np.nan_to_num(np.concatenate(scores))
        # A system that is unlike the others is predicted less surely than usual.
        relative_variance = by_ridge["variance"] / self.usual_variance_
        predictions = pd.DataFrame(
            {
                "language": by_ridge["language"],
                "system": by_ridge["system"],
                "rating": self.slope_ * (parts @ self.weights_),
                "standard_error": self.error_ * np.sqrt(relative_variance),
            }
        )
        return predictions.set_index(["language", "system"])

    def covariances(self, X: pd.DataFrame | None = None) -> Covariances | None:
        """Return how alike the field's systems are, and those of a table; see ``Surrogate``."""
        if not self.fields_:
            return None
        scales = self._scales(self.fields_)
        views = {language: field.own for language, field in self.fields_.items()}
        looks = Looks.of(views, scales)
        if X is not None:
            rows = self._usable_rows(with_features(X, self))
            rows = rows[rows["language"].isin(list(self.fields_))]
            keys = pd.MultiIndex.from_frame(rows[["language", "system"]])
            for new_views in _views_in_batches(self.fields_, rows[~keys.isin(looks.keys)]):
                looks = looks.joined(Looks.of(new_views, scales))
        return Covariances(tuple(looks.keys), looks.covariances())

    @property
    def left_out_(self) -> dict[str, dict[str, str]]:
        """Language to feature to why it could not be used."""
        reasons: dict[str, dict[str, str]] = {}
        for language, field in self.fields_.items():
            n_values = np.isfinite(field.tensor.values).sum(axis=(0, 1))
            differences = np.abs(field.own.ranks).sum(axis=(0, 1))
            reasons[language] = {}
            for index, feature in enumerate(self.features_):
                if differences[index]:
                    continue
                reason = "the same for all training systems" if n_values[index] else NO_VALUE
                reasons[language][feature] = reason
        return reasons

    def predict(
        self,
        X: pd.DataFrame,
        questions: Asked | None = None,  # noqa: ARG002 - no missing answer counts
    ) -> pd.DataFrame:
        """Rate every system by its answers, with a standard error; see ``Surrogate.predict``."""
        n_answers = X.groupby(["language", "system"]).size()
        rows = self._usable_rows(with_features(X, self)).drop_duplicates(KEYS)
        if self._reads:
            rows = rows.assign(**{ANSWER: rows.get(ANSWER, "")})
        else:
            rows = rows.drop(columns=ANSWER, errors="ignore")
        fields = dict(self.fields_)
        if fields:
            fields.update(self._new_fields(rows))
        scales = self._scales(fields)
        parts = [self._predicted(views, scales) for views in _views_in_batches(fields, rows)]
        nothing = pd.DataFrame(columns=["rating", "standard_error"], dtype=np.float64)
        predicted = pd.concat(parts) if parts else nothing
        levels = dict(self.levels_)
        for language in fields.keys() - levels.keys():
            levels[language] = -float(predicted.loc[language, "rating"].mean())
        rated = predicted.reindex(n_answers.index).reset_index()
        rated["rating"] += rated["language"].map(levels)
        rated["answers"] = n_answers.to_numpy()
        columns = ["language", "system", "rating", "answers", "standard_error"]
        return rated[columns].sort_values(["language", "system"], ignore_index=True)

    def _new_fields(self, rows: pd.DataFrame) -> dict[str, Field]:
        """Return fields of languages that were not learned from, of the systems in a table."""
        fields = {}
        for name, part in rows.groupby("language"):
            language = str(name)
            if language in self.fields_ or language in self.failures_:
                continue
            if part["system"].nunique() >= FEWEST_SYSTEMS:
                fields[language] = Field.of(part, language, self.features_)
        return fields

    def used_rows(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Leave out answers to questions that it has not learned from, in languages that it has."""
        learned = pd.MultiIndex.from_frame(self.X_[QUESTION_KEY])
        is_learned = pd.MultiIndex.from_frame(rows[QUESTION_KEY]).isin(learned)
        is_new_language = ~rows["language"].isin(self.X_["language"])
        return rows[is_learned | is_new_language]

    def _usable_rows(self, X: pd.DataFrame) -> pd.DataFrame:
        """Leave out systems without any value in a language: no mean stands in for them."""
        if self._reads and ANSWER in X:
            return X
        has_value = X[list(self.features_)].notna().any(axis=1)
        return X[has_value.groupby([X["language"], X["system"]]).transform("any")]

    @property
    def _reads(self) -> bool:
        return any(field.counts is not None for field in self.fields_.values())

    def importances(self) -> pd.DataFrame:
        """Return the spread of each feature's contributions; see ``Surrogate.importances``."""
        left_out = self.left_out_
        parts = []
        for language, field in self.fields_.items():
            contributions = self._contributions(language, field.own)[:, : len(self.features_)]
            is_rated = np.isfinite(self._field_ratings(language))
            spreads = contributions[is_rated].std(axis=0)
            is_unused = [name in left_out[language] for name in self.features_]
            spreads = np.where(is_unused, np.nan, spreads)
            total = np.nansum(spreads) or 1.0
            part = pd.DataFrame({"language": language, "feature": self.features_})
            parts.append(part.assign(importance=spreads / total))
        if not parts:
            return pd.DataFrame(columns=["language", "feature", "importance"])
        return pd.concat(parts, ignore_index=True)

    def explain(self, X: pd.DataFrame) -> pd.DataFrame:
        """Say what moves each rating; see ``Surrogate.explain``."""
        parts = [pd.DataFrame(columns=EXPLANATION_COLUMNS)]
        for name, rows in self._usable_rows(with_features(X, self)).groupby("language"):
            language = str(name)
            if language in self.fields_:
                parts.append(self._explained(language, self.fields_[language].seen(rows)))
        return pd.concat(parts[1:] or parts, ignore_index=True)

    def _explained(self, language: str, view: FieldView) -> pd.DataFrame:
        """Explain the ratings of one language."""
        n_shown = 3
        names = self.fields_[language].names
        contributions = self._contributions(language, view)
        rows = []
        for index, system in enumerate(view.systems):
            moved_by = []
            for feature in np.argsort(-np.abs(contributions[index]), kind="stable")[:n_shown]:
                added = round(float(contributions[index, feature]), 2)
                if added:
                    moved_by.append((names[feature], added))
            like_winners, like_losers = self._telling_questions(language, view, index)
            rows.append((language, system, moved_by, like_winners, like_losers))
        return pd.DataFrame(rows, columns=EXPLANATION_COLUMNS)

    def feature_effects(self, X: pd.DataFrame) -> pd.DataFrame:
        """Say what each feature adds to each rating; see ``Surrogate.feature_effects``."""
        parts = [pd.DataFrame(columns=EFFECT_COLUMNS)]
        for name, rows in self._usable_rows(with_features(X, self)).groupby("language"):
            language = str(name)
            if language not in self.fields_:
                continue
            field = self.fields_[language]
            view = field.seen(rows)
            rated_means = field.own.means[np.isfinite(self._field_ratings(language))]
            usual = finite_means(rated_means)
            counts = np.isfinite(rated_means).sum(axis=0)
            squares = np.nansum((rated_means - usual) ** 2, axis=0)
            deviations = np.sqrt(squares / np.maximum(counts - 1, 1))
            n_systems = len(view.systems)
            columns = {
                "language": language,
                "system": np.repeat(view.systems, len(field.names)),
                "feature": np.tile(field.names, n_systems),
                "added": self._contributions(language, view).ravel(),
                "value": view.means.ravel(),
                "usual": np.tile(usual, n_systems),
                "deviation": np.tile(deviations, n_systems),
                "count": np.tile(counts, n_systems),
            }
            parts.append(pd.DataFrame(columns))
        return pd.concat(parts[1:] or parts, ignore_index=True)

    def _telling_questions(
        self, language: str, view: FieldView, index: int
    ) -> tuple[list[str], list[str]]:
        """List the questions on which a system's answer is like a winning, or a losing, one.

        The judged answer with the largest cosine counts, by its score less the question's mean,
        times the cosine; the most telling question comes first.
        """
        like_winners: list[str] = []
        like_losers: list[str] = []
        scored = None if self.scores_ is None else self.scores_.languages.get(language)
        if scored is None or not self._reads:
            return like_winners, like_losers
        cosines = np.where(scored.judged, view.cosines[:, index], 0.0)
        nearest = cosines.argmax(axis=1)
        n_questions = len(nearest)
        advantages = scored.scores[np.arange(n_questions), nearest] - scored.means
        weights = advantages * np.maximum(cosines.max(axis=1), 0.0)
        questions = self.fields_[language].tensor.questions
        for question in np.argsort(-np.abs(weights), kind="stable"):
            if weights[question] > 0:
                like_winners.append(questions[question])
            elif weights[question] < 0:
                like_losers.append(questions[question])
        return like_winners, like_losers

    def _contributions(self, language: str, view: FieldView) -> Floats:
        """Return the logits that each feature adds to the rating of each system, shape (M, F)."""
        contributions = np.zeros(view.means.shape)
        scale = self.ridge_.scales.get(language)
        if scale is not None:
            n_features = len(self.ridge_.slopes)
            features = scale.features(view)[:, :n_features]
            if self.ridge_.is_alone:
                features = features * scale.reliability
            contributions[:, :n_features] += self.weights_[1] * features * self.ridge_.slopes
        if self.scores_ is not None:
            n_answers = np.maximum(view.answered.sum(axis=1), 1)
            mean_ranks = view.ranks.sum(axis=1) / n_answers[:, None]
            contributions += self.weights_[0] * (mean_ranks * self.scores_.slopes)
        return np.asarray(self.slope_ * contributions)

    def arrays(self) -> dict[str, Arrays]:
        """Return the vectors of the field's answers, in place of the answers."""
        vectors = {language: field.arrays() for language, field in self.fields_.items()}
        return {language: arrays for language, arrays in vectors.items() if arrays}


def _blend_weights(parts: Floats, target: Floats) -> Floats:
    """Return the weight of both parts in the blend, shape (2,).

    Each part is divided by the root mean square of its left-out predictions; scores count twice
    (docs/guides/surrogate.md, section 3).

    Args:
        parts: Left-out predictions by scores and by the ridge, shape (N, 2).
        target: Ratings less the others' mean, shape (N,).
    """
    scores_share = 2 / 3
    units = np.sqrt(np.mean(parts**2, axis=0))
    # A part whose left-out predictions hardly vary says next to nothing, and must not be blown up
    # to the size of the other part: its unit is at least 2% of the spread of ratings.
    smallest = max(0.02 * float(np.sqrt(np.mean(target**2))), SMALLEST)
    shares = np.where(units > SMALLEST, [scores_share, 1 - scores_share], 0.0)
    total = max(float(shares.sum()), SMALLEST)
    return np.asarray(shares / total / np.maximum(units, smallest))


def _calibration_slope(predictions: Floats, target: Floats) -> float:
    """Return the logits that a unit of the blend is worth: correlation times ratio of spreads.

    Args:
        predictions: Left-out predictions by the blend, shape (N,).
        target: Ratings less the others' mean, shape (N,).
    """
    # A floor, so that the order of predictions survives where left-out systems show no correlation.
    smallest_correlation = 0.1
    # The belief that ratings spread by one logit counts for this number of systems.
    prior_systems = 1
    n_systems = len(target)
    target_square = float(target @ target)
    prediction_square = max(float(predictions @ predictions), SMALLEST)
    norms = np.sqrt(prediction_square * max(target_square, SMALLEST))
    correlation = max(float(predictions @ target) / norms, smallest_correlation)
    # The two spreads are averaged geometrically. An arithmetic mean would let one logit swamp the
    # ratings of an arena whose systems are close, and place most new systems above all judged ones.
    exponent = n_systems / (n_systems + prior_systems)
    variance = max(target_square / n_systems, SMALLEST) ** exponent
    spread = np.sqrt(variance / (prediction_square / n_systems))
    return float(correlation * spread)


def _views_in_batches(
    fields: Mapping[str, Field], rows: pd.DataFrame
) -> Iterator[dict[str, FieldView]]:
    """Compare the systems of a table with the fields, some at a time, which bounds memory."""
    batch_size = 100
    systems: Sequence[str] = rows["system"].unique()
    for start in range(0, len(systems), batch_size):
        batch = rows[rows["system"].isin(systems[start : start + batch_size])]
        views = {}
        for name, part in batch.groupby("language"):
            language = str(name)
            if language not in fields:
                continue
            view = fields[language].seen(part)
            if view.systems:
                views[language] = view
        if views:
            yield views
