"""Agreement of judges with people, measured here or recorded in ``metaevaluation.json``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.computing.codes import value_flags, without_categories
from arena.data.judges import is_person
from arena.data.schema import VOTER
from arena.data.types import Floats
from arena.data.wording import count_of
from arena.quality.agreement import (
    FEWEST_ITEMS,
    LOW_KAPPA,
    PAIR,
    QUESTION_PAIR,
    kappas_of_cells,
    majorities,
    measured_agreement,
    oriented_verdicts,
    shared_items,
)
from arena.quality.judge_report import Grade, JudgeTest, MetaEvaluation
from arena.rating.judgments import named_voters
from arena.statistics.bootstrap import generator, resampled_sums
from arena.statistics.significance import NORMAL_95

_OUTCOMES = (-1, 0, 1)
"""Of a pair's first system, in the order of the rows and columns of a table."""
KAPPA = "kappa"
"""Metric of agreement on the same pairs."""
LLM_PREFIX = "llm:"
"""Start of a judge's name where it says that an LLM judges."""


class AmongPeople(NamedTuple):
    """Kappa of two people's votes, and of the judge with one.

    Both are on pairs that several people judged, as a majority is steadier than one vote.
    ``difference_error`` is by bootstrap over questions.
    """

    kappa: float
    judge_kappa: float
    difference_error: float
    items: int

    @property
    def is_as_good(self) -> bool:
        """Return whether the judge is not shown to agree less than people do."""
        return self.kappa - self.judge_kappa <= NORMAL_95 * self.difference_error


