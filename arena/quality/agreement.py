"""Verdicts in one orientation, and agreement of two judges: Cohen's kappa."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

from arena.computing.codes import distinct, row_keys
from arena.data.schema import (
    ANSWER_KEY,
    FLAG_SEPARATOR,
    IDENTICAL,
    QUESTION_KEY,
    VERDICT_FLAGS,
)
from arena.data.types import Codes, Flags, Floats, Indices
from arena.rating.judgments import (
    MIRRORED,
    side_codes,
    sided_flags,
    sideless_by_name,
    winner_codes,
)
from arena.rating.posterior import RatingPosterior
from arena.statistics.agreement import cohen_kappas
from arena.statistics.bootstrap import percentile_interval, resampled_sums

GROUP = ["language", "judge"]
"""What a diagnosis is made for."""
PAIR = ["first", "second"]
QUESTION_PAIR = [*QUESTION_KEY, *PAIR]
"""One question and one unordered pair of systems."""

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


_JUDGED_QUESTION = [*GROUP, "query_id"]
NOT_SHOWN = 2
"""The order of verdicts without sides."""
_N_ORDERS = 3
_N_OUTCOMES = 3


class CountedVerdicts(NamedTuple):
    """Verdicts in C cells, each an item in one order; an item is a judge, a question and a pair.

    Attributes:
        systems: Sorted names.
        groups: Columns ``language, judge, query_id`` of the G groups of items.
        group: Group of each of I items, shape (I,).
        first: The item's first system by name, shape (I,).
        second: The other one, shape (I,).
        balance: By how many verdicts the first system won more than it lost, shape (I,).
        item: Item of each cell, ascending, shape (C,).
        order: 1 if the first system was on side A, 0 if the second was, or ``NOT_SHOWN``, (C,).
        majority: 1 if the first system won more than half of the cell, -1 if it lost, or 0, (C,).
    """

    systems: pd.Index
    groups: pd.DataFrame
    group: Codes
    first: Codes
    second: Codes
    balance: Indices
    item: Codes
    order: Codes
    majority: Codes

    @classmethod
    def of(cls, judgments: pd.DataFrame) -> CountedVerdicts:
        """Count judgments."""
        judgments = sideless_by_name(_with_all_names(judgments))
        groups = distinct(*row_keys(judgments[_JUDGED_QUESTION], is_sorted=True))
        named_groups = judgments[_JUDGED_QUESTION].iloc[groups.first_rows].reset_index(drop=True)
        side_a, side_b, systems = side_codes(judgments)
        n_systems = max(len(systems), 1)
        order, outcome = _orders_and_outcomes(judgments, side_a < side_b)
        keys = groups.codes
        for size, codes in (
            (n_systems, np.minimum(side_a, side_b)),
            (n_systems, np.maximum(side_a, side_b)),
            (_N_ORDERS, order),
            (_N_OUTCOMES, outcome),
        ):
            keys *= size
            keys += codes
        return cls._of_keys(keys, systems, named_groups)

    @classmethod
    def _of_keys(cls, keys: Indices, systems: pd.Index, groups: pd.DataFrame) -> CountedVerdicts:
        n_systems = max(len(systems), 1)
        cells, lead, majority = _tallied(keys)
        items, item = _runs(cells // _N_ORDERS)
        return cls(
            systems=systems,
            groups=groups,
            group=(items // n_systems**2).astype(np.int32),
            first=(items // n_systems % n_systems).astype(np.int32),
            second=(items % n_systems).astype(np.int32),
            balance=np.bincount(item, lead, len(items)).astype(np.intp),
            item=item,
            order=(cells % _N_ORDERS).astype(np.int8),
            majority=majority,
        )


def _with_all_names(judgments: pd.DataFrame) -> pd.DataFrame:
    is_known = np.ones(len(judgments), dtype=np.bool_)
    for name in (*_JUDGED_QUESTION, "system_a", "system_b"):
        is_known &= judgments[name].notna().to_numpy()
    return judgments if is_known.all() else judgments[is_known]


def _orders_and_outcomes(judgments: pd.DataFrame, is_first_on_a: Flags) -> tuple[Codes, Codes]:
    winner = winner_codes(judgments)
    outcome = np.where(is_first_on_a, winner, MIRRORED.astype(np.int8)[winner])
    order = is_first_on_a.astype(np.int8)
    is_sided = sided_flags(judgments)
    if is_sided is not None:
        order[~is_sided] = NOT_SHOWN
    return order, outcome


def _tallied(keys: Indices) -> tuple[Indices, Indices, Codes]:
    """Return the distinct cells of verdicts' keys, their first systems' leads, and majorities."""
    # Sorting keys takes a fraction of the time of grouping rows by them.
    keys.sort()
    cells, cell = _runs(keys // _N_OUTCOMES)
    outcome = (keys % _N_OUTCOMES).astype(np.int8)
    won, lost, tied = (
        np.bincount(cell[outcome == code], minlength=len(cells)) for code in range(_N_OUTCOMES)
    )
    is_won = won > lost + tied
    is_lost = lost > won + tied
    return cells, won - lost, is_won.astype(np.int8) - is_lost.astype(np.int8)


def _runs(ascending: Indices) -> tuple[Indices, Codes]:
    """Return the distinct numbers, and the index of each, of numbers in order."""
    is_first = np.ones(len(ascending), dtype=np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=is_first[1:])
    return ascending[is_first], np.cumsum(is_first, dtype=np.int32) - 1


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
    replicates = kappas_of_cells(resampled_sums(cells, 2000 if has_interval else 0, random))
    replicates = replicates[np.isfinite(replicates)]
    standard_error = float(replicates.std()) if replicates.size else math.nan
    low, high = percentile_interval(replicates)
    return {
        "items": len(items),
        "questions": len(cells),
        "agreement": float((items["outcome"] == others).mean()),
        "kappa": float(kappas_of_cells(cells.sum(axis=0))[0]),
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


def kappas_of_cells(cells: Floats) -> Floats:
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
