"""Tests of a judge by its own verdicts: each has a statistic, an interval, a grade, a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array
from scipy.special import expit

from arena.computing.codes import distinct, row_keys
from arena.data.schema import REPEAT
from arena.data.types import Codes, Floats, Indices
from arena.data.wording import count_of
from arena.quality.agreement import GROUP, NOT_SHOWN, CountedVerdicts
from arena.quality.judge_report import (
    Grade,
    JudgeTest,
)
from arena.rating.battles import Battles
from arena.rating.judgments import shown_sides
from arena.rating.posterior import battle_posterior
from arena.statistics.significance import NORMAL_95, wilson_interval

FEWEST_VERDICTS = 10
"""Fewer verdicts may all be the same, or ties, by chance."""
NOTABLE_FLIPS = 0.1


@dataclass(frozen=True)
class Share:
    """A share of N cases with its 95% Wilson interval."""

    count: int
    total: int

    @property
    def value(self) -> float:
        """Return the share; there must be a case."""
        return self.count / self.total

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the interval."""
        (low,), (high,) = wilson_interval([self.count], [self.total])
        return float(low), float(high)

    def __str__(self) -> str:
        low, high = self.bounds
        return f"{self.value:.1%}, 95% interval {low:.1%} to {high:.1%}"

    def test(self, name: str, grade: Grade, sentence: str) -> JudgeTest:
        """Return the test whose statistic the share is."""
        low, high = self.bounds
        return JudgeTest(name, grade, sentence, self.value, low, high)


def same_verdict(winners: pd.Series) -> tuple[str, int] | None:
    """Return the verdict that nearly all are, and its count."""
    if len(winners) < FEWEST_VERDICTS:
        return None
    counts = winners.value_counts()
    verdict = str(counts.index[0])
    count = int(counts.iloc[0])
    if count < 0.95 * len(winners):
        return None
    return verdict, count


def same_verdict_test(judgments: pd.DataFrame, side: JudgeTest | None) -> JudgeTest | None:
    """Report a judge that gives one verdict to nearly all pairs."""
    winners = judgments["winner"]
    constant = same_verdict(winners)
    winner = "a tie"
    if constant is None or constant[0] != "tie":
        winners = shown_sides(judgments)["winner"]
        constant = same_verdict(winners)
        if constant is None or side is None or side.statistic is None:
            return None
        if (side.statistic > 0.5) != (constant[0] == "a"):
            return None
        winner = f"side {constant[0].upper()}"
    count = constant[1]
    sentence = (
        f"{count:,} of {count_of(len(winners), 'verdict')} are {winner}: it says the same "
        "whatever the answers are"
    )
    return Share(count, len(winners)).test("same verdict", "unreliable", sentence)


def flip_test(counted: CountedVerdicts) -> JudgeTest:
    """Compare both orders of every pair judged in both."""
    # Share of flips of a judge whose single verdicts cannot be relied on
    unreliable_flips = 0.25
    # Sides that were not shown are no order.
    is_shown = counted.order != NOT_SHOWN
    items = counted.item[is_shown]
    outcome = counted.majority[is_shown]
    # Both orders of an item follow each other.
    has_both = items[1:] == items[:-1]
    n_items = int(has_both.sum())
    n_flipped = int((has_both & (outcome[1:] * outcome[:-1] == -1)).sum())
    if not n_items:
        sentence = "no pair is judged in both orders: how often verdicts flip is not known"
        if not is_shown.any():
            sentence = "verdicts without sides cannot show whether the judge is consistent"
        return JudgeTest("flips", "not known", sentence)
    flips = Share(n_flipped, n_items)
    low, high = flips.bounds
    sentence = f"of {count_of(n_items, 'pair')} judged in both orders, {n_flipped:,} flip ({flips})"
    grade: Grade = "consistent"
    if low < NOTABLE_FLIPS and high > unreliable_flips:
        grade = "not known"
        sentence += ": too few to tell a good judge from an unreliable one"
    # A verdict of a judge that surely flips this often says little; many may average out.
    elif low > unreliable_flips:
        grade = "unreliable"
    elif flips.value >= NOTABLE_FLIPS:
        grade = "doubtful"
    return flips.test("flips", grade, sentence)


