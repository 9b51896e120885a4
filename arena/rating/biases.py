"""Biases of judges: the side or the length of an answer, or another trait.

A bias is a coefficient of one judge in the logit that A beats B, with a normal prior about 0
(docs/reference/formulas.md, "Likelihood").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy

from arena.data.errors import UsageError
from arena.data.schema import ANSWER_KEY, QUESTION_KEY
from arena.data.types import Flags, Floats, Indices
from arena.statistics.significance import NORMAL_95
from arena.text.answers import parse_answer

SIDE = "side"
"""Trait of the answer on side A."""
TRAIT = "trait_"
"""Start of the columns of judgments that hold by how much A exceeds B in a trait."""
SIDE_PRECISION = 4.0
"""Precision of the prior of side A's coefficient: a standard deviation of half a logit.

Of 20 LLM judges on five public arenas the coefficient had a root mean square of .7, of people it
was below .2. Where sides were dealt by name, a prior twice as wide moved the rankings of fair
judges."""
MOST_UNCERTAIN = 0.95
"""Error of side A's coefficient, in its prior's deviations, above which verdicts do not tell it."""


SIDES_NOT_TOLD = "sides vary too little to tell a preference for one from the systems' strength"


@dataclass(frozen=True)
class Biases:
    """Preferences of J judges for F traits, in the logits of P pairs.

    There are C = J F coefficients, a judge's together.

    Attributes:
        judge: Judge of each pair, shape (P,).
        values: By how much the first answer exceeds the second in each trait, shape (P, F).
        precisions: Of each trait's normal prior about 0, shape (F,).
    """

    judges: tuple[str, ...]
    traits: tuple[str, ...]
    judge: Indices
    values: Floats
    precisions: Floats

    @classmethod
    def none(cls, n_pairs: int) -> Biases:
        """Return no coefficient at all."""
        no_judge = np.zeros(n_pairs, dtype=np.intp)
        return cls((), (), no_judge, np.empty((n_pairs, 0)), np.empty(0))

    @classmethod
    def of_judges(
        cls,
        judge: Indices,
        judges: tuple[str, ...],
        is_sided: Indices,
        traits: tuple[str, ...] = (),
        differences: Floats | None = None,
    ) -> Biases:
        """Return coefficients of each judge, for a pair's first (``is_sided``) and for traits."""
        # Precision of the prior of all other coefficients: a standard deviation of one logit. Of
        # length the same judges had 0 to 2.6 logits, people up to 2.7
        trait_precision = 1.0
        names = traits
        precisions = [trait_precision] * len(traits)
        values = np.empty((len(judge), 0)) if differences is None else differences
        if is_sided.any():
            names = (SIDE, *names)
            precisions = [SIDE_PRECISION, *precisions]
            values = np.column_stack([is_sided.astype(np.float64), values])
        return cls(judges, names, judge, values, np.array(precisions))

    def __len__(self) -> int:
        return len(self.judges) * len(self.traits)

    @property
    def is_sided(self) -> Indices:
        """Return 1 for pairs whose sides were shown, else 0, shape (P,)."""
        if SIDE not in self.traits:
            return np.zeros(len(self.judge), dtype=np.intp)
        return self.values[:, self.traits.index(SIDE)].astype(np.intp)

    @cached_property
    def prior_precisions(self) -> Floats:
        """Return the precision of each coefficient, shape (C,)."""
        return np.tile(self.precisions, len(self.judges))

    @cached_property
    def design(self) -> scipy.sparse.csr_array:
        """Return each coefficient's factor in the logit of each pair, shape (P, C)."""
        n_traits = len(self.traits)
        n_pairs = len(self.judge)
        columns: Indices = self.judge[:, None] * n_traits + np.arange(n_traits)
        starts = n_traits * np.arange(n_pairs + 1)
        entries = (self.values.ravel(), columns.ravel(), starts)
        return scipy.sparse.csr_array(entries, shape=(n_pairs, len(self)))

    @cached_property
    def _transposed_design(self) -> scipy.sparse.csr_array:
        # Rows of coefficients are summed in a quarter of the time of columns.
        return self.design.T.tocsr()

    def logits(self, coefficients: Floats) -> Floats:
        """Add up what judges like about first answers: (C,) to (P,)."""
        return np.asarray(self.design @ coefficients)

    def sums(self, values: Floats) -> Floats:
        """Add values of pairs, times traits, to coefficients (transposed ``logits``)."""
        return np.asarray(self._transposed_design @ values)

    def information(self, weights: Floats) -> Floats:
        """Sum weighted x x' over pairs with traits x: (P,) to (C, C)."""
        n_traits = len(self.traits)
        matrix = np.zeros((len(self.judges), n_traits, len(self.judges), n_traits))
        judges = np.arange(len(self.judges))
        for trait in range(n_traits):
            sums = self.sums(weights * self.values[:, trait])
            matrix[judges, trait, judges] = sums.reshape(-1, n_traits)
        return matrix.reshape(len(self), len(self))

    def estimated(
        self, coefficients: Floats, standard_errors: Floats, own_errors: Floats
    ) -> tuple[JudgeBias, ...]:
        """Name the coefficients, (C,); ``own_errors`` know nothing of ratings."""
        estimated = []
        for number, (judge, trait) in enumerate(product(self.judges, self.traits)):
            deviation = SIDE_PRECISION**-0.5
            is_known = trait != SIDE or own_errors[number] < MOST_UNCERTAIN * deviation
            estimate = float(coefficients[number]), float(standard_errors[number])
            estimated.append(JudgeBias(judge, trait, *estimate, bool(is_known)))
        return tuple(estimated)

    def take(self, pairs: Flags) -> Biases:
        """Keep some pairs."""
        return replace(self, judge=self.judge[pairs], values=self.values[pairs])