@dataclass(frozen=True)
class PeopleAgreement:
    """Agreement of a judge with the majority of people: Cohen's kappa.

    The standard error is by bootstrap over questions.
    """

    kappa: float
    standard_error: float
    items: int
    among_people: AmongPeople | None = None

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the 95% interval."""
        half_width = NORMAL_95 * self.standard_error
        return self.kappa - half_width, self.kappa + half_width


def people_test(people: PeopleAgreement) -> JudgeTest:
    """Test agreement with people."""
    low, high = people.bounds
    sentence = (
        f"Cohen's kappa with people is {people.kappa:.2f} on "
        f"{count_of(people.items, 'pair')} (95% interval {low:.2f} to {high:.2f})"
    )
    among_people = people.among_people
    if among_people is not None:
        sentence += (
            f"; with a single vote it is {among_people.judge_kappa:.2f}, and two people's votes "
            f"have {among_people.kappa:.2f} on {count_of(among_people.items, 'pair')} that "
            "several people judged"
        )
    # A kappa below this is slight agreement at best (Landis and Koch, 1977).
    slight = 0.2
    grade: Grade = "consistent"
    # Where people hardly agree with each other, no judge can agree with them more.
    if among_people is not None and among_people.is_as_good and low > 0:
        grade = "agrees"
    elif high < slight:
        grade = "unreliable"
    elif people.kappa < LOW_KAPPA:
        grade = "doubtful"
    elif low > slight:
        grade = "agrees"
    return JudgeTest("people", grade, sentence, people.kappa, low, high)


def agreement_with_people(judgments: pd.DataFrame, judges: Sequence[str]) -> PeopleAgreement | None:
    """Compare judges with people; None with too few shared pairs."""
    is_by_people = value_flags(judgments["judge"], is_person)
    is_by_judge = judgments["judge"].isin(judges) & ~is_by_people
    people = sorted(set(judgments.loc[is_by_people, "judge"]))
    if not people or not is_by_judge.any():
        return None
    judgments = without_categories(judgments)
    compared = judgments[is_by_judge | is_by_people]
    compared = compared.assign(judge=compared["judge"].mask(is_by_judge, judges[0]))
    items = shared_items(oriented_verdicts(compared), people)
    if items.empty:
        return None
    random = generator(0, "agreement", judges[0])
    measured = measured_agreement(items, items["outcome_reference"], random)
    agreement = PeopleAgreement(
        kappa=measured["kappa"], standard_error=measured["standard_error"], items=len(items)
    )
    if not np.isfinite(agreement.kappa + agreement.standard_error):
        return None
    among_people = agreement_among_people(judgments[is_by_judge], judgments[is_by_people])
    return replace(agreement, among_people=among_people)


def agreement_among_people(by_judge: pd.DataFrame, by_people: pd.DataFrame) -> AmongPeople | None:
    """Compare every two people's votes, and the judge's with one.

    An unnamed vote is one more person's. Every pair has the same weight. None with too few pairs
    for an interval.
    """
    resamples = 2000
    counts = _vote_counts(by_people)
    judged_pairs = majorities(oriented_verdicts(by_judge), QUESTION_PAIR)
    judged = judged_pairs.set_index(QUESTION_PAIR)["outcome"]
    shared = counts.index.intersection(judged.index)
    if len(shared) < FEWEST_ITEMS:
        return None
    # Shape (items, 3): how many people said each outcome, and which one the judge said.
    by_outcome = counts.loc[shared].to_numpy(np.float64)
    by_judge_outcome = (judged.loc[shared].to_numpy()[:, None] == np.array(_OUTCOMES)).astype(float)
    tables = _vote_tables(by_outcome, by_judge_outcome)
    codes, questions = shared.droplevel(PAIR).factorize()
    if len(questions) < 2:
        return None
    sums = np.zeros((len(questions), tables[0].size))
    np.add.at(sums, codes, tables.reshape(len(tables), -1))
    # Of two people, then of the judge with one.
    kappas = kappas_of_cells(sums.sum(axis=0))
    resampled = kappas_of_cells(
        resampled_sums(sums, resamples, generator(0, "agreement among people"))
    )
    differences = resampled[1::2] - resampled[::2]
    error = float(np.nanstd(differences)) if np.isfinite(differences).any() else np.nan
    if not np.isfinite(kappas.sum() + error):
        return None
    return AmongPeople(float(kappas[0]), float(kappas[1]), error, len(shared))


def _vote_counts(by_people: pd.DataFrame) -> pd.DataFrame:
    votes = oriented_verdicts(by_people)
    votes["person"] = _persons(by_people)
    votes = majorities(votes, [*QUESTION_PAIR, "person"])
    counts = votes.groupby([*QUESTION_PAIR, "outcome"]).size().unstack("outcome", fill_value=0)
    counts = counts.reindex(columns=list(_OUTCOMES), fill_value=0)
    return counts[counts.sum(axis=1) > 1]


def _vote_tables(by_outcome: Floats, by_judge_outcome: Floats) -> Floats:
    """Cross-tabulate one person's vote by another's, then the judge's by people's.

    Both arguments have shape (items, 3); shares add up to 1 in each table, (items, 2, 3, 3).
    """
    n_votes = by_outcome.sum(axis=1)[:, None, None]
    # Ordered pairs of different votes: all pairs, less those of a vote with itself.
    pairs = by_outcome[:, :, None] * by_outcome[:, None, :]
    pairs -= by_outcome[:, :, None] * np.eye(len(_OUTCOMES))
    tables = np.stack(
        [
            pairs / (n_votes * (n_votes - 1)),
            by_judge_outcome[:, :, None] * by_outcome[:, None, :] / n_votes,
        ],
        axis=1,
    )
    # Which system is called the first is arbitrary: count each pair half in either orientation.
    return np.asarray((tables + tables[:, :, ::-1, ::-1]) / 2)


def _persons(by_people: pd.DataFrame) -> pd.Series:
    """Name each vote's person; an unnamed vote has a name of its own."""
    judges = by_people["judge"].astype(object)
    rows = "row " + pd.Series(range(len(by_people)), by_people.index).astype(str)
    if VOTER not in by_people:
        voters = pd.Series("", by_people.index)
    else:
        # A missing name would make the whole name of a person missing.
        voters = by_people[VOTER].astype(object).fillna("")
    return judges + "/" + voters.where(named_voters(by_people), rows)


def model_name(judge: str) -> str:
    """Return a judge's name as judgments have it."""
    return judge.removeprefix(LLM_PREFIX)


def recorded_agreement(entries: Iterable[MetaEvaluation], judge: str) -> PeopleAgreement | None:
    """Return agreement by the largest meta-evaluation, if any."""
    best: MetaEvaluation | None = None
    for entry in entries:
        is_of_judge = model_name(entry.judge) == model_name(judge)
        is_with_people = all(is_person(name) for name in entry.dataset.split("+"))
        if not is_of_judge or not is_with_people or entry.metric != KAPPA:
            continue
        if best is None or entry.n > best.n:
            best = entry
    return None if best is None else PeopleAgreement(best.value, best.standard_error, best.n)
