"""The default surrogate: a system's rating by what verdicts say of answers like its own.

A blend of two predictions, both linear in the verdicts and in closed form: of its answers' scores
on their questions (``question_scores``), and of its rating as a whole (``system_ridge``). Each is
in units of how far it lies from 0 for systems left out; the first counts twice. What a unit of the
blend is worth in logits is learned from the systems left out, and so is the error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from arena.data.seeds import generator
from arena.data.types import Floats
from arena.statistics.significance import NORMAL_90
from features.engine.columns import feature_columns
from surrogate.learning.estimation.field import ANSWER, CONSENSUS, Field, FieldView
from surrogate.learning.estimation.question_scores import QuestionScores, Scored
from surrogate.learning.estimation.system_looks import Looks, Scale
from surrogate.learning.estimation.system_ridge import SystemRidge
from surrogate.learning.surrogate import (
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
    training_ratings,
)

ANSWERS_SHARE = 2 / 3
"""Of the blend, that is the prediction by single answers."""
LEAST_AGREEMENT = 0.1
"""Correlation of ratings and blend that is taken to be there at least, so that ranks are told."""
SMALLEST_UNIT = 0.02
"""Of the spread of ratings: a part whose left-out predictions vary by less says next to nothing,
and must not be blown up to the size of the other part."""
PRIOR_SYSTEMS = 1
"""Number of systems that the belief counts for that ratings spread by one logit."""
MOST_QUESTIONS, MOST_SYSTEMS = 200, 300
"""Of a language that are learned from at most, so that a board stays small and time is bounded."""
AT_ONCE = 100
"""Systems that are looked at together, which bounds memory."""
SHOWN_FEATURES = 3
UPPER_90 = 0.95
SMALLEST = 1e-9
NO_DIFFERENCE = "the same for all training systems"


@dataclass(eq=False)
class AnswersSurrogate(Surrogate):
    """Learns from verdicts on answers, all languages together.

    It learns from features, and from the answers where the table has a column ``answer``; where
    only ratings are known, from these. Every system that answered is in the field beside which
    others are seen, judged or not. ``seed`` draws what is kept of more than 200 questions or 300
    systems of a language, the judged ones first; ``rows`` is not used.

    Attributes:
        fields_: Language to the systems beside which answers are seen.
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
        known = training_ratings(ratings)
        names = [name for name in feature_columns(X) if name not in (ANSWER, CONSENSUS)]
        self.features_ = tuple(X[names].select_dtypes("number").columns)
        self.ratings_, self.failures_, self.fields_ = {}, {}, {}
        kept = []
        for language, rated in sorted(known.items()):
            rows = self._some(X[X["language"] == language], rated)
            there = set(rows["system"])
            answering = pd.Series(rated.means, list(rated.systems)).dropna().index
            systems = [name for name in answering if name in there]
            if systems:
                self.ratings_[language] = rated.take(systems)
                kept.append(rows)
            if len(there) < FEWEST_SYSTEMS or not systems:
                reason = too_few(len(systems), len(self.features_))
                self.failures_[language] = f"{language}: {reason}"
                continue
            told = arrays.get(language)
            self.fields_[language] = Field.of(rows, language, self.features_, told)
        self.X_ = pd.concat([X.iloc[:0], *kept])[[*KEYS, *self.features_]].reset_index(drop=True)
        self._learn()
        return self

    def _some(self, rows: pd.DataFrame, rated: TrainingRatings) -> pd.DataFrame:
        """Keep one answer a system and question, and no more of both than are learned from."""
        rows = rows.drop_duplicates(["system", "query_id"])
        for column, first, most in (
            ("query_id", rated.questions, MOST_QUESTIONS),
            ("system", rated.systems, MOST_SYSTEMS),
        ):
            names = sorted(rows[column].unique())
            if len(names) > most:
                drawn = generator(self.seed, f"{column} learned from", rows["language"].iloc[0])
                order, judged = drawn.permutation(len(names)), set(first)
                chosen = sorted(order, key=lambda place: names[place] not in judged)[:most]
                rows = rows[rows[column].isin({names[place] for place in chosen})]
        return rows

    def _learn(self) -> None:
        """Fit both parts, and what the systems left out say of their blend."""
        rated = {name: self._rated(name) for name in self.fields_}
        known = {name: int(np.isfinite(own).sum()) for name, own in rated.items()}
        enough = {name for name, count in known.items() if count >= FEWEST_SYSTEMS}
        if not (enough and any(field.names for field in self.fields_.values())):
            for name, count in known.items():
                self.failures_[name] = f"{name}: {too_few(count, len(self.features_))}"
            self.fields_, enough = {}, set()
        self.borrowing_ = frozenset(self.fields_.keys() - enough)
        self.levels_ = {name: float(np.nanmean(rated[name])) for name in enough}
        if not self.fields_:
            return
        seen = {name: field.own for name, field in self.fields_.items()}
        told, scored = {name: rated[name] for name in sorted(enough)}, {}
        for name in told:
            questions = self.fields_[name].tensor.questions
            item = Scored.of(seen[name], questions, self.ratings_[name])
            if item.judged.any():
                scored[name] = item
        self.scores_ = QuestionScores.fit(scored) if scored else None
        self.ridge_ = SystemRidge.fit(seen, told, is_alone=self.scores_ is None)
        self._blend(told)
        if self.borrowing_:
            rates = self._predicted(seen, self._scales(self.fields_))["rating"]
            blended = rates.groupby("language").mean()
            self.levels_ |= (-blended[list(self.borrowing_)]).to_dict()

    def _rated(self, language: str) -> Floats:
        """Rating of each system of a field, shape (N,); NaN of those without."""
        rated = self.ratings_[language]
        own = pd.Series(rated.means, list(rated.systems))
        systems = list(self.fields_[language].tensor.systems)
        return np.asarray(own.reindex(systems).to_numpy(np.float64))

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
        # Student's quantile replaces the normal one.
        student_factor = stdtrit(degrees_of_freedom, UPPER_90) / NORMAL_90
        residual_variance = float(residuals @ residuals) / degrees_of_freedom
        self.error_ = float(np.sqrt(residual_variance) * student_factor)
        self.usual_variance_ = float(table["variance"].mean())

    def _left_out_predictions(self, language: str, ratings: Floats) -> pd.DataFrame:
        """Return what both parts predict of each rated system when it is left out.

        Args:
            language: Of the field.
            ratings: Rating of each system of the field, shape (N,); NaN of those without.

        Returns:
            Columns ``language, system, scores, ridge, variance, target``, a row a rated system.
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
        """How fields are standardized: by the rated systems, or by all where none are."""
        return {
            name: self.ridge_.scales.get(name)
            or Scale.of(field.own, np.ones(len(field.tensor.systems), dtype=bool))
            for name, field in fields.items()
        }

    def _predicted(
        self, seen: Mapping[str, FieldView], scales: Mapping[str, Scale]
    ) -> pd.DataFrame:
        """Rate systems, less the level of their language; by language and system."""
        rated = self.ridge_.predict(seen, scales)
        parts = np.zeros((len(rated), 2))
        parts[:, 1] = rated["rating"]
        if self.scores_ is not None:
            scores = [self.scores_.predict(name, item) for name, item in seen.items()]
            parts[:, 0] = np.nan_to_num(np.concatenate(scores))
        blend = self.slope_ * (parts @ self.weights_)
        errors = self.error_ * np.sqrt(rated.pop("variance") / self.usual_variance_)
        return rated.assign(rating=blend, standard_error=errors).set_index(["language", "system"])

    def covariances(self, X: pd.DataFrame | None = None) -> Covariances | None:
        """How alike the field's systems are, and those of a table; see ``Surrogate``."""
        if not self.fields_:
            return None
        seen = {name: field.own for name, field in self.fields_.items()}
        scales = self._scales(self.fields_)
        looks = Looks.of(seen, scales)
        if X is not None:
            told = self._told(with_features(X, self))
            told = told[told["language"].isin(list(self.fields_))]
            others = told[~pd.MultiIndex.from_frame(told[["language", "system"]]).isin(looks.keys)]
            for some in _beside(self.fields_, others):
                looks = looks.joined(Looks.of(some, scales))
        return Covariances(tuple(looks.keys), looks.covariances())

    @property
    def left_out_(self) -> dict[str, dict[str, str]]:
        """Language to feature to why it could not be used."""
        found = {}
        for language, field in self.fields_.items():
            values = np.isfinite(field.tensor.values).sum(axis=(0, 1))
            signs = np.abs(field.own.ranks).sum(axis=(0, 1))
            found[language] = {
                name: NO_DIFFERENCE if values[place] else NO_VALUE
                for place, name in enumerate(self.features_)
                if not signs[place]
            }
        return found

    def predict(
        self,
        X: pd.DataFrame,
        questions: Asked | None = None,  # noqa: ARG002 - no missing answer counts
    ) -> pd.DataFrame:
        """Rate every system by its answers, with a standard error; see ``Surrogate.predict``."""
        counts = X.groupby(["language", "system"]).size()
        table = self._told(with_features(X, self)).drop_duplicates(KEYS)
        texts = {ANSWER: table.get(ANSWER, "")} if self._reads else {}
        table = table.drop(columns=ANSWER, errors="ignore").assign(**texts)
        fields, levels = dict(self.fields_), dict(self.levels_)
        for name, rows in table.groupby("language") if self.fields_ else ():
            is_known = name in fields or name in self.failures_
            if not is_known and rows["system"].nunique() >= FEWEST_SYSTEMS:
                fields[name] = Field.of(rows, str(name), self.features_)
        found = [pd.DataFrame(columns=["rating", "standard_error"], dtype=np.float64)]
        scales = self._scales(fields)
        found += [self._predicted(seen, scales) for seen in _beside(fields, table)]
        rated = pd.concat(found[1:] or found)
        for name in fields.keys() - levels.keys():
            levels[name] = -float(rated.loc[name, "rating"].mean())
        rated = rated.reindex(counts.index).reset_index()
        rated["rating"] += rated["language"].map(levels)
        rated["answers"] = counts.to_numpy()
        columns = ["language", "system", "rating", "answers", "standard_error"]
        return rated[columns].sort_values(["language", "system"], ignore_index=True)

    def _told(self, X: pd.DataFrame) -> pd.DataFrame:
        """Leave out systems of which nothing is known in a language: no mean stands for these."""
        if self._reads and ANSWER in X:
            return X
        has_value = X[list(self.features_)].notna().any(axis=1)
        return X[has_value.groupby([X["language"], X["system"]]).transform("any")]

    @property
    def _reads(self) -> bool:
        return any(field.counts is not None for field in self.fields_.values())

    def importances(self) -> pd.DataFrame:
        """Spread of what each feature adds to the rated systems; see ``Surrogate.importances``."""
        parts = [pd.DataFrame(columns=["language", "feature", "importance"])]
        left_out = self.left_out_
        for language, field in self.fields_.items():
            added = self._added(language, field.own)[:, : len(self.features_)]
            sizes = added[np.isfinite(self._rated(language))].std(axis=0)
            unused = [name in left_out[language] for name in self.features_]
            sizes = np.where(unused, np.nan, sizes)
            total = np.nansum(sizes)
            columns = {"language": language, "feature": self.features_}
            parts.append(pd.DataFrame(columns).assign(importance=sizes / (total or 1.0)))
        return pd.concat(parts[1:] or parts, ignore_index=True)

    def explain(self, X: pd.DataFrame) -> pd.DataFrame:
        """Say what moves each rating; see ``Surrogate.explain``."""
        rows: list[tuple[object, ...]] = []
        for name, own in self._told(with_features(X, self)).groupby("language"):
            language = str(name)
            if language not in self.fields_:
                continue
            field = self.fields_[language]
            scored = None if self.scores_ is None else self.scores_.languages.get(language)
            seen = field.seen(own)
            added = self._added(language, seen)
            for place, system in enumerate(seen.systems):
                largest = np.argsort(-np.abs(added[place]), kind="stable")[:SHOWN_FEATURES]
                moved = [(field.names[at], round(float(added[place, at]), 2)) for at in largest]
                alike: list[list[str]] = [[], []]
                if scored is not None and self._reads:
                    cosines = np.where(scored.judged, seen.cosines[:, place], 0.0)
                    nearest = cosines.argmax(axis=1)
                    won = scored.scores[np.arange(len(nearest)), nearest] - scored.means
                    telling = won * np.maximum(cosines.max(axis=1), 0.0)
                    for question in np.argsort(-np.abs(telling), kind="stable"):
                        if telling[question]:
                            side = alike[int(telling[question] < 0)]
                            side.append(field.tensor.questions[question])
                rows.append((language, system, [item for item in moved if item[1]], *alike))
        return pd.DataFrame(rows, columns=EXPLANATION_COLUMNS)

    def _added(self, language: str, seen: FieldView) -> Floats:
        """What each feature adds to the rating of each system, shape (M, F)."""
        scale = self.ridge_.scales.get(language)
        added = np.zeros(seen.means.shape)
        if scale is not None:
            size = len(self.ridge_.slopes)
            features = scale.features(seen)[:, :size]
            if self.ridge_.is_alone:
                features = features * scale.reliability
            added[:, :size] += self.weights_[1] * features * self.ridge_.slopes
        if self.scores_ is not None:
            answered = np.maximum(seen.answered.sum(axis=1), 1)
            ranks = seen.ranks.sum(axis=1) / answered[:, None]
            added += self.weights_[0] * (ranks * self.scores_.slopes)
        return np.asarray(self.slope_ * added)

    def arrays(self) -> dict[str, Arrays]:
        """The vectors of the field's answers, in place of the answers."""
        own = {language: field.arrays() for language, field in self.fields_.items()}
        return {language: arrays for language, arrays in own.items() if arrays}


