"""Training data of surrogates: features of answers, and ratings of their systems."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.computing.codes import are_among, repeated_rows, value_codes
from arena.data.errors import UsageError
from arena.data.types import Flags, Floats, Indices
from arena.rating.pairs import JudgedItems
from arena.statistics.bootstrap import generator
from arena.statistics.significance import finite_means, mean_of
from arena.text.reader import as_read
from features.engine.extraction import FEATURE_KEY

if TYPE_CHECKING:
    from arena.rating.tournaments import Tournaments

SMALLEST = 1e-9
"""Below it, a number is 0 but for rounding."""
RowKind = Literal["system", "overall"]
DEFAULT_ROWS: RowKind = "system"
MissingRule = Literal["nan", "zero"]
"""How a missing value counts: not at all, or as 0."""
RATING_COLUMNS = ("language", "system", "rating")
KnownRatings: TypeAlias = Mapping[str, "Tournaments | TrainingRatings"] | pd.DataFrame
"""Language to tournaments, or a table ``language, system, rating`` with or without ``variance``."""


def rating_keys(systems: Mapping[str, Sequence[str]]) -> pd.MultiIndex:
    """Index the systems of every language, in their order."""
    # Several times as fast as ``MultiIndex.from_tuples``, which every fold would wait for.
    languages = sorted(systems)
    names = sorted(set().union(*systems.values()))
    code_of = {name: code for code, name in enumerate(names)}
    language_codes = []
    system_codes = []
    for language, of_language in systems.items():
        language_codes += [languages.index(language)] * len(of_language)
        system_codes += [code_of[name] for name in of_language]
    return pd.MultiIndex(
        [languages, names],
        [language_codes, system_codes],
        names=["language", "system"],
        verify_integrity=False,
    )


def with_answers(X: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Add a column ``answer``, as a reader sees it."""
    is_first = ~answers.duplicated(FEATURE_KEY)
    texts = [as_read(str(text)) for text in answers.loc[is_first, "answer"]]
    keys = pd.MultiIndex.from_frame(answers.loc[is_first, [*FEATURE_KEY]])
    places = keys.get_indexer(pd.MultiIndex.from_frame(X[[*FEATURE_KEY]]))
    # An object column holds references: selecting rows does not copy the texts. Place -1, which is
    # no answer, takes the last one.
    shown = np.array([*texts, ""], dtype=object)[places]
    return X.assign(answer=pd.Series(shown, X.index, dtype=object)).reset_index(drop=True)


class FeatureTensor(NamedTuple):
    """Features of the answers of S systems to Q questions, shape (S, Q, F); NaN where missing.

    ``rows`` is each answer's row in the language's table, shape (S, Q); -1 where there is none.
    """

    language: str
    systems: tuple[str, ...]
    questions: tuple[str, ...]
    values: Floats
    rows: Indices

    @property
    def answered(self) -> Flags:
        """Return which system answered which question, shape (S, Q)."""
        return self.rows >= 0

    def means(self, draws: npt.ArrayLike | None = None) -> Floats:
        """Average features over questions, shape (T, S, F), or NaN.

        ``draws``, shape (T, Q), says how often each sample holds a question; by default once.
        """
        weights = np.ones((1, len(self.questions))) if draws is None else np.asarray(draws)
        is_present = np.isfinite(self.values)
        totals = np.einsum("tq,sqf->tsf", weights, np.where(is_present, self.values, 0.0))
        counts = np.einsum("tq,sqf->tsf", weights, is_present.astype(np.float64))
        return mean_of(totals, counts)

    def on(self, questions: Sequence[str]) -> FeatureTensor:
        """Keep some questions, in the order given."""
        index_of = {question: index for index, question in enumerate(self.questions)}
        indices = [index_of[question] for question in questions]
        return self._replace(
            questions=tuple(questions),
            values=self.values[:, indices],
            rows=self.rows[:, indices],
        )