def repeat_test(judgments: pd.DataFrame) -> JudgeTest | None:
    """Compare repeated votes (column ``repeat``) on the same question and sides."""
    if REPEAT not in judgments:
        return None
    repeated = judgments[judgments[REPEAT].notna()]
    key = [*GROUP, "query_id", "system_a", "system_b"]
    first = judgments.drop(repeated.index).drop_duplicates(key)
    votes = repeated.merge(first[[*key, "winner"]], on=key, suffixes=("", "_first"))
    if votes.empty:
        return None
    changes = Share(int((votes["winner"] != votes["winner_first"]).sum()), len(votes))
    sentence = (
        f"of {count_of(changes.total, 'pair')} asked twice in the same order {changes.count:,} got "
        f"another verdict ({changes})"
    )
    grade: Grade = "doubtful" if changes.bounds[0] >= NOTABLE_FLIPS else "consistent"
    return changes.test("repeats", grade, sentence)


def tie_test(winners: pd.Series, n_identical: int) -> JudgeTest:
    """Count ties, of verdicts without the ``n_identical`` on identical answers."""
    ties = Share(int((winners == "tie").sum()), len(winners))
    verdicts = count_of(ties.total, "verdict")
    if n_identical:
        verdicts += " on answers that differ"
    has_many_ties = ties.total >= FEWEST_VERDICTS and ties.value > 0.75
    grade: Grade = "doubtful" if has_many_ties else "consistent"
    sentence = f"{ties.count:,} of {verdicts} are ties ({ties.value:.1%})"
    return ties.test("ties", grade, sentence)


FEWEST_QUESTIONS = 10
"""Questions below which the share of circles has no lower bound."""


class Cycles(NamedTuple):
    """Triples of decided verdicts on one question, and circles.

    ``circular`` triads are Kendall's and Babington Smith's (1940), ``expected`` those by the
    ratings if verdicts were independent, ``beyond`` the excess in standard deviations over
    questions, ``share_low`` a lower 95% bound.
    """

    triples: int
    circular: int
    expected: float
    beyond: float
    share_low: float


def cycles(judgments: pd.DataFrame, counted: CountedVerdicts) -> Cycles:
    """Count one judge's triples on a question that run in a circle.

    Ratings tell the expected number: few where systems are far apart, a quarter where equal.
    """
    decided = judgments[judgments["winner"] != "tie"]
    counts = [np.empty((0, 3))]
    for language, rows in decided.groupby("language", observed=True):
        counts.append(_question_cycles(rows, counted, str(language)))
    triples, circular, expected = np.concatenate(counts).T
    has_triples = triples > 0
    if not has_triples.any():
        return Cycles(triples=0, circular=0, expected=0.0, beyond=0.0, share_low=0.0)
    triples = triples[has_triples]
    circular = circular[has_triples]
    expected = expected[has_triples]
    n_triples = float(triples.sum())
    surplus = circular - expected
    surplus_deviation = float(np.sqrt(surplus @ surplus))
    beyond = 0.0
    if surplus_deviation > 0:
        beyond = float(surplus.sum()) / surplus_deviation
    share_low = 0.0
    if len(triples) >= FEWEST_QUESTIONS:
        share = float(circular.sum() / n_triples)
        # A ratio's variance over questions (linearized), as in cluster sampling.
        residuals = circular - share * triples
        share_low = share - NORMAL_95 * float(np.sqrt(residuals @ residuals)) / n_triples
    return Cycles(
        triples=round(n_triples),
        circular=round(float(circular.sum())),
        expected=float(expected.sum()),
        beyond=beyond,
        share_low=share_low,
    )


def cycle_test(judgments: pd.DataFrame, counted: CountedVerdicts) -> JudgeTest | None:
    """Test whether verdicts on a question contradict each other."""
    counts = cycles(judgments, counted)
    if not counts.triples:
        return None
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
    return JudgeTest("circles", grade, sentence, share)


