"""``summary.json`` of a board: agreement, holdout scores, what was skipped; words on ratings."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import Field, computed_field

from arena.data.arena import Arena
from arena.data.schema import REFERENCE
from arena.data.tables import plain_records
from arena.data.types import Floats
from arena.data.wording import Remark, Severity, count_of
from arena.quality.judge_report import JudgeLabel
from surrogate.board.conclusions import (
    UNSEEN_BY_NOTHING,
    UNSEEN_RANKED,
    Agreements,
    Number,
    SummaryPart,
    of_judge,
    on_mean,
)
from surrogate.board.settings import ResolvedSettings

LEVEL = 0.9
"""Share of new systems whose arena rating a conformal interval is to hold."""
PREFERENCES = "judge_preferences"
"""In the evidence, the features weighted by what judges of other arenas liked."""
HELD_MARK = "*"
HELD_OUT = "held out: the surrogate was not trained on it"
"""What a board marks a system by, where ``split`` says so, and what the mark means."""


_PUBLISHED = Remark("published", "info", "Ratings rest on {source}.")


class RatingWords(NamedTuple):
    """What pages, figures and commands print of a board's ratings.

    Attributes:
        rated_by: Source of the ratings.
        meaning: What a rating is, and its interval.
        unit: Of a rating, as a standard for evaluations names it.
        scale: The unit, for readers.
        center: Rating of the mean system.
        axis: Below a figure of ratings.
        wins: What a board's first numbers are.
        figure: Title of a figure of ratings.
        intervals: What intervals in a figure are; names ``judge, rated_by, published, unseen``.
        first: Who leads alone; names ``system`` and ``wins``.
        highest: Who leads, without an interval; names ``system``.
        shared: Who leads with others; names ``count`` and ``systems``.
        standing: How often a system wins; names ``system`` and ``wins``.
        compared: Of what wins are a share.
        unlabeled: On a judge without a label; names ``source``.
    """

    rated_by: str
    meaning: str
    unit: Literal["logits", "proportion"] = "logits"
    scale: str = "logits"
    center: float = 0.0
    axis: str = "Rating (logits, 0 is the mean)"
    wins: str = (
        "Wins: how often a system is expected to win against one of the other ranked systems; a "
        "tie is half a win"
    )
    figure: str = "Ratings with intervals"
    intervals: str = (
        " by {judge}. Intervals: 90% of ratings by {rated_by} and of those by verdicts"
        "{published}; {unseen} of those by surrogates that had not seen the system. Bands: tiers "
        "of systems that do not differ from the best one; right: ranks that differences leave open."
    )
    first: str = "{system} answers best: it is expected to win {wins}."
    highest: str = "{system} has the highest rating; how certain that is, is not known."
    shared: str = "{count} share first place: {systems}."
    standing: str = "{system} is expected to win {wins}"
    compared: str = "of its comparisons"
    unlabeled: Remark = _PUBLISHED


_LOGITS = (
    " Ratings are in logits (log-odds) and average 0 in each language: of two systems that differ "
    "by 1, the better one is expected to win 73% of comparisons. "
)
RATING_WORDS: Mapping[str, RatingWords] = MappingProxyType(
    {
        "posterior": RatingWords(
            rated_by="verdicts and surrogate",
            meaning="A rating combines what the surrogate predicts from a system's answers with "
            f"the verdicts on them (Fay-Herriot model, 1979).{_LOGITS}The interval should hold the "
            "true rating with 90% probability. A system without verdicts gets the surrogate's "
            "prediction.",
        ),
        "surrogate": RatingWords(
            rated_by="the trained surrogate",
            meaning="A rating is what the trained surrogate predicts from a system's answers, even "
            f"for systems that it was trained on, as in MIRAGE-Bench.{_LOGITS}The interval is as "
            "wide as for systems that the surrogate has not seen.",
        ),
        "consensus": RatingWords(
            rated_by="how far answers agree, without any verdict",
            meaning="No verdicts are used. Features measure how far an answer agrees with the "
            "other systems' answers, with the reference answer, or with the relevance labels of "
            "the passages that it cites. A rating is the share of the other systems' answers that "
            "a system's answers outscore, averaged over these features and over questions: 0.5 on "
            "average. Without passages, features weighted as judges of other arenas weight them "
            "(judge_preferences) replace agreement with the other systems. The interval covers 90% "
            "of resampled questions, and ranks and tiers come from the same resamples. None of "
            "them says how far verdicts will differ.",
            unit="proportion",
            scale="shares of the other systems' answers that a system's answers outscore",
            center=0.5,
            axis="Share of the others' answers below a system's (no verdict, no logits)",
            wins="Share of the other systems' answers that a system's answers outscore",
            figure="Ratings without verdicts",
            intervals=". Intervals, bands (tiers) and ranks on the right are of resampled "
            "questions (90%): none says how far verdicts will differ.",
            first="The answers of {system} outscore {wins}.",
            highest="The answers of {system} outscore those of other systems most often.",
            shared="{count} are too close to call: {systems}.",
            standing="The answers of {system} outscore {wins}",
            compared="of those of other systems",
            unlabeled=Remark(
                "nobody",
                "warning",
                "Nobody has judged these answers: without verdicts, nothing here measures quality.",
            ),
        ),
    }
)
"""By the board's setting ``ratings``."""


