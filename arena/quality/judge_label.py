"""How far to trust a judge, by its own verdicts and by people: one label, used everywhere."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import pandas as pd

from arena.data.errors import UsageError
from arena.data.judge_names import UNKNOWN_JUDGE, is_person, judges_named
from arena.quality.cycles import cycle_test
from arena.quality.judge_tests import (
    FAULTS,
    GRADES,
    Grade,
    JudgeTest,
    flip_test,
    repeat_test,
    reply_test,
    same_verdict_test,
    tie_test,
)
from arena.quality.people_agreement import PeopleAgreement, agreement_with_people, people_test
from arena.quality.preferences import length_test, side_test
from arena.quality.verdicts import oriented_verdicts, without_identical

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
    """How far to trust a judge, and why.

    Attributes:
        judge: Its name.
        grade: ``unreliable``: a single verdict of it cannot be relied on, or people decide
            otherwise; ``doubtful``: something limits what they are worth; ``not known``: no fault,
            but nothing, or too little, was judged in both orders; ``consistent``: no fault in its
            own verdicts, which were not compared with people's; ``agrees``: people decide alike;
            ``people``: the judges are people.
        tests: What was tested. Of several faults the first leads a board.
    """

    judge: str
    grade: Grade
    tests: tuple[JudgeTest, ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """Sentences on what is wrong, the gravest first."""
        faults = [test for test in self.tests if test.grade in FAULTS]
        faults.sort(key=lambda test: FAULTS.index(test.grade))
        return tuple(test.sentence for test in faults)

    @property
    def facts(self) -> tuple[str, ...]:
        """Sentences on tests that it passed."""
        return tuple(test.sentence for test in self.tests if test.grade not in FAULTS)

    @property
    def is_one_sided(self) -> bool:
        """Whether (nearly) all verdicts are the same, so that ratings say nothing about systems."""
        return self.test("same verdict") is not None

    @property
    def is_compared(self) -> bool:
        """Whether its agreement with people was measured."""
        return self.test("people") is not None

    def test(self, name: str) -> JudgeTest | None:
        """Return the test of a name; None if it was not made."""
        return next((test for test in self.tests if test.name == name), None)

    @property
    def words(self) -> str:
        """The judge's label, such as ``consistent with itself but not compared with people``."""
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
        """The judge's label, without a full stop."""
        if self.grade == "people":
            return "The judges are people"
        if self.judge == UNKNOWN_JUDGE:
            return f"The judge, whom the data do not name, is {self.words}"
        return f"Judge {self.judge} is {self.words}"

    @property
    def sentence(self) -> str:
        """The judge's label and worst fault, without a full stop."""
        if not self.faults:
            return self.short
        return f"{self.short}: {self.faults[0]}"

    def __str__(self) -> str:
        return f"{self.words}: {'; '.join([*self.faults, *self.facts])}"


def label_judge(
    judge: str,
    judgments: pd.DataFrame,
    answers: pd.DataFrame | None = None,
    *,
    people: PeopleAgreement | None = None,
    invalid: int | None = None,
    replies: int | None = None,
) -> JudgeLabel:
    """Label a judge by how far to trust it, over all languages.

    The label is the worst result of the tests of its own verdicts (see ``verdict_tests``), of its
    invalid replies and of its agreement with people. Without people the best label is consistent
    with itself.

    Args:
        judge: Its name, or several as ``judges_named`` takes them.
        judgments: Verdicts of all judges; the judge is compared with the people among them.
        answers: Columns ``ANSWER_KEY`` and ``answer``; without them the effect of length is not
            tested, and only flagged ties of identical answers are left out.
        people: Its agreement with people, if already measured.
        invalid: Number of unparsable replies: answers without a readable verdict, but no refusals
            or failed calls. None if not known.
        replies: Number of all replies; by default the verdicts and the invalid replies.
    """
    # A name without a verdict stands for itself.
    judges: tuple[str, ...] = (judge,)
    with suppress(UsageError):
        judges = judges_named(sorted(judgments["judge"].unique()), judge)
    verdicts = judgments[judgments["judge"].isin(judges)]
    is_by_people = all(map(is_person, judges))
    if people is None and not is_by_people:
        people = agreement_with_people(judgments, judges)
    tests: list[JudgeTest | None] = []
    if people is not None:
        tests.append(people_test(people))
    if invalid is not None:
        n_judged = len(without_identical(verdicts, answers))
        tests.append(reply_test(n_judged, invalid, replies))
    tests += verdict_tests(verdicts, answers)
    made = tuple(test for test in tests if test is not None)
    return JudgeLabel(judge, _overall_grade({test.grade for test in made}, is_by_people), made)


def verdict_tests(
    judgments: pd.DataFrame, answers: pd.DataFrame | None = None
) -> tuple[JudgeTest, ...]:
    """Test a judge by its own verdicts: length, sameness, flips, repeats, side, ties and circles.

    Args:
        judgments: Its verdicts; those on identical answers are left out.
        answers: As for ``label_judge``.
    """
    judged = without_identical(judgments, answers)
    if judged.empty:
        return ()
    tests: list[JudgeTest | None] = []
    # Length decides more verdicts than a side does, and leads a board.
    if answers is not None:
        tests.append(length_test(judged, answers))
    tests.append(same_verdict_test(judged["winner"]))
    tests.append(flip_test(oriented_verdicts(judged)))
    tests.append(repeat_test(judged))
    tests.append(side_test(judged))
    tests.append(tie_test(judged["winner"], n_identical=len(judgments) - len(judged)))
    tests.append(cycle_test(judged))
    return tuple(test for test in tests if test is not None)


def _overall_grade(grades: set[Grade], is_by_people: bool) -> Grade:
    """Return the worst grade, raised if people agree or the judges are people."""
    worst: Grade = min(grades, key=GRADES.index, default="not known")
    if worst in FAULTS:
        return worst
    if is_by_people:
        return "people"
    # Agreement with people is worth more than consistency, even where that was not tested.
    if "agrees" in grades:
        return "agrees"
    return worst