def _question_cycles(decided: pd.DataFrame, counted: CountedVerdicts, language: str) -> Floats:
    """Count triples, circles and expected circles of each question of one language, (Q, 3)."""
    # Questions of which all steps between systems are held at a time
    questions_at_once = 100
    battles = Battles.from_judgments(decided).largest_group()
    question, winner, loser = _decided_pairs(counted, language, battles.systems)
    if not len(question):
        return np.empty((0, 3))
    ratings = battle_posterior(battles).ratings
    counts = []
    for start in range(0, int(question.max()) + 1, questions_at_once):
        rows = (question >= start) & (question < start + questions_at_once)
        if rows.any():
            counts.append(_counts(question[rows] - start, winner[rows], loser[rows], ratings))
    return np.concatenate(counts)


def _decided_pairs(
    counted: CountedVerdicts, language: str, systems: Sequence[str]
) -> tuple[Indices, Codes, Codes]:
    # Systems judged on one question above which its circles are not counted
    largest_field = 300
    question_of_group, n_questions = _questions_of(counted.groups, language)
    position = pd.Index(systems).get_indexer(counted.systems).astype(np.int32)
    question = question_of_group[counted.group]
    first = position[counted.first]
    second = position[counted.second]
    is_decided = (question >= 0) & (first >= 0) & (second >= 0) & (counted.balance != 0)
    question, first, second = question[is_decided], first[is_decided], second[is_decided]
    sizes = _field_sizes(question, first, second, n_questions, len(systems))
    is_counted = ((sizes >= 3) & (sizes <= largest_field))[question]
    has_first_won = counted.balance[is_decided] > 0
    winner = np.where(has_first_won, first, second)
    loser = np.where(has_first_won, second, first)
    return question[is_counted], winner[is_counted], loser[is_counted]


def _questions_of(groups: pd.DataFrame, language: str) -> tuple[Indices, int]:
    """Number the questions of groups, -1 in other languages; also count possible numbers."""
    is_language = (groups["language"] == language).to_numpy()
    questions = np.full(len(groups), -1)
    numbers, n_possible = row_keys(groups.loc[is_language, ["query_id"]], is_sorted=True)
    questions[is_language] = numbers
    return questions, n_possible


def _field_sizes(
    question: Indices, first: Codes, second: Codes, n_questions: int, n_systems: int
) -> Indices:
    n_possible = n_questions * n_systems
    nodes = []
    for system in (first, second):
        nodes.append(distinct(n_systems * question + system, n_possible).values)
    fields = distinct(np.concatenate(nodes), n_possible)
    return np.bincount(fields.values // n_systems, minlength=n_questions)


def _counts(question: Indices, winner: Codes, loser: Codes, ratings: Floats) -> Floats:
    """Count triples, circles and expected circles of some questions that have any pair, (Q, 3)."""
    # A system on one question is a node; no step leads from one question to another.
    n_systems = len(ratings)
    n_possible = (int(question.max()) + 1) * n_systems
    nodes = distinct(np.concatenate([winner, loser]) + n_systems * np.tile(question, 2), n_possible)
    size = len(nodes.values)
    winner_nodes, loser_nodes = np.split(nodes.codes, 2)
    ones = np.ones(len(winner))
    beats = coo_array((ones, (winner_nodes, loser_nodes)), shape=(size, size)).tocsr()
    # Several judges may agree on a pair.
    beats.data[:] = 1.0
    meets = (beats + beats.T).tocoo()
    node_ratings = ratings[nodes.values % n_systems]
    win_rates = expit(node_ratings[meets.row] - node_ratings[meets.col])
    expected = coo_array((win_rates * meets.data, meets.coords), shape=(size, size))
    # Without directions each triple can be walked both ways round.
    by_node = [_circles(meets.tocsr()) / 2, _circles(beats), _circles(expected.tocsr())]
    question_of_node = distinct(nodes.values // n_systems, n_possible // n_systems)
    return np.column_stack([question_of_node.sums(values) for values in by_node])


def _circles(steps: csr_array) -> Floats:
    """Count circles of three steps by node: diag(A³) / 3, for steps of shape (N, N)."""
    return np.asarray((steps @ steps).multiply(steps.T).sum(axis=1)).ravel() / 3
