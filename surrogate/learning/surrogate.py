"""What a surrogate is to those who build boards with it, validate it, and rank with it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, clone

from arena.data.errors import UsageError
from arena.data.seeds import seed_sequence
from arena.data.wording import count_of
from arena.rating.posterior import RatingPosterior
from features.engine.columns import feature_columns
from features.engine.workers import work
from surrogate.learning.posterior.observations import Observation
from surrogate.learning.tensor import (
    FeatureTensor,
    MissingRule,
    feature_tensor,
    standardized_within,
    zero_filled,
)
from surrogate.learning.training import (
    DEFAULT_ROWS,
    KnownRatings,
    RowKind,
    TrainingRatings,
    TrainingSet,
    training_ratings,
    training_sets,
)

Floats = npt.NDArray[np.float64]
Arrays = Mapping[str, npt.NDArray[Any]]
Asked = Mapping[str, Sequence[str]]
"""Language to the questions (query ids) that systems were asked, answered or not."""

FEWEST_SYSTEMS = 3
TREES = 100
FEW_TREES = 25
"""Trees of a forest that learns from a single tournament, of which there are hundreds."""
KEYS = ["language", "system", "query_id"]
NO_VALUE = "no training answer has a value"


def too_few(systems: int, features: int) -> str:
    """Say why nothing can be learned from so few systems or features."""
    return (
        f"{count_of(systems, 'system')} with judged answers and {count_of(features, 'feature')} "
        f"to train on; at least {FEWEST_SYSTEMS} systems and a feature are needed"
    )


class Surrogate(Protocol):
    """Predicts how a judge would rate systems, from their answers and the ratings of others.

    It is an estimator in the sense of scikit-learn: parameters are set by the constructor, what
    is learned has a trailing underscore, and ``clone`` gives an unfitted copy.

    Attributes:
        name: Name it is found by.
        rows: One training row a ``system`` or a ``question``, where it has such rows.
        seed: Seed of what it draws.
        pooled: Whether languages are learned from together, and those it has not seen rated too.
        learns_tournaments: Whether it can be trained on one tournament, and so has an R² for each.
        features_: Feature columns that were learned from.
        systems_: Language to the systems trained on.
        failures_: Language to why it could not be learned from.
        borrowing_: Languages with few rated systems, where what others tell of answers counts.
        left_out_: Language to feature to why it could not be used.
        X_: The rows it was trained on.
        ratings_: Language to the ratings it was trained on.
    """

    name: str
    rows: RowKind
    seed: int
    pooled: bool
    learns_tournaments: bool
    features_: tuple[str, ...]
    systems_: dict[str, tuple[str, ...]]
    failures_: dict[str, str]
    borrowing_: frozenset[str]
    left_out_: dict[str, dict[str, str]]
    X_: pd.DataFrame
    ratings_: dict[str, TrainingRatings]

    @property
    def signature(self) -> str:
        """The settings as part of a board's signature."""

    def fit(self, X: pd.DataFrame, ratings: KnownRatings) -> Self:
        """Learn from the systems that are in the table and have a rating.

        Args:
            X: Columns ``language, system, query_id`` and one a feature; further columns, such as
                ``answer``, are there for surrogates that read them. A row that stands twice
                counts twice.
            ratings: Language to tournaments, or a table ``language, system, rating`` with or
                without ``variance`` (in squared logits).

        Raises:
            UsageError: If no language can be learned from; ``failures_`` says why.
        """

    def predict(self, X: pd.DataFrame, questions: Asked | None = None) -> pd.DataFrame:
        """Rate every system by its answers.

        A system is rated as one that is new, whoever stands beside it, by the training systems'
        answers to the same questions; in a language without any it is compared with the systems
        of the table.

        Args:
            X: Columns ``language, system, query_id`` and one a feature.
            questions: Language to the questions that the systems were asked; by default those of
                the training answers. Where an answer that is not there counts 0 (``missing``),
                it does so for these.

        Returns:
            Columns ``language, system, rating, answers``, sorted by language and system; with a
            ``standard_error`` where the surrogate has one. The rating (logits) is NaN in a
            language that was not learned from and for a system without feature values.

        Raises:
            UsageError: If a feature column is missing that a training answer had a value of.
        """

    def posterior(
        self, observed: Mapping[str, Observation], X: pd.DataFrame | None = None
    ) -> dict[str, RatingPosterior] | None:
        """Rate systems by their answers and verdicts together.

        Args:
            observed: Language to the ratings that verdicts give.
            X: Answers of further systems, that were not trained on. What verdicts tell of them in
                some languages counts in all where they have answers.

        Returns:
            Language to the ratings of the systems that have both; None where the surrogate is no
            process that can be conditioned on them.
        """

    def predict_answers(self, X: pd.DataFrame) -> pd.DataFrame:
        """Rate answer by answer.

        Returns:
            Columns ``language, system, query_id, rating``.
        """

    def importances(self) -> pd.DataFrame:
        """Share of each feature in the decisions; columns ``language, feature, importance``.

        NaN where the surrogate has none, or could not use a feature.
        """

    def attributions(self, X: pd.DataFrame) -> pd.DataFrame | None:
        """Say what each feature adds to a system's rating (logits).

        Returns:
            Columns ``language, system, feature, contribution``; None where that is not known.
        """

    def answer_similarities(self, X: pd.DataFrame) -> pd.DataFrame | None:
        """Say how alike a system's answers are to those of each training system.

        Returns:
            Columns ``language, system, neighbor, similarity``, in [-1, 1]; None where the
            surrogate does not read answers.
        """

    def arrays(self) -> dict[str, Arrays]:
        """What it has learned of each language, where that is plain arrays and costly to learn."""

    def restore(
        self, X: pd.DataFrame, ratings: KnownRatings, arrays: Mapping[str, Arrays], n_jobs: int = 1
    ) -> Self:
        """Learn again, but for what the arrays hold, and nothing where ``fit`` would fail.

        Raises:
            UsageError: If the arrays are not what this surrogate learns.
        """


