"""What a board says about itself: agreement, holdout scores, what was skipped and why."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, computed_field

from arena.data.arena import Arena
from arena.data.schema import REFERENCE
from arena.data.tables import plain_records
from arena.data.types import Flags, Floats
from arena.diagnostics.judge_label import JudgeLabel
from arena.statistics.significance import NORMAL_QUANTILE
from surrogate.board.settings import BoardRecord

LEVEL = 0.9
"""Share of new systems whose arena rating a conformal interval is to hold."""
WIDE = "too few systems to do better"
POOLED = "too few systems, so that they rest on those of all others, too"
UNPROVEN = "not ranked until it is judged: the surrogate is not shown to beat chance here"
"""Why a system whose rating rests on a surrogate that is not shown to work has no rank."""
RATED_BY = {
    "posterior": "verdicts and surrogate",
    "surrogate": "the trained surrogate",
    "consensus": "how far answers agree, without any verdict",
}
"""What a board's ratings are by, as its settings have it, to words."""
HELD_MARK = "*"
HELD_OUT = "held out: the surrogate was not trained on it"
"""What a board marks a system by, where ``split`` says so, and what the mark means."""
SHARES = "shares of the other systems' answers that a system's answers agree more than"
WORTH = " What it expects of one is worth about {:,.0f} verdicts on it."
SMALL_GAIN = 0.05
"""In tau; where intervals are wider on the lower side, a gain could hardly be shown."""


def _none_for_nan(value: object) -> object:
    if isinstance(value, float | np.floating) and not np.isfinite(value):
        return None
    return value