class RatingInterval(SummaryPart):
    """Conformal interval of a rating in one language.

    Attributes:
        half_width: Distance from a rating to either end, in logits or in its standard errors.
        best: Rating of the best judged system (logits).
        frontier: Distance from the best (negative: below) at which a predicted system may be better
            than every judged one, in half-widths.
        residuals: Number of unseen ratings it rests on.
        freedom: Of Student's t with few judged systems; null if conformal.
        limit: Why there is none, or it is wide; empty if narrow.
    """

    half_width: Number = None
    in_standard_errors: bool = False
    best: Number = None
    frontier: Number = None
    residuals: int = 0
    freedom: Number = None
    limit: str = ""

    @property
    def is_by_other_arenas(self) -> bool:
        """Return whether other arenas alone tell the width."""
        return self.half_width is not None and not self.residuals

    def width(self, standard_errors: Floats) -> Floats:
        """Return the half-widths of ratings; NaN where there is none."""
        half_width = math.nan if self.half_width is None else self.half_width
        return half_width * self._units(standard_errors)

    def reaches_beyond(self, ratings: Floats, standard_errors: Floats) -> npt.NDArray[np.bool_]:
        """Return which systems may be better than every judged one."""
        if self.best is None or self.frontier is None:
            return np.zeros(np.shape(ratings), dtype=bool)
        return ratings - self.best > self.frontier * self._units(standard_errors)

    def _units(self, standard_errors: Floats) -> Floats:
        return standard_errors if self.in_standard_errors else np.ones(np.shape(standard_errors))


NO_RATINGS = RatingInterval(limit="no interval of ratings by a surrogate: it gives none here")


class LanguageSummary(Agreements):
    """One language of a board.

    Attributes:
        systems_judged: Systems that were judged, or have a published rating.
        questions_judged: Questions with judgments; all, where ratings are published.
        judgments: Judgments that count.
        dropped_ties: Ties left out by the tie rule.
        remarks: Further limits of trust.
    """

    interval: RatingInterval = NO_RATINGS
    systems_judged: int = 0
    questions: int
    questions_judged: int = 0
    judgments: int = 0
    dropped_ties: int = 0
    remarks: tuple[Remark, ...] = ()


class MacroSummary(Agreements):
    """Averages over languages of equal weight; undefined ones are left out.

    ``worth`` is the number of verdicts worth an unseen prediction; ``mean`` names the average, such
    as ``mean over 4 languages``.
    """

    judge: JudgeLabel | None = Field(default=None, exclude=True)
    remarks: tuple[Remark, ...] = ()
    worth: Number = None
    mean: str = ""

    @property
    def conclusions(self) -> tuple[Remark, ...]:
        """Return the judge's worst fault, if any, and the scores' meaning."""
        conclusions = tuple(on_mean(text, self.mean) for text in super().conclusions)
        if not self.judge_fault:
            return conclusions
        severity: Severity = "error" if self.is_unreliable else "warning"
        on_judge = Remark("judge", severity, self.judge_fault)
        if self.is_one_sided:
            return on_judge, UNSEEN_BY_NOTHING
        # Everything else rests on the verdicts.
        return (on_judge, *conclusions) if self.is_unreliable else (*conclusions, on_judge)

    @property
    def judge_fault(self) -> str:
        """Return the judge's worst fault as a sentence, if any."""
        if self.judge is None or not self.judge.faults:
            return ""
        return f"{self.judge.sentence}."

    @property
    def is_unreliable(self) -> bool:
        """Return whether the judge's label is unreliable."""
        # Ranks may be right all the same: of six judges that often flip with the order, in three
        # public arenas, five have a tau of 0.8 or more with a better judge, one has 0.33.
        return self.judge is not None and self.judge.grade == "unreliable"

    @property
    def is_one_sided(self) -> bool:
        """Return whether all verdicts are the same."""
        return self.judge is not None and self.judge.is_one_sided

    def _on_unseen(self) -> Remark:
        if self.is_one_sided:
            return UNSEEN_BY_NOTHING
        on_unseen = of_judge(super()._on_unseen(), has_fault=bool(self.judge_fault))
        conclusion = on_mean(on_unseen, self.mean)
        if self.worth is None or on_unseen is not UNSEEN_RANKED:
            return conclusion
        rounded = round(float(f"{self.worth:.2g}"))
        amount = f"about {count_of(rounded, 'verdict')}" if rounded else "less than a verdict"
        worth = f" Its prediction for one is worth {amount} on it."
        return replace(conclusion, sentence=conclusion.sentence + worth)

    @property
    def cautions(self) -> tuple[Remark, ...]:
        """Say what limits ranking new systems: judge and surrogate."""
        cautions = []
        if self.judge_fault:
            cautions.append(Remark("judge", "warning", self.judge_fault))
        on_unseen = self._on_unseen()
        if on_unseen.is_warning:
            cautions.append(on_unseen)
        return tuple(cautions)


