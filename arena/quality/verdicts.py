"""Verdicts in one orientation: a pair's first system is the first by name."""

from __future__ import annotations

import numpy as np
import pandas as pd

from arena.data.schema import ANSWER_KEY, FLAG_SEPARATOR, IDENTICAL, QUESTION_KEY, VERDICT_FLAGS
from arena.statistics.codes import distinct, row_keys, text_codes

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
    """Bring judgments to one orientation: the pair's first system is the first by name.

    Returns:
        One row per judgment, in their order: columns ``language, judge, query_id, first,
        second``, ``outcome`` (1 the first system wins, -1 the second, 0 a tie) and ``first_on_a``
        (was it on side A?).
    """
    code_a, names_a = text_codes(judgments["system_a"])
    code_b, names_b = text_codes(judgments["system_b"])
    names = pd.Index(sorted({*names_a, *names_b}), dtype=object)
    side_a = names.get_indexer(names_a)[code_a]
    side_b = names.get_indexer(names_b)[code_b]
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


def won_by_a(table: pd.DataFrame) -> pd.Series:
    """Return for every verdict whether side A won (1), lost (-1) or tied (0)."""
    return table["outcome"].where(table["first_on_a"], -table["outcome"])


def majorities(table: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Make one verdict of several under the same key.

    A system wins if it won more than half of them; anything else is a tie, so that a win in one
    order and a loss in the other are a tie.

    Returns:
        The keys and ``outcome``; sorted by keys.
    """
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
