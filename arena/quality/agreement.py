"""Verdicts in one orientation, and agreement of judges with each other and with people: kappa."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from arena.data.names import is_person
from arena.data.schema import (
    ANSWER_KEY,
    FLAG_SEPARATOR,
    IDENTICAL,
    QUESTION_KEY,
    VERDICT_FLAGS,
    VOTER,
)
from arena.data.types import Floats
from arena.data.wording import count_of
from arena.quality.judge_report import Grade, JudgeTest, MetaEvaluation
from arena.rating.judgments import named_voters, side_codes, sideless_by_name
from arena.rating.posterior import RatingPosterior
from arena.statistics.agreement import cohen_kappas
from arena.statistics.bootstrap import generator, percentile_interval, resampled_sums
from arena.statistics.codes import distinct, row_keys, without_categories
from arena.statistics.significance import NORMAL_95

GROUP = ["language", "judge"]
"""What a diagnosis is made for."""
PAIR = ["first", "second"]
QUESTION_PAIR = [*QUESTION_KEY, *PAIR]
"""One question and one unordered pair of systems."""
ITEM = [*GROUP, "query_id", *PAIR]
"""One judge, one question, one unordered pair of systems."""

SHOWN_NAMES = 5
"""Number of systems that a remark names."""


def oriented_verdicts(judgments: pd.DataFrame) -> pd.DataFrame:
    """Orient judgments: ``first`` and ``second`` by name."""
    # Sides that were not shown are no order.
    judgments = sideless_by_name(judgments)
    side_a, side_b, names = side_codes(judgments)
    first = pd.Categorical.from_codes(np.minimum(side_a, side_b), names)
    second = pd.Categorical.from_codes(np.maximum(side_a, side_b), names)
    first_on_a = side_a < side_b
    winner = judgments["winner"]
    outcome_of_a = np.asarray(winner == "a", np.int64) - np.asarray(winner == "b", np.int64)
    table = pd.DataFrame(
        {
            "language": judgments["language"],
            "judge": judgments["judge"],
            "query_id": judgments["query_id"],
            "first": first,
            "second": second,
            "outcome": np.where(first_on_a, outcome_of_a, -outcome_of_a),
            "first_on_a": first_on_a,
        },
        index=judgments.index,
    )
    kind = judgments["system_a"].dtype
    if isinstance(kind, pd.CategoricalDtype):
        return table
    return table.astype({"first": kind, "second": kind})


def majorities(table: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Make one verdict per key: a win needs more than half."""
    is_known = table[keys].notna().all(axis=1)
    if not is_known.all():
        table = table[is_known]
    numbers, n_possible = row_keys(table[keys], is_sorted=True)
    counted = distinct(numbers, n_possible)
    outcome = table["outcome"].to_numpy()
    n_verdicts = counted.sums(None)
    has_won = 2 * counted.sums(outcome == 1) > n_verdicts
    has_lost = 2 * counted.sums(outcome == -1) > n_verdicts
    rows = table[keys].iloc[counted.first_rows].reset_index(drop=True)
    return rows.assign(outcome=has_won.astype(np.int64) - has_lost.astype(np.int64))


def without_identical(judgments: pd.DataFrame, answers: pd.DataFrame | None = None) -> pd.DataFrame:
    """Drop ties between identical answers (flagged, or found in ``answers``)."""
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


LOW_KAPPA = 0.4
"""Below it, agreement is fair at best (Landis and Koch, 1977)."""
FEWEST_ITEMS = 20
"""Items from which kappa gets an interval: with fewer, the bootstrap's is too narrow."""

MEASURED = ["items", "questions", "agreement", "kappa", "standard_error", "low", "high"]


