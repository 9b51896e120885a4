"""How far to trust a judge, by its own verdicts and by people: one label, used everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.judge_names import UNKNOWN_JUDGE, is_person, judges_named
from arena.data.remarks import Severity
from arena.data.schema import ANSWER_KEY, FLAG_SEPARATOR, IDENTICAL, QUESTION_KEY, VERDICT_FLAGS
from arena.data.wording import count_of
from arena.quality.agreement import LOW_KAPPA
from arena.quality.bias import (
    UNRELIABLE_FLIPS,
    flip_check,
    position_check,
    repeat_check,
    tells_too_little,
)
from arena.quality.cycles import Cycles, cycles
from arena.quality.length_effect import LengthEffect, length_effect
from arena.quality.people_agreement import PeopleAgreement, agreement_with_people
from arena.quality.verdicts import CheckResult, oriented_verdicts

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
GradedRemark = tuple[Grade, str]
"""The best grade that one test of a judge leaves it, and the test's result as a sentence."""

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
FEWEST_VERDICTS = 10
"""Fewer verdicts may all be the same, or ties, by chance."""
NOTABLE_INVALID = 0.05
"""Share of unparsable replies above which a judge is doubtful."""


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
        faults: Sentences on what is wrong.
        facts: Sentences on tests that it passed.
        is_one_sided: Whether (nearly) all its verdicts are the same, so that its ratings and their
            intervals tell nothing about the systems.
        is_compared: Whether its agreement with people was measured.
        is_tested: Whether any pair was judged in both orders.
        has_lengths: Whether the answers were at hand, to test what their length does.
    """

    judge: str
    grade: Grade
    faults: tuple[str, ...]
    facts: tuple[str, ...]
    is_one_sided: bool
    is_compared: bool
    is_tested: bool
    has_lengths: bool

    @property
    def words(self) -> str:
        """The judge's label, such as ``consistent with itself but not compared with people``."""
        if self.grade == "consistent" and self.is_compared:
            return COMPARED_ON_FEW
        if self.grade == "consistent" and not self.has_lengths:
            return NO_LENGTHS
        if self.grade == "not known" and self.is_tested:
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

    The label is the worst result of the tests of its own verdicts (sides, flips, ties, invalid
    replies, circles, length) and of its agreement with people. Without people the best label is
    consistent with itself.

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
    judged = without_identical(verdicts, answers)
    is_by_people = all(map(is_person, judges))
    if people is None and not is_by_people:
        people = agreement_with_people(judgments, judges)
    remarks: list[GradedRemark] = []
    if people is not None:
        remarks.append(_people_remark(people))
    if invalid is not None:
        remarks.extend(_reply_remarks(len(judged), invalid, replies))
    has_both_orders = False
    if len(judged):
        oriented = oriented_verdicts(judged)
        flips = flip_check(oriented)
        has_both_orders = flips.counts["items"] > 0
        n_identical = len(verdicts) - len(judged)
        # Of several faults the first leads a board: length decides more verdicts than a side does.
        if answers is not None:
            remarks.extend(_length_remarks(length_effect(judged, answers)))
        remarks.extend(_verdict_remarks(judged, oriented, flips, n_identical=n_identical))
        remarks.extend(_cycle_remarks(cycles(judged)))
    faults = [sentence for grade, sentence in remarks if grade == "unreliable"]
    faults += [sentence for grade, sentence in remarks if grade == "doubtful"]
    return JudgeLabel(
        judge=judge,
        grade=_overall_grade({grade for grade, _ in remarks}, is_by_people),
        faults=tuple(faults),
        facts=tuple(sentence for _, sentence in remarks if sentence not in faults),
        is_one_sided=len(judged) > 0 and same_verdict(judged["winner"]) is not None,
        is_compared=people is not None,
        is_tested=has_both_orders,
        has_lengths=answers is not None,
    )


def _overall_grade(grades: set[Grade], is_by_people: bool) -> Grade:
    """Return the worst grade, raised if people agree or the judges are people."""
    worst: Grade = min(grades, key=GRADES.index, default="not known")
    if worst in ("unreliable", "doubtful"):
        return worst
    if is_by_people:
        return "people"
    # Agreement with people is worth more than consistency, even where that was not tested.
    if "agrees" in grades:
        return "agrees"
    return worst


