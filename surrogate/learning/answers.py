"""The default surrogate: a system's rating by what verdicts say of answers like its own.

A blend of two predictions, both linear in the verdicts and in closed form: of its answers' scores
on their questions (``question_scores``), and of its rating as a whole (``system_ridge``). Each is
in units of how far it lies from 0 for systems left out; the first counts twice. What a unit of the
blend is worth in logits is learned from the systems left out, and so is the error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.seeds import generator
from features.engine.columns import feature_columns
from surrogate.learning.field import ANSWER, CONSENSUS, Field, Seen
from surrogate.learning.question_scores import QuestionScores, Scored
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
from surrogate.learning.system_ridge import SystemRidge
from surrogate.learning.training import (
    DEFAULT_ROWS,
    KnownRatings,
    RowKind,
    TrainingRatings,
    training_ratings,
)

Floats = npt.NDArray[np.float64]

ANSWERS_SHARE = 2 / 3
"""Of the blend, that is the prediction by single answers."""
LEAST_SLOPE = 0.1
"""Of ratings on the blend, as a share of the steepest that there could be."""
MOST_QUESTIONS, MOST_SYSTEMS = 200, 300
"""Of a language that are learned from at most, so that a board stays small and time is bounded."""
AT_ONCE = 200
"""Systems that are looked at together, which bounds memory."""
SMALLEST = 1e-9
EXPECTED_COLUMNS = ["language", "system", "rating", "standard_error"]
NO_DIFFERENCE = "the same for all training systems"


@dataclass(eq=False, repr=False)
class AnswersSurrogate(Surrogate):
    """Learns from verdicts on answers, all languages together.

    It learns from features, and from the answers where the table has a column ``answer``; where
    only ratings are known, from these. Every system that answered is in the field beside which
    others are seen, judged or not. ``seed`` draws what is kept of more than 200 questions or 300
    systems of a language, the judged ones first; ``rows`` is not used.

    Attributes:
        fields_: Language to the systems beside which answers are seen.
        expected_: Columns ``language, system, rating, standard_error``: what is expected of each
            rated system by all others, the system left out.
    """

    learns_tournaments: ClassVar[bool] = False
    pooled: ClassVar[bool] = True

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
        self.features_ = _feature_names(X)
        self.ratings_, self.failures_, self.fields_ = {}, {}, {}
        kept = []
        for language, rated in sorted(known.items()):
            rows = self._some(X[X["language"] == language], rated)
            there = set(rows["system"])
            answering = pd.Series(rated.means, list(rated.systems)).dropna().index
            systems = [name for name in answering if name in there]
            if systems:
                self.ratings_[language] = rated.take(systems)
            if len(there) < FEWEST_SYSTEMS or not systems:
                reason = too_few(len(systems), len(self.features_))
                self.failures_[language] = f"{language}: {reason}"
                continue
            told = arrays.get(language)
            self.fields_[language] = Field.of(rows, language, self.features_, told)
            kept.append(rows)
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
        usable = len(self.features_) or any(field.names for field in self.fields_.values())
        if not (enough and usable):
            for name, count in known.items():
                self.failures_[name] = f"{name}: {too_few(count, len(self.features_))}"
            self.fields_, enough = {}, set()
        self.borrowing_ = frozenset(self.fields_.keys() - enough)
        self.levels_ = {name: float(np.nanmean(rated[name])) for name in enough}
        self.expected_ = pd.DataFrame(columns=EXPECTED_COLUMNS)
        if not self.fields_:
            return
        seen = {name: field.own for name, field in self.fields_.items()}
        scored = {
            name: Scored.of(item, self.fields_[name].tensor.questions, self.ratings_[name])
            for name, item in seen.items()
        }
        scored = {name: item for name, item in scored.items() if item.judged.any()}
        self.scores_ = QuestionScores.fit(scored) if scored else None
        pairs = {name: own for name, own in rated.items() if known[name] > 1}
        self.ridge_ = SystemRidge.fit(seen, pairs)
        self._blend(seen, rated)
        blended = self._predicted(seen)
        for name in self.borrowing_:
            self.levels_[name] = -float(blended.loc[name, "rating"].mean())

    def _rated(self, language: str) -> Floats:
        """Rating of each system of a field, shape (N,); NaN of those without."""
        rated = self.ratings_[language]
        own = pd.Series(rated.means, list(rated.systems))
        return own.reindex(list(self.fields_[language].tensor.systems)).to_numpy(np.float64)

    def _blend(self, seen: Mapping[str, Seen], rated: Mapping[str, Floats]) -> None:
        """Learn the units of both parts, the slope and the error, from systems left out."""
        parts = []
        for name, own in rated.items():
            scores = np.full(len(own), np.nan)
            if self.scores_ is not None and name in self.scores_.left_out:
                scores = self.scores_.left_out[name]
            count = np.isfinite(own).sum()
            away = (own - np.nanmean(own)) * count / max(count - 1, 1)
            part = pd.DataFrame({"language": name, "system": seen[name].systems, "away": away})
            keys = list(zip(part["language"], part["system"], strict=True))
            part["scores"], part["share"] = scores, 1 - 1 / count
            part["ridge"] = [self.ridge_.left_out.get(key, np.nan) for key in keys]
            part["variance"] = [self.ridge_.left_out_variances.get(key, np.nan) for key in keys]
            parts.append(part[np.isfinite(away)])
        table = pd.concat(parts, ignore_index=True)
        sure = table[~table["language"].isin(self.borrowing_)]
        units = np.sqrt((sure[["scores", "ridge"]] ** 2).mean()).to_numpy()
        shares = np.array([ANSWERS_SHARE, 1 - ANSWERS_SHARE])
        told = np.nan_to_num(units) > SMALLEST
        shares = np.where(told, shares, 0.0) / max(shares[told].sum(), SMALLEST)
        self.weights_ = shares / np.where(told, units, 1.0)
        blend = table[["scores", "ridge"]].fillna(0.0).to_numpy() @ self.weights_
        among, away = blend[sure.index], sure["away"].to_numpy()
        square = max(float(among @ among), SMALLEST)
        steepest = np.sqrt(float(away @ away) / square)
        self.slope_ = max(float(among @ away) / square, LEAST_SLOPE * steepest)
        missed = away - self.slope_ * among
        self.error_ = np.sqrt(float(missed @ missed) / max(len(missed) - 1, 1))
        self.usual_variance_ = float(sure["variance"].mean())
        self.expected_ = table[["language", "system"]].assign(
            rating=self.slope_ * blend * table["share"],
            standard_error=self._errors(table["variance"].to_numpy()),
        )

    def _errors(self, variances: Floats) -> Floats:
        return np.asarray(self.error_ * np.sqrt(variances / self.usual_variance_))

    def _predicted(self, seen: Mapping[str, Seen]) -> pd.DataFrame:
        """Rate systems, less the level of their language; by language and system."""
        rated = self.ridge_.predict(seen)
        parts = np.zeros((len(rated), 2))
        parts[:, 1] = rated["rating"]
        if self.scores_ is not None:
            scores = [self.scores_.predict(name, item) for name, item in seen.items()]
            parts[:, 0] = np.nan_to_num(np.concatenate(scores))
        blend = self.slope_ * (parts @ self.weights_)
        errors = self._errors(rated.pop("variance").to_numpy())
        return rated.assign(rating=blend, standard_error=errors).set_index(["language", "system"])

    @property
    def left_out_(self) -> dict[str, dict[str, str]]:
        """Language to feature to why it could not be used."""
        found = {}
        for language, field in self.fields_.items():
            has_value = np.isfinite(field.tensor.values).any(axis=(0, 1))
            differs = (field.own.ranks != 0).any(axis=(0, 1))
            found[language] = {
                name: NO_DIFFERENCE if has_value[place] else NO_VALUE
                for place, name in enumerate(self.features_)
                if not differs[place]
            }
        return found

    def predict(
        self,
        X: pd.DataFrame,
        questions: Asked | None = None,  # noqa: ARG002 - no missing answer counts
    ) -> pd.DataFrame:
        """Rate every system by its answers, with a standard error; see ``Surrogate.predict``."""
        counts = X.groupby(["language", "system"]).size()
        table = with_features(X, self).drop_duplicates(KEYS)
        if not (ANSWER in table and self._reads):
            has_value = table[list(self.features_)].notna().any(axis=1)
            table = table[has_value.groupby([table["language"], table["system"]]).transform("any")]
        fields, levels = dict(self.fields_), dict(self.levels_)
        if self.fields_:
            for name, rows in table.groupby("language"):
                if name not in fields and name not in self.failures_:
                    if rows["system"].nunique() >= FEWEST_SYSTEMS:
                        fields[name] = Field.of(rows, name, self.features_)
        found = [pd.DataFrame(columns=["rating", "standard_error"])]
        names = table["system"].unique()
        for start in range(0, len(names), AT_ONCE):
            rows = table[table["system"].isin(names[start : start + AT_ONCE])]
            seen = {
                str(name): fields[name].seen(own)
                for name, own in rows.groupby("language")
                if name in fields
            }
            if seen := {name: item for name, item in seen.items() if item.systems}:
                found.append(self._predicted(seen))
        rated = pd.concat(found[1:] or found)
        for name in fields.keys() - levels.keys():
            levels[name] = -float(rated.loc[name, "rating"].mean())
        rated = rated.reindex(counts.index).reset_index()
        rated["rating"] += rated["language"].map(levels)
        rated["answers"] = counts.to_numpy()
        columns = ["language", "system", "rating", "answers", "standard_error"]
        return rated[columns].sort_values(["language", "system"], ignore_index=True)

    @property
    def _reads(self) -> bool:
        return any(field.counts is not None for field in self.fields_.values())

    def importances(self) -> pd.DataFrame:
        """Spread of what each feature adds to the rated systems; see ``Surrogate.importances``."""
        parts = [pd.DataFrame(columns=["language", "feature", "importance"])]
        for language, field in self.fields_.items():
            added = self._added(language, field.own)
            sizes = added[np.isfinite(self._rated(language))].std(axis=0)
            unused = [name in self.left_out_[language] for name in self.features_]
            sizes = np.where(unused, np.nan, sizes)
            total = np.nansum(sizes)
            columns = {"language": language, "feature": self.features_}
            parts.append(pd.DataFrame(columns).assign(importance=sizes / (total or 1.0)))
        return pd.concat(parts[1:] or parts, ignore_index=True)

    def _added(self, language: str, seen: Seen) -> Floats:
        """What each feature adds to the rating of each system, shape (M, F)."""
        scale = self.ridge_.scales.get(language)
        added = np.zeros(seen.means.shape)
        if scale is not None:
            added += self.weights_[1] * scale.features(seen) * self.ridge_.slopes
        if self.scores_ is not None:
            answered = np.maximum(seen.answered.sum(axis=1), 1)
            ranks = seen.ranks.sum(axis=1) / answered[:, None]
            added += (self.weights_[0] * ranks * self.scores_.slopes)[:, : added.shape[1]]
        return np.asarray(self.slope_ * added)

    def arrays(self) -> dict[str, Arrays]:
        """The vectors of the field's answers, in place of the answers."""
        own = {language: field.arrays() for language, field in self.fields_.items()}
        return {language: arrays for language, arrays in own.items() if arrays}


def _feature_names(X: pd.DataFrame) -> tuple[str, ...]:
    names = [name for name in feature_columns(X) if name not in (ANSWER, CONSENSUS)]
    return tuple(X[names].select_dtypes("number").columns)
