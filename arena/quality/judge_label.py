"""Labels of judges by their verdicts and by people, and ``judge_report.json``."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

import pandas as pd

from arena.computing.codes import coded_judgments
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.judges import is_person, judges_named
from arena.quality.agreement import CountedVerdicts, without_identical
from arena.quality.decisive_verdicts import LISTED, first_places
from arena.quality.judge_report import (
    FAULTS,
    GRADES,
    Grade,
    JudgeLabel,
    JudgeReport,
    JudgeTest,
    JudgingRecords,
)
from arena.quality.judge_tests import (
    cycle_test,
    flip_test,
    repeat_test,
    same_verdict_test,
    tie_test,
)
from arena.quality.people_agreement import (
    PeopleAgreement,
    agreement_with_people,
    people_test,
    recorded_agreement,
)
from arena.quality.preferences import length_test, side_test
from arena.rating.judgments import copies_of_others, voter_codes


def label_judge(
    judge: str,
    judgments: pd.DataFrame,
    answers: pd.DataFrame | None = None,
    *,
    people: PeopleAgreement | None = None,
    further: Iterable[JudgeTest] = (),
) -> JudgeLabel:
    """Label a judge by how far to trust it, over all languages.

    The label is the worst result of its tests, of ``further`` ones, and of its agreement with
    people.

    Args:
        judge: Its name, or several with ``+`` or commas between.
        judgments: Verdicts of all judges and people.
        answers: Columns ``ANSWER_KEY`` and ``answer``; without them length is not tested.
        people: Its agreement with people, if already measured.
        further: Tests, such as of its replies.

    Returns:
        The label, and the tests that it rests on.

    Examples:
        >>> from arena import sample_arena
        >>> label_judge("gpt-4o", sample_arena().judgments).grade
        'unreliable'
    """
    # A name without a verdict stands for itself.
    judges: tuple[str, ...] = (judge,)
    with suppress(UsageError):
        judges = judges_named(sorted(judgments["judge"].unique()), judge)
    verdicts = judgments[judgments["judge"].isin(judges)]
    is_by_people = all(map(is_person, judges))
    has_people = any(map(is_person, judgments["judge"].unique()))
    if people is None and has_people and not is_by_people:
        people = agreement_with_people(judgments, judges)
    tests = [] if people is None else [people_test(people)]
    tests += further
    tests += verdict_tests(verdicts, answers)
    grade = _overall_grade({test.grade for test in tests}, is_by_people)
    return JudgeLabel(judge, grade, tuple(tests))


def verdict_tests(judgments: pd.DataFrame, answers: pd.DataFrame | None) -> tuple[JudgeTest, ...]:
    """Test one judge's verdicts: length, sameness, flips, repeats, side, ties, circles."""
    judged = without_identical(judgments, answers)
    if judged.empty:
        return ()
    tests: list[JudgeTest | None] = []
    # Length decides more verdicts than a side does, and leads a board.
    if answers is not None:
        tests.append(length_test(judged, answers))
    side = side_test(judged)
    # People who see no difference tell what readers see; a machine may not have looked.
    is_by_people = all(map(is_person, judged["judge"].unique()))
    decided = judged[judged["winner"] != "tie"] if is_by_people else judged
    tests.append(same_verdict_test(decided, side))
    ties = tie_test(judged["winner"], n_identical=len(judgments) - len(judged))
    counted = CountedVerdicts.of(judged)
    flips = flip_test(counted)
    voter = voter_codes(judged)
    if voter is not None and flips.statistic is not None:
        # Two people who disagree are no flip.
        is_named = voter >= 0
        by_voter = judged[is_named].assign(judge=voter[is_named].astype(str))
        flips = flip_test(CountedVerdicts.of(by_voter))
    tests.append(flips)
    tests.append(repeat_test(judged))
    tests.append(side)
    tests.append(replace(ties, grade="consistent") if is_by_people else ties)
    tests.append(cycle_test(judged, counted))
    return tuple(test for test in tests if test is not None)


def _overall_grade(grades: set[Grade], is_by_people: bool) -> Grade:
    worst: Grade = min(grades, key=GRADES.index, default="not known")
    if worst in FAULTS:
        return worst
    if is_by_people:
        return "people"
    # Agreement with people is worth more than consistency, even where that was not tested.
    if "agrees" in grades:
        return "agrees"
    return worst


def report_judge(arena: Arena, judge: str, judging_records: JudgingRecords) -> JudgeReport:
    """Sum up a judge's verdicts in an arena."""
    records = dict(judging_records)
    # Every test reads names and ids again, which is faster of categories.
    judgments = coded_judgments(arena.judgments)
    judgments = judgments[~copies_of_others(judgments)]
    is_own = judgments["judge"].isin(judges_named(arena.judges, judge))
    if not is_own.any():
        return JudgeReport(judge=judge, **records)
    people = recorded_agreement(judging_records.metaevaluations, judge)
    label = label_judge(judge, judgments, arena.answers, people=people)
    places = []
    # Verdicts that are all the same tell no first place.
    if not label.is_one_sided:
        for place in first_places(judgments[is_own].assign(judge=judge)):
            places.append(replace(place, decisive=place.decisive[:LISTED]))
    return JudgeReport(judge=judge, label=label, first_places=tuple(places), **records)