Number = Annotated[float | None, BeforeValidator(_none_for_nan)]
"""A number, or null where it is not defined."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


Standing = Literal["shown", "likely", "unproven", "unknown"]
"""Whether a surrogate ranks unseen systems better than chance; see ``Agreements.standing``."""
TAU_ELSEWHERE, SPREAD_ELSEWHERE = 0.75, 0.17
"""Tau of unseen systems in sixteen other arenas, mean and standard deviation between them."""
USELESS_ELSEWHERE = 0.1
"""Share of arenas in which a surrogate may tell nothing, before this one is looked at."""
LIKELY = 0.9
"""Probability that a surrogate tells something, from which unseen systems are ranked."""


def probability_of_use(tau: float, standard_error: float) -> float:
    """Return how probably a surrogate tells something of unseen systems, given its tau here.

    Before any is seen, arenas are taken for a mixture: in most, tau is about ``TAU_ELSEWHERE``;
    in ``USELESS_ELSEWHERE`` of them it is about 0, both with ``SPREAD_ELSEWHERE``.
    """
    spread = math.hypot(SPREAD_ELSEWHERE, standard_error)
    of_use = (1 - USELESS_ELSEWHERE) * math.exp(-(((tau - TAU_ELSEWHERE) / spread) ** 2) / 2)
    useless = USELESS_ELSEWHERE * math.exp(-((tau / spread) ** 2) / 2)
    return of_use / (of_use + useless)


class Conclusion(_Part):
    """What scores of a board mean, and whether it limits what the board can be used for."""

    sentence: str
    is_warning: bool = True


UNSEEN_RANKED = Conclusion(
    sentence="The surrogate ranks systems it has not seen better than chance.", is_warning=False
)
UNSEEN_LIKELY = Conclusion(
    sentence="The surrogate probably ranks systems it has not seen better than chance, as it did "
    "in most other arenas, but the few systems here do not prove it: heed the intervals."
)
UNSEEN_BY_CHANCE = Conclusion(
    sentence="The surrogate is not shown to rank unseen systems better than chance here: a system "
    "without verdicts has no rank until it is judged."
)
UNSEEN_UNKNOWN = Conclusion(
    sentence="How well a surrogate ranks unseen systems is not known here: rely on verdicts."
)
UNSEEN_CONCLUSIONS: Mapping[Standing, Conclusion] = {
    "shown": UNSEEN_RANKED,
    "likely": UNSEEN_LIKELY,
    "unproven": UNSEEN_BY_CHANCE,
    "unknown": UNSEEN_UNKNOWN,
}
GAINED = Conclusion(
    sentence="Ratings by verdicts and surrogate agree better with the verdicts on other questions "
    "than ratings by verdicts alone.",
    is_warning=False,
)
NOT_GAINED = Conclusion(
    sentence="Ratings by verdicts and surrogate are not shown to agree better with the verdicts on "
    "other questions than ratings by verdicts alone.",
    is_warning=False,
)
GAIN_UNSURE = Conclusion(
    sentence="What the surrogate adds to the verdicts cannot be told with so few systems: a gain "
    f"of {SMALL_GAIN:g} in tau would be within the error.",
    is_warning=False,
)
LOST = Conclusion(
    sentence="Ratings by verdicts alone agree better with the verdicts on other questions than "
    "those by verdicts and surrogate: rely on verdicts alone here."
)
NOT_SPLIT = Conclusion(
    sentence="How ratings hold on other questions is not known: verdicts are missing, too few or "
    "all ties, so that their questions cannot be split in half."
)
UNJUDGED_BOARD = Conclusion(
    sentence="Ranks say how far answers agree with those of others, with references and with "
    "relevance labels: on six public arenas their Kendall tau with verdicts was 0.07 to 0.72. Have "
    "some pairs judged, and build the board again."
)


class HoldoutR2(_Part):
    """R² on the held-out systems over tournaments (MIRAGE-Bench, table 5).

    ``low`` and ``high`` are its 2.5th and 97.5th percentiles, ``tournaments`` those in which it is
    defined. With two held-out systems the mean says little.
    """

    mean: Number = None
    median: Number = None
    low: Number = None
    high: Number = None
    tournaments: int = 0
    reason: str | None = Field(default=None, description="Why it is not defined.")


class RatingInterval(_Part):
    """How wide a rating's conformal interval is in one language; see ``board.intervals``.

    Attributes:
        half_width: What is added to and taken from a rating, in logits or in its standard errors.
        best: Rating of the best judged system (logits).
        frontier: How far below it (negative) or above it a predicted rating lies, in the same
            units as the half-width, from where the system may be better than every judged one.
        residuals: Ratings of unseen systems it rests on.
        pooled: Whether they are those of all languages, for want of systems in this one.
        is_wide: Whether there are too few of them for a quantile, so that the interval is wide.
    """

    half_width: Number = None
    in_standard_errors: bool = False
    best: Number = None
    frontier: Number = None
    residuals: int = 0
    pooled: bool = False
    is_wide: bool = False
    reason: str | None = None

    def width(self, standard_errors: Floats) -> Floats:
        """Return the half-widths for ratings with standard errors; NaN where there is none."""
        width = math.nan if self.half_width is None else self.half_width
        return width * self._units(standard_errors)

    def reaches_beyond(self, ratings: Floats, standard_errors: Floats) -> Flags:
        """Whether new systems may be better than every judged one.

        Of such a system a surrogate knows no upper bound: it has seen nothing as good.
        """
        if self.best is None or self.frontier is None:
            return np.zeros(np.shape(ratings), dtype=bool)
        return ratings - self.best > self.frontier * self._units(standard_errors)

    def _units(self, standard_errors: Floats) -> Floats:
        return standard_errors if self.in_standard_errors else np.ones(np.shape(standard_errors))


NO_RATINGS = RatingInterval(reason="no rating by a surrogate here")


class Skipped(_Part):
    """Counts of what did not enter a language's board, and why.

    Attributes:
        questions_without_judgments: Questions whose answers only the surrogate looks at.
        missing_answers: Answers absent (systems x questions - answers).
        missing_feature_values: Feature to reason to number of answers.
        features_left_out: Feature to why the surrogate could not use it.
        dropped_ties: Ties left out by the tie rule.
    """

    questions_without_judgments: int = 0
    missing_answers: int = 0
    missing_feature_values: dict[str, dict[str, int]] = {}
    features_left_out: dict[str, str] = {}
    dropped_ties: int = 0


class Agreements(_Part):
    """How far ratings agree with verdicts they have not seen.

    Attributes:
        tau: Kendall tau-b between what the trained surrogate predicts and the ratings by
            verdicts alone (MIRAGE-Bench, table 2); high, since it was trained on these. With its
            95% bootstrap interval over systems and questions.
        tau_unseen: Kendall tau-b where every system is rated by a surrogate trained without it
            and its battles (three to five folds over systems; repeated where ratings are few).
            With its 95% bootstrap interval over systems, as ``gain`` has.
        r2_unseen: R² of the same predictions; 0 for the mean of the systems trained on. Tau says
            nothing of the scale: predictions in the right order may lie far too wide apart.
        coverage_unseen: Share of the ratings inside the 90% intervals of the same predictions;
            None where the surrogate has no standard errors.
        split_half: Kendall tau-b of ratings made like this board's from the verdicts on half of
            the questions with ratings by the verdicts on the other half; mean over splits.
        split_half_verdicts: The same of ratings by the verdicts alone.
        gain: By how much the first of these is above the second.
    """

    is_first: bool = False
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
    gain: Number = None
    gain_low: Number = None
    gain_high: Number = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """What these scores mean: of unseen systems first, then of ratings with verdicts."""
        if self.is_first:
            return (UNJUDGED_BOARD,)
        if self.gain is None or self.gain_low is None or self.gain_high is None:
            gain = NOT_SPLIT
        elif self.gain_low > 0 or self.gain_high < 0:
            gain = GAINED if self.gain_low > 0 else LOST
        else:
            gain = GAIN_UNSURE if self.gain - self.gain_low > SMALL_GAIN else NOT_GAINED
        return self._of_unseen(), gain

    @property
    def standing(self) -> Standing:
        """Whether the surrogate ranks unseen systems better than chance.

        ``shown`` by the systems here; else ``likely``, by these and other arenas together (see
        ``probability_of_use``), or ``unproven``; ``unknown`` where tau has no interval.
        """
        if self.tau_unseen is None or self.tau_unseen_low is None or self.tau_unseen_high is None:
            return "unknown"
        if self.tau_unseen_low > 0:
            return "shown"
        error = (self.tau_unseen_high - self.tau_unseen_low) / (2 * NORMAL_QUANTILE)
        return "likely" if probability_of_use(self.tau_unseen, error) >= LIKELY else "unproven"

    @property
    def ranks_unseen(self) -> bool:
        """Whether systems without verdicts are ranked: see ``BoardSummary.ranks_unseen_in``."""
        return self.standing in ("shown", "likely")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of the conclusions that limit what the board can be used for."""
        return tuple(item.sentence for item in self.conclusions if item.is_warning)

    def _of_unseen(self) -> Conclusion:
        return UNSEEN_CONCLUSIONS[self.standing]


