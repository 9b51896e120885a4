"""Predicting scores of answers: one regression on all questions, in closed form.

The score of an answer is the share of its battles that it won:

    score(s, q) = mean(q) + w · ranks(s, q) + e(q, answer) + noise

with one w for all questions and languages (a ridge), and on each question a Gaussian process e
whose covariance is the cosine of answers (Rasmussen and Williams, 2006, section 2.7). Both
variances are constants. Each system can be left out without a refit (section 5.4.2), but for its
battles in the others' scores.

Without passages, preferences of other arenas' judges (``preferences.json``) are one more feature.
Formulas: docs/reference/surrogate.md, section 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from arena.data.types import Flags, Floats
from arena.statistics.significance import mean_of
from features.engine.extraction import plain_name
from features.measures.registry import FEATURES
from surrogate.learning.peers import PeerAnswers, PeerView
from surrogate.learning.surrogate import EXPLANATION_COLUMNS
from surrogate.learning.training_data import SMALLEST, TrainingRatings, places_in

LIKENESS_VARIANCE = 5.0
"""Of the process on a question, mean over its answers, in units of the noise."""


class Scored(NamedTuple):
    """Scores (shares of battles won) of a language's answers, (Q, N); 0 where not judged.

    ``scales`` are factors of likeness, by question, (Q,).
    """

    view: PeerView
    scores: Floats
    judged: Flags
    scales: Floats

    @classmethod
    def of(cls, view: PeerView, questions: Sequence[str], rated: TrainingRatings) -> Scored:
        """Count what the peers won on their questions."""
        items = rated.items
        pairs = items.pairs
        system_index = places_in(view.systems, rated.systems)
        question_index = places_in(questions, rated.questions)
        rows = question_index[items.question]
        won = np.zeros((len(questions), len(view.systems)))
        played = np.zeros_like(won)
        for sides, points in (
            (pairs.first, items.points),
            (pairs.second, items.counts - items.points),
        ):
            columns = system_index[sides[items.pair]]
            is_here = (rows >= 0) & (columns >= 0)
            cells = (rows[is_here], columns[is_here])
            np.add.at(won, cells, points[is_here])
            np.add.at(played, cells, items.counts[is_here])
        judged = (played > 0) & view.answered.T
        judged &= judged.sum(axis=1, keepdims=True) > 1
        scores = np.where(judged, won / np.maximum(played, 1e-300), 0.0)
        return cls(view, scores, judged, _scales(view.cosines, judged.astype(np.float64)))

    @property
    def means(self) -> Floats:
        """Return the mean score on each question, shape (Q,)."""
        return np.asarray(self.scores.sum(axis=1) / np.maximum(self.judged.sum(axis=1), 1))


def _scales(cosines: Floats, judged: Floats) -> Floats:
    """Return factors to a mean variance of 1, shape (Q,).

    It is judged answers' variance about their question's mean; 0 where all are alike.
    """
    n_judged = np.maximum(judged.sum(axis=1), 1)
    mean_variance = np.einsum("qnn,qn->q", cosines, judged) / n_judged
    sums = (cosines @ judged[:, :, None])[:, :, 0]
    variance_of_mean = np.einsum("qm,qm->q", sums, judged) / n_judged**2
    variances = mean_variance - variance_of_mean
    scales = np.zeros_like(variances)
    return np.asarray(np.divide(1.0, variances, out=scales, where=variances > SMALLEST))


class Solved(NamedTuple):
    """A language solved for any slopes.

    P is the inverse covariance of a question's scores about their unknown mean.
    """

    ranks: Floats  # P X, shape (Q, N, F)
    scores: Floats  # P y, shape (Q, N)
    diagonal: Floats  # of P, shape (Q, N); infinite where there is no score
    normal: Floats  # X'P X over all questions, shape (F, F)
    target: Floats  # X'P y over all questions, shape (F,)


class QuestionScores(NamedTuple):
    """The fitted regression.

    ``slopes`` are of ranks, (F,), ``duals`` weights of judged answers by language, (Q, N).
    ``left_out`` predicts each system's mean score less the others', left out in all languages,
    (N,), or NaN.
    """

    slopes: Floats
    languages: Mapping[str, Scored]
    duals: Mapping[str, Floats]
    left_out: Mapping[str, Floats]

    @classmethod
    def fit(cls, languages: Mapping[str, Scored], preferences: Floats) -> QuestionScores:
        """Learn from all languages: w = (V⁻¹ + Σ X'PX)⁻¹ Σ X'Py."""
        solved = {language: solved_language(scored) for language, scored in languages.items()}
        n_features = next(iter(languages.values())).view.ranks.shape[2]
        normal = np.zeros((n_features, n_features))
        target = np.zeros(n_features)
        for part in solved.values():
            normal += part.normal
            target += part.target
        # The F features together have a prior variance of 1; what other judges liked also has 1,
        # and mean 0, so that an arena that values the opposite turns it round. Its slope times the
        # preferences is part of the features' slopes: V = I / F + preferences preferences'.
        prior_covariance = np.eye(n_features) / n_features + np.outer(preferences, preferences)
        normal += np.linalg.inv(prior_covariance)
        slopes = np.asarray(np.linalg.solve(normal, target))
        duals = {language: part.scores - part.ranks @ slopes for language, part in solved.items()}
        left_out = _left_out(languages, solved, normal, target)
        return cls(slopes, languages, duals, left_out)

    def predict(self, language: str, view: PeerView, copied: Floats) -> Floats:
        """Return mean scores less the judged ones', shape (M,); ``copied`` shares, (Q, M, N)."""
        scores = view.ranks @ self.slopes
        by_likeness = np.zeros_like(scores)
        scored = self.languages.get(language)
        if scored is not None:
            judged = scored.judged.T
            of_judged = self._by_likeness(language, scored.view)
            # Only what is not copied counts, and likeness is linear in vectors.
            by_likeness = self._by_likeness(language, view)
            by_likeness -= np.einsum("qmn,nq->mq", copied, of_judged)
            judged_scores = scored.view.ranks @ self.slopes + of_judged
            n_judged = np.maximum(judged.sum(axis=0), 1)
            scores = scores - (judged_scores * judged).sum(axis=0) / n_judged
        uncopied = 1.0 - copied.sum(axis=2).T
        scores = np.where(view.answered, uncopied * scores + by_likeness, 0.0)
        return mean_of(scores.sum(axis=1), view.answered.sum(axis=1))

    def _by_likeness(self, language: str, view: PeerView) -> Floats:
        scale = LIKENESS_VARIANCE * self.languages[language].scales[:, None]
        return view.likeness((scale * self.duals[language]).T)


def solved_language(scored: Scored) -> Solved:
    """Multiply ranks and scores by P, in blocks of questions."""
    block_size = 1_000_000  # numbers of a question-by-system-by-system array
    # Ranks and scores of unjudged answers are 0, and their rows of the covariance are those of the
    # noise alone, so that they take no part.
    ranks = scored.view.ranks.transpose(1, 0, 2) * scored.judged[:, :, None]
    n_questions, n_systems, n_features = ranks.shape
    projected_ranks = np.zeros(ranks.shape)
    projected_scores = np.zeros(scored.scores.shape)
    diagonal = np.full(scored.scores.shape, np.inf)
    step = max(block_size // n_systems**2, 1)
    for start in range(0, n_questions, step):
        rows = slice(start, start + step)
        projection = _Projection.of(scored, rows)
        projected_ranks[rows] = projection.times(ranks[rows])
        projected_scores[rows] = projection.times(scored.scores[rows, :, None])[:, :, 0]
        is_judged = scored.judged[rows]
        diagonal[rows] = np.where(is_judged, np.maximum(projection.diagonal, SMALLEST), np.inf)
    flat_ranks = ranks.reshape(-1, n_features)
    return Solved(
        ranks=projected_ranks,
        scores=projected_scores,
        diagonal=diagonal,
        normal=flat_ranks.T @ projected_ranks.reshape(-1, n_features),
        target=flat_ranks.T @ projected_scores.ravel(),
    )


class _Projection(NamedTuple):
    """P of some questions: the inverse covariance of scores about each question's unknown mean.

    P = C⁻¹ - C⁻¹ 1 (1' C⁻¹ 1)⁻¹ 1' C⁻¹, with C the covariance of the scores.
    """

    inverse: Floats  # C⁻¹, shape (Q, N, N)
    sums: Floats  # C⁻¹ 1, shape (Q, N, 1)
    shares: Floats  # the sums over their total, shape (Q, N, 1)

    @classmethod
    def of(cls, scored: Scored, rows: slice) -> _Projection:
        judged = scored.judged[rows].astype(np.float64)
        cosines = scored.view.cosines[rows] * judged[:, :, None] * judged[:, None, :]
        variance = LIKENESS_VARIANCE * scored.scales[rows][:, None, None]
        inverse = np.asarray(np.linalg.inv(variance * cosines + np.eye(judged.shape[1])))
        sums = inverse @ judged[:, :, None]
        return cls(inverse, sums, sums / np.maximum(sums.sum(axis=1, keepdims=True), SMALLEST))

    def times(self, values: Floats) -> Floats:
        """Multiply P by values of shape (Q, N, F)."""
        return self.inverse @ values - self.shares * (self.sums.transpose(0, 2, 1) @ values)

    @property
    def diagonal(self) -> Floats:
        return np.asarray(np.einsum("qnn->qn", self.inverse) - (self.sums * self.shares)[:, :, 0])


def _slopes_without(
    system: str,
    languages: Mapping[str, Scored],
    solved: Mapping[str, Solved],
    normal: Floats,
    target: Floats,
) -> Floats:
    """Return the slopes without one system in any language, shape (F,).

    Leaving out answer s lowers X'PX by (PX)ₛ'(PX)ₛ / Pₛₛ, and X'Py by (PX)ₛ'(Py)ₛ / Pₛₛ.
    """
    for language, scored in languages.items():
        if system not in scored.view.systems:
            continue
        index = scored.view.systems.index(system)
        part = solved[language]
        ranks = part.ranks[:, index]
        scaled_ranks = ranks / part.diagonal[:, index, None]
        normal = normal - scaled_ranks.T @ ranks
        target = target - scaled_ranks.T @ part.scores[:, index]
    return np.asarray(np.linalg.solve(normal, target))


def _left_out(
    languages: Mapping[str, Scored],
    solved: Mapping[str, Solved],
    normal: Floats,
    target: Floats,
) -> dict[str, Floats]:
    slopes_without: dict[str, Floats] = {}
    left_out = {}
    for language, scored in languages.items():
        for system in scored.view.systems:
            if system not in slopes_without:
                slopes_without[system] = _slopes_without(system, languages, solved, normal, target)
        slopes = np.array([slopes_without[system] for system in scored.view.systems])
        left_out[language] = _left_out_scores(scored, solved[language], slopes)
    return left_out


def _left_out_scores(scored: Scored, solved: Solved, slopes: Floats) -> Floats:
    """Predict each system without its scores, shape (N,), by slopes (N, F)."""
    predicted = np.einsum("qnf,nf->qn", solved.ranks, slopes)
    residuals = (solved.scores - predicted) / solved.diagonal
    n_others = np.maximum(scored.judged.sum(axis=1, keepdims=True) - 1, 1)
    others_mean = (scored.scores.sum(axis=1, keepdims=True) - scored.scores) / n_others
    expected = np.where(scored.judged, scored.scores - residuals - others_mean, 0.0)
    return mean_of(expected.sum(axis=0), scored.judged.sum(axis=0))


@cache
def shipped_preferences() -> Mapping[str, Any]:
    """Read ``preferences.json``.

    A weight is the share of battles won more if the rank (-1 to 1) goes up by 1.
    """
    text = files("surrogate.learning").joinpath("preferences.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def shipped_weights() -> dict[str, float]:
    """Return a copy of the shipped weights, by feature."""
    return dict(shipped_preferences()["weights"])


def preference_slopes(
    weights: Mapping[str, float], names: Sequence[str], has_values: Flags
) -> Floats:
    """Arrange weights by features, (F,); 0 with passages' features."""
    for name, has_value in zip(names, has_values, strict=True):
        if has_value and reads_passages(name):
            return np.zeros(len(names))
    return np.array([weights.get(name, 0.0) for name in names])


def reads_passages(name: str) -> bool:
    """Return whether a column holds a feature of answers and their passages."""
    feature = FEATURES.get(plain_name(name))
    return feature is not None and "passages" in feature.needs


def explained(
    peers: PeerAnswers, view: PeerView, contributions: Floats, scored: Scored | None
) -> pd.DataFrame:
    """Explain M systems; ``contributions`` are logits by feature, (M, F)."""
    n_shown = 3
    rows = []
    for index, system in enumerate(view.systems):
        moved_by = []
        for feature in np.argsort(-np.abs(contributions[index]), kind="stable")[:n_shown]:
            added = round(float(contributions[index, feature]), 2)
            if added:
                difference = float(view.means[index, feature])
                moved_by.append((peers.names[feature], added, difference))
        like_winners: list[str] = []
        like_losers: list[str] = []
        if scored is not None:
            weights = _likeness_weights(view, scored, index)
            for question in np.argsort(-np.abs(weights), kind="stable"):
                if weights[question] > 0:
                    like_winners.append(peers.tensor.questions[question])
                elif weights[question] < 0:
                    like_losers.append(peers.tensor.questions[question])
        rows.append((peers.tensor.language, system, moved_by, like_winners, like_losers))
    return pd.DataFrame(rows, columns=EXPLANATION_COLUMNS)


def _likeness_weights(view: PeerView, scored: Scored, index: int) -> Floats:
    """Return the cosine with the most similar judged answer times its centered score, (Q,)."""
    cosines = np.where(scored.judged, view.cosines[:, index], 0.0)
    nearest = cosines.argmax(axis=1)
    advantages = scored.scores[np.arange(len(nearest)), nearest] - scored.means
    return np.asarray(advantages * np.maximum(cosines.max(axis=1), 0.0))
