"""What is wrong with a system's answers, against how far real systems lie apart.

Each measure of an answer is taken relative to the judged systems' answers to the same question, and
averaged over a system's answers. A system is anomalous where it lies beyond what a further real
system would: a prediction interval by Student's t, whose rate of false alarms is divided among the
measures (Bonferroni). How far it lies is told as a share of the way to damaged answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from scipy.stats import t as student

from arena.data.errors import UsageError
from surrogate.integrity.evidence import read_evidence
from surrogate.integrity.measures import MEASURES, measured
from surrogate.integrity.references import References
from surrogate.integrity.texts import FOLDED, AnswerBatch, Floats
from surrogate.learning.training import finite_means

FALSE_ALARM_RATE = 0.05
"""Of real systems, in a language, that may be found anomalous."""
NOTED = 0.25
"""Share of the way to damaged answers from which an anomaly is worth a note."""
SUMS = ("systems", "center", "deviation", "noise", "answers")
"""Arrays of ``Spread``."""
Arrays = Mapping[str, npt.NDArray[np.generic]]


@dataclass(frozen=True)
class Anomaly:
    """What is wrong with a system's answers in one language.

    Attributes:
        measure: Name of the measure.
        share: How far the system is on the way from real to damaged answers; 1 is there.
        limit: Beyond which share that is too rare among real systems; what is a fact, such as
            copied passages, is named before.
        is_grave: Whether the system is not to be ranked by such answers.
        sentence: The same in words.
    """

    measure: str
    share: float
    limit: float
    is_grave: bool
    sentence: str


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
        size = np.maximum(self.systems, 1)
        quantile = student.ppf(1 - FALSE_ALARM_RATE / max(measures, 1), np.maximum(size - 1, 1))
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

    def damages(self, *, are_told: bool) -> tuple[str, ...]:
        """Return the kinds of damage that are told from real systems here, or that are not.

        Of all answers of a system; kinds that cannot be, such as passages where there are none,
        are neither.
        """
        limits = self._shares(self.spread.limits(self.spread.answers, self._count))
        known = np.isfinite(self.effects)
        return tuple(
            measure.damage
            for measure, limit, is_known in zip(MEASURES, limits, known, strict=True)
            if is_known and (limit <= 1) == are_told
        )

    def anomalies(self, rows: pd.DataFrame, queries: pd.DataFrame) -> dict[str, list[Anomaly]]:
        """Find what is wrong with systems' answers.

        Args:
            rows: Columns ``system, query_id, answer``; answers to questions that it does not know
                are left out.
            queries: Columns ``query_id, query, passages``.

        Returns:
            System to its anomalies, the gravest first; systems without any are left out.
        """
        place = {name: index for index, name in enumerate(self.questions)}
        known = rows[rows["query_id"].isin(place)]
        asked = set(known["query_id"])
        evidence = read_evidence(queries[queries["query_id"].isin(asked)], self.questions)
        found = {}
        for system, own in known.groupby("system"):
            places = own["query_id"].map(place).to_numpy(np.intp)
            batch = AnswerBatch.of(list(own["answer"]), places, evidence.passage_ids)
            values = measured(batch, self.references, evidence)
            wrong = self.compare(values, values - self.levels[places])
            if wrong:
                found[str(system)] = wrong
        return found

    def compare(self, values: Floats, relative: Floats) -> list[Anomaly]:
        """Find what is wrong with one system's answers.

        Args:
            values: Measures of its N answers, shape (N, M).
            relative: The same less the level of the question, shape (N, M).
        """
        answers = np.isfinite(relative).sum(axis=0).astype(np.float64)
        limits = self._shares(self.spread.limits(answers, self._count))
        shares, means = self._shares(finite_means(relative)), finite_means(values)
        wrong = []
        for measure, share, limit, mean in zip(MEASURES, shares, limits, means, strict=True):
            least = max(limit, NOTED)
            is_rare = np.isfinite(share) and least <= 1 and share > least
            if is_rare or (measure.is_named and NOTED <= share < np.inf):
                shown = min(share if measure.is_relative else mean, 1.0)
                is_grave = bool(is_rare and share >= measure.grave)
                sentence = measure.sentence.format(f"{shown:.0%}")
                wrong.append(Anomaly(measure.name, float(share), float(limit), is_grave, sentence))
        return sorted(wrong, key=lambda item: (not item.is_grave, -item.share))

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """What to keep of it beside the names of the questions."""
        known, pairs = self.references, sparse.coo_array(self.references.pairs)
        return {
            "weights": known.weights.astype(np.float32),
            "sums": known.sums.astype(np.float16),
            "words": known.words,
            "pair_codes": (pairs.row * np.int64(len(known.words)) + pairs.col).astype(np.uint32),
            "pair_counts": pairs.data.astype(np.uint32),
            "numbers": known.numbers,
            "lengths": known.lengths.astype(np.float32),
            "answered": known.answers.astype(np.uint32),
            "levels": self.levels.astype(np.float32),
            "effects": self.effects.astype(np.float32),
            **{name: getattr(self.spread, name).astype(np.float32) for name in SUMS},
        }

    @classmethod
    def from_arrays(cls, questions: tuple[str, ...], arrays: Arrays) -> LanguageCheck:
        """Undo ``arrays``, which a file may have held.

        Raises:
            UsageError: If they are not those of a check of these questions.
        """
        _check_arrays(len(questions), arrays)
        floats = {
            name: np.asarray(array, np.float64)
            for name, array in arrays.items()
            if name not in _HASHES
        }
        words = np.asarray(arrays["words"], np.uint64)
        codes = np.asarray(arrays["pair_codes"], np.int64)
        size = max(len(words), 1)
        pairs = sparse.csr_array(
            (floats["pair_counts"], (codes // size, codes % size)), shape=(len(words), len(words))
        )
        numbers = np.asarray(arrays["numbers"], np.uint64)
        references = References(
            floats["weights"],
            floats["sums"],
            words,
            pairs,
            numbers,
            floats["lengths"],
            floats["answered"],
        )
        spread = Spread(**{name: floats[name] for name in SUMS})
        return cls(questions, references, floats["levels"], spread, floats["effects"])

    @property
    def _count(self) -> int:
        return int(np.isfinite(self.effects).sum())

    def _shares(self, values: Floats) -> Floats:
        """Return how far values are on the way to damaged answers; infinite where not known."""
        is_known = np.isfinite(self.effects) & (self.effects > 0)
        out = np.full(len(values), np.inf)
        centered = values - self.spread.center
        return np.asarray(np.divide(centered, self.effects, out=out, where=is_known))


_HASHES = ("words", "numbers", "pair_codes")


def _check_arrays(questions: int, arrays: Arrays) -> None:
    """Check the types and shapes of what a file held."""
    size, words = (len(MEASURES),), arrays.get("words", np.empty(0))
    shapes = {
        "weights": (FOLDED,),
        "sums": (questions, FOLDED),
        **dict.fromkeys(("words", "pair_codes", "numbers"), (-1,)),
        "pair_counts": np.shape(arrays.get("pair_codes", ())),
        **dict.fromkeys(("lengths", "answered"), (questions,)),
        "levels": (questions, *size),
        **dict.fromkeys(("effects", *SUMS), size),
    }
    if set(arrays) != set(shapes):
        raise UsageError("its arrays are not those of a check")
    for name, shape in shapes.items():
        array = arrays[name]
        fits = array.ndim == 1 if shape == (-1,) else array.shape == shape
        kind = "u" if name in {*_HASHES, "pair_counts", "answered"} else "f"
        if not fits or array.dtype.kind != kind:
            raise UsageError(f"its {name} have another type or shape")
        may_miss = name in {"levels", "effects", *SUMS}
        if kind == "f" and (np.isinf(array) | (np.isnan(array) & (not may_miss))).any():
            raise UsageError(f"its {name} hold what is no number")
    codes = arrays["pair_codes"]
    if len(codes) and int(codes.max()) >= len(words) ** 2:
        raise UsageError("its pairs are of words that it does not have")


def column_variances(values: Floats) -> Floats:
    """Return the variance of the finite values of each column; NaN with fewer than two."""
    present = np.isfinite(values)
    squares = np.where(present, values - finite_means(values), 0.0) ** 2
    times = present.sum(axis=0) - 1
    out = np.full(times.shape, np.nan)
    return np.asarray(np.divide(squares.sum(axis=0), times, out=out, where=times > 0))
