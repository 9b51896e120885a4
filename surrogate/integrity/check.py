"""The integrity check: what a board knows of how answers look that nobody tampered with.

Each measure of an answer is taken relative to the judged systems' answers to the same question, and
averaged over a system's answers. How far real systems lie apart is known from the judged ones, each
measured by the others alone; how far damaged answers would lie, from damaging theirs. A system is
anomalous where it lies beyond what a further real system would (a prediction interval by Student's
t, whose error is divided among the measures) and at least a quarter of the way to damaged answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import t as student

from arena.data.seeds import generator
from surrogate.integrity.damage import DAMAGES, Original
from surrogate.integrity.evidence import read_evidence
from surrogate.integrity.measures import MEASURES, measured
from surrogate.integrity.references import JudgedAnswers, References, learn_references
from surrogate.integrity.texts import AnswerBatch, Floats, Integers

FALSE_ALARM_RATE = 0.05
"""Of real systems, in a language, that may be found anomalous."""
LEAST_SHARE = 0.25
"""Of the way to damaged answers from which a system is anomalous, however alike others are."""
FEWEST_REFERENCES = 3
"""Judged systems that are needed."""
MOST_QUESTIONS_READ = 200
"""Questions of a language that are learned from at most, so that a board stays small."""
DAMAGED_ANSWERS = 100
"""Answers that are damaged in each way, of a language."""
FEWEST_DAMAGED = 3


@dataclass(frozen=True)
class Anomaly:
    """What is wrong with a system's answers in one language.

    Attributes:
        measure: Name of the measure.
        share: How far the system is on the way from real to damaged answers.
        limit: From where that is an anomaly.
        sentence: The same in words.
    """

    measure: str
    share: float
    limit: float
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Spread:
    """How real systems differ, measure by measure; every array has the shape (M,).

    Attributes:
        systems: Number of systems.
        center: Mean of their values.
        deviation: Standard deviation of the same.
        noise: Variance of a single answer's value about its system's.
        answers: Answers that a system's value is a mean of.
    """

    systems: Floats
    center: Floats
    deviation: Floats
    noise: Floats
    answers: Floats

    def limits(self, answers: Floats, measures: int) -> Floats:
        """Return the values beyond which a further real system lies too rarely.

        Args:
            answers: Answers that its values are means of, shape (M,).
            measures: Measures among which the rate of false alarms is divided.
        """
        freedom = np.maximum(self.systems - 1, 1)
        size = np.maximum(self.systems, 1)
        quantile = student.ppf(1 - FALSE_ALARM_RATE / max(measures, 1), freedom)
        fewer = np.maximum(1 / np.maximum(answers, 1) - 1 / np.maximum(self.answers, 1), 0.0)
        variance = self.deviation**2 * (1 + 1 / size) + self.noise * fewer
        return np.asarray(self.center + quantile * np.sqrt(variance))


@dataclass(frozen=True)
class LanguageCheck:
    """The check of one language.

    Attributes:
        questions: The Q questions it knows.
        references: What the judged answers to them say.
        levels: Mean of each measure over the judged systems' answers, shape (Q, M).
        spread: How real systems differ.
        effects: How far damaged answers lie from real ones, shape (M,); NaN where not known.
    """

    questions: tuple[str, ...]
    references: References
    levels: Floats
    spread: Spread
    effects: Floats

    @property
    def usable(self) -> tuple[str, ...]:
        """Measures by which damage can be told from real systems here."""
        limits = _shares(self.spread.limits(self.spread.answers, self._count), self)
        return tuple(
            measure.name for measure, limit in zip(MEASURES, limits, strict=True) if limit <= 1
        )

    @property
    def _count(self) -> int:
        return int(np.isfinite(self.effects).sum())

    def anomalies(self, rows: pd.DataFrame, queries: pd.DataFrame) -> dict[str, tuple[Anomaly, ...]]:
        """Find what is wrong with systems' answers.

        Args:
            rows: Columns ``system, query_id, answer``; answers to questions it does not know are
                left out.
            queries: Columns ``query_id, query, passages``.

        Returns:
            System to its anomalies, the gravest first; systems without any are left out.
        """
        place = {name: index for index, name in enumerate(self.questions)}
        known = rows[rows["query_id"].isin(place)]
        asked = sorted(known["query_id"].unique())
        evidence = read_evidence(queries[queries["query_id"].isin(asked)], self.questions)
        found = {}
        for system, own in known.groupby("system"):
            places = own["query_id"].map(place).to_numpy(np.intp)
            batch = AnswerBatch.of(list(own["answer"]), places)
            values = measured(batch, self.references, evidence)
            wrong = _anomalies(self, values, values - self.levels[places])
            if wrong:
                found[str(system)] = wrong
        return found


def _shares(values: Floats, check: LanguageCheck) -> Floats:
    """Return how far values are on the way to damaged answers; infinite where none is known."""
    effects = check.effects
    is_known = np.isfinite(effects) & (effects > 0)
    out = np.full(len(effects), np.inf)
    return np.asarray(np.divide(values - check.spread.center, effects, out=out, where=is_known))


def _anomalies(check: LanguageCheck, values: Floats, relative: Floats) -> tuple[Anomaly, ...]:
    answers = np.isfinite(relative).sum(axis=0).astype(np.float64)
    means = _means(relative)
    limits = np.maximum(_shares(check.spread.limits(answers, check._count), check), LEAST_SHARE)
    shares, levels = _shares(means, check), _means(values)
    wrong = []
    for place, measure in enumerate(MEASURES):
        share, limit = float(shares[place]), float(limits[place])
        if limit <= 1 and np.isfinite(means[place]) and share > limit:
            shown = share if measure.is_relative else float(levels[place])
            sentence = measure.sentence.format(f"{min(shown, 1.0):.0%}")
            wrong.append(Anomaly(measure.name, share, limit, sentence))
    return tuple(sorted(wrong, key=lambda item: -item.share))


@dataclass(frozen=True)
class LearnedLanguage:
    """What learning a language's check gave.

    Attributes:
        check: The check.
        judged: Anomalies of the judged systems, each found by a check learned from the others.
    """

    check: LanguageCheck
    judged: Mapping[str, tuple[Anomaly, ...]]


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
    if len(systems) < FEWEST_REFERENCES:
        return None
    questions = _some_questions(sorted(rows["query_id"].unique()), language, seed)
    place = {name: index for index, name in enumerate(questions)}
    kept = rows[rows["query_id"].isin(place)]
    batches = [_batch(kept[kept["system"] == system], place) for system in systems]
    judged = learn_references(batches, len(questions))
    evidence = read_evidence(queries, questions)
    asked = queries.drop_duplicates("query_id").set_index("query_id").loc[list(questions)]
    random = generator(seed, "integrity", language)
    values, damaged = [], []
    for index, batch in enumerate(batches):
        known = judged.without(index)
        values.append(measured(batch, known, evidence))
        damaged.append(_damaged_values(batch, known, evidence, asked, len(systems), random))
    return _calibrated(judged, values, damaged, questions, systems)


def _calibrated(
    judged: JudgedAnswers,
    values: Sequence[Floats],
    damaged: Sequence[tuple[Integers, Floats]],
    questions: Sequence[str],
    systems: Sequence[str],
) -> LearnedLanguage:
    """Compare real systems with each other, and with their damaged answers."""
    totals, times = np.zeros((2, len(questions), len(MEASURES)))
    for batch, own in zip(judged.batches, values, strict=True):
        np.add.at(totals, batch.questions, np.nan_to_num(own))
        np.add.at(times, batch.questions, np.isfinite(own).astype(np.float64))
    relative, effects = [], []
    for batch, own, (places, spoiled) in zip(judged.batches, values, damaged, strict=True):
        asked = batch.questions
        others = totals[asked] - np.nan_to_num(own), times[asked] - np.isfinite(own)
        level = np.divide(*others, out=np.full(own.shape, np.nan), where=others[1] > 0)
        relative.append(own - level)
        effects.append(_means(spoiled - level[places]))
    levels = np.divide(totals, times, out=np.full(totals.shape, np.nan), where=times > 0)
    means = np.array([_means(own) for own in relative])
    answers = np.array([np.isfinite(own).sum(axis=0) for own in relative], dtype=np.float64)
    noise = np.array([_variances(own) for own in relative])
    spoiled_means = np.array(effects)

    def check(kept: npt.NDArray[np.bool_]) -> LanguageCheck:
        spread = Spread(
            np.isfinite(means[kept]).sum(axis=0).astype(np.float64),
            _means(means[kept]),
            np.sqrt(_variances(means[kept])),
            np.nan_to_num(_means(noise[kept])),
            _means(np.where(answers[kept] > 0, answers[kept], np.nan)),
        )
        return LanguageCheck(
            tuple(questions),
            judged.all,
            levels,
            spread,
            _means(spoiled_means[kept]) - spread.center,
        )

    found = {}
    for index, system in enumerate(systems):
        others_only = check(np.arange(len(systems)) != index)
        wrong = _anomalies(others_only, values[index], relative[index])
        if wrong:
            found[system] = wrong
    return LearnedLanguage(check(np.ones(len(systems), np.bool_)), found)


def _damaged_values(
    batch: AnswerBatch,
    known: References,
    evidence: object,
    asked: pd.DataFrame,
    systems: int,
    random: np.random.Generator,
) -> tuple[Integers, Floats]:
    """Measure some answers of a system once they are damaged, each measure on its own damage."""
    count = max(-(-DAMAGED_ANSWERS // systems), FEWEST_DAMAGED)
    size = len(batch.texts)
    places = np.unique(np.linspace(0, size - 1, min(count, size)).round().astype(np.intp))
    rows = asked.iloc[batch.questions[places]]
    passages = [[str(item["text"]) for item in items] for items in rows["passages"]]
    texts = [batch.texts[place] for place in places]
    original = Original(texts, list(rows["query"].astype(str)), passages, random)
    columns = []
    for measure in MEASURES:
        spoiled = DAMAGES[measure.damage](original)
        changed = AnswerBatch.of(spoiled, batch.questions[places])
        columns.append(measure.values(changed, known, evidence))  # type: ignore[arg-type]
    return places, np.column_stack(columns)


def _batch(rows: pd.DataFrame, place: Mapping[str, int]) -> AnswerBatch:
    ordered = rows.sort_values("query_id", kind="stable")
    return AnswerBatch.of(list(ordered["answer"]), ordered["query_id"].map(place).to_numpy(np.intp))


def _some_questions(questions: Sequence[str], language: str, seed: int) -> tuple[str, ...]:
    if len(questions) <= MOST_QUESTIONS_READ:
        return tuple(questions)
    order = generator(seed, "integrity questions", language).permutation(len(questions))
    return tuple(sorted(questions[place] for place in order[:MOST_QUESTIONS_READ]))


def _means(values: Floats) -> Floats:
    """Mean of the finite values along the first axis; NaN where there is none."""
    present = np.isfinite(values)
    totals, times = np.where(present, values, 0.0).sum(axis=0), present.sum(axis=0)
    return np.asarray(np.divide(totals, times, out=np.full(times.shape, np.nan), where=times > 0))


def _variances(values: Floats) -> Floats:
    """Variance of the finite values along the first axis; NaN with fewer than two."""
    present = np.isfinite(values)
    squares = np.where(present, values - _means(values), 0.0) ** 2
    times = present.sum(axis=0) - 1
    out = np.full(times.shape, np.nan)
    return np.asarray(np.divide(squares.sum(axis=0), times, out=out, where=times > 0))