class BoardSummary(SummaryPart):
    """``summary.json`` of a board.

    ``arena_folder`` is relative to the board's; ``fingerprint`` digests questions and reference
    answers.
    """

    arena: str
    arena_folder: str | None = None
    fingerprint: str
    settings: ResolvedSettings
    macro: MacroSummary
    languages: dict[str, LanguageSummary]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def signature(self) -> str:
        """Write the settings that reproduce the board as text."""
        return str(self.settings)

    def judged(self, label: JudgeLabel | None) -> BoardSummary:
        """Add the judge's label, kept in ``judge_report.json``."""
        macro = self.macro.model_copy(update={"judge": label})
        return self.model_copy(update={"macro": macro})

    def conclusions_of(self, part: LanguageSummary) -> tuple[Remark, ...]:
        """Return a language's conclusions, limited by its judge."""
        has_fault = bool(self.macro.judge_fault)
        return tuple(of_judge(conclusion, has_fault=has_fault) for conclusion in part.conclusions)

    def ranks_unseen_in(self, language: str) -> bool:
        """Return whether a language ranks systems without verdicts.

        Its own standing decides, or if unknown all languages'; the surrogate alone ranks everybody.
        """
        if self.settings.ratings == "surrogate":
            return True
        if self.macro.is_one_sided:
            return False
        summary = self.languages.get(language)
        if summary is None or summary.standing == "unknown":
            return self.macro.ranks_unseen
        return summary.ranks_unseen

    @property
    def judge(self) -> str:
        """Return the judge whose judgments it learns from."""
        return self.settings.judge

    @property
    def words(self) -> RatingWords:
        """Return what is said of the board's ratings."""
        return RATING_WORDS[self.settings.ratings]

    @property
    def is_compared(self) -> bool:
        """Return whether ranks by verdicts stand beside, as in MIRAGE-Bench."""
        return bool(self.settings.holdout) or self.settings.ratings == "surrogate"

    @property
    def is_first(self) -> bool:
        """Return whether it is a board without verdicts."""
        return self.settings.ratings == "consensus"

    @property
    def part(self) -> str:
        """Name a part: language, or the slicing column."""
        return _part_name(self.settings.by)

    @property
    def parts(self) -> str:
        """Name several parts."""
        return plural_part(self.settings.by)

    @property
    def is_published(self) -> bool:
        """Return whether it learns from published ratings."""
        n_judgments = sum(summary.judgments for summary in self.languages.values())
        return not self.is_first and not n_judgments


def _part_name(by: str) -> str:
    return by.replace("_", " ")


def plural_part(by: str) -> str:
    """Name several parts of a board."""
    name = _part_name(by)
    if name.endswith("s"):
        return name
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return f"{name}s"


def fingerprint(arena: Arena) -> str:
    """Digest questions, passages and reference answers, in any order."""
    reference = arena.answers[arena.answers["system"] == arena.info.reference_system]
    digest = hashlib.sha256(repr(arena.info.reference_system).encode())
    digested = {"language", "query_id", "query", "passages", REFERENCE, "answer"}
    for table in (arena.queries, reference):
        lines = []
        for row in plain_records(table[sorted(digested.intersection(table.columns))]):
            values = {name: value for name, value in row.items() if value is not None}
            lines.append(json.dumps(values, sort_keys=True))
        for line in sorted(lines):
            digest.update(line.encode())
    return digest.hexdigest()[:16]
