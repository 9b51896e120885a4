"""What the judged systems' answers, real and damaged, say of how far real systems lie apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.seeds import generator
from surrogate.integrity.anomalies import (
    Anomaly,
    LanguageCheck,
    Spread,
    column_variances,
)
from surrogate.integrity.damage import DAMAGES, Original
from surrogate.integrity.evidence import Evidence, read_evidence
from surrogate.integrity.measures import MEASURES, measured
from surrogate.integrity.references import JudgedAnswers, References, learn_references
from surrogate.integrity.texts import AnswerBatch, Floats, Integers
from surrogate.learning.training import finite_means

FEWEST_JUDGED = 3
"""Judged systems that are needed to know how real ones differ."""
MOST_QUESTIONS_READ = 200
"""Questions of a language that are learned from at most, so that a board stays small."""
DAMAGED_ANSWERS = 100
"""Answers of a language that are damaged in each way."""
FEWEST_DAMAGED = 3
"""Answers of a system that are damaged in each way."""


@dataclass(frozen=True)
class LearnedLanguage:
    """What learning a language's check gave.

    Attributes:
        check: The check.
        judged: Judged systems with what a check learned from the others finds wrong with them.
    """

    check: LanguageCheck
    judged: Mapping[str, list[Anomaly]]


def learn_language(
    rows: pd.DataFrame, queries: pd.DataFrame, language: str, seed: int = 0
) -> LearnedLanguage | None:
    """Learn the check of one language from the judged systems' answers.

    Args:
        rows: Columns ``system, query_id, answer`` of the judged systems.
        queries: Columns ``query_id, query, passages`` of the language.
        language: Language code.
        seed: Seed of what is drawn.

    Returns:
        None with fewer than three systems.
    """
    systems = sorted(rows["system"].unique())
    if len(systems) < FEWEST_JUDGED:
        return None
    questions = _some_questions(sorted(rows["query_id"].unique()), language, seed)
    place = {name: index for index, name in enumerate(questions)}
    kept = rows[rows["query_id"].isin(place)]
    evidence = read_evidence(queries, questions)
    batches = [
        _batch(kept[kept["system"] == system], place, evidence.passage_ids) for system in systems
    ]
    judged = learn_references(batches, len(questions))
    asked = queries.drop_duplicates("query_id").set_index("query_id").loc[list(questions)]
    count = max(-(-DAMAGED_ANSWERS // len(systems)), FEWEST_DAMAGED)
    real, damaged = [], []
    for index, batch in enumerate(batches):
        known = judged.without(index)
        random = generator(seed, "integrity", language, *batch.texts)
        real.append(measured(batch, known, evidence))
        damaged.append(_damaged(batch, known, evidence, asked, count, random))
    measurements = _Measurements.of(judged, real, damaged)
    everybody = np.ones(len(systems), np.bool_)
    found = {}
    for index, system in enumerate(systems):
        others = measurements.check(questions, everybody & (np.arange(len(systems)) != index))
        wrong = others.compare(real[index], measurements.relative[index])
        if wrong:
            found[system] = wrong
    check = measurements.check(questions, everybody)
    return LearnedLanguage(LanguageCheck.from_arrays(questions, check.arrays()), found)


@dataclass(frozen=True)
class _Measurements:
    """What was measured on the answers of S judged systems to Q questions.

    Attributes:
        judged: The answers.
        relative: Measures of each system's answers less the mean of the others' to the question.
        levels: Mean over systems of each question's answers, shape (Q, M).
        means: Mean of each system's relative measures, shape (S, M).
        noise: Variance of the same, shape (S, M).
        answers: Number of answers that these are of, shape (S, M).
        damaged: Mean of each system's damaged answers, shape (S, M).
    """

    judged: JudgedAnswers
    relative: tuple[Floats, ...]
    levels: Floats
    means: Floats
    noise: Floats
    answers: Floats
    damaged: Floats

    @classmethod
    def of(
        cls,
        judged: JudgedAnswers,
        real: Sequence[Floats],
        damaged: Sequence[tuple[Integers, Floats]],
    ) -> _Measurements:
        """Set measures of answers, each of shape (N, M), against the level of their questions."""
        totals, times = np.zeros((2, len(judged.all.answers), len(MEASURES)))
        for batch, own in zip(judged.batches, real, strict=True):
            np.add.at(totals, batch.questions, np.nan_to_num(own))
            np.add.at(times, batch.questions, np.isfinite(own).astype(np.float64))
        relative, spoiled_means = [], []
        for batch, own, (places, spoiled) in zip(judged.batches, real, damaged, strict=True):
            others = totals[batch.questions] - np.nan_to_num(own)
            level = _divided(others, times[batch.questions] - np.isfinite(own))
            relative.append(own - level)
            spoiled_means.append(finite_means(spoiled - level[places]))
        return cls(
            judged,
            tuple(relative),
            _divided(totals, times),
            np.array([finite_means(own) for own in relative]),
            np.array([column_variances(own) for own in relative]),
            np.array([np.isfinite(own).sum(axis=0) for own in relative], dtype=np.float64),
            np.array(spoiled_means),
        )

    def check(self, questions: tuple[str, ...], systems: npt.NDArray[np.bool_]) -> LanguageCheck:
        """Make the check of some of the systems."""
        means, answers = self.means[systems], self.answers[systems]
        spread = Spread(
            np.isfinite(means).sum(axis=0).astype(np.float64),
            finite_means(means),
            np.sqrt(column_variances(means)),
            np.nan_to_num(finite_means(self.noise[systems])),
            finite_means(np.where(answers > 0, answers, np.nan)),
        )
        effects = finite_means(self.damaged[systems]) - spread.center
        return LanguageCheck(questions, self.judged.all, self.levels, spread, effects)


def _damaged(
    batch: AnswerBatch,
    known: References,
    evidence: Evidence,
    asked: pd.DataFrame,
    count: int,
    random: np.random.Generator,
) -> tuple[Integers, Floats]:
    """Damage some answers of a system, and measure each kind by its own measure.

    Returns:
        The places of the answers among the system's, shape (N,), and the measures, shape (N, M).
    """
    size = len(batch.texts)
    places = np.unique(np.linspace(0, size - 1, min(count, size)).round().astype(np.intp))
    rows = asked.iloc[batch.questions[places]]
    passages = [[str(item["text"]) for item in items] for items in rows["passages"]]
    texts = [batch.texts[place] for place in places]
    original = Original(texts, list(rows["query"].astype(str)), passages, random)
    columns = [
        measure.values(
            AnswerBatch.of(
                DAMAGES[measure.damage](original), batch.questions[places], evidence.passage_ids
            ),
            known,
            evidence,
        )
        for measure in MEASURES
    ]
    return places, np.column_stack(columns)


def _batch(
    rows: pd.DataFrame, place: Mapping[str, int], passage_ids: Sequence[tuple[str, ...]]
) -> AnswerBatch:
    ordered = rows.sort_values("query_id", kind="stable")
    places = ordered["query_id"].map(place).to_numpy(np.intp)
    return AnswerBatch.of(list(ordered["answer"]), places, passage_ids)


def _some_questions(questions: Sequence[str], language: str, seed: int) -> tuple[str, ...]:
    if len(questions) <= MOST_QUESTIONS_READ:
        return tuple(questions)
    order = generator(seed, "integrity questions", language).permutation(len(questions))
    return tuple(sorted(questions[place] for place in order[:MOST_QUESTIONS_READ]))


def _divided(totals: Floats, times: Floats) -> Floats:
    return np.asarray(np.divide(totals, times, out=np.full(totals.shape, np.nan), where=times > 0))