def feature_tensor(
    rows: pd.DataFrame,
    language: str,
    features: Sequence[str],
    systems: Sequence[str] | None = None,
    questions: Sequence[str] | None = None,
) -> FeatureTensor:
    """Arrange the answers to one language's questions as an array."""
    systems, system_index = _indices_in(systems, rows["system"])
    questions, question_index = _indices_in(questions, rows["query_id"])
    is_wanted = (system_index >= 0) & (question_index >= 0)
    system_index = system_index[is_wanted]
    question_index = question_index[is_wanted]
    repeat = _repeats(system_index * len(questions) + question_index)
    # A question has as many columns as a system has answers to it, at most.
    n_columns = np.ones(len(questions), dtype=np.intp)
    np.maximum.at(n_columns, question_index, repeat + 1)
    starts = np.cumsum(n_columns) - n_columns
    cells = (system_index, starts[question_index] + repeat)
    values = np.full((len(systems), int(n_columns.sum()), len(features)), np.nan)
    values[cells] = rows.reindex(columns=features).to_numpy(np.float64)[is_wanted]
    row_of = np.full(values.shape[:2], -1, dtype=np.intp)
    row_of[cells] = np.flatnonzero(is_wanted)
    names = np.repeat(np.array(questions, dtype=object), n_columns)
    return FeatureTensor(
        language=language,
        systems=tuple(systems),
        questions=tuple(str(name) for name in names),
        values=values,
        rows=row_of,
    )


def _indices_in(names: Sequence[str] | None, column: pd.Series) -> tuple[Sequence[str], Indices]:
    """Return names, or else a column's own, and each value's place in them, (N,); -1 in none."""
    codes, distinct_values = value_codes(column)
    values = distinct_values.tolist()
    if names is None:
        names = sorted(values)
    # A missing value has the code -1, which takes the last place.
    return names, np.append(places_in(names, values), -1)[codes]


def places_in(names: Iterable[str], values: Iterable[object]) -> Indices:
    """Return each value's place among names, (N,); -1 where it is none."""
    place_of: dict[object, int] = {name: place for place, name in enumerate(names)}
    return np.array([place_of.get(value, -1) for value in values], dtype=np.intp)


def _repeats(codes: Indices) -> Indices:
    order = np.argsort(codes, kind="stable")
    sorted_codes = codes[order]
    repeats = np.empty(len(codes), dtype=np.intp)
    repeats[order] = np.arange(len(codes)) - np.searchsorted(sorted_codes, sorted_codes)
    return repeats


def zero_filled(tensor: FeatureTensor, asked: Sequence[str]) -> FeatureTensor:
    """Count 0 for missing values and answers to ``asked`` questions, as MIRAGE-Bench."""
    known_questions = set(tensor.questions)
    unanswered = [name for name in dict.fromkeys(asked) if name not in known_questions]
    questions = (*tensor.questions, *unanswered)
    n_added = len(unanswered)
    rows = np.pad(tensor.rows, ((0, 0), (0, n_added)), constant_values=-1)
    values = np.nan_to_num(tensor.values, nan=0.0)
    values = np.pad(values, ((0, 0), (0, n_added), (0, 0)))
    counts = (rows >= 0) | np.isin(questions, list(asked))
    return FeatureTensor(
        language=tensor.language,
        systems=tensor.systems,
        questions=questions,
        values=np.where(counts[:, :, None], values, np.nan),
        rows=rows,
    )