def shared_items(table: pd.DataFrame, reference: Sequence[str]) -> pd.DataFrame:
    """Join judges' majorities with those of a reference, such as all people."""
    # The same id in two languages is of two questions, which are resampled together.
    table = table.assign(query_id=table["language"] + "\x1f" + table["query_id"])
    is_reference = table["judge"].isin(set(reference))
    reference_items = majorities(table[is_reference], QUESTION_PAIR)
    items = majorities(table[~is_reference], ["judge", *QUESTION_PAIR])
    return items.merge(reference_items, on=QUESTION_PAIR, suffixes=("", "_reference"))


def measured_agreement(
    items: pd.DataFrame, others: pd.Series, random: np.random.Generator
) -> dict[str, Any]:
    """Compare outcomes of items: ``MEASURED``, with a bootstrap error and a 95% interval of kappa.

    The interval is NaN with one question or fewer than ``FEWEST_ITEMS`` items.
    """
    cells = _question_cells(items, others)
    has_interval = len(cells) > 1 and len(items) >= FEWEST_ITEMS
    # Questions are resampled, not items: verdicts on one question depend on each other.
    replicates = _kappas(resampled_sums(cells, 2000 if has_interval else 0, random))
    replicates = replicates[np.isfinite(replicates)]
    standard_error = float(replicates.std()) if replicates.size else math.nan
    low, high = percentile_interval(replicates)
    return {
        "items": len(items),
        "questions": len(cells),
        "agreement": float((items["outcome"] == others).mean()),
        "kappa": float(_kappas(cells.sum(axis=0))[0]),
        "standard_error": standard_error,
        "low": low,
        "high": high,
    }


def _question_cells(items: pd.DataFrame, others: pd.Series) -> Floats:
    """Count one judge's verdicts by another's, half in either orientation, (questions, 9)."""
    questions, names = pd.factorize(items["query_id"])
    cells = np.zeros((len(names), 9))
    for sign in (1, -1):
        rows = 1 + sign * items["outcome"]
        columns = 1 + sign * others
        indices = (3 * rows + columns).to_numpy(dtype=np.intp)
        np.add.at(cells, (questions, indices), 0.5)
    return cells


def _kappas(cells: Floats) -> Floats:
    """Return the kappa of each table of nine cells, shape (N,)."""
    return cohen_kappas(cells.reshape(-1, 3, 3))


def rating_differences(judge: RatingPosterior, reference: RatingPosterior) -> pd.DataFrame:
    """Compare a judge's ratings, brought to the reference's spread, with it.

    Intervals hold 95% for all systems at once (Bonferroni).
    """
    names = [name for name in reference.systems if name in judge.systems]
    ratings, variances = _centered_ratings(judge, names)
    reference_ratings, reference_variances = _centered_ratings(reference, names)
    spread = float(ratings.std())
    scale = float(reference_ratings.std()) / spread if spread > 0 else 1.0
    difference = scale * ratings - reference_ratings
    errors = np.sqrt(scale**2 * variances + reference_variances)
    quantile = float(ndtri(1 - 0.025 / max(len(names), 1)))
    return pd.DataFrame(
        {
            "system": names,
            "difference": difference,
            "low": difference - quantile * errors,
            "high": difference + quantile * errors,
        }
    )


def _centered_ratings(posterior: RatingPosterior, names: Sequence[str]) -> tuple[Floats, Floats]:
    indices = [posterior.systems.index(name) for name in names]
    ratings = posterior.ratings[indices]
    return ratings - ratings.mean(), np.diag(posterior.covariance)[indices]


_OUTCOMES = (-1, 0, 1)
"""Of a pair's first system, in the order of the rows and columns of a table."""


@dataclass(frozen=True)
class AmongPeople:
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
    is_by_people = judgments["judge"].map(is_person).astype(bool)
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
    kappas = _kappas(sums.sum(axis=0))
    resampled = _kappas(resampled_sums(sums, resamples, generator(0, "agreement among people")))
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


KAPPA = "kappa"
"""Metric of agreement on the same pairs."""
LLM_PREFIX = "llm:"
"""Start of a judge's name where it says that an LLM judges."""


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