class JudgeBias(NamedTuple):
    """Preference of one judge, or ``people``, for a trait, in logits per unit.

    ``is_known`` if verdicts, rather than priors, tell it from the strength of systems.
    """

    judge: str
    trait: str
    coefficient: float
    standard_error: float
    is_known: bool = True

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the 95% interval."""
        half_width = NORMAL_95 * self.standard_error
        return self.coefficient - half_width, self.coefficient + half_width


LENGTH = "length"


def with_lengths(judgments: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Add by how much A is longer than B; NaN without answers."""
    lengths = answer_lengths(answers)
    of_a, of_b = (values_of_side(judgments, side, lengths) for side in ("system_a", "system_b"))
    return judgments.assign(**{f"{TRAIT}{LENGTH}": length_difference(of_a, of_b)})


def answer_lengths(answers: pd.DataFrame) -> pd.Series:
    """Return the characters of answers without reasons, by ``ANSWER_KEY``."""
    lengths = [float(len(parse_answer(answer).text)) for answer in answers["answer"]]
    index = pd.MultiIndex.from_frame(answers[ANSWER_KEY])
    return pd.Series(lengths, index, dtype=np.float64)


def values_of_side(judgments: pd.DataFrame, side: str, by_answer: pd.Series) -> Floats:
    """Look up values of the answers on one side, shape (N,); NaN where absent."""
    keys = pd.MultiIndex.from_frame(judgments[[*QUESTION_KEY, side]], names=ANSWER_KEY)
    values = by_answer[~by_answer.index.duplicated()]
    return np.asarray(values.reindex(keys), dtype=np.float64)


def length_difference(of_a: Floats, of_b: Floats) -> Floats:
    """Return log ratios of lengths within -1 and 1, shape (N,)."""
    # An answer without text counts as one character.
    return np.clip(np.log(np.maximum(of_a, 1.0) / np.maximum(of_b, 1.0)), -1.0, 1.0)


def trait_differences(columns: pd.DataFrame) -> Floats | None:
    """Return A's excess over B in each trait, shape (N, F)."""
    if not len(columns.columns):
        return None
    differences: Floats = columns.to_numpy(np.float64)
    is_finite = np.isfinite(differences).all(axis=0)
    if not is_finite.all():
        name = columns.columns[int(np.argmin(is_finite))]
        raise UsageError(f"{name} holds values that are not finite numbers")
    return differences