def known_features(surrogate: Surrogate) -> tuple[str, ...]:
    """Return the features that some training answer has a value of; new answers need these."""
    has_value = surrogate.X_[list(surrogate.features_)].notna().any()
    return tuple(name for name in surrogate.features_ if has_value[name])


def with_features(X: pd.DataFrame, surrogate: Surrogate) -> pd.DataFrame:
    """Bring the feature table of new answers to all features of a surrogate.

    Returns:
        The table, with a column of NaN for each feature that it lacks and no training answer had.

    Raises:
        UsageError: If it lacks any other feature, or has no row.
    """
    absent = [name for name in surrogate.features_ if name not in X]
    needed = [name for name in known_features(surrogate) if name in absent]
    if needed:
        raise UsageError(f"the feature table lacks {', '.join(needed)}; extract them first")
    if X.empty:
        raise UsageError("the feature table has no answer to rate")
    return X.assign(**dict.fromkeys(absent, np.nan))


AnySurrogate = TypeVar("AnySurrogate", bound=Surrogate)


def reseeded(surrogate: AnySurrogate, seed: int, **parameters: object) -> AnySurrogate:
    """Return an unfitted copy with another seed and, if it has them, other parameters."""
    copy: Any = clone(surrogate)
    known = {name: value for name, value in parameters.items() if name in copy.get_params()}
    changed: AnySurrogate = copy.set_params(seed=seed, **known)
    return changed