def without_identical(judgments: pd.DataFrame, answers: pd.DataFrame | None = None) -> pd.DataFrame:
    """Drop ties between identical answers, which say nothing about a judge.

    Args:
        judgments: Verdicts; those that no judge was asked for have a flag.
        answers: Columns ``ANSWER_KEY`` and ``answer``, to find the others, such as imported ones.
    """
    if VERDICT_FLAGS in judgments:
        flags = judgments[VERDICT_FLAGS].fillna("").astype(str).str.split(FLAG_SEPARATOR)
        judgments = judgments[[IDENTICAL not in names for names in flags]]
    if answers is None or judgments.empty:
        return judgments
    is_tie = judgments["winner"].eq("tie").to_numpy()
    texts = answers.drop_duplicates(ANSWER_KEY).set_index(ANSWER_KEY)["answer"]
    sides = []
    for side in ("system_a", "system_b"):
        ties = judgments.loc[is_tie, [*QUESTION_KEY, side]]
        keys = pd.MultiIndex.from_frame(ties, names=ANSWER_KEY)
        sides.append(texts.reindex(keys).to_numpy(dtype=object))
    is_identical = np.zeros(len(judgments), dtype=bool)
    # An absent answer is equal to nothing, itself included.
    is_identical[is_tie] = (sides[0] == sides[1]) & pd.notna(sides[0])
    return judgments[~is_identical]


def same_verdict(winners: pd.Series) -> tuple[str, int] | None:
    """Return the verdict that nearly all are (``a``, ``b`` or ``tie``) and its count, or None."""
    if len(winners) < FEWEST_VERDICTS:
        return None
    counts = winners.value_counts()
    verdict = str(counts.index[0])
    count = int(counts.iloc[0])
    if count < 0.95 * len(winners):
        return None
    return verdict, count


def _reply_remarks(
    n_verdicts: int, n_invalid: int, n_replies: int | None
) -> Iterator[GradedRemark]:
    """Test how many replies are unparsable."""
    if n_replies is None:
        n_replies = n_verdicts + n_invalid
    if not n_replies:
        return
    if not n_verdicts and not n_invalid:
        yield "not known", f"none of {n_replies:,} prompts got a verdict"
        return
    share = n_invalid / n_replies
    grade: Grade = "consistent"
    if share > 0.5:
        grade = "unreliable"
    elif share > NOTABLE_INVALID:
        grade = "doubtful"
    verb = "is" if n_invalid == 1 else "are"
    shown_replies = count_of(n_replies, "reply", "replies")
    yield grade, f"{n_invalid:,} of {shown_replies} {verb} unparsable ({share:.1%})"


def _verdict_remarks(
    judgments: pd.DataFrame, oriented: pd.DataFrame, flips: CheckResult, n_identical: int
) -> Iterator[GradedRemark]:
    """Test sides, flips and ties, of verdicts without the ``n_identical`` on identical answers."""
    n_verdicts = len(judgments)
    shown_verdicts = count_of(n_verdicts, "verdict")
    if n_identical:
        shown_verdicts += " on answers that differ"
    yield from _same_verdict_remarks(judgments["winner"])
    yield _flip_remark(flips)
    for remark in repeat_check(judgments).remarks:
        yield _grade_of(remark.severity), remark.sentence
    sides = position_check(oriented)
    if sides.counts["decided"]:
        side_remark = sides.remarks[0]
        yield _grade_of(side_remark.severity), side_remark.sentence
    n_ties = int((judgments["winner"] == "tie").sum())
    has_many_ties = n_verdicts >= FEWEST_VERDICTS and n_ties > 0.75 * n_verdicts
    grade: Grade = "doubtful" if has_many_ties else "consistent"
    yield grade, f"{n_ties:,} of {shown_verdicts} are ties ({n_ties / n_verdicts:.1%})"


