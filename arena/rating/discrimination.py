"""How much each judge's verdicts tell about the systems: one discrimination per judge, no labels.

The model (Xu et al., 2026, "A judge-aware ranking framework for evaluating large language models
without ground truth", arXiv 2601.21817): judge j prefers system i to system k with probability
sigma(a_j (theta_i - theta_k)), a tie being half a win for both. Ratings theta and discriminations a
are fitted together. A judge that decides by chance has a discrimination near 0.

Formulas: docs/reference/formulas.md, "Verdicts".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.special import expit, log_expit

from arena.data.schema import QUESTION_KEY
from arena.data.types import Floats, Indices
from arena.rating.battles import Battles
from arena.rating.penalized_likelihood import DEFAULT_RIDGE
from arena.statistics.significance import NORMAL_95

LOG_DEVIATION = 0.5
"""Standard deviation of the logarithm of a discrimination before any verdict."""

LanguageJudge = tuple[str, str]
"""A language and the name of a judge."""


@dataclass(frozen=True)
class JudgeAwareFit:
    """Ratings of systems by several judges, and how much each judge tells.

    Attributes:
        judges: The J judges, in the order in which they were named.
        n_verdicts: Number of verdicts of each, shape (J,).
        discriminations: Of each judge, relative to the geometric mean of all, shape (J,); NaN of a
            judge without verdicts.
        log_errors: Standard errors of their logarithms, questions being drawn, shape (J,); NaN with
            one question.
        ratings: By language and system, in logits of a judge with a discrimination of 1; the mean
            of a language is 0.
    """

    judges: tuple[str, ...]
    n_verdicts: Indices
    discriminations: Floats
    log_errors: Floats
    ratings: pd.Series

    def table(self) -> pd.DataFrame:
        """Return discriminations with 95% intervals, the largest first.

        Returns:
            Columns ``judge, verdicts, discrimination, low, high``.
        """
        factors = np.exp(NORMAL_95 * self.log_errors)
        table = pd.DataFrame(
            {
                "judge": self.judges,
                "verdicts": self.n_verdicts,
                "discrimination": self.discriminations,
                "low": self.discriminations / factors,
                "high": self.discriminations * factors,
            }
        )
        return table.sort_values(
            "discrimination", ascending=False, kind="stable", ignore_index=True
        )


def judge_discriminations(judgments: pd.DataFrame, judges: Sequence[str]) -> JudgeAwareFit:
    """Fit ratings and one discrimination per judge to the verdicts of several judges.

    Args:
        judgments: Columns ``language, query_id, system_a, system_b, winner, judge``.
        judges: Names of the judges; verdicts of others are left out.
    """
    chosen = judgments[judgments["judge"].isin(list(judges))]
    battles: dict[LanguageJudge, Battles] = {}
    for (language, judge), rows in chosen.groupby(["language", "judge"], observed=True):
        battles[str(language), str(judge)] = Battles.from_judgments(rows)
    return fit_judges(battles, judges)


def fit_judges(battles: Mapping[LanguageJudge, Battles], judges: Sequence[str]) -> JudgeAwareFit:
    """Fit what ``judge_discriminations`` fits to battles by language and judge.

    Ratings have the usual weak prior; the logarithm of a discrimination has a normal prior about 0.
    """
    # Loaded here, as it takes time that arenas with one judge do not need.
    from scipy.optimize import minimize

    items = _Items.of(battles, judges)
    n_judges = len(items.judges)
    start = np.zeros(len(items.systems) + n_judges)
    mode = minimize(items.loss, start, jac=True, method="L-BFGS-B", options={"gtol": 1e-9}).x
    ratings = pd.Series(mode[: len(items.systems)], items.systems, dtype=np.float64)
    logs = mode[len(items.systems) :]
    covariance = items.covariance(mode)
    n_verdicts = np.bincount(items.judge, items.counts, n_judges).round().astype(np.intp)
    # The scale of ratings and discriminations is arbitrary: the judges' geometric mean is 1.
    has_verdicts = n_verdicts > 0
    share = has_verdicts / max(has_verdicts.sum(), 1)
    center = np.eye(n_judges) - share
    variances = np.diag(center @ covariance @ center.T)
    mean_log = float(share @ logs)
    is_estimable = has_verdicts & (items.n_questions > 1)
    centered = ratings - ratings.groupby(level=0).transform("mean")
    return JudgeAwareFit(
        judges=items.judges,
        n_verdicts=n_verdicts,
        discriminations=np.where(has_verdicts, np.exp(logs - mean_log), np.nan),
        log_errors=np.where(is_estimable, np.sqrt(np.maximum(variances, 0.0)), np.nan),
        ratings=centered * np.exp(mean_log),
    )


@dataclass(frozen=True)
class _Items:
    """What J judges decided on N items, an item being a pair on a question by one judge.

    Parameters are the ratings of S systems, then the logarithms of J discriminations.

    Attributes:
        judges: The judges.
        systems: Language and system of the S ratings.
        judge: Judge of each item, shape (N,).
        first: First system of each item's pair, shape (N,).
        second: Second system, shape (N,).
        question: Question, shape (N,).
        points: Points of the first system, shape (N,).
        counts: Number of verdicts, shape (N,).
        n_questions: Number of questions of all languages.
    """

    judges: tuple[str, ...]
    systems: pd.MultiIndex
    judge: Indices
    first: Indices
    second: Indices
    question: Indices
    points: Floats
    counts: Floats
    n_questions: int

    @classmethod
    def of(cls, battles: Mapping[LanguageJudge, Battles], judges: Sequence[str]) -> _Items:
        """Put the battles of all languages and judges behind each other."""
        names = tuple(dict.fromkeys(judges))
        parts = []
        for (language, judge), part in battles.items():
            items = part.items
            systems = np.array(part.systems, dtype=object)
            questions = np.array(part.questions, dtype=object)
            table = pd.DataFrame(
                {
                    "language": language,
                    "judge": names.index(judge),
                    "first": systems[items.pairs.first[items.pair]],
                    "second": systems[items.pairs.second[items.pair]],
                    "query_id": questions[items.question],
                    "points": items.points,
                    "counts": items.counts,
                }
            )
            parts.append(table)
        columns = [*QUESTION_KEY, "judge", "first", "second", "points", "counts"]
        table = pd.concat(parts) if parts else pd.DataFrame(columns=columns, dtype=object)
        first_keys = pd.MultiIndex.from_frame(table[["language", "first"]])
        second_keys = pd.MultiIndex.from_frame(table[["language", "second"]])
        systems_index = first_keys.append(second_keys).unique().sort_values()
        question_ids = table.groupby(QUESTION_KEY).ngroup().to_numpy(np.intp)
        return cls(
            judges=names,
            systems=systems_index.set_names(["language", "system"]),
            judge=table["judge"].to_numpy(np.intp),
            first=systems_index.get_indexer(first_keys),
            second=systems_index.get_indexer(second_keys),
            question=question_ids,
            points=table["points"].to_numpy(np.float64),
            counts=table["counts"].to_numpy(np.float64),
            n_questions=int(question_ids.max(initial=-1)) + 1,
        )

    def loss(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the penalized negative log-likelihood, and its gradient, shape (S + J,)."""
        logits = self._logits(parameters)
        log_likelihood = self.points @ log_expit(logits)
        log_likelihood += (self.counts - self.points) @ log_expit(-logits)
        residuals = self.points - self.counts * expit(logits)
        precisions = self._precisions
        loss = 0.5 * float(precisions @ parameters**2) - float(log_likelihood)
        gradient = precisions * parameters - self._jacobian(parameters).T @ residuals
        return loss, np.asarray(gradient)

    def covariance(self, parameters: Floats) -> Floats:
        """Covariance of the logarithms where questions are drawn, shape (J, J).

        It is the sandwich H M H, with H the inverse of the posterior precision and M the variance
        of the questions' scores and of the prior.
        """
        n_judges = len(self.judges)
        jacobian = self._jacobian(parameters)
        expected = expit(self._logits(parameters))
        weights = self.counts * expected * (1.0 - expected)
        information = (jacobian.T @ diags_array(weights) @ jacobian).toarray()
        inverse = np.linalg.inv(information + np.diag(self._precisions))[-n_judges:]
        residuals = self.points - self.counts * expected
        membership = coo_array(
            (residuals, (self.question, np.arange(len(residuals)))),
            shape=(self.n_questions, len(residuals)),
        )
        scores = membership.tocsr() @ jacobian
        correction = self.n_questions / max(self.n_questions - 1, 1)
        middle = correction * (scores.T @ scores).toarray() + np.diag(self._precisions)
        return np.asarray(inverse @ middle @ inverse.T)

    @property
    def _precisions(self) -> Floats:
        ratings = np.full(len(self.systems), DEFAULT_RIDGE)
        return np.concatenate([ratings, np.full(len(self.judges), LOG_DEVIATION**-2)])

    def _differences(self, parameters: Floats) -> Floats:
        return np.asarray(parameters[self.first] - parameters[self.second])

    def _factors(self, parameters: Floats) -> Floats:
        logs = parameters[len(self.systems) :]
        return np.asarray(np.exp(logs)[self.judge])

    def _logits(self, parameters: Floats) -> Floats:
        return self._factors(parameters) * self._differences(parameters)

    def _jacobian(self, parameters: Floats) -> csr_array:
        """Derivatives of the logits, shape (N, S + J)."""
        factors = self._factors(parameters)
        values = np.concatenate([factors, -factors, factors * self._differences(parameters)])
        columns = np.concatenate([self.first, self.second, len(self.systems) + self.judge])
        rows = np.tile(np.arange(len(factors)), 3)
        shape = (len(factors), len(self.systems) + len(self.judges))
        return coo_array((values, (rows, columns)), shape=shape).tocsr()
