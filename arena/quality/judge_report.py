"""A judge's tests, label, decisive verdicts and records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from arena.data.judges import UNKNOWN_JUDGE
from arena.data.wording import Remark, count_of

Grade = Literal["unreliable", "doubtful", "not known", "consistent", "agrees", "people"]
GRADES: tuple[Grade, ...] = (
    "unreliable",
    "doubtful",
    "not known",
    "consistent",
    "agrees",
    "people",
)
"""Worst first."""


FAULTS: tuple[Grade, ...] = ("unreliable", "doubtful")


@dataclass(frozen=True)
class JudgeTest:
    """One test of a judge, such as ``people``, ``flips`` or ``side``.

    ``grade`` is the best that it leaves; ``low`` and ``high`` are the statistic's 95% interval.
    """

    name: str
    grade: Grade
    sentence: str
    statistic: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class DecisiveVerdict:
    """A verdict that first place rests on."""

    query_id: str
    system_a: str
    system_b: str
    winner: str


@dataclass(frozen=True)
class FirstPlace:
    """The fewest verdicts that decide first place in one language.

    ``successor`` would be first without the ``dropped`` of all ``verdicts``, which are
    ``decisive``, the most influential first.
    """

    language: str
    judge: str
    first: str
    successor: str
    verdicts: int
    dropped: int
    decisive: tuple[DecisiveVerdict, ...]

    @property
    def share(self) -> float:
        """Return the share of the verdicts that decide first place."""
        return self.dropped / self.verdicts

    @property
    def sentence(self) -> str:
        """Say how few verdicts decide first place, without the full stop."""
        return (
            f"by the verdicts alone, {self.first} is first; if {self.dropped:,} of "
            f"{count_of(self.verdicts, 'verdict')} ({self.share:.2%}) were removed, "
            f"{self.successor} would be"
        )


class MetaEvaluation(BaseModel):
    """A judge's result against human labels.

    Attributes:
        judge: Its name as in judgments, perhaps with ``llm:`` before it.
        dataset: Whose labels, such as ``memerag``, ``people`` of the arena, or another judge.
        metric: Such as ``balanced_accuracy``.
        value: A share or a correlation, -1 to 1.
        standard_error: By bootstrap.
        n: Items judged, such as sentences or pairs.
        failures: Items without a label, counted as errors.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    judge: str = Field(min_length=1)
    dataset: str = Field(min_length=1)
    metric: str = Field(min_length=1)
    prompt: str = ""
    value: float = Field(ge=-1, le=1)
    standard_error: float = Field(ge=0)
    n: int = Field(ge=1)
    languages: list[str] = Field(min_length=1)
    failures: int = Field(default=0, ge=0)

    def __str__(self) -> str:
        share, spread = 100 * self.value, 100 * self.standard_error
        return f"{self.dataset}:{self.metric}={share:.1f}±{spread:.1f}"


WORDS: dict[Grade, str] = {
    "unreliable": "unreliable",
    "doubtful": "doubtful",
    "not known": "not tested for consistency",
    "consistent": "consistent with itself but not compared with people",
    "agrees": "in agreement with people",
    "people": "people",
}
"""The label of a judge, by its grade."""


NO_LENGTHS = "consistent with itself but not tested for length or compared with people"
"""The label of a judge whose answers are not at hand."""


TESTED_ON_FEW = "tested for consistency on too few pairs"
"""The label of a judge if the interval of its flips is too wide."""


COMPARED_ON_FEW = "consistent with itself, and compared with people on too few pairs"
"""The label of a judge if the interval of its agreement with people is too wide."""


@dataclass(frozen=True)
class JudgeLabel:
    """A label of how far to trust a judge, and why.

    Attributes:
        judge: Its name.
        grade: ``unreliable``: single verdicts cannot be relied on, or people decide otherwise;
            ``doubtful``: something limits them; ``not known``: too little was judged in both
            orders; ``consistent``: no fault, but not compared with people; ``agrees``: people
            decide alike; ``people``.
        tests: What was tested. Of several faults the first leads a board.
    """

    judge: str
    grade: Grade
    tests: tuple[JudgeTest, ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """Return sentences on what is wrong, the gravest first."""
        faults = [test for test in self.tests if test.grade in FAULTS]
        faults.sort(key=lambda test: FAULTS.index(test.grade))
        return tuple(test.sentence for test in faults)

    @property
    def facts(self) -> tuple[str, ...]:
        """Return sentences on tests that it passed."""
        return tuple(test.sentence for test in self.tests if test.grade not in FAULTS)

    @property
    def is_one_sided(self) -> bool:
        """Return whether nearly all verdicts are the same."""
        return self.test("same verdict") is not None

    @property
    def decides_by_length(self) -> bool:
        """Return whether length nearly always decides."""
        length = self.test("length")
        return length is not None and length.grade == "unreliable"

    @property
    def is_compared(self) -> bool:
        """Return whether its agreement with people was measured."""
        return self.test("people") is not None

    def test(self, name: str) -> JudgeTest | None:
        """Return the test of a name; None if it was not made."""
        return next((test for test in self.tests if test.name == name), None)

    @property
    def words(self) -> str:
        """Return the label, such as ``consistent with itself but not compared with people``."""
        if self.grade == "consistent" and self.is_compared:
            return COMPARED_ON_FEW
        if self.grade == "consistent" and self.test("length") is None:
            return NO_LENGTHS
        flips = self.test("flips")
        if self.grade == "not known" and flips is not None and flips.statistic is not None:
            return TESTED_ON_FEW
        return WORDS[self.grade]

    @property
    def short(self) -> str:
        """Name the judge with its label, without a full stop."""
        if self.grade == "people":
            return "The judges are people"
        if self.judge == UNKNOWN_JUDGE:
            return f"The judge, whom the data do not name, is {self.words}"
        return f"Judge {self.judge} is {self.words}"

    @property
    def sentence(self) -> str:
        """Name the judge with its label and worst fault, without a full stop."""
        if not self.faults:
            return self.short
        return f"{self.short}: {self.faults[0]}"

    @property
    def remark(self) -> Remark:
        """Return the judge's label and worst fault as a remark."""
        return Remark("judge", "warning" if self.faults else "info", self.sentence)

    def __str__(self) -> str:
        return f"{self.words}: {'; '.join([*self.faults, *self.facts])}"


class JudgingRecords(BaseModel):
    """A judge's meta-evaluations and failures (pairs by reason, if known)."""

    # Most parts are only read inside another: their own validators are never needed.
    model_config = ConfigDict(frozen=True, defer_build=True)

    metaevaluations: tuple[MetaEvaluation, ...] = ()
    failures: dict[str, int] | None = None


class JudgeReport(JudgingRecords):
    """The quality of a board's judge; no label without verdicts."""

    judge: str
    label: JudgeLabel | None = None
    first_places: tuple[FirstPlace, ...] = ()
