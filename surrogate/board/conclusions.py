"""Agreement of a board's ratings with verdicts they have not seen, and the conclusions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict

from arena.data.wording import Remark
from arena.statistics.significance import NORMAL_95


def _none_for_nan(value: object) -> object:
    if isinstance(value, float | np.floating) and not np.isfinite(value):
        return None
    return value


Number = Annotated[float | None, BeforeValidator(_none_for_nan)]
"""A number, or null where it is not defined."""


class SummaryPart(BaseModel):
    """A part of ``summary.json``."""

    # Most parts are only read inside another: their own validators are never needed.
    model_config = ConfigDict(frozen=True, defer_build=True)


Standing = Literal["shown", "likely", "untested", "unproven", "unknown"]
"""Whether a surrogate ranks unseen systems better than chance; see ``Agreements.standing``."""
TAU_ELSEWHERE, SPREAD_ELSEWHERE = 0.55, 0.17
"""Tau of unseen systems in other arenas with 3 to 12 judged systems, and its standard deviation
between arenas (``benchmarks/few_systems.py``); with all systems judged it is 0.75."""
USELESS_ELSEWHERE = 0.1
"""Share of arenas in which a surrogate may tell nothing, before this one is looked at."""
LIKELY = 0.5
"""Probability that a surrogate tells something, from which unseen systems are ranked."""


def probability_of_use(tau: float, standard_error: float, n_systems: int) -> float:
    """Return the probability that a surrogate ranks unseen systems at all.

    Bayes' rule with a mixture prior over arenas: tau is normal about ``TAU_ELSEWHERE`` in most, and
    about 0 in ``USELESS_ELSEWHERE`` of them, both with ``SPREAD_ELSEWHERE``. The error is at least
    that of tau without association (Kendall, 1938).
    """
    if n_systems > 1:
        null_variance = 2 * (2 * n_systems + 5) / (9 * n_systems * (n_systems - 1))
        standard_error = max(standard_error, math.sqrt(null_variance))
    spread = math.hypot(SPREAD_ELSEWHERE, standard_error)
    deviation_if_useful = (tau - TAU_ELSEWHERE) / spread
    deviation_if_useless = tau / spread
    useful = (1 - USELESS_ELSEWHERE) * math.exp(-(deviation_if_useful**2) / 2)
    useless = USELESS_ELSEWHERE * math.exp(-(deviation_if_useless**2) / 2)
    return useful / (useful + useless)


UNSEEN_RANKED = Remark(
    "unseen", "info", "The surrogate ranks systems it has not seen better than chance."
)
UNSEEN_LIKELY = Remark(
    "unseen",
    "warning",
    "The surrogate probably ranks systems it has not seen better than chance, as it did "
    "in most other arenas, but the few systems here do not prove it: heed the intervals.",
)
UNSEEN_BY_DOUBTFUL_JUDGE = Remark(
    "unseen",
    "warning",
    "It is not known whether the surrogate ranks systems it has not seen better than "
    "chance: it did in most other arenas, but systems are few here, and their judge is "
    "questionable. Heed the intervals.",
)
UNSEEN_BY_CHANCE = Remark(
    "unseen",
    "warning",
    "The surrogate is not shown to rank unseen systems better than chance here: a system "
    "without verdicts has neither rank nor place until it is judged.",
)
UNSEEN_UNKNOWN = Remark(
    "unseen",
    "warning",
    "How well a surrogate ranks unseen systems is not known here: rely on verdicts.",
)
UNSEEN_UNTESTED = Remark(
    "unseen",
    "warning",
    "Too few systems are judged to test whether the surrogate ranks systems it has not "
    "seen better than chance: intervals rest on other arenas.",
)
UNSEEN_BY_NOTHING = Remark(
    "unseen",
    "warning",
    "There is nothing for a surrogate to learn from verdicts that are all the same: a "
    "system without verdicts has no rank.",
)
UNSEEN_CONCLUSIONS: Mapping[Standing, Remark] = {
    "shown": UNSEEN_RANKED,
    "likely": UNSEEN_LIKELY,
    "untested": UNSEEN_UNTESTED,
    "unproven": UNSEEN_BY_CHANCE,
    "unknown": UNSEEN_UNKNOWN,
}
GAINED = Remark(
    "gain",
    "info",
    "Ratings by verdicts and surrogate agree better with the verdicts on other questions "
    "than ratings by verdicts alone.",
)
NOT_GAINED = Remark(
    "gain",
    "info",
    "Ratings by verdicts and surrogate are not shown to agree better with the verdicts on "
    "other questions than ratings by verdicts alone.",
)
SMALL_GAIN = 0.05
"""In tau; where intervals are wider on the lower side, a gain could hardly be shown."""
GAIN_UNSURE = Remark(
    "gain",
    "info",
    "With so few systems the surrogate's gain over the verdicts is unknown: a gain "
    f"of {SMALL_GAIN:g} in tau would be within the error.",
)
LOST = Remark(
    "gain",
    "warning",
    "Ratings by verdicts alone agree better with the verdicts on other questions than "
    "those by verdicts and surrogate: rely on verdicts alone here.",
)
NOT_SPLIT = Remark(
    "gain",
    "warning",
    "How ratings hold on other questions is not known: verdicts are missing, all ties, or "
    "on too few systems or questions to compare two halves of them.",
)
ON_NUMBERS = (UNSEEN_RANKED, UNSEEN_LIKELY, UNSEEN_BY_CHANCE, GAINED, NOT_GAINED, LOST)
"""Conclusions from a number, which is a mean where a board has several languages."""
UNJUDGED_BY_CONSENSUS = Remark(
    "unjudged",
    "warning",
    "Ranks rest on no verdict: they say how far answers agree with those of others, and "
    "with references and relevance labels where there are any. On public arenas their Kendall tau "
    "with verdicts was 0.07 to 0.50. Have some pairs judged, and build the board again.",
)
UNJUDGED_BY_PREFERENCES = Remark(
    "unjudged",
    "warning",
    "Ranks rest on no verdict: they say how far answers have what judges of other arenas "
    "liked, and agree with references where there are any. On public arenas their Kendall tau with "
    "verdicts was 0.47 to 0.86. Have some pairs judged, and build the board again.",
)
UNJUDGED_BY_NOTHING = Remark(
    "unjudged",
    "warning",
    "Nothing that can be compared without verdicts tells the systems apart. Have some pairs "
    "judged, and build the board again.",
)
Basis = Literal["verdicts", "preferences", "consensus", "nothing"]
REMARKS_BY_BASIS: Mapping[Basis, Remark] = {
    "preferences": UNJUDGED_BY_PREFERENCES,
    "consensus": UNJUDGED_BY_CONSENSUS,
    "nothing": UNJUDGED_BY_NOTHING,
}
"""What ranks without verdicts mean, by basis; a board takes the first that any language has."""


def on_mean(conclusion: Remark, mean: str) -> Remark:
    """Say that a conclusion is on a mean over languages."""
    if not mean or conclusion not in ON_NUMBERS:
        return conclusion
    # What follows from a finding is decided language by language.
    finding = conclusion.sentence.removesuffix(".").partition(":")[0]
    sentence = f"In the {mean} {finding[0].lower()}{finding[1:]}."
    return replace(conclusion, sentence=sentence)


def of_judge(conclusion: Remark, *, has_fault: bool) -> Remark:
    """Limit a conclusion by a faulty judge."""
    return UNSEEN_BY_DOUBTFUL_JUDGE if has_fault and conclusion == UNSEEN_LIKELY else conclusion


class Agreements(SummaryPart):
    """Agreement of ratings with verdicts they have not seen.

    Attributes:
        basis: What ranks answers: verdicts, ``consensus``, other judges' ``preferences``, nothing.
        tau: Kendall tau-b of the trained surrogate with ratings by verdicts alone (MIRAGE-Bench,
            table 2), with a 95% bootstrap interval over systems and questions.
        tau_unseen: Kendall tau-b by surrogates trained without the system (three to five folds),
            with its 95% bootstrap interval over systems.
        r2_unseen: R² of the same predictions; 0 for the training mean.
        coverage_unseen: Share of ratings inside their 90% intervals.
        is_untested: Whether too few systems are judged.
        systems_compared: Judged systems that ``tau_unseen`` compares.
        split_half: Kendall tau-b of ratings by half of the questions with verdicts on the other.
        split_half_verdicts: The same for ratings by the verdicts alone.
        gain_low: Lower bound of ``gain``, ``split_half`` less ``split_half_verdicts``.
    """

    basis: Basis = "verdicts"
    is_untested: bool = False
    systems_compared: int = 0
    tau: Number = None
    tau_low: Number = None
    tau_high: Number = None
    tau_unseen: Number = None
    tau_unseen_low: Number = None
    tau_unseen_high: Number = None
    r2_unseen: Number = None
    coverage_unseen: Number = None
    split_half: Number = None
    split_half_verdicts: Number = None
    gain_low: Number = None
    gain_high: Number = None

    @property
    def conclusions(self) -> tuple[Remark, ...]:
        """Say what these scores mean, first for unseen systems."""
        if self.basis in REMARKS_BY_BASIS:
            return (REMARKS_BY_BASIS[self.basis],)
        return self._on_unseen(), self._on_gain()

    @property
    def gain(self) -> float | None:
        """Return the surrogate's gain in tau on other questions."""
        if self.split_half is None or self.split_half_verdicts is None:
            return None
        return self.split_half - self.split_half_verdicts

    def _on_gain(self) -> Remark:
        if self.gain is None or self.gain_low is None or self.gain_high is None:
            return NOT_SPLIT
        if self.gain_low > 0:
            return GAINED
        if self.is_lost:
            return LOST
        could_show_gain = self.gain - self.gain_low <= SMALL_GAIN
        return NOT_GAINED if could_show_gain else GAIN_UNSURE

    @property
    def is_lost(self) -> bool:
        """Return whether verdicts alone agree better with verdicts on other questions."""
        return self.gain_high is not None and self.gain_high < 0

    @property
    def standing(self) -> Standing:
        """Return whether the surrogate ranks unseen systems better than chance.

        ``shown`` here, ``likely`` by other arenas, or ``unproven``; without an interval of tau
        ``untested`` if other arenas tell the width of intervals, else ``unknown``.
        """
        if self.tau_unseen is None or self.tau_unseen_low is None or self.tau_unseen_high is None:
            return "untested" if self.is_untested else "unknown"
        if self.tau_unseen_low > 0:
            return "shown"
        error = (self.tau_unseen_high - self.tau_unseen_low) / (2 * NORMAL_95)
        probability = probability_of_use(self.tau_unseen, error, self.systems_compared)
        return "likely" if probability >= LIKELY else "unproven"

    @property
    def ranks_unseen(self) -> bool:
        """Return whether systems without verdicts are ranked."""
        return self.standing in ("shown", "likely", "untested")

    def _on_unseen(self) -> Remark:
        return UNSEEN_CONCLUSIONS[self.standing]