class TrainingRatings(NamedTuple):
    """Ratings of the systems of one language, over T samples of its questions.

    ``draws`` counts questions, (T, Q); ``coefficients`` are logits, (T, S), or NaN. Known ratings
    with ``variance`` (S,) have no questions and items.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    draws: Indices
    coefficients: Floats
    items: JudgedItems
    variance: Floats | None = None

    @property
    def means(self) -> Floats:
        """Return mean ratings over samples, shape (S,), or NaN."""
        return finite_means(self.coefficients)

    def take(self, systems: Sequence[str]) -> TrainingRatings:
        """Keep some systems, in order, and battles among them."""
        indices = [self.systems.index(system) for system in systems]
        return self._replace(
            systems=tuple(systems),
            coefficients=self.coefficients[:, indices],
            variance=None if self.variance is None else self.variance[indices],
            items=self.items.among(indices),
        )


def training_ratings(ratings: KnownRatings) -> dict[str, TrainingRatings]:
    """Return ratings by language, whatever form they come in."""
    if isinstance(ratings, pd.DataFrame):
        return _of_table(ratings)
    by_language = {}
    for language, rated in ratings.items():
        if not isinstance(rated, TrainingRatings):
            rated = _of_tournaments(rated)
        by_language[language] = rated
    return by_language


def _of_tournaments(tournaments: Tournaments) -> TrainingRatings:
    battles = tournaments.battles
    return TrainingRatings(
        systems=battles.systems,
        questions=battles.questions,
        draws=tournaments.draws,
        coefficients=tournaments.coefficients,
        items=battles.items_by_side,
        variance=tournaments.variance,
    )


def _of_table(table: pd.DataFrame) -> dict[str, TrainingRatings]:
    absent = [name for name in RATING_COLUMNS if name not in table]
    if absent:
        raise UsageError(f"the table of ratings lacks {', '.join(absent)}")
    if table.duplicated(["language", "system"]).any():
        raise UsageError("the table of ratings has a system twice in a language")
    by_language = {}
    for language, rows in table.sort_values(["language", "system"]).groupby("language"):
        variance = rows["variance"].to_numpy(np.float64) if "variance" in rows else None
        by_language[str(language)] = TrainingRatings(
            systems=tuple(rows["system"]),
            questions=(),
            draws=np.ones((1, 0), dtype=np.intp),
            coefficients=rows["rating"].to_numpy(np.float64)[None],
            items=JudgedItems.none(len(rows), 0),
            variance=variance,
        )
    return by_language


class TrainingRows(NamedTuple):
    """Rows for a regressor: features (N, F), coefficients (N,)."""

    features: Floats
    targets: Floats
    systems: int


def training_rows(tensor: FeatureTensor, ratings: TrainingRatings, kind: RowKind) -> TrainingRows:
    """Build the training rows of T tournaments.

    ``system``: by system and tournament, features averaged over its questions (MIRAGE-Bench,
    Algorithm 1); ``overall``: by system, features averaged over all questions, with the mean
    coefficient (its boards).
    """
    if kind == "overall":
        from arena.rating.tournaments import DECIMALS

        features = tensor.means()[0]
        # Rounded, because a tree chooses between equally good splits by the targets' last digits.
        targets = np.round(ratings.means, DECIMALS)
    else:
        targets = ratings.coefficients.ravel()
        if ratings.questions:
            means = tensor.on(ratings.questions).means(ratings.draws)
        else:
            means = tensor.means()
        features = means.reshape(len(targets), tensor.values.shape[2])
    is_usable = np.isfinite(targets) & np.isfinite(features).any(axis=1)
    # Rows are tournament by tournament, the systems of each in the same order.
    owners = np.flatnonzero(is_usable) % max(len(tensor.systems), 1)
    n_systems = len(np.unique(owners))
    return TrainingRows(features[is_usable], targets[is_usable], n_systems)


MOST_QUESTIONS = 200
MOST_SYSTEMS = 300
"""Of a language, at most these are learned from: time and a board's size stay bounded."""


def drawn_rows(rows: pd.DataFrame, rated: TrainingRatings, seed: int) -> pd.DataFrame:
    """Keep a limited number of systems and questions, judged first."""
    rows = _drawn_part(rows, "query_id", rated.questions, MOST_QUESTIONS, seed)
    return _drawn_part(rows, "system", rated.systems, MOST_SYSTEMS, seed)


def _drawn_part(
    rows: pd.DataFrame, column: str, first: Collection[str], most: int, seed: int
) -> pd.DataFrame:
    names = _drawn(rows, column, first, most, seed)
    return rows if names is None else rows[are_among(rows[column], names)]


def unread_questions(rows: pd.DataFrame, judged: Collection[str], seed: int) -> set[str]:
    """Return a language's questions that are not drawn."""
    questions = _drawn(rows, "query_id", judged, MOST_QUESTIONS, seed)
    return set() if questions is None else set(rows["query_id"].unique()) - questions


def _drawn(
    rows: pd.DataFrame, column: str, first: Collection[str], most: int, seed: int
) -> set[str] | None:
    """Draw some of many names, those in ``first`` first; None for all."""
    _, distinct_names = value_codes(rows[column])
    if len(distinct_names) <= most:
        return None
    names = sorted(distinct_names)
    random = generator(seed, f"{column} learned from", rows["language"].iloc[0])
    shuffled = [names[index] for index in random.permutation(len(names))]
    is_first = set(first)
    return set(sorted(shuffled, key=lambda name: name not in is_first)[:most])


def without_repeats(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the first row of each answer, faster than ``drop_duplicates``."""
    # Selecting columns by a list takes four times as long.
    is_repeated = repeated_rows(rows.reindex(columns=FEATURE_KEY))
    return rows[~is_repeated] if is_repeated.any() else rows


def arranged(ratings: Floats, of: Sequence[str], systems: Sequence[str]) -> Floats:
    """Arrange ratings ``of`` some systems by other ones, shape (S,), or NaN."""
    rating_of = dict(zip(of, ratings, strict=True))
    return np.array([rating_of.get(name, np.nan) for name in systems])