def _flip_remark(flips: CheckResult) -> GradedRemark:
    """Grade how often verdicts flip with the order of sides; a judge asked in one is not known."""
    remark = flips.remarks[0]
    low, high = flips.counts["flip_low"], flips.counts["flip_high"]
    if not flips.counts["items"] or tells_too_little(low, high):
        return "not known", remark.sentence
    # A verdict of a judge that surely flips this often says little; many may average out.
    if low > UNRELIABLE_FLIPS:
        return "unreliable", remark.sentence
    return _grade_of(remark.severity), remark.sentence


def _same_verdict_remarks(winners: pd.Series) -> Iterator[GradedRemark]:
    """Report a judge that gives one verdict to nearly all pairs."""
    constant = same_verdict(winners)
    if constant is None:
        return
    verdict, count = constant
    winner = "a tie" if verdict == "tie" else f"side {verdict.upper()}"
    yield (
        "unreliable",
        f"{count:,} of {count_of(len(winners), 'verdict')} are {winner}: it says the same "
        "whatever the answers are",
    )


def _grade_of(severity: Severity) -> Grade:
    """Return the grade that a diagnosis of this severity leaves a judge."""
    return "doubtful" if severity == "warning" else "consistent"


def _length_remarks(effect: LengthEffect) -> Iterator[GradedRemark]:
    """Test whether length decides."""
    if not effect.verdicts:
        return
    kind = "longer"
    share, low, high = effect.share, effect.low, effect.high
    if share < 0.5:
        kind = "shorter"
        share, low, high = 1 - share, 1 - high, 1 - low
    sentence = (
        f"of two equally rated answers the {kind} one wins {share:.0%} "
        f"(95% interval {low:.0%} to {high:.0%})"
    )
    grade: Grade = "consistent"
    if low > 0.9 and effect.is_by_length:
        grade = "unreliable"
        sentence += ", even where their lengths hardly differ"
    # By people who voted on real answers, the longer one wins 60% to 68%.
    elif low > 0.75:
        grade = "doubtful"
        sentence += f", whether for its length or because {kind} answers are better"
    yield grade, sentence


def _cycle_remarks(counts: Cycles) -> Iterator[GradedRemark]:
    """Test whether verdicts on a question contradict each other."""
    if not counts.triples:
        return
    share = counts.circular / counts.triples
    expected = counts.expected / counts.triples
    # Of the 8 outcomes of three verdicts, 2 are circles.
    tossed = 2 / 8
    sentence = (
        f"{counts.circular:,} of {count_of(counts.triples, 'triple')} of verdicts on one question "
        f"run in a circle, A over B over C over A ({share:.1%}; the ratings imply "
        f"{expected:.1%}, coin tosses {tossed:.0%})"
    )
    grade: Grade = "consistent"
    # Nearly as many as tossed coins give.
    if counts.share_low > 0.2:
        grade = "unreliable"
    # More than expected, by more than chance (three standard deviations) and by enough to matter.
    elif counts.beyond > 3.0 and share - expected > 0.05:
        grade = "doubtful"
    yield grade, sentence


def _people_remark(people: PeopleAgreement) -> GradedRemark:
    """Test agreement with people."""
    low, high = people.bounds
    sentence = (
        f"Cohen's kappa with people is {people.kappa:.2f} on "
        f"{count_of(people.items, 'pair')} (95% interval {low:.2f} to {high:.2f})"
    )
    among_people = people.among_people
    is_as_good = False
    if among_people is not None:
        is_as_good = among_people.is_as_good
        sentence += (
            f"; with a single vote it is {among_people.judge_kappa:.2f}, and two people's votes "
            f"have {among_people.kappa:.2f} on {count_of(among_people.items, 'pair')} that "
            "several people judged"
        )
    # Where people hardly agree with each other, no judge can agree with them more.
    if is_as_good and low > 0:
        return "agrees", sentence
    # A kappa below this is slight agreement at best (Landis and Koch, 1977).
    slight = 0.2
    if high < slight:
        return "unreliable", sentence
    if people.kappa < LOW_KAPPA:
        return "doubtful", sentence
    if low > slight:
        return "agrees", sentence
    return "consistent", sentence