def _blend_weights(parts: Floats, target: Floats) -> Floats:
    """Return the weight of both parts in the blend, shape (2,).

    Each part is divided by the root mean square of its left-out predictions; scores count twice.

    Args:
        parts: Left-out predictions by scores and by the ridge, shape (N, 2).
        target: Ratings less the others' mean, shape (N,).
    """
    units = np.sqrt(np.mean(parts**2, axis=0))
    smallest = max(SMALLEST_UNIT * float(np.sqrt(np.mean(target**2))), SMALLEST)
    shares = np.where(units > SMALLEST, [ANSWERS_SHARE, 1 - ANSWERS_SHARE], 0.0)
    total = max(float(shares.sum()), SMALLEST)
    return np.asarray(shares / total / np.maximum(units, smallest))


def _calibration_slope(predictions: Floats, target: Floats) -> float:
    """Return the logits that a unit of the blend is worth: correlation times ratio of spreads.

    Args:
        predictions: Left-out predictions by the blend, shape (N,).
        target: Ratings less the others' mean, shape (N,).
    """
    n_systems = len(target)
    target_square = float(target @ target)
    prediction_square = max(float(predictions @ predictions), SMALLEST)
    norms = np.sqrt(prediction_square * max(target_square, SMALLEST))
    correlation = max(float(predictions @ target) / norms, LEAST_AGREEMENT)
    # The two spreads are averaged geometrically. An arithmetic mean would let one logit swamp the
    # ratings of an arena whose systems are close, and place most new systems above all judged ones.
    variance = max(target_square / n_systems, SMALLEST) ** (n_systems / (n_systems + PRIOR_SYSTEMS))
    spread = np.sqrt(variance / (prediction_square / n_systems))
    return float(correlation * spread)


def _beside(fields: Mapping[str, Field], rows: pd.DataFrame) -> Iterator[dict[str, FieldView]]:
    """Look at the systems of a table beside the fields, some at a time."""
    names = rows["system"].unique()
    for start in range(0, len(names), AT_ONCE):
        some = rows[rows["system"].isin(names[start : start + AT_ONCE])].groupby("language")
        seen = {str(name): fields[name].seen(own) for name, own in some if name in fields}
        if seen := {name: item for name, item in seen.items() if item.systems}:
            yield seen