@dataclass(eq=False, repr=False)
class FeatureSurrogate(BaseEstimator):  # type: ignore[misc]
    """A surrogate that looks at features alone, a language at a time.

    Those that learn from languages together standardize features within each, so that what
    differs between languages (how long answers are) does not count.

    Attributes:
        name: Name it is found by.
        rows: One training row a ``system`` or a ``question``, where it has such rows.
        pooled: One model for all languages.
        seed: Seed of what it draws.
        missing: ``nan``: a missing value does not count; ``zero``: it counts 0.
        trees: Trees of a forest; fewer do for the hundreds of surrogates of single tournaments.
        n_jobs: Processes to train languages in; -1 for all cores.
    """

    learns_tournaments = True
    borrowing_: ClassVar[frozenset[str]] = frozenset()

    name: str
    rows: RowKind = DEFAULT_ROWS
    pooled: bool = False
    seed: int = 0
    missing: MissingRule = "nan"
    trees: int = TREES
    n_jobs: int = 1

    @property
    def signature(self) -> str:
        """The settings as part of a board's signature."""
        rule = "" if self.missing == "nan" else f"|missing:{self.missing}"
        return f"surrogate:{self.name}|rows:{self.rows}{rule}"

    def fit(self, X: pd.DataFrame, ratings: KnownRatings) -> Self:
        """Train one model a language, or one for all; see ``Surrogate.fit``."""
        self.restore(X, ratings, {}, self.n_jobs)
        if not self.models_:
            reasons = "; ".join(dict.fromkeys(self.failures_.values()))
            raise UsageError(reasons or "no system has both answers and a rating to learn from")
        return self

    def restore(
        self, X: pd.DataFrame, ratings: KnownRatings, arrays: Mapping[str, Arrays], n_jobs: int = 1
    ) -> Self:
        """Train what the arrays do not hold; see ``Surrogate.restore``."""
        known = training_ratings(ratings)
        self.features_ = tuple(X[feature_columns(X)].select_dtypes("number").columns)
        self.sets_ = {
            name: replace(item, answers=self._filled(item.answers, item.answers.questions))
            for name, item in training_sets(X, known, self.features_).items()
        }
        self.ratings_ = {name: item.ratings for name, item in self.sets_.items()}
        self.X_ = _rows_of(X, self.systems_, self.features_)
        self.failures_ = {
            name: f"{name}: {too_few(0, len(self.features_))}"
            for name in known
            if name not in self.sets_
        }
        self.models_: dict[str, Any] = {}
        everything = list(self.sets_)
        groups = [everything] if self.pooled and everything else [[name] for name in everything]
        sets = [[self.sets_[name] for name in group] for group in groups]
        done = work(partial(_trained, clone(self), arrays=arrays), sets, n_jobs)
        for group, (model, failure) in zip(groups, done, strict=True):
            if model is None and arrays.keys() & set(group):
                raise UsageError(failure)
            if model is None:
                self.failures_ |= dict.fromkeys(group, failure)
            else:
                self.models_ |= dict.fromkeys(group, model)
        return self

    @property
    def systems_(self) -> dict[str, tuple[str, ...]]:
        """Language to the systems trained on."""
        return {name: item.answers.systems for name, item in self.sets_.items()}

    @property
    def left_out_(self) -> dict[str, dict[str, str]]:
        """Language to feature to why it could not be used."""
        return {
            language: dict.fromkeys(
                [name for name, used in zip(self.features_, model.used, strict=True) if not used],
                NO_VALUE,
            )
            for language, model in self.models_.items()
        }

    def predict(self, X: pd.DataFrame, questions: Asked | None = None) -> pd.DataFrame:
        """Rate every system by its answers; see ``Surrogate.predict``."""
        parts = []
        for tensor, reference, model in self._languages(X, questions):
            unknown = np.full(len(tensor.systems), np.nan)
            parts.append(
                pd.DataFrame(
                    {
                        "language": tensor.language,
                        "system": tensor.systems,
                        "rating": unknown if model is None else self.rate(model, tensor, reference),
                        "answers": tensor.answered.sum(axis=1),
                    }
                )
            )
        return pd.concat(parts, ignore_index=True)

    def posterior(
        self,
        observed: Mapping[str, Observation],  # noqa: ARG002
        X: pd.DataFrame | None = None,  # noqa: ARG002
    ) -> None:
        """It knows no posterior."""
        return

    def predict_answers(self, X: pd.DataFrame) -> pd.DataFrame:
        """Rate answer by answer; see ``Surrogate.predict_answers``."""
        parts = []
        for tensor, reference, model in self._languages(X, questions={}):
            shape = tensor.answered.shape
            ratings = np.full(shape, np.nan)
            if model is not None:
                ratings = self.rate_answers(model, tensor, reference)
            system, question = np.nonzero(tensor.answered)
            parts.append(
                pd.DataFrame(
                    {
                        "language": tensor.language,
                        "system": np.array(tensor.systems, dtype=object)[system],
                        "query_id": np.array(tensor.questions, dtype=object)[question],
                        "rating": ratings[system, question],
                    }
                )
            )
        return pd.concat(parts, ignore_index=True)

    def importances(self) -> pd.DataFrame:
        """Share of each feature; see ``Surrogate.importances``."""
        size = len(self.features_)
        return pd.DataFrame(
            {
                "language": np.repeat(np.array(list(self.models_), dtype=object), size),
                "feature": list(self.features_) * len(self.models_),
                "importance": [
                    share for model in self.models_.values() for share in self.shares(model)
                ],
            }
        )

    def answer_similarities(self, X: pd.DataFrame) -> pd.DataFrame | None:  # noqa: ARG002
        """It reads no answers."""
        return None

    def attributions(self, X: pd.DataFrame) -> pd.DataFrame | None:  # noqa: ARG002
        """Say what each feature adds to a rating; not known here."""
        return None

    def arrays(self) -> dict[str, Arrays]:
        """Nothing is kept: it is learned again."""
        return {}

    @abstractmethod
    def train(self, sets: Sequence[TrainingSet], random_state: int, arrays: Arrays | None) -> Any:  # noqa: ANN401 - what it learns, with ``used``: which features it uses, shape (F,)
        """Train on one language, or all that are learned from together.

        Raises:
            UsageError: If too few systems can be trained on, or no feature has a value.
        """

    @abstractmethod
    def rate(self, model: Any, tensor: FeatureTensor, reference: FeatureTensor) -> Floats:  # noqa: ANN401
        """Rate systems by their answers, shape (S,).

        Args:
            model: What was learned; see ``train``.
            tensor: Features of S systems in one language.
            reference: Features of the systems to compare them with, on at least the same
                questions.
        """

    def rate_answers(
        self,
        model: Any,  # noqa: ANN401
        tensor: FeatureTensor,
        reference: FeatureTensor,
    ) -> Floats:
        """Rate answer by answer, shape (S, Q)."""
        columns = [
            self.rate(model, tensor.take(questions=[question]), reference)
            for question in tensor.questions
        ]
        return np.column_stack(columns)

    def shares(self, model: Any) -> Floats:  # noqa: ANN401
        """Share of each feature in the decisions, shape (F,); NaN where there is none."""
        return np.full(len(model.used), np.nan)

    def shown(self, tensor: FeatureTensor, reference: FeatureTensor) -> FeatureTensor:
        """Return features as the model sees them."""
        return standardized_within(tensor, reference) if self.pooled else tensor

    def _languages(
        self, X: pd.DataFrame, questions: Asked | None = None
    ) -> Iterator[tuple[FeatureTensor, FeatureTensor, Any | None]]:
        """Give each language's answers, what they are compared with, and the model for them.

        They are compared with the training systems, where these answered any of the questions;
        else with each other.
        """
        table = with_features(X, self)
        for language in sorted(table["language"].unique()):
            own = feature_tensor(table, language, self.features_)
            known = self.sets_.get(language)
            trained = () if known is None else known.answers.questions
            tensor = self._filled(
                own, trained if questions is None else questions.get(language, ())
            )
            reference = tensor
            if known is not None and set(trained) & set(own.questions):
                reference = known.answers.padded(tensor.questions)
            model = self.models_.get(language)
            if model is None and self.pooled:
                model = next(iter(self.models_.values()), None)
            yield tensor, reference, model

    def _filled(self, tensor: FeatureTensor, asked: Sequence[str]) -> FeatureTensor:
        return zero_filled(tensor, asked) if self.missing == "zero" else tensor


def _rows_of(
    X: pd.DataFrame, systems: Mapping[str, Sequence[str]], features: Sequence[str]
) -> pd.DataFrame:
    """Rows and columns that are trained on."""
    pairs = {(language, name) for language, names in systems.items() for name in names}
    kept = [pair in pairs for pair in zip(X["language"], X["system"], strict=True)]
    return X.loc[kept, [*KEYS, *features]].reset_index(drop=True)


def _trained(
    surrogate: FeatureSurrogate, sets: Sequence[TrainingSet], arrays: Mapping[str, Arrays]
) -> tuple[Any, str]:
    keys = [] if surrogate.pooled else [sets[0].language]
    state = int(seed_sequence(surrogate.seed, "surrogate", *keys, "final").generate_state(1)[0])
    try:
        return surrogate.train(sets, state, arrays.get(sets[0].language)), ""
    except UsageError as error:
        return None, str(error)