class LanguageSummary(Agreements):
    """One language of a board; see ``Agreements`` for how far its ratings agree with verdicts.

    Attributes:
        systems: Systems that answered.
        systems_judged: Systems that were judged, or have a published rating.
        questions_judged: Questions with judgments; all, where ratings are published.
        judgments: Judgments that entered; none where ratings are published.
        notes: Anything else that limits how far the numbers can be trusted.
    """

    holdout: tuple[str, ...] = ()
    holdout_r2: HoldoutR2 = HoldoutR2()
    interval: RatingInterval = NO_RATINGS
    systems: int
    systems_judged: int = 0
    questions: int
    questions_judged: int = 0
    judgments: int = 0
    skipped: Skipped
    notes: tuple[str, ...] = ()


class MacroSummary(Agreements):
    """Averages over languages, each with the same weight; undefined ones are left out.

    ``judge`` is what may be said of the judge, see ``arena.diagnostics.JudgeLabel``; null where
    nobody has judged, or ratings are published. ``beside`` says of each other judge how it ranks
    beside it. ``worth`` is the number of verdicts on a system that tell as
    much of it as a surrogate that has not seen it.
    """

    judge: JudgeLabel | None = None
    beside: tuple[str, ...] = ()
    holdout_r2_mean: Number = None
    worth: Number = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """What is wrong with the judge, if anything is, and what the scores mean."""
        found = list(super().conclusions)
        if self.judging:
            place = 0 if self.is_unreliable else len(found)
            found.insert(place, Conclusion(sentence=self.judging))
        return tuple(found)

    @property
    def judging(self) -> str:
        """What is wrong with the judge, a sentence; empty where nothing is."""
        if self.judge is None or not self.judge.faults:
            return ""
        return f"{self.judge.sentence}."

    @property
    def is_unreliable(self) -> bool:
        """Whether the judge's verdicts say nothing of the systems."""
        return self.judge is not None and self.judge.grade == "unreliable"

    def _of_unseen(self) -> Conclusion:
        found = super()._of_unseen()
        if self.worth is None or found is not UNSEEN_RANKED:
            return found
        worth = WORTH.format(float(f"{self.worth:.2g}"))
        return Conclusion(sentence=found.sentence + worth, is_warning=False)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What limits how new systems can be ranked: by the judge, and by the surrogate."""
        unseen = self._of_unseen()
        return tuple(filter(None, (self.judging, unseen.sentence if unseen.is_warning else "")))


class BoardSummary(_Part):
    """``summary.json`` of a board.

    Attributes:
        arena_folder: Where the arena was read from, relative to the board's folder; null for a
            board of an arena in memory.
        fingerprint: Digest of the arena's questions and reference answers, which the features of
            new systems are computed against.
        settings: Settings that reproduce the board; their text is its signature.
    """

    arena: str
    arena_folder: str | None = None
    fingerprint: str
    settings: BoardRecord
    macro: MacroSummary
    languages: dict[str, LanguageSummary]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def signature(self) -> str:
        """Settings that reproduce the board, as text."""
        return str(self.settings)

    def ranks_unseen_in(self, language: str) -> bool:
        """Whether a language ranks systems without verdicts: the one rule of all commands.

        A language's own standing decides, and where that is unknown the one of all together.
        Ratings by the surrogate alone rank everybody.
        """
        if self.settings.ratings == "surrogate":
            return True
        own = self.languages.get(language)
        if own is None or own.standing == "unknown":
            return self.macro.ranks_unseen
        return own.ranks_unseen

    @property
    def judge(self) -> str:
        """Judge whose judgments it learns from."""
        return self.settings.judge

    @property
    def rated_by(self) -> str:
        """What the board's ratings are by, in words."""
        return RATED_BY[self.settings.ratings]

    @property
    def is_compared(self) -> bool:
        """Whether ranks by the verdicts alone stand beside predicted ones, as MIRAGE-Bench's do."""
        return bool(self.settings.holdout) or self.settings.ratings == "surrogate"

    @property
    def is_first(self) -> bool:
        """Whether it is a first board, without any verdict; see ``board.first_board``."""
        return self.settings.ratings == "consensus"

    @property
    def part(self) -> str:
        """What each of its parts is called: a language, or the column that parts the questions."""
        return self.settings.by.replace("_", " ")

    @property
    def parts(self) -> str:
        """What several parts are called."""
        stem, last = self.part[:-1], self.part[-1:]
        return self.part if last == "s" else f"{stem}ies" if last == "y" else f"{self.part}s"

    @property
    def scale(self) -> str:
        """What ratings are in, in words."""
        return SHARES if self.is_first else "logits"

    @property
    def is_published(self) -> bool:
        """Whether it learns from published ratings: then there are no judgments."""
        return not self.is_first and not any(item.judgments for item in self.languages.values())


def fingerprint(arena: Arena) -> str:
    """Digest an arena's questions, passages and reference answers.

    Returns:
        The same 16 hexadecimal digits whatever the order of rows.
    """
    reference = arena.answers[arena.answers["system"] == arena.info.reference_system]
    digest = hashlib.sha256(repr(arena.info.reference_system).encode())
    known = {"language", "query_id", "query", "passages", REFERENCE, "answer"}
    for table in (arena.queries, reference):
        rows = plain_records(table[sorted(known & set(table.columns))])
        told = [{name: value for name, value in row.items() if value is not None} for row in rows]
        for line in sorted(json.dumps(row, sort_keys=True) for row in told):
            digest.update(line.encode())
    return digest.hexdigest()[:16]
