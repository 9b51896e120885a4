"""Judgments brought to one orientation, and several of one item as one verdict."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.schema import QUESTION_KEY
from arena.rating.battles import points_of_a

GROUP = ["language", "judge"]
"""What a diagnosis is made for."""

PAIR = ["first", "second"]
QUESTION_PAIR = [*QUESTION_KEY, *PAIR]
"""One question and one unordered pair of systems."""
ITEM = [*GROUP, "rater", "query_id", *PAIR]
"""One question, one unordered pair of systems, one rater."""

EVERYONE = "all judges"
"""Judge under whose name pooled judgments stand."""


def verdicts(judgments: pd.DataFrame, pool: bool = False) -> pd.DataFrame:
    """Bring judgments to one orientation: the pair's first system is the first by name.

    Args:
        judgments: Columns ``query_id, language, system_a, system_b, winner, judge``.
        pool: Take all judges as one, ``EVERYONE``.

    Returns:
        One row a judgment, in the order given: columns ``language, judge, rater, query_id,
        first, second``, ``outcome`` (1 the first system wins, -1 the second, 0 a tie), ``points``
        (of the first system, as ``arena.rating.battles.points_of_a`` counts them) and
        ``first_on_a`` (whether the first system was on side A). ``rater`` is who judged,
        ``judge`` the same or ``EVERYONE``.
    """
    side_a, side_b = judgments["system_a"], judgments["system_b"]
    first_on_a = side_a < side_b
    won_by_a = (judgments["winner"] == "a").astype(int) - (judgments["winner"] == "b").astype(int)
    points = points_of_a(judgments)
    return pd.DataFrame(
        {
            "language": judgments["language"],
            "judge": EVERYONE if pool else judgments["judge"],
            "rater": judgments["judge"],
            "query_id": judgments["query_id"],
            "first": side_a.where(first_on_a, side_b),
            "second": side_b.where(first_on_a, side_a),
            "outcome": won_by_a.where(first_on_a, -won_by_a),
            "points": points.where(first_on_a, 1.0 - points),
            "first_on_a": first_on_a,
        }
    )


def won_by_a(table: pd.DataFrame) -> pd.Series:
    """Tell for every verdict whether side A won (1), lost (-1) or tied (0)."""
    return table["outcome"].where(table["first_on_a"], -table["outcome"])


def majorities(table: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Take several verdicts under the same key as one.

    A system wins if it won more than half of them; anything else is a tie, so that a win in one
    order and a loss in the other are a tie.

    Args:
        table: As ``verdicts`` returns it.
        keys: Columns that identify what was judged, such as ``ITEM``.

    Returns:
        The keys, ``judged`` (number of verdicts), ``unanimous`` and ``outcome``; sorted by keys.
    """
    outcome = table["outcome"]
    marked = table[keys].assign(judged=1, wins=outcome == 1, losses=outcome == -1)
    counts = marked.groupby(keys, sort=True, observed=True).sum().reset_index()
    judged, wins, losses = counts["judged"], counts["wins"], counts["losses"]
    ties = judged - wins - losses
    unanimous = np.maximum(np.maximum(wins, losses), ties) == judged
    majority = (2 * wins > judged).astype(int) - (2 * losses > judged).astype(int)
    return counts[[*keys, "judged"]].assign(unanimous=unanimous, outcome=majority)


def sums(table: pd.DataFrame, groups: pd.DataFrame, columns: dict[str, Any]) -> pd.DataFrame:
    """Sum marks of rows for every language and judge, 0 where there is no row.

    Args:
        table: Rows with ``language`` and ``judge``.
        groups: Every language and judge, in the order wanted.
        columns: Name of a sum to the marks of the rows, each of the table's length.

    Returns:
        Columns ``language, judge`` and the sums, one row a group.
    """
    marked = table[GROUP].assign(**columns)
    totals = marked.groupby(GROUP, observed=True)[list(columns)].sum()
    wanted = pd.MultiIndex.from_frame(groups[GROUP])
    return totals.reindex(wanted, fill_value=0).astype(int).reset_index()


def groups_of(table: pd.DataFrame) -> pd.DataFrame:
    """Return every language and judge once, sorted: columns ``language, judge``."""
    return table[GROUP].drop_duplicates().sort_values(GROUP, ignore_index=True)


def share(part: npt.ArrayLike, whole: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Divide counts; NaN where the whole is 0."""
    parts, wholes = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    return np.asarray(np.divide(parts, wholes, out=np.full(parts.shape, np.nan), where=wholes > 0))
