"""Notes on answers: facts that keep a system from a rank, and remarks that do not.

A fact is that answers are empty, the same whatever was asked, or fit other questions as well as
their own. All else that is unusual among the judged systems is a remark in neutral words: there are
honest reasons for it, and a reader decides.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from arena.data.types import Flags, Floats
from arena.data.wording import Remark
from surrogate.checks.likeness import FEWEST_JUDGED
from surrogate.learning.surrogate import Surrogate

Key = tuple[str, str]
"""Language and system."""


@dataclass(frozen=True)
class Findings:
    """What is unusual in answers, and whose copies they are.

    Attributes:
        notes: Language and system to remarks on its answers; an ``error`` costs it the rank.
        originals: Language and system to the judged system of which it is a near-copy.
    """

    notes: Mapping[Key, Sequence[Remark]] = field(default_factory=dict)
    originals: Mapping[Key, str] = field(default_factory=dict)


def flag_judged(rows: pd.DataFrame, judged: Mapping[str, Collection[str]]) -> Flags:
    """Flag the rows of systems that are judged in their language, shape (N,).

    Args:
        rows: Columns ``language, system``.
        judged: Language to its judged systems.
    """
    is_judged = np.zeros(len(rows), dtype=bool)
    for language, systems in judged.items():
        is_here = (rows["language"] == language) & rows["system"].isin(systems)
        is_judged |= is_here.to_numpy(bool)
    return is_judged


class Fact(NamedTuple):
    """A measure that keeps a system from a rank.

    Attributes:
        measure: Its name.
        least: The value that it must exceed.
        margin: By how much it must exceed that of every judged system, if it is less than 1.
        sentence: Text of the note.
    """

    measure: str
    least: float
    margin: float
    sentence: str


FACTS = (
    Fact(
        "same",
        least=0.5,
        margin=0.3,
        sentence="{:.0%} of its answers are the same text whatever was asked, or empty",
    ),
    Fact(
        "misfit",
        least=0.25,
        margin=0.2,
        sentence="its answers fit other questions as well as their own",
    ),
)


class Unusual(NamedTuple):
    """A measure that is noted where it is unusual.

    Attributes:
        measure: Its name.
        typical_deviation: Its standard deviation among a board's systems, about that of the judged
            systems of rakuda and trec-rag25 (of ``shared``, that of the lower half; of ``loose``,
            of those of seven arenas).
        sentence: Text of the note.
    """

    measure: str
    typical_deviation: float
    sentence: str


UNUSUAL = (
    Unusual(
        "shared",
        0.04,
        "judged answers explain {value:.0%} of the wording of a quarter of its answers "
        "({usual:.0%} is usual), most of it those of {nearest}",
    ),
    Unusual(
        "verbatim",
        0.04,
        "its answers have places where {value:.0%} of the letters stand as in judged answers "
        "({usual:.0%} is usual)",
    ),
    Unusual(
        "asked",
        0.1,
        "its answers repeat {value:.0%} of the text of their questions ({usual:.0%} is usual)",
    ),
    Unusual(
        "repeated",
        0.03,
        "its answers to other questions explain {value:.0%} of its wording ({usual:.0%} is usual)",
    ),
    Unusual(
        "elsewhere",
        0.03,
        "its answers are like judged answers to another question (cosine {value:.2f}, {usual:.2f} "
        "is usual)",
    ),
    Unusual(
        "new_pairs",
        0.07,
        "{value:.0%} of its pairs of words are in no judged answer and no passage ({usual:.0%} is "
        "usual)",
    ),
    Unusual(
        "new_run",
        0.12,
        "its answers have places where {value:.0%} of the pairs of words are in no judged answer "
        "and no passage ({usual:.0%} is usual)",
    ),
    Unusual(
        "loose",
        0.05,
        "its answers have places where words of judged answers without their order have "
        "{value:.0%} of the weight ({usual:.0%} is usual)",
    ),
    Unusual(
        "reversed",
        0.0125,
        "{value:.0%} of its neighboring words stand in the reverse order of judged answers "
        "({usual:.0%} is usual, 50% of shuffled words)",
    ),
    Unusual(
        "doubled",
        0.07,
        "{value:.0%} of its runs of three words are repeated within an answer ({usual:.0%} is "
        "usual)",
    ),
)


def is_conspicuous(measures: pd.DataFrame) -> bool:
    """Return whether any system has a measure that, unless judged ones have it, bars it."""
    return any((measures[fact.measure] > fact.least).any() for fact in FACTS)


def facts_about(measures: pd.Series, judged: pd.DataFrame) -> Iterator[Remark]:
    """Yield what keeps a system from a rank: far beyond any judged system.

    Args:
        measures: The measures of a system, by name; the series is named by the system.
        judged: The same of the judged systems, one row each.
    """
    for fact in FACTS:
        value = float(measures[fact.measure])
        largest = judged[fact.measure].drop(measures.name, errors="ignore").max()
        # Without any other judged system the largest value is NaN, and nothing excuses this one.
        is_usual = value <= largest + fact.margin
        if value > fact.least and (value == 1 or not is_usual):
            yield Remark(
                subject=str(measures.name),
                name=fact.measure,
                severity="error",
                sentence=fact.sentence.format(value),
                statistic=value,
            )
            # One reason is enough: answers that are all the same fit no question, too.
            return


def remarks_about(measures: pd.Series, judged: pd.DataFrame) -> Iterator[Remark]:
    """Yield what hardly any ordinary system would have, by the spread of the judged systems.

    Args:
        measures: The measures of a system, by name; the series is named by the system.
        judged: The same of the judged systems, one row each.
    """
    # Probability that any measure of an ordinary system lies beyond its bound (Bonferroni).
    probability = 0.05 / len(UNUSUAL)
    # Judged systems as which the typical deviation counts: a few alone bound nothing closely.
    n_prior = 8
    for remark in UNUSUAL:
        value = float(measures[remark.measure])
        judged_values = judged[remark.measure].dropna().to_numpy()
        n_judged = len(judged_values)
        if n_judged < FEWEST_JUDGED:
            continue
        center = float(judged_values.mean())
        judged_deviation = float(judged_values.std(ddof=1))
        if remark.measure == "shared":
            center = float(np.median(judged_values))
            judged_deviation = _lower_deviation(judged_values, center)
        # The moderated t statistic (Smyth, 2004): variances are averaged by degrees of freedom.
        squares = n_prior * remark.typical_deviation**2 + (n_judged - 1) * judged_deviation**2
        deviation = math.sqrt(squares / (n_prior + n_judged - 1))
        if value > center + beyond_ordinary(probability, n_judged, n_prior) * deviation:
            # Measures are shares and cosines. That of an answer to a question to which all are
            # alike may exceed 1, as if its question were a usual one.
            shown = min(value, 1.0)
            sentence = remark.sentence.format(
                value=shown, usual=center, nearest=measures["nearest"]
            )
            yield Remark(remark.measure, "info", sentence, str(measures.name), shown)


def _lower_deviation(values: Floats, center: float) -> float:
    """Return the standard deviation by the values up to the median.

    Judged systems that are versions of each other lie far above it: theirs would hide copies.
    """
    lower = values[values <= center]
    squares = float(np.sum((lower - center) ** 2))
    return math.sqrt(squares / max(len(lower) - 0.5, 1.0))


def beyond_ordinary(probability: float, n_judged: int, n_prior: int = 0) -> float:
    """Return how many standard deviations one more value exceeds with a small probability.

    It is Student's quantile for one more value of a normal sample: further away where few systems
    are judged.

    Args:
        probability: Of exceeding it.
        n_judged: Size of the sample.
        n_prior: Degrees of freedom of the deviation beyond the sample's own.
    """
    quantile = float(stdtrit(n_prior + n_judged - 1, 1 - probability))
    return quantile * math.sqrt(1 + 1 / n_judged)


def unusual_features(surrogate: Surrogate, X: pd.DataFrame) -> dict[Key, tuple[Remark]]:
    """Find systems whose rating gains from a feature far beyond the judged systems' values.

    Args:
        surrogate: The board's.
        X: Feature table of systems without verdicts; with the column ``answer`` where the
            surrogate reads answers.

    Returns:
        Language and system to a note that names these features, by what they add.
    """
    if X.empty:
        return {}
    # Probability that any feature of an ordinary system lies beyond its bound.
    probability = 0.01
    # Logits that a feature must add to a rating to be named.
    least_gain = 0.02
    effects = surrogate.feature_effects(X)
    # The more features are tested, the further some feature of an ordinary system lies away.
    n_features = max(effects["feature"].nunique(), 1)
    is_testable = (effects["count"] >= FEWEST_JUDGED) & (effects["deviation"] > 0)
    effects = effects[is_testable & (effects["added"] >= least_gain)]
    bounds = effects["count"].map(partial(beyond_ordinary, probability / n_features))
    distances = (effects["value"] - effects["usual"]).abs()
    is_beyond = distances > bounds * effects["deviation"]
    notes = {}
    for (language, system), rows in effects[is_beyond].groupby(["language", "system"]):
        rows = rows.sort_values("added", ascending=False, kind="stable")
        gain = float(rows["added"].sum())
        features = ", ".join(rows["feature"])
        sentence = (
            f"its rating gains {gain:.2f} logits by features far from the judged systems': "
            f"{features}"
        )
        remark = Remark("features", "info", sentence, str(system), gain)
        notes[str(language), str(system)] = (remark,)
    return notes
