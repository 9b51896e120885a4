"""What judges like besides quality: the side, the length or the style of an answer.

A bias is a coefficient of one judge in the logit that A beats B, for side A or a unit of length,
say. A normal prior about 0 shrinks it (docs/reference/formulas.md, "Verdicts"). Style is Chatbot
Arena's (Li, Angelopoulos and Chiang, 2024, "Does style matter?").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
import pandas as pd

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
    """What J judges may like besides quality, F traits, in the logits of P pairs.

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

    def logits(self, coefficients: Floats) -> Floats:
        """Add up what judges like about first answers: (C,) to (P,)."""
        by_judge = coefficients.reshape(len(self.judges), len(self.traits))
        return np.asarray((self.values * by_judge[self.judge]).sum(axis=1))

    def sums(self, values: Floats) -> Floats:
        """Add values of pairs, times traits, to coefficients (transposed ``logits``)."""
        sums = np.empty((len(self.judges), len(self.traits)))
        for trait in range(len(self.traits)):
            products = self.values[:, trait] * values
            sums[:, trait] = np.bincount(self.judge, products, len(self.judges))
        return sums.ravel()

    def information(self, weights: Floats) -> Floats:
        """Sum weighted x x' over pairs with traits x: (P,) to (C, C)."""
        n_traits = len(self.traits)
        matrix = np.zeros((len(self.judges), n_traits, len(self.judges), n_traits))
        judges = np.arange(len(self.judges))
        for trait in range(n_traits):
            sums = self.sums(weights * self.values[:, trait])
            matrix[judges, trait, judges] = sums.reshape(-1, n_traits)
        return matrix.reshape(len(self), len(self))

    def crossed(self, systems: Indices, n_systems: int, weights: Floats) -> Floats:
        """Sum weighted traits over the pairs of each system, (P,) each, to (S, C)."""
        n_judges = len(self.judges)
        crossed = np.empty((n_systems, n_judges, len(self.traits)))
        cells = systems * n_judges + self.judge
        for trait in range(len(self.traits)):
            sums = np.bincount(cells, weights * self.values[:, trait], n_systems * n_judges)
            crossed[:, :, trait] = sums.reshape(n_systems, n_judges)
        return crossed.reshape(n_systems, len(self))

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


@dataclass(frozen=True)
class JudgeBias:
    """What one judge, or ``people``, likes besides quality, in logits per unit of the trait.

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
_LIST_ITEM = re.compile(r"^[ \t]{0,12}(?:[-*+•]|\d{1,3}[.)])[ \t]", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]", re.MULTILINE)
_BOLD = re.compile(r"\*\*[^*\n]{1,500}\*\*|(?<!\w)__[^_\n]{1,500}__(?!\w)")
_COUNTED: Mapping[str, Callable[[str], int]] = {
    LENGTH: len,
    "lists": lambda text: len(_LIST_ITEM.findall(text)),
    "headings": lambda text: len(_HEADING.findall(text)),
    "bold": lambda text: len(_BOLD.findall(text)),
}


def is_measured(trait: str) -> bool:
    """Return whether a trait is counted in the text of an answer."""
    return trait in _COUNTED


def count_trait(trait: str, answer: str) -> float:
    """Count a trait in an answer; of ``length`` the characters."""
    return float(_COUNTED[trait](parse_answer(answer).text))


def answer_traits(answers: pd.DataFrame, traits: Sequence[str] = (LENGTH,)) -> pd.DataFrame:
    """Count traits of answers without reasons, by ``ANSWER_KEY``."""
    texts = [parse_answer(answer).text for answer in answers["answer"]]
    counts = {name: [float(_COUNTED[name](text)) for text in texts] for name in traits}
    index = pd.MultiIndex.from_frame(answers[ANSWER_KEY])
    return pd.DataFrame(counts, index=index, dtype=np.float64)


def with_traits(
    judgments: pd.DataFrame, answers: pd.DataFrame, traits: Sequence[str]
) -> pd.DataFrame:
    """Add A's excess over B in each trait; NaN without answers."""
    counts = answer_traits(answers, traits)
    counts = counts[~counts.index.duplicated()]
    of_a, of_b = (_counts_of(judgments, side, counts) for side in ("system_a", "system_b"))
    added: dict[str, Floats] = {}
    for column, name in enumerate(traits):
        added[f"{TRAIT}{name}"] = relative_difference(name, of_a[:, column], of_b[:, column])
    return judgments.assign(**added)


def relative_difference(trait: str, of_a: Floats, of_b: Floats) -> Floats:
    """Return A's excess over B in a trait, shape (N,).

    Of lengths, the log ratio within -1 and 1; of counts, (a - b) / (a + b), or 0; of numbers that
    may be below 0, a - b over its root mean square.
    """
    if trait == LENGTH:
        # An answer without text counts as one character.
        return np.clip(np.log(np.maximum(of_a, 1.0) / np.maximum(of_b, 1.0)), -1.0, 1.0)
    differences = of_a - of_b
    totals = of_a + of_b
    if (of_a < 0).any() or (of_b < 0).any():
        totals = np.full(len(differences), np.sqrt(np.nanmean(differences**2)))
    return np.divide(differences, totals, out=differences.copy(), where=totals > 0)


def _counts_of(judgments: pd.DataFrame, side: str, counts: pd.DataFrame) -> Floats:
    keys = pd.MultiIndex.from_frame(judgments[[*QUESTION_KEY, side]], names=ANSWER_KEY)
    return np.asarray(counts.reindex(keys), dtype=np.float64)


def trait_differences(columns: pd.DataFrame) -> Floats | None:
    """Return A's excess over B in each trait, shape (N, F)."""
    if not len(columns.columns):
        return None
    differences: Floats = columns.to_numpy(np.float64)
    if not np.isfinite(differences).all():
        raise UsageError("a judgment has no finite difference of its answers in a trait")
    return differences
